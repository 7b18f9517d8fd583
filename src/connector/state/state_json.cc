#include <arrow/array/array_binary.h>
#include <arrow/array/array_decimal.h>
#include <arrow/array/array_nested.h>
#include <arrow/array/array_primitive.h>
#include <arrow/util/decimal.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "connector/state/state_reader.h"

namespace tidemill::connector::state {
namespace {

using Json = nlohmann::ordered_json;
using type::DataType;
using type::Kind;

constexpr int64_t kMicrosPerSecond = 1'000'000;
constexpr int64_t kSecondsPerDay = 86'400;

int64_t FloorDivide(int64_t value, int64_t by) { return value / by - (value % by < 0); }

/// Days since 1970-01-01 as a date of the proleptic Gregorian calendar.
std::string DateText(int64_t days) {
  // Counted from 0000-03-01, so that the leap day ends a year; eras of 400 years all have the same length.
  const int64_t shifted = days + 719'468;
  const int64_t era = FloorDivide(shifted, 146'097);
  const int64_t day_of_era = shifted - era * 146'097;
  const int64_t year_of_era = (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t shifted_month = (5 * day_of_year + 2) / 153;
  const int64_t day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
  const int64_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  const int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
  return fmt::format("{:04}-{:02}-{:02}", year, month, day);
}

std::string TimestampText(int64_t micros) {
  const int64_t seconds = FloorDivide(micros, kMicrosPerSecond);
  const int64_t days = FloorDivide(seconds, kSecondsPerDay);
  const int64_t of_day = seconds - days * kSecondsPerDay;
  return fmt::format("{} {:02}:{:02}:{:02}.{:06}", DateText(days), of_day / 3600, of_day / 60 % 60, of_day % 60,
                     micros - seconds * kMicrosPerSecond);
}

Json Fraction(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

template <typename ArrayType>
auto Get(const arrow::Array& array, int64_t i) {
  return static_cast<const ArrayType&>(array).Value(i);
}

Json ValueOf(const DataType& type, const arrow::Array& array, int64_t i);

Json StructOf(const DataType& type, const arrow::StructArray& array, int64_t i) {
  Json object = Json::object();
  for (int f = 0; f < static_cast<int>(type.fields().size()); ++f) {
    object[type.fields()[f].name] = ValueOf(*type.fields()[f].type, *array.field(f), i);
  }
  return object;
}

Json ListOf(const DataType& type, const arrow::ListArray& array, int64_t i) {
  Json list = Json::array();
  for (int64_t at = array.value_offset(i); at < array.value_offset(i + 1); ++at)
    list.push_back(ValueOf(*type.element(), *array.values(), at));
  return list;
}

Json MapOf(const DataType& type, const arrow::MapArray& array, int64_t i) {
  Json pairs = Json::array();
  for (int64_t at = array.value_offset(i); at < array.value_offset(i + 1); ++at) {
    pairs.push_back(Json::array({ValueOf(*type.key(), *array.keys(), at), ValueOf(*type.element(), *array.items(), at)}));
  }
  return pairs;
}

Json BinaryOf(std::string_view bytes) {
  std::string text = "0x";
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<uint8_t>(c));
  return text;
}

Json ValueOf(const DataType& type, const arrow::Array& array, int64_t i) {
  if (type.kind() == Kind::kVoid || array.IsNull(i)) return nullptr;
  switch (type.kind()) {
    case Kind::kBoolean:
      return Get<arrow::BooleanArray>(array, i);
    case Kind::kByte:
      return Get<arrow::Int8Array>(array, i);
    case Kind::kShort:
      return Get<arrow::Int16Array>(array, i);
    case Kind::kInt:
    case Kind::kYearMonthInterval:
      return Get<arrow::Int32Array>(array, i);
    case Kind::kLong:
      return Get<arrow::Int64Array>(array, i);
    case Kind::kDayTimeInterval:
      return Get<arrow::DurationArray>(array, i);
    case Kind::kFloat:
      return Fraction(Get<arrow::FloatArray>(array, i));
    case Kind::kDouble:
      return Fraction(Get<arrow::DoubleArray>(array, i));
    case Kind::kDecimal:
      return arrow::Decimal128(static_cast<const arrow::Decimal128Array&>(array).GetValue(i)).ToString(type.scale());
    case Kind::kString:
      return std::string(static_cast<const arrow::StringArray&>(array).GetView(i));
    case Kind::kBinary:
      return BinaryOf(static_cast<const arrow::BinaryArray&>(array).GetView(i));
    case Kind::kDate:
      return DateText(Get<arrow::Date32Array>(array, i));
    case Kind::kTimestamp:
    case Kind::kTimestampNtz:
      return TimestampText(Get<arrow::TimestampArray>(array, i));
    case Kind::kStruct:
      return StructOf(type, static_cast<const arrow::StructArray&>(array), i);
    case Kind::kArray:
      return ListOf(type, static_cast<const arrow::ListArray&>(array), i);
    case Kind::kMap:
      return MapOf(type, static_cast<const arrow::MapArray&>(array), i);
    case Kind::kVoid:
      break;
  }
  return nullptr;
}

Json RowOf(const type::Schema& schema, const std::vector<std::shared_ptr<arrow::Array>>& columns, int64_t i) {
  Json object = Json::object();
  for (int f = 0; f < schema.size(); ++f) object[schema.fields[f].name] = ValueOf(*schema.fields[f].type, *columns[f], i);
  return object;
}

}  // namespace

Result<std::vector<std::string>> RowsToJson(const StateTable& table) {
  std::vector<std::string> lines;
  lines.reserve(static_cast<size_t>(table.rows()));
  for (int64_t i = 0; i < table.rows(); ++i) {
    Json object = Json::object();
    const bool is_delete = table.is_change_feed && table.is_delete[static_cast<size_t>(i)];
    if (table.is_change_feed) {
      object["batch_id"] = table.batch_ids[static_cast<size_t>(i)];
      object["change_type"] = is_delete ? "delete" : "update";
    }
    object["key"] = RowOf(table.key_schema, table.keys, i);
    object["value"] = is_delete ? Json(nullptr) : RowOf(table.value_schema, table.values, i);
    object["partition_id"] = table.partition_ids[static_cast<size_t>(i)];
    // A byte that is no UTF-8 must not stop the listing: it is shown as the replacement character.
    lines.push_back(object.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  return lines;
}

}  // namespace tidemill::connector::state
