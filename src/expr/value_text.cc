// One value of an array as text, as CAST(… AS STRING) shows it.

#include <arrow/array.h>

#include "expr/civil_time.h"
#include "expr/value_text.h"
#include "expr/number_text.h"
#include "expr/timestamp.h"

namespace tidemill::expr {

namespace {

using type::Kind;

template <typename T>
T Raw(const arrow::Array& array, int64_t row) {
  return array.data()->GetValues<T>(1)[row];
}

// Bytes in brackets, "[61 62]", as show() prints binary.
void AppendBytes(std::string_view bytes, std::string* out) {
  constexpr char kHex[] = "0123456789ABCDEF";
  *out += '[';
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0) *out += ' ';
    const auto byte = static_cast<unsigned char>(bytes[i]);
    *out += kHex[byte >> 4];
    *out += kHex[byte & 15];
  }
  *out += ']';
}

std::string DayTimeText(int64_t micros) {
  // As unsigned, so that the most negative interval has an absolute value.
  const uint64_t magnitude = micros < 0 ? 0 - static_cast<uint64_t>(micros) : static_cast<uint64_t>(micros);
  const uint64_t seconds = magnitude / 1'000'000;
  std::string text = fmt::format("INTERVAL '{}{} {:02}:{:02}:{:02}", micros < 0 ? "-" : "", seconds / 86'400, seconds / 3600 % 24,
                                 seconds / 60 % 60, seconds % 60);
  if (magnitude % 1'000'000 != 0) {
    text += fmt::format(".{:06}", magnitude % 1'000'000);
    while (text.back() == '0') text.pop_back();
  }
  return text + "' DAY TO SECOND";
}

std::string YearMonthText(int32_t months) {
  const int64_t magnitude = months < 0 ? -static_cast<int64_t>(months) : months;
  return fmt::format("INTERVAL '{}{}-{}' YEAR TO MONTH", months < 0 ? "-" : "", magnitude / 12, magnitude % 12);
}

Status AppendNested(const arrow::Array& array, int64_t row, const type::DataType& type, ZoneRules& zone, std::string* out) {
  if (array.IsNull(row)) {
    *out += "null";
    return Status::OK();
  }
  return AppendValue(array, row, type, zone, out);
}

Status AppendStruct(const arrow::StructArray& array, int64_t row, const type::DataType& type, ZoneRules& zone, std::string* out) {
  *out += '{';
  for (size_t i = 0; i < type.fields().size(); ++i) {
    if (i > 0) *out += ", ";
    ARROW_RETURN_NOT_OK(AppendNested(*array.field(static_cast<int>(i)), row, *type.fields()[i].type, zone, out));
  }
  *out += '}';
  return Status::OK();
}

Status AppendList(const arrow::ListArray& array, int64_t row, const type::DataType& type, ZoneRules& zone, std::string* out) {
  *out += '[';
  for (int64_t at = array.value_offset(row); at < array.value_offset(row) + array.value_length(row); ++at) {
    if (at > array.value_offset(row)) *out += ", ";
    ARROW_RETURN_NOT_OK(AppendNested(*array.values(), at, *type.element(), zone, out));
  }
  *out += ']';
  return Status::OK();
}

Status AppendMap(const arrow::MapArray& array, int64_t row, const type::DataType& type, ZoneRules& zone, std::string* out) {
  *out += '{';
  for (int64_t at = array.value_offset(row); at < array.value_offset(row) + array.value_length(row); ++at) {
    if (at > array.value_offset(row)) *out += ", ";
    ARROW_RETURN_NOT_OK(AppendNested(*array.keys(), at, *type.key(), zone, out));
    *out += " -> ";
    ARROW_RETURN_NOT_OK(AppendNested(*array.items(), at, *type.element(), zone, out));
  }
  *out += '}';
  return Status::OK();
}

}  // namespace

Status AppendValue(const arrow::Array& array, int64_t row, const type::DataType& type, ZoneRules& zone, std::string* out) {
  switch (type.kind()) {
    case Kind::kVoid:
      *out += "null";
      return Status::OK();
    case Kind::kBoolean:
      *out += static_cast<const arrow::BooleanArray&>(array).Value(row) ? "true" : "false";
      return Status::OK();
    case Kind::kByte:
      *out += std::to_string(Raw<int8_t>(array, row));
      return Status::OK();
    case Kind::kShort:
      *out += std::to_string(Raw<int16_t>(array, row));
      return Status::OK();
    case Kind::kInt:
      *out += std::to_string(Raw<int32_t>(array, row));
      return Status::OK();
    case Kind::kLong:
      *out += std::to_string(Raw<int64_t>(array, row));
      return Status::OK();
    case Kind::kFloat:
      AppendFloat(Raw<float>(array, row), out);
      return Status::OK();
    case Kind::kDouble:
      AppendDouble(Raw<double>(array, row), out);
      return Status::OK();
    case Kind::kDecimal:
      *out += PlainDecimal(arrow::Decimal128(static_cast<const arrow::Decimal128Array&>(array).GetValue(row)), type.scale());
      return Status::OK();
    case Kind::kString:
      *out += static_cast<const arrow::StringArray&>(array).GetView(row);
      return Status::OK();
    case Kind::kBinary:
      AppendBytes(static_cast<const arrow::BinaryArray&>(array).GetView(row), out);
      return Status::OK();
    case Kind::kDate:
      AppendDate(Raw<int32_t>(array, row), out);
      return Status::OK();
    case Kind::kTimestamp:
      AppendLocalTimestamp(zone.ToLocal(Raw<int64_t>(array, row)), out);
      return Status::OK();
    case Kind::kTimestampNtz:
      AppendLocalTimestamp(Raw<int64_t>(array, row), out);
      return Status::OK();
    case Kind::kDayTimeInterval:
      *out += DayTimeText(Raw<int64_t>(array, row));
      return Status::OK();
    case Kind::kYearMonthInterval:
      *out += YearMonthText(Raw<int32_t>(array, row));
      return Status::OK();
    case Kind::kStruct:
      return AppendStruct(static_cast<const arrow::StructArray&>(array), row, type, zone, out);
    case Kind::kArray:
      return AppendList(static_cast<const arrow::ListArray&>(array), row, type, zone, out);
    case Kind::kMap:
      return AppendMap(static_cast<const arrow::MapArray&>(array), row, type, zone, out);
  }
  return InternalError("No text for a value of type {}", type.ToString());
}

Result<std::string> FormatValue(const arrow::Array& array, int64_t row, const type::DataType& type, const std::string& time_zone) {
  ZoneRules zone;
  if (time_zone != "UTC") {
    ARROW_ASSIGN_OR_RAISE(zone, ZoneRules::Find(time_zone));
  }
  std::string text;
  ARROW_RETURN_NOT_OK(AppendValue(array, row, type, zone, &text));
  return text;
}

}  // namespace tidemill::expr
