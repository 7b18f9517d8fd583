#include <arrow/array/array_binary.h>
#include <arrow/array/array_decimal.h>
#include <arrow/array/array_nested.h>
#include <arrow/array/array_primitive.h>

#include <bit>
#include <cmath>

#include "base/check.h"
#include "row/decimal_internal.h"
#include "row/layout_internal.h"
#include "row/unsafe_row.h"
#include "row/value_writer_internal.h"

namespace tidemill::row {
namespace {

using type::DataType;
using type::Kind;

uint64_t RowBytes(const DataType& type, const arrow::StructArray& array, int64_t i) {
  uint64_t bytes = static_cast<uint64_t>(FixedBytes(static_cast<int>(type.fields().size())));
  for (int f = 0; f < static_cast<int>(type.fields().size()); ++f) {
    bytes += ValueWriter::VariableBytes(*type.fields()[f].type, *array.field(f), i);
  }
  return bytes;
}

/// In an array a wide decimal takes what its digits need, a null nothing.
uint64_t ElementVariableBytes(const DataType& type, const arrow::Array& array, int64_t i) {
  if (array.IsNull(i)) return 0;
  if (!IsWideDecimal(type)) return ValueWriter::VariableBytes(type, array, i);
  uint8_t scratch[kWideDecimalBytes];
  const arrow::Decimal128 value(static_cast<const arrow::Decimal128Array&>(array).GetValue(i));
  return PadTo8(static_cast<uint64_t>(MinimalBigEndian(value, scratch)));
}

uint64_t ElementsBytes(const DataType& element, const arrow::Array& values, int64_t begin, int64_t end) {
  const auto n = static_cast<uint64_t>(end - begin);
  uint64_t bytes = ArrayHeaderBytes(n) + PadTo8(n * static_cast<uint64_t>(ElementWidth(element)));
  if (!IsVariable(element)) return bytes;
  for (int64_t i = begin; i < end; ++i) bytes += ElementVariableBytes(element, values, i);
  return bytes;
}

template <typename ArrayType>
auto Get(const arrow::Array& array, int64_t i) {
  return static_cast<const ArrayType&>(array).Value(i);
}

}  // namespace

float NormalFloat(float value) {
  if (value == 0.0f) return 0.0f;
  return std::isnan(value) ? std::bit_cast<float>(0x7fc00000) : value;
}

double NormalDouble(double value) {
  if (value == 0.0) return 0.0;
  return std::isnan(value) ? std::bit_cast<double>(0x7ff8000000000000LL) : value;
}

uint64_t ValueWriter::VariableBytes(const DataType& type, const arrow::Array& array, int64_t i) {
  if (IsWideDecimal(type)) return kWideDecimalBytes;
  if (!IsVariable(type) || array.IsNull(i)) return 0;
  switch (type.kind()) {
    case Kind::kStruct:
      return RowBytes(type, static_cast<const arrow::StructArray&>(array), i);
    case Kind::kArray: {
      const auto& list = static_cast<const arrow::ListArray&>(array);
      return ElementsBytes(*type.element(), *list.values(), list.value_offset(i), list.value_offset(i + 1));
    }
    case Kind::kMap: {
      const auto& map = static_cast<const arrow::MapArray&>(array);
      const int64_t begin = map.value_offset(i);
      const int64_t end = map.value_offset(i + 1);
      return 8 + ElementsBytes(*type.key(), *map.keys(), begin, end) + ElementsBytes(*type.element(), *map.items(), begin, end);
    }
    default:
      return PadTo8(static_cast<const arrow::BinaryArray&>(array).GetView(i).size());
  }
}

uint32_t ValueWriter::WriteVariable(const DataType& type, const arrow::Array& array, int64_t i, uint8_t* at) const {
  switch (type.kind()) {
    case Kind::kStruct:
      return WriteRow(type, static_cast<const arrow::StructArray&>(array), i, at);
    case Kind::kArray: {
      const auto& list = static_cast<const arrow::ListArray&>(array);
      return WriteElements(*type.element(), *list.values(), list.value_offset(i), list.value_offset(i + 1), at);
    }
    case Kind::kMap: {
      const auto& map = static_cast<const arrow::MapArray&>(array);
      const int64_t begin = map.value_offset(i);
      const int64_t end = map.value_offset(i + 1);
      const uint32_t key_bytes = WriteElements(*type.key(), *map.keys(), begin, end, at + 8);
      Store<int64_t>(at, key_bytes);
      return 8 + key_bytes + WriteElements(*type.element(), *map.items(), begin, end, at + 8 + key_bytes);
    }
    case Kind::kDecimal:
      return static_cast<uint32_t>(MinimalBigEndian(arrow::Decimal128(static_cast<const arrow::Decimal128Array&>(array).GetValue(i)), at));
    default: {
      const std::string_view bytes = static_cast<const arrow::BinaryArray&>(array).GetView(i);
      if (!bytes.empty()) std::memcpy(at, bytes.data(), bytes.size());
      return static_cast<uint32_t>(bytes.size());
    }
  }
}

void ValueWriter::WriteFixed(const DataType& type, const arrow::Array& array, int64_t i, uint8_t* slot) const {
  switch (type.kind()) {
    case Kind::kBoolean:
      return Store<uint8_t>(slot, Get<arrow::BooleanArray>(array, i) ? 1 : 0);
    case Kind::kByte:
      return Store(slot, Get<arrow::Int8Array>(array, i));
    case Kind::kShort:
      return Store(slot, Get<arrow::Int16Array>(array, i));
    case Kind::kInt:
    case Kind::kYearMonthInterval:
      return Store(slot, Get<arrow::Int32Array>(array, i));
    case Kind::kDate:
      return Store(slot, Get<arrow::Date32Array>(array, i));
    case Kind::kLong:
      return Store(slot, Get<arrow::Int64Array>(array, i));
    case Kind::kTimestamp:
    case Kind::kTimestampNtz:
      return Store(slot, Get<arrow::TimestampArray>(array, i));
    case Kind::kDayTimeInterval:
      return Store(slot, Get<arrow::DurationArray>(array, i));
    case Kind::kFloat: {
      const float value = Get<arrow::FloatArray>(array, i);
      return Store(slot, normalize_floats_ ? NormalFloat(value) : value);
    }
    case Kind::kDouble: {
      const double value = Get<arrow::DoubleArray>(array, i);
      return Store(slot, normalize_floats_ ? NormalDouble(value) : value);
    }
    case Kind::kDecimal: {
      const arrow::Decimal128 value(static_cast<const arrow::Decimal128Array&>(array).GetValue(i));
      return Store(slot, value.low_bits());
    }
    default:
      TIDEMILL_CHECK(false && "a type without fixed-width bits");
  }
}

uint32_t ValueWriter::WriteRow(const DataType& type, const arrow::StructArray& array, int64_t i, uint8_t* at) const {
  const int fields = static_cast<int>(type.fields().size());
  uint32_t cursor = static_cast<uint32_t>(FixedBytes(fields));
  for (int f = 0; f < fields; ++f) {
    const DataType& field_type = *type.fields()[f].type;
    const auto& child = array.field(f);
    uint8_t* slot = at + NullBytes(fields) + 8 * f;
    const bool null = field_type.kind() == Kind::kVoid || child->IsNull(i);
    if (null) SetNullBit(at, f);
    if (!IsVariable(field_type)) {
      if (!null) WriteFixed(field_type, *child, i, slot);
      continue;
    }
    if (null && !IsWideDecimal(field_type)) continue;
    const uint32_t bytes = null ? 0 : WriteVariable(field_type, *child, i, at + cursor);
    StoreExtent(slot, {cursor, bytes});
    cursor += IsWideDecimal(field_type) ? kWideDecimalBytes : static_cast<uint32_t>(PadTo8(bytes));
  }
  return cursor;
}

uint32_t ValueWriter::WriteElements(const DataType& element, const arrow::Array& values, int64_t begin, int64_t end, uint8_t* at) const {
  const auto n = static_cast<uint64_t>(end - begin);
  const int width = ElementWidth(element);
  Store<uint64_t>(at, n);
  uint8_t* slots = at + ArrayHeaderBytes(n);
  auto cursor = static_cast<uint32_t>(ArrayHeaderBytes(n) + PadTo8(n * static_cast<uint64_t>(width)));
  for (int64_t i = begin; i < end; ++i) {
    uint8_t* slot = slots + (i - begin) * width;
    if (element.kind() == Kind::kVoid || values.IsNull(i)) {
      SetNullBit(at + 8, i - begin);
    } else if (IsVariable(element)) {
      const uint32_t bytes = WriteVariable(element, values, i, at + cursor);
      StoreExtent(slot, {cursor, bytes});
      cursor += static_cast<uint32_t>(PadTo8(bytes));
    } else {
      WriteFixed(element, values, i, slot);
    }
  }
  return cursor;
}

}  // namespace tidemill::row
