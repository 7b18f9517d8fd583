#pragma once

// Columns built a value at a time by a text decoder: no virtual call per value, and a way back when half a nested value turns out to be unreadable.
//
//   ColumnBuilder column(type::Array(type::Int()), pool);
//   column.AppendInteger… ; ARROW_ASSIGN_OR_RAISE(auto array, column.Finish());

#include <arrow/array/data.h>
#include <arrow/buffer_builder.h>
#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "type/data_type.h"

namespace tidemill::format {

/// One column (or nested child) under construction. Not thread-safe.
///
/// Invariant: every buffer holds exactly length() values between calls; a list or map row is closed by EndList() after its children were appended.
class ColumnBuilder {
 public:
  ColumnBuilder(type::TypePtr type, arrow::MemoryPool* pool);

  const type::DataType& type() const { return *type_; }
  int64_t length() const { return validity_.length(); }
  /// Struct fields; list: the element; map: key and value.
  ColumnBuilder& child(int i) { return children_[i]; }

  Status AppendNull();
  /// A value of fixed width, stored as the Arrow type of type() stores it (booleans as one byte here).
  template <typename T>
  Status AppendFixed(T value) {
    ARROW_RETURN_NOT_OK(values_.Append(&value, sizeof(T)));
    return validity_.Append(1);
  }
  /// A string or binary value.
  Status AppendBytes(std::string_view bytes) {
    ARROW_RETURN_NOT_OK(values_.Append(bytes.data(), static_cast<int64_t>(bytes.size())));
    return CloseBytes();
  }
  /// A struct whose children have one value more each, or a list or map whose children are complete.
  Status AppendNested();
  /// Drop all values from `length` on, those of children included.
  void Truncate(int64_t length);
  /// Make room for `rows` more values of fixed width.
  Status Reserve(int64_t rows);
  /// The values as an array of type()->ToArrow(); the builder is empty afterwards.
  Result<std::shared_ptr<arrow::Array>> Finish();

 private:
  Status CloseBytes();
  Result<std::shared_ptr<arrow::ArrayData>> FinishData();
  Result<std::shared_ptr<arrow::Buffer>> FinishValidity(int64_t* null_count);

  type::TypePtr type_;
  std::shared_ptr<arrow::DataType> arrow_type_;
  arrow::MemoryPool* pool_;
  int width_ = 0;           // bytes a value in values_; 0: variable or nested
  bool has_offsets_ = false;
  arrow::BufferBuilder values_;                 // fixed values, or bytes of strings
  arrow::TypedBufferBuilder<int32_t> offsets_;  // end of each row's bytes or children; the leading 0 is put in by Finish()
  arrow::TypedBufferBuilder<uint8_t> validity_; // one byte a row: packing at Finish() is cheaper than a bit at a time
  std::vector<ColumnBuilder> children_;
};

/// Bytes 0/1 as a bitmap.
Result<std::shared_ptr<arrow::Buffer>> PackBits(const uint8_t* bytes, int64_t length, arrow::MemoryPool* pool);

}  // namespace tidemill::format
