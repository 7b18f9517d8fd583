#include "row/layout_internal.h"
#include "row/unsafe_row.h"

namespace tidemill::row {
namespace {

using type::DataType;
using type::Kind;

Status Bad(std::string what) { return Status::Invalid("not a row of the schema: ", what); }

Status ValidateFields(const std::vector<type::Field>& fields, const uint8_t* row, uint64_t bytes);
Status ValidateElements(const DataType& element, const uint8_t* array, uint64_t bytes, uint64_t* count);

Status ValidateMap(const DataType& type, const uint8_t* map, uint64_t bytes) {
  if (bytes < 8) return Bad("a map ends inside its header");
  const auto key_bytes = Load<uint64_t>(map);
  if (key_bytes > bytes - 8 || key_bytes % 8 != 0) return Bad("the keys of a map leave it");
  uint64_t keys = 0;
  uint64_t items = 0;
  ARROW_RETURN_NOT_OK(ValidateElements(*type.key(), map + 8, key_bytes, &keys));
  for (uint64_t i = 0; i < keys; ++i) {
    if (IsNullBit(map + 16, static_cast<int64_t>(i))) return Bad("a map has a null key");
  }
  ARROW_RETURN_NOT_OK(ValidateElements(*type.element(), map + 8 + key_bytes, bytes - 8 - key_bytes, &items));
  return keys == items ? Status::OK() : Bad("a map has more keys than values, or fewer");
}

/// The variable part of a valid value, `bytes` long without padding.
Status ValidateVariable(const DataType& type, const uint8_t* at, uint64_t bytes) {
  uint64_t count = 0;
  switch (type.kind()) {
    case Kind::kStruct:
      return ValidateFields(type.fields(), at, bytes);
    case Kind::kArray:
      return ValidateElements(*type.element(), at, bytes, &count);
    case Kind::kMap:
      return ValidateMap(type, at, bytes);
    case Kind::kDecimal:
      return bytes >= 1 && bytes <= kWideDecimalBytes ? Status::OK() : Bad("a decimal of more than 16 bytes or of none");
    default:
      return Status::OK();
  }
}

Status ValidateExtent(const DataType& type, const uint8_t* base, uint64_t fixed, uint64_t bytes, const uint8_t* slot) {
  const Extent extent = LoadExtent(slot);
  if (extent.offset < fixed || extent.offset > bytes || extent.bytes > bytes - extent.offset) {
    return Bad("a value leaves the row");
  }
  return ValidateVariable(type, base + extent.offset, extent.bytes);
}

Status ValidateFields(const std::vector<type::Field>& fields, const uint8_t* row, uint64_t bytes) {
  const int n = static_cast<int>(fields.size());
  const auto fixed = static_cast<uint64_t>(FixedBytes(n));
  if (bytes < fixed) return Bad(fmt::format("{} bytes, {} columns need {}", bytes, n, fixed));
  if (bytes % 8 != 0) return Bad(fmt::format("its length {} is not a multiple of 8", bytes));
  if (n % 64 != 0 && Load<uint64_t>(row + NullBytes(n) - 8) >> (n % 64) != 0) return Bad("null bits of columns it does not have");
  for (int i = 0; i < n; ++i) {
    const uint8_t* slot = row + NullBytes(n) + 8 * i;
    const DataType& type = *fields[i].type;
    if (IsNullBit(row, i)) continue;
    if (IsVariable(type)) {
      ARROW_RETURN_NOT_OK(ValidateExtent(type, row, fixed, bytes, slot));
    } else if (const int width = ValueWidth(type); width < 8 && Load<uint64_t>(slot) >> (8 * width) != 0) {
      return Bad(fmt::format("column {} holds more than a {}", i, type.ToString()));
    }
  }
  return Status::OK();
}

Status ValidateElements(const DataType& element, const uint8_t* array, uint64_t bytes, uint64_t* count) {
  if (bytes < 8) return Bad("an array ends inside its count");
  const auto n = Load<uint64_t>(array);
  // Every element costs at least one byte, so a count above the bytes is a lie, and the sums below cannot wrap.
  if (n > bytes) return Bad("an array claims more elements than it has bytes");
  const auto width = static_cast<uint64_t>(ElementWidth(element));
  const uint64_t fixed = ArrayHeaderBytes(n) + PadTo8(n * width);
  if (fixed > bytes) return Bad("an array ends inside its elements");
  *count = n;
  if (!IsVariable(element)) return Status::OK();
  for (uint64_t i = 0; i < n; ++i) {
    if (IsNullBit(array + 8, static_cast<int64_t>(i))) continue;
    ARROW_RETURN_NOT_OK(ValidateExtent(element, array, fixed, bytes, array + ArrayHeaderBytes(n) + i * width));
  }
  return Status::OK();
}

}  // namespace

Status ValidateRow(const type::Schema& schema, std::string_view row) {
  return ValidateFields(schema.fields, reinterpret_cast<const uint8_t*>(row.data()), row.size());
}

}  // namespace tidemill::row
