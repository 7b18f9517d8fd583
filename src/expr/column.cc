#include <arrow/array/util.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

#include <cstring>

#include "expr/column.h"

namespace tidemill::expr {

Result<std::shared_ptr<arrow::Buffer>> AllocateValues(int64_t bytes) {
  ARROW_ASSIGN_OR_RAISE(std::unique_ptr<arrow::Buffer> buffer, arrow::AllocateBuffer(bytes));
  return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

Result<std::shared_ptr<arrow::Buffer>> AllocateBits(int64_t rows) {
  // Whole words, so that loops may store 64 bits at once.
  const int64_t bytes = (rows + 63) / 64 * 8;
  ARROW_ASSIGN_OR_RAISE(auto buffer, AllocateValues(bytes));
  std::memset(buffer->mutable_data(), 0, static_cast<size_t>(bytes));
  return buffer;
}

Result<Validity> IntersectValidity(std::span<const Column> arguments, int64_t rows) {
  Validity result;
  for (const Column& column : arguments) {
    if (column.array->null_count() == 0) continue;
    if (column.constant || column.array->type_id() == arrow::Type::NA) {
      ARROW_ASSIGN_OR_RAISE(result.bitmap, AllocateBits(rows));
      result.null_count = rows;
      return result;
    }
    const uint8_t* bits = column.array->null_bitmap_data();
    const int64_t offset = column.array->offset();
    if (result.bitmap == nullptr) {
      ARROW_ASSIGN_OR_RAISE(result.bitmap, arrow::internal::CopyBitmap(arrow::default_memory_pool(), bits, offset, rows));
    } else {
      ARROW_ASSIGN_OR_RAISE(result.bitmap,
                            arrow::internal::BitmapAnd(arrow::default_memory_pool(), result.bitmap->data(), 0, bits, offset, rows, 0));
    }
  }
  if (result.bitmap != nullptr) result.null_count = rows - arrow::internal::CountSetBits(result.bitmap->data(), 0, rows);
  return result;
}

ArrayPtr MakeFixed(const std::shared_ptr<arrow::DataType>& type, int64_t rows, std::shared_ptr<arrow::Buffer> values,
                   const Validity& validity) {
  return arrow::MakeArray(
      arrow::ArrayData::Make(type, rows, {validity.null_count == 0 ? nullptr : validity.bitmap, std::move(values)}, validity.null_count));
}

Result<ArrayPtr> AllNull(const std::shared_ptr<arrow::DataType>& type, int64_t rows) { return arrow::MakeArrayOfNull(type, rows); }

std::vector<uint64_t> LoadWords(const uint8_t* bits, int64_t offset, int64_t length) {
  std::vector<uint64_t> words(static_cast<size_t>((length + 63) / 64), ~uint64_t{0});
  if (bits != nullptr && length > 0) {
    std::fill(words.begin(), words.end(), 0);
    arrow::internal::CopyBitmap(bits, offset, length, reinterpret_cast<uint8_t*>(words.data()), 0);
  }
  if (length % 64 != 0) words.back() &= (uint64_t{1} << (length % 64)) - 1;
  return words;
}

BooleanWords LoadBooleans(const Column& column, int64_t rows) {
  const arrow::Array& array = *column.array;
  BooleanWords words;
  if (array.type_id() == arrow::Type::NA || (column.constant && array.IsNull(0))) {
    words.values.assign(static_cast<size_t>((rows + 63) / 64), 0);
    words.valid = words.values;
    return words;
  }
  words.valid = LoadWords(array.null_count() == 0 || column.constant ? nullptr : array.null_bitmap_data(), array.offset(), rows);
  if (!column.constant) {
    words.values = LoadWords(array.data()->buffers[1]->data(), array.offset(), rows);
  } else if (static_cast<const arrow::BooleanArray&>(array).Value(0)) {
    words.values = words.valid;
  } else {
    words.values.assign(words.valid.size(), 0);
  }
  return words;
}

Result<ArrayPtr> StoreBooleans(const std::vector<uint64_t>& values, const std::vector<uint64_t>& valid, int64_t rows) {
  ARROW_ASSIGN_OR_RAISE(auto value_bits, AllocateBits(rows));
  std::memcpy(value_bits->mutable_data(), values.data(), values.size() * sizeof(uint64_t));
  const int64_t valid_count = arrow::internal::CountSetBits(reinterpret_cast<const uint8_t*>(valid.data()), 0, rows);
  Validity validity;
  if (valid_count < rows) {
    ARROW_ASSIGN_OR_RAISE(validity.bitmap, AllocateBits(rows));
    std::memcpy(validity.bitmap->mutable_data(), valid.data(), valid.size() * sizeof(uint64_t));
    validity.null_count = rows - valid_count;
  }
  return MakeFixed(arrow::boolean(), rows, std::move(value_bits), validity);
}

}  // namespace tidemill::expr
