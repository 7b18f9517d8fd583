#include <arrow/array/array_nested.h>
#include <arrow/array/builder_binary.h>
#include <arrow/array/builder_decimal.h>
#include <arrow/array/builder_primitive.h>
#include <arrow/array/builder_time.h>
#include <arrow/array/util.h>
#include <arrow/buffer_builder.h>
#include <arrow/memory_pool.h>
#include <arrow/util/bitmap_ops.h>

#include <limits>

#include "row/decimal_internal.h"
#include "row/layout_internal.h"
#include "row/unsafe_row.h"

namespace tidemill::row {
namespace {

using arrow::Array;
using type::DataType;
using type::Kind;
using ArrayPtr = std::shared_ptr<Array>;

/// One value inside validated bytes: its slot, and what its extent counts from. A null value has no slot.
struct Cell {
  const uint8_t* base = nullptr;
  const uint8_t* slot = nullptr;
};
using Cells = std::vector<Cell>;

const uint8_t* VariableAt(const Cell& cell) { return cell.base + LoadExtent(cell.slot).offset; }

/// The cells of field `ordinal` of rows that begin at `rows` (nullptr: the row itself is null).
void FieldCells(std::span<const uint8_t* const> rows, int fields, int ordinal, Cells* out) {
  out->resize(rows.size());
  const int slot = NullBytes(fields) + 8 * ordinal;
  for (size_t i = 0; i < rows.size(); ++i) {
    const uint8_t* row = rows[i];
    const bool null = row == nullptr || IsNullBit(row, ordinal);
    (*out)[i] = {row, null ? nullptr : row + slot};
  }
}

/// Append the cells of an array that begins at `array`.
void ElementCells(const DataType& element, const uint8_t* array, Cells* out) {
  const int64_t n = Load<int64_t>(array);
  const uint8_t* slots = array + ArrayHeaderBytes(static_cast<uint64_t>(n));
  const int width = ElementWidth(element);
  for (int64_t i = 0; i < n; ++i) {
    out->push_back({array, IsNullBit(array + 8, i) ? nullptr : slots + i * width});
  }
}

class Columns {
 public:
  explicit Columns(arrow::MemoryPool* pool) : pool_(pool) {}

  Result<ArrayPtr> Decode(const DataType& type, std::span<const Cell> cells) const {
    switch (type.kind()) {
      case Kind::kVoid:
        return arrow::MakeArrayOfNull(type.ToArrow(), static_cast<int64_t>(cells.size()), pool_);
      case Kind::kBoolean:
        return Primitive<arrow::BooleanBuilder>(type, cells, [](const Cell& cell) { return *cell.slot != 0; });
      case Kind::kByte:
        return Fixed<arrow::Int8Builder, int8_t>(type, cells);
      case Kind::kShort:
        return Fixed<arrow::Int16Builder, int16_t>(type, cells);
      case Kind::kInt:
      case Kind::kYearMonthInterval:
        return Fixed<arrow::Int32Builder, int32_t>(type, cells);
      case Kind::kDate:
        return Fixed<arrow::Date32Builder, int32_t>(type, cells);
      case Kind::kLong:
        return Fixed<arrow::Int64Builder, int64_t>(type, cells);
      case Kind::kTimestamp:
      case Kind::kTimestampNtz:
        return Fixed<arrow::TimestampBuilder, int64_t>(type, cells);
      case Kind::kDayTimeInterval:
        return Fixed<arrow::DurationBuilder, int64_t>(type, cells);
      case Kind::kFloat:
        return Fixed<arrow::FloatBuilder, float>(type, cells);
      case Kind::kDouble:
        return Fixed<arrow::DoubleBuilder, double>(type, cells);
      case Kind::kDecimal:
        return Decimals(type, cells);
      case Kind::kString:
      case Kind::kBinary:
        return Bytes(type, cells);
      case Kind::kStruct:
        return Struct(type, cells);
      case Kind::kArray:
      case Kind::kMap:
        return ListOrMap(type, cells);
    }
    return InternalError("no decoder for type {}", type.ToString());
  }

 private:
  template <typename Builder, typename Read>
  Result<ArrayPtr> Primitive(const DataType& type, std::span<const Cell> cells, Read read) const {
    Builder builder(type.ToArrow(), pool_);
    ARROW_RETURN_NOT_OK(builder.Reserve(static_cast<int64_t>(cells.size())));
    for (const Cell& cell : cells) {
      if (cell.slot == nullptr) {
        builder.UnsafeAppendNull();
      } else {
        builder.UnsafeAppend(read(cell));
      }
    }
    return builder.Finish();
  }

  template <typename Builder, typename T>
  Result<ArrayPtr> Fixed(const DataType& type, std::span<const Cell> cells) const {
    return Primitive<Builder>(type, cells, [](const Cell& cell) { return Load<T>(cell.slot); });
  }

  Result<ArrayPtr> Decimals(const DataType& type, std::span<const Cell> cells) const {
    if (!IsWideDecimal(type)) {
      return Primitive<arrow::Decimal128Builder>(type, cells, [](const Cell& cell) { return arrow::Decimal128(Load<int64_t>(cell.slot)); });
    }
    return Primitive<arrow::Decimal128Builder>(
        type, cells, [](const Cell& cell) { return FromBigEndian(VariableAt(cell), static_cast<int>(LoadExtent(cell.slot).bytes)); });
  }

  Result<ArrayPtr> Bytes(const DataType& type, std::span<const Cell> cells) const {
    arrow::BinaryBuilder builder(pool_);
    int64_t total = 0;
    for (const Cell& cell : cells) total += cell.slot == nullptr ? 0 : LoadExtent(cell.slot).bytes;
    ARROW_RETURN_NOT_OK(builder.Reserve(static_cast<int64_t>(cells.size())));
    ARROW_RETURN_NOT_OK(builder.ReserveData(total));
    for (const Cell& cell : cells) {
      if (cell.slot == nullptr) {
        builder.UnsafeAppendNull();
      } else {
        builder.UnsafeAppend(VariableAt(cell), static_cast<int32_t>(LoadExtent(cell.slot).bytes));
      }
    }
    ARROW_ASSIGN_OR_RAISE(ArrayPtr array, builder.Finish());
    return array->View(type.ToArrow());
  }

  /// The bitmap of `cells`, or nullptr without nulls.
  Result<std::shared_ptr<arrow::Buffer>> Validity(std::span<const Cell> cells, int64_t* null_count) const {
    arrow::TypedBufferBuilder<bool> builder(pool_);
    ARROW_RETURN_NOT_OK(builder.Reserve(static_cast<int64_t>(cells.size())));
    *null_count = 0;
    for (const Cell& cell : cells) {
      builder.UnsafeAppend(cell.slot != nullptr);
      *null_count += cell.slot == nullptr;
    }
    if (*null_count == 0) return nullptr;
    return builder.Finish();
  }

  Result<ArrayPtr> Struct(const DataType& type, std::span<const Cell> cells) const {
    std::vector<const uint8_t*> rows(cells.size());
    for (size_t i = 0; i < cells.size(); ++i) rows[i] = cells[i].slot == nullptr ? nullptr : VariableAt(cells[i]);
    const int fields = static_cast<int>(type.fields().size());
    std::vector<ArrayPtr> children;
    Cells field_cells;
    for (int f = 0; f < fields; ++f) {
      FieldCells(rows, fields, f, &field_cells);
      ARROW_ASSIGN_OR_RAISE(ArrayPtr child, Decode(*type.fields()[f].type, field_cells));
      children.push_back(std::move(child));
    }
    int64_t null_count = 0;
    ARROW_ASSIGN_OR_RAISE(auto validity, Validity(cells, &null_count));
    return std::make_shared<arrow::StructArray>(type.ToArrow(), static_cast<int64_t>(cells.size()), std::move(children),
                                                std::move(validity), null_count);
  }

  Result<ArrayPtr> ListOrMap(const DataType& type, std::span<const Cell> cells) const {
    const bool is_map = type.kind() == Kind::kMap;
    Cells keys;
    Cells elements;
    arrow::TypedBufferBuilder<int32_t> offsets(pool_);
    ARROW_RETURN_NOT_OK(offsets.Append(0));
    for (const Cell& cell : cells) {
      if (cell.slot != nullptr) {
        const uint8_t* at = VariableAt(cell);
        if (is_map) {
          ElementCells(*type.key(), at + 8, &keys);
          at += 8 + Load<int64_t>(at);
        }
        ElementCells(*type.element(), at, &elements);
      }
      if (elements.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
        return Status::CapacityError("more than 2^31 array elements in one batch of rows");
      }
      ARROW_RETURN_NOT_OK(offsets.Append(static_cast<int32_t>(elements.size())));
    }
    const auto length = static_cast<int64_t>(cells.size());
    int64_t null_count = 0;
    ARROW_ASSIGN_OR_RAISE(auto validity, Validity(cells, &null_count));
    ARROW_ASSIGN_OR_RAISE(auto offset_buffer, offsets.Finish());
    ARROW_ASSIGN_OR_RAISE(ArrayPtr items, Decode(*type.element(), elements));
    if (!is_map) return std::make_shared<arrow::ListArray>(type.ToArrow(), length, offset_buffer, items, validity, null_count);
    ARROW_ASSIGN_OR_RAISE(ArrayPtr key_array, Decode(*type.key(), keys));
    return std::make_shared<arrow::MapArray>(type.ToArrow(), length, offset_buffer, key_array, items, validity, null_count);
  }

  arrow::MemoryPool* pool_;
};

/// Copies rows as they come and decodes them column by column at the end.
class ColumnDecoder final : public RowDecoder {
 public:
  ColumnDecoder(type::Schema schema, arrow::MemoryPool* pool) : schema_(std::move(schema)), columns_(pool) {}

  Status Append(std::string_view row) override {
    ARROW_RETURN_NOT_OK(ValidateRow(schema_, row));
    begins_.push_back(bytes_.size());
    bytes_.insert(bytes_.end(), row.begin(), row.end());
    return Status::OK();
  }

  Result<std::vector<ArrayPtr>> Finish() override {
    rows_.resize(begins_.size());
    const uint8_t* bytes = bytes_.empty() ? &kEmptyRow : bytes_.data();
    for (size_t i = 0; i < rows_.size(); ++i) rows_[i] = bytes + begins_[i];
    auto arrays = DecodeRows();
    bytes_.clear();
    begins_.clear();
    return arrays;
  }

  Result<std::vector<ArrayPtr>> DecodeValid(std::span<const std::string_view> rows) override {
    rows_.resize(rows.size());
    for (size_t i = 0; i < rows.size(); ++i) rows_[i] = rows[i].empty() ? &kEmptyRow : reinterpret_cast<const uint8_t*>(rows[i].data());
    return DecodeRows();
  }

 private:
  // A row without columns has no bytes, and still is a row: never nullptr.
  static constexpr uint8_t kEmptyRow = 0;

  Result<std::vector<ArrayPtr>> DecodeRows() const {
    std::vector<ArrayPtr> arrays;
    Cells cells;
    for (int f = 0; f < schema_.size(); ++f) {
      FieldCells(rows_, schema_.size(), f, &cells);
      ARROW_ASSIGN_OR_RAISE(ArrayPtr array, columns_.Decode(*schema_.fields[f].type, cells));
      arrays.push_back(std::move(array));
    }
    return arrays;
  }

  const type::Schema schema_;
  const Columns columns_;
  std::vector<uint8_t> bytes_;
  std::vector<size_t> begins_;
  std::vector<const uint8_t*> rows_;  // of the call at hand
};

}  // namespace

Result<std::unique_ptr<RowDecoder>> RowDecoder::Make(const type::Schema& schema, arrow::MemoryPool* pool) {
  return std::make_unique<ColumnDecoder>(schema, pool);
}

}  // namespace tidemill::row
