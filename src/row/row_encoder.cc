#include <arrow/array/array_binary.h>
#include <arrow/array/array_decimal.h>
#include <arrow/array/array_nested.h>
#include <arrow/array/array_primitive.h>

#include <algorithm>
#include <limits>

#include "row/decimal_internal.h"
#include "row/layout_internal.h"
#include "row/unsafe_row.h"
#include "row/value_writer_internal.h"

namespace tidemill::row {
namespace {

using type::DataType;
using type::Kind;

/// A struct whose row has one size, such as a window: its fields can be written column by column too.
bool IsFixedStruct(const DataType& type) {
  if (type.kind() != Kind::kStruct) return false;
  return std::none_of(type.fields().begin(), type.fields().end(), [](const type::Field& f) { return IsVariable(*f.type); });
}

/// Rows under construction: where each begins, and where its next variable part goes, counted from its begin.
struct Target {
  uint8_t* bytes;
  const uint32_t* begins;
  uint32_t* cursors;
  int64_t rows;
  uint8_t* row(int64_t i) const { return bytes + begins[i]; }
};

class ColumnEncoder final : public RowEncoder {
 public:
  ColumnEncoder(type::Schema schema, bool normalize_floats)
      : schema_(std::move(schema)), normalize_floats_(normalize_floats), value_writer_(normalize_floats) {}

  Status Encode(std::span<const std::shared_ptr<arrow::Array>> columns, int64_t rows, RowBatch* out) override {
    if (static_cast<int>(columns.size()) != schema_.size()) {
      return InternalError("encoding {} columns by a schema of {}", columns.size(), schema_.size());
    }
    ARROW_RETURN_NOT_OK(LayOut(columns, rows, out));
    const Target target{out->bytes.data(), out->offsets.data(), cursors_.data(), rows};
    for (int f = 0; f < schema_.size(); ++f) {
      WriteColumn(*schema_.fields[f].type, *columns[f], f, target);
    }
    return Status::OK();
  }

 private:
  /// Sizes first, so that every row is written once and in place.
  Status LayOut(std::span<const std::shared_ptr<arrow::Array>> columns, int64_t rows, RowBatch* out) {
    const auto fixed = static_cast<uint32_t>(FixedBytes(schema_.size()));
    sizes_.assign(static_cast<size_t>(rows), fixed);
    uint64_t total = uint64_t{fixed} * static_cast<uint64_t>(rows);
    for (int f = 0; f < schema_.size(); ++f) total += AddSizes(*schema_.fields[f].type, *columns[f], rows);
    if (total > std::numeric_limits<uint32_t>::max()) {
      return UserError("TIDEMILL_ROW_BATCH_TOO_LARGE",
                       "Rows of one batch take {} bytes encoded; the limit is 4 GiB. "
                       "Read fewer rows a batch (maxFilesPerTrigger, maxBytesPerTrigger).",
                       total);
    }
    out->offsets.resize(static_cast<size_t>(rows) + 1);
    uint32_t offset = 0;
    for (int64_t i = 0; i < rows; ++i) {
      out->offsets[i] = offset;
      offset += sizes_[i];
    }
    out->offsets[rows] = offset;
    out->bytes.resize(offset);
    std::fill(out->bytes.begin(), out->bytes.end(), uint8_t{0});
    cursors_.assign(static_cast<size_t>(rows), fixed);
    return Status::OK();
  }

  uint64_t AddSizes(const DataType& type, const arrow::Array& array, int64_t rows) {
    if (!IsVariable(type)) return 0;
    uint64_t total = 0;
    const auto add = [&](int64_t i, uint64_t bytes) {
      sizes_[i] += static_cast<uint32_t>(bytes);
      total += bytes;
    };
    if (IsWideDecimal(type)) {
      for (int64_t i = 0; i < rows; ++i) add(i, kWideDecimalBytes);
    } else if (type.kind() == Kind::kString || type.kind() == Kind::kBinary) {
      const int32_t* offsets = static_cast<const arrow::BinaryArray&>(array).raw_value_offsets();
      const bool nulls = array.null_count() > 0;
      for (int64_t i = 0; i < rows; ++i) {
        if (!nulls || array.IsValid(i)) add(i, PadTo8(static_cast<uint64_t>(offsets[i + 1] - offsets[i])));
      }
    } else if (IsFixedStruct(type)) {
      const auto bytes = static_cast<uint64_t>(FixedBytes(static_cast<int>(type.fields().size())));
      for (int64_t i = 0; i < rows; ++i) {
        if (array.IsValid(i)) add(i, bytes);
      }
    } else {
      for (int64_t i = 0; i < rows; ++i) add(i, ValueWriter::VariableBytes(type, array, i));
    }
    return total;
  }

  void WriteColumn(const DataType& type, const arrow::Array& array, int ordinal, const Target& target) {
    const int slot = NullBytes(schema_.size()) + 8 * ordinal;
    if (IsFixedStruct(type)) return WriteFixedStruct(type, static_cast<const arrow::StructArray&>(array), ordinal, slot, target);
    if (type.kind() == Kind::kString || type.kind() == Kind::kBinary) {
      return WriteBinary(static_cast<const arrow::BinaryArray&>(array), ordinal, slot, target);
    }
    if (IsVariable(type)) return WriteVariable(type, array, ordinal, slot, target);
    WriteFixed(
        type, array, ordinal, target, [&](int64_t i) { return target.row(i); }, slot);
  }

  /// `row_at(i)` is where row i begins, or null where there is nothing to write.
  template <typename RowAt>
  void WriteFixed(const DataType& type, const arrow::Array& array, int ordinal, const Target& target, RowAt row_at, int slot) {
    switch (type.kind()) {
      case Kind::kByte:
        return CopyValues<arrow::Int8Array>(array, ordinal, target.rows, row_at, slot);
      case Kind::kShort:
        return CopyValues<arrow::Int16Array>(array, ordinal, target.rows, row_at, slot);
      case Kind::kInt:
      case Kind::kYearMonthInterval:
        return CopyValues<arrow::Int32Array>(array, ordinal, target.rows, row_at, slot);
      case Kind::kDate:
        return CopyValues<arrow::Date32Array>(array, ordinal, target.rows, row_at, slot);
      case Kind::kLong:
        return CopyValues<arrow::Int64Array>(array, ordinal, target.rows, row_at, slot);
      case Kind::kTimestamp:
      case Kind::kTimestampNtz:
        return CopyValues<arrow::TimestampArray>(array, ordinal, target.rows, row_at, slot);
      case Kind::kDayTimeInterval:
        return CopyValues<arrow::DurationArray>(array, ordinal, target.rows, row_at, slot);
      case Kind::kFloat:
        if (!normalize_floats_) return CopyValues<arrow::FloatArray>(array, ordinal, target.rows, row_at, slot);
        break;
      case Kind::kDouble:
        if (!normalize_floats_) return CopyValues<arrow::DoubleArray>(array, ordinal, target.rows, row_at, slot);
        break;
      default:
        break;
    }
    for (int64_t i = 0; i < target.rows; ++i) {
      uint8_t* row = row_at(i);
      if (row == nullptr) continue;
      if (type.kind() == Kind::kVoid || array.IsNull(i)) {
        SetNullBit(row, ordinal);
      } else {
        value_writer_.WriteFixed(type, array, i, row + slot);
      }
    }
  }

  template <typename ArrayType, typename RowAt>
  static void CopyValues(const arrow::Array& array, int ordinal, int64_t rows, RowAt row_at, int slot) {
    const auto* values = static_cast<const ArrayType&>(array).raw_values();
    const bool nulls = array.null_count() > 0;
    for (int64_t i = 0; i < rows; ++i) {
      uint8_t* row = row_at(i);
      if (row == nullptr) continue;
      if (nulls && array.IsNull(i)) {
        SetNullBit(row, ordinal);
      } else {
        Store(row + slot, values[i]);
      }
    }
  }

  static void WriteBinary(const arrow::BinaryArray& array, int ordinal, int slot, const Target& target) {
    const bool nulls = array.null_count() > 0;
    const int32_t* offsets = array.raw_value_offsets();
    const uint8_t* data = array.raw_data();
    for (int64_t i = 0; i < target.rows; ++i) {
      uint8_t* row = target.row(i);
      if (nulls && array.IsNull(i)) {
        SetNullBit(row, ordinal);
        continue;
      }
      const auto bytes = static_cast<uint32_t>(offsets[i + 1] - offsets[i]);
      const uint32_t cursor = target.cursors[i];
      StoreExtent(row + slot, {cursor, bytes});
      if (bytes > 0) std::memcpy(row + cursor, data + offsets[i], bytes);
      target.cursors[i] = cursor + static_cast<uint32_t>(PadTo8(bytes));
    }
  }

  void WriteFixedStruct(const DataType& type, const arrow::StructArray& array, int ordinal, int slot, const Target& target) {
    const int fields = static_cast<int>(type.fields().size());
    const auto bytes = static_cast<uint32_t>(FixedBytes(fields));
    nested_.resize(static_cast<size_t>(target.rows));
    for (int64_t i = 0; i < target.rows; ++i) {
      uint8_t* row = target.row(i);
      if (array.IsNull(i)) {
        SetNullBit(row, ordinal);
        nested_[i] = nullptr;
        continue;
      }
      StoreExtent(row + slot, {target.cursors[i], bytes});
      nested_[i] = row + target.cursors[i];
      target.cursors[i] += bytes;
    }
    for (int f = 0; f < fields; ++f) {
      WriteFixed(
          *type.fields()[f].type, *array.field(f), f, target, [&](int64_t i) { return nested_[i]; }, NullBytes(fields) + 8 * f);
    }
  }

  void WriteVariable(const DataType& type, const arrow::Array& array, int ordinal, int slot, const Target& target) {
    const bool wide_decimal = IsWideDecimal(type);
    for (int64_t i = 0; i < target.rows; ++i) {
      uint8_t* row = target.row(i);
      const bool null = array.IsNull(i);
      if (null) SetNullBit(row, ordinal);
      // A null wide decimal keeps its place, so that a later update can be made in place.
      if (null && !wide_decimal) continue;
      const uint32_t cursor = target.cursors[i];
      const uint32_t bytes = null ? 0 : value_writer_.WriteVariable(type, array, i, row + cursor);
      StoreExtent(row + slot, {cursor, bytes});
      target.cursors[i] = cursor + (wide_decimal ? kWideDecimalBytes : static_cast<uint32_t>(PadTo8(bytes)));
    }
  }

  const type::Schema schema_;
  const bool normalize_floats_;
  const ValueWriter value_writer_;
  // Kept between batches, so that a batch allocates nothing once it has seen one of its size.
  std::vector<uint32_t> sizes_;
  std::vector<uint32_t> cursors_;
  std::vector<uint8_t*> nested_;
};

}  // namespace

Result<std::unique_ptr<RowEncoder>> RowEncoder::Make(const type::Schema& schema, bool normalize_floats) {
  return std::make_unique<ColumnEncoder>(schema, normalize_floats);
}

}  // namespace tidemill::row
