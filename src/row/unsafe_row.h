#pragma once

// Spark's UnsafeRow: [null words][8-byte slot a field][variable part], little-endian, a multiple of 8 bytes. Layout:
// docs/formats/unsafe-row.md.
//
// A codec is made once for a schema and works a batch at a time. What it writes is canonical (padding and null slots zeroed), because
// keys are compared by bytes.

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "type/data_type.h"

namespace tidemill::row {

/// Rows one after another. Row i is bytes [offsets[i], offsets[i+1]).
struct RowBatch {
  std::vector<uint8_t> bytes;     // capacity is kept between batches
  std::vector<uint32_t> offsets;  // size() + 1 entries
  int64_t size() const { return offsets.empty() ? 0 : static_cast<int64_t>(offsets.size()) - 1; }
  std::string_view row(int64_t i) const { return {reinterpret_cast<const char*>(bytes.data()) + offsets[i], offsets[i + 1] - offsets[i]}; }
};

/// Bytes of the null words of a row of `fields` columns.
constexpr int NullBytes(int fields) { return (fields + 63) / 64 * 8; }
/// Bytes of null words and slots.
constexpr int FixedBytes(int fields) { return NullBytes(fields) + 8 * fields; }

/// Arrow columns to rows.
class RowEncoder {
 public:
  /// `normalize_floats`: −0.0 becomes 0.0 and every NaN one NaN, as grouping keys require.
  static Result<std::unique_ptr<RowEncoder>> Make(const type::Schema& schema, bool normalize_floats);
  virtual ~RowEncoder() = default;
  /// Replace the content of `out` with one row per row of `columns` (arrays of equal length, types as Schema::ToArrow()).
  virtual Status Encode(std::span<const std::shared_ptr<arrow::Array>> columns, int64_t rows, RowBatch* out) = 0;
};

/// Rows to Arrow columns.
class RowDecoder {
 public:
  static Result<std::unique_ptr<RowDecoder>> Make(const type::Schema& schema, arrow::MemoryPool* pool);
  virtual ~RowDecoder() = default;
  /// Append one row. Errors: Invalid on lengths or offsets that leave the row (never reads outside it).
  virtual Status Append(std::string_view row) = 0;
  /// The rows appended since the last Finish(), as columns.
  virtual Result<std::vector<std::shared_ptr<arrow::Array>>> Finish() = 0;
  /// Rows that are known to be valid (encoded here, or checked when they were read) as columns, without a copy of them.
  virtual Result<std::vector<std::shared_ptr<arrow::Array>>> DecodeValid(std::span<const std::string_view> rows) = 0;
};

/// Does `row` have the shape of `schema` (length, offsets inside, null bits)? Cheap; used on the first row read of a store.
Status ValidateRow(const type::Schema& schema, std::string_view row);

}  // namespace tidemill::row
