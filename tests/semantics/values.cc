#include "values.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/util/decimal.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <set>

#include "expr/function/evaluator.h"
#include "expr/timestamp.h"

namespace tidemill::semantics {

namespace {

Json FloatToJson(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  if (value == 0 && std::signbit(value)) return "-0.0";
  return value;
}

std::string DecimalToText(const arrow::Decimal128& value, int scale) {
  std::string digits = value.ToIntegerString();
  const bool negative = digits[0] == '-';
  if (negative) digits.erase(0, 1);
  if (scale > 0) {
    if (static_cast<int>(digits.size()) <= scale) digits.insert(0, scale + 1 - digits.size(), '0');
    digits.insert(digits.size() - scale, ".");
  }
  return negative ? "-" + digits : digits;
}

std::string BytesToText(std::string_view bytes) {
  std::string text = "0x";
  for (unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

Json ListToJson(const arrow::Array& values, int64_t begin, int64_t end, const type::DataType& element) {
  Json list = Json::array();
  for (int64_t i = begin; i < end; ++i) list.push_back(ValueToJson(values, i, element));
  return list;
}

Json MapToJson(const arrow::MapArray& map, int64_t row, const type::DataType& type) {
  std::vector<Json> pairs;
  for (int64_t i = map.value_offset(row); i < map.value_offset(row + 1); ++i) {
    pairs.push_back(Json::array({ValueToJson(*map.keys(), i, *type.key()), ValueToJson(*map.items(), i, *type.element())}));
  }
  std::sort(pairs.begin(), pairs.end(), [](const Json& a, const Json& b) { return a.dump() < b.dump(); });
  return pairs;
}

Json StructToJson(const arrow::StructArray& array, int64_t row, const type::DataType& type) {
  Json list = Json::array();
  for (size_t i = 0; i < type.fields().size(); ++i) {
    list.push_back(ValueToJson(*array.field(static_cast<int>(i)), row, *type.fields()[i].type));
  }
  return list;
}

// Where in the text an error is: ours, not Spark's.
bool IsOurParameter(const std::string& name) { return name == "line" || name == "column"; }

// Recorded texts end where a position, a stack trace, a plan or a query would begin; blanks around them are lost.
std::string FirstLines(const std::string& text) {
  static const std::regex kEnd(R"((\n=== Streaming Query ===|\n\s*at |;? line \d+ pos \d+;?(?=\n|$)|;\n)[\s\S]*)");
  static const std::regex kBlanks(R"(^\s+|\s+$)");
  return std::regex_replace(std::regex_replace(text, kEnd, ""), kBlanks, "");
}

// Parameters whose name begins with `prefix`, without it.
Json ParametersToJson(const ErrorDetail& detail, const std::string& prefix) {
  Json parameters = Json::object();
  for (const auto& [name, value] : detail.parameters) {
    if (!name.starts_with(prefix)) continue;
    const std::string bare = name.substr(prefix.size());
    if (!IsOurParameter(bare)) parameters[bare] = FirstLines(value);
  }
  return parameters;
}

std::string Parameter(const ErrorDetail& detail, const std::string& name) {
  const auto found = detail.parameters.find(name);
  return found == detail.parameters.end() ? "" : found->second;
}

// Did the query fail while a foreachBatch function asked for its rows (and not in the function itself)?
bool FailedInsideCallback(const ErrorDetail& detail) {
  return Parameter(detail, "phase") == "addBatch" && Parameter(detail, "innerCondition") != "FOREACH_BATCH_USER_FUNCTION_ERROR";
}

void AddParameters(Json parameters, Json* error) {
  if (!parameters.empty()) (*error)["parameters"] = std::move(parameters);
}

}  // namespace

Json ValueToJson(const arrow::Array& array, int64_t row, const type::DataType& type) {
  if (array.IsNull(row)) return nullptr;
  switch (type.kind()) {
    case type::Kind::kVoid: return nullptr;
    case type::Kind::kBoolean: return static_cast<const arrow::BooleanArray&>(array).Value(row);
    case type::Kind::kByte: return static_cast<const arrow::Int8Array&>(array).Value(row);
    case type::Kind::kShort: return static_cast<const arrow::Int16Array&>(array).Value(row);
    case type::Kind::kInt: return static_cast<const arrow::Int32Array&>(array).Value(row);
    case type::Kind::kYearMonthInterval: return static_cast<const arrow::Int32Array&>(array).Value(row);
    case type::Kind::kLong: return static_cast<const arrow::Int64Array&>(array).Value(row);
    case type::Kind::kFloat: return FloatToJson(static_cast<const arrow::FloatArray&>(array).Value(row));
    case type::Kind::kDouble: return FloatToJson(static_cast<const arrow::DoubleArray&>(array).Value(row));
    case type::Kind::kDecimal:
      return DecimalToText(arrow::Decimal128(static_cast<const arrow::Decimal128Array&>(array).Value(row)), type.scale());
    case type::Kind::kString: return std::string(static_cast<const arrow::StringArray&>(array).GetView(row));
    case type::Kind::kBinary: return BytesToText(static_cast<const arrow::BinaryArray&>(array).GetView(row));
    case type::Kind::kDate: return expr::FormatDate(static_cast<const arrow::Date32Array&>(array).Value(row));
    case type::Kind::kTimestamp:
    case type::Kind::kTimestampNtz: return expr::FormatTimestamp(static_cast<const arrow::TimestampArray&>(array).Value(row), "UTC");
    case type::Kind::kDayTimeInterval: return Json{{"seconds", static_cast<const arrow::DurationArray&>(array).Value(row) / 1e6}};
    case type::Kind::kStruct: return StructToJson(static_cast<const arrow::StructArray&>(array), row, type);
    case type::Kind::kArray: {
      const auto& list = static_cast<const arrow::ListArray&>(array);
      return ListToJson(*list.values(), list.value_offset(row), list.value_offset(row + 1), *type.element());
    }
    case type::Kind::kMap: return MapToJson(static_cast<const arrow::MapArray&>(array), row, type);
  }
  return nullptr;
}

void AppendRows(const arrow::RecordBatch& batch, const type::Schema& schema, Json* rows) {
  for (int64_t row = 0; row < batch.num_rows(); ++row) {
    Json values = Json::array();
    for (int column = 0; column < schema.size(); ++column) {
      values.push_back(ValueToJson(*batch.column(column), row, *schema.fields[column].type));
    }
    rows->push_back(std::move(values));
  }
}

Json SchemaToJson(const type::Schema& schema) {
  Json columns = Json::array();
  for (const type::Field& field : schema.fields) columns.push_back(Json::array({field.name, field.type->ToString(), field.nullable}));
  return columns;
}

std::string Cleaner::Clean(std::string text) const {
  const auto replace_all = [&text](const std::string& from, const std::string& to) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
  };
  replace_all("file://" + work_, "<work>");
  replace_all("file:" + work_, "<work>");
  replace_all(work_, "<work>");
  replace_all(work_.substr(1), "<work>");
  static const std::pair<std::regex, const char*> kRules[] = {
      {std::regex("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"), "<uuid>"},
      {std::regex("#\\d+L?"), "#<n>"},
      {std::regex("@[0-9a-f]{5,8}\\b"), "@<hash>"},
      {std::regex("\"batchTimestampMs\":\\d+"), "\"batchTimestampMs\":\"<ms>\""}};
  for (const auto& [pattern, replacement] : kRules) text = std::regex_replace(text, pattern, replacement);
  return text;
}

Json Cleaner::Clean(const Json& value) const {
  if (value.is_string()) return Clean(value.get<std::string>());
  if (!value.is_structured()) return value;
  Json cleaned = value;
  for (auto& item : cleaned) item = Clean(Json(item));
  return cleaned;
}

Json ErrorToJson(const Status& status, const std::string& phase, bool callback_sink) {
  Json error = {{"phase", phase}, {"message", status.message()}};
  const ErrorDetail* detail = ErrorDetail::Of(status);
  if (detail == nullptr) return error;
  const std::string inner = Parameter(*detail, "innerCondition");
  if (detail->condition != "STREAM_FAILED") {
    if (!detail->condition.empty()) error["condition"] = detail->condition;
    AddParameters(ParametersToJson(*detail, ""), &error);
  } else if (callback_sink && FailedInsideCallback(*detail)) {
    error["raisedIn"] = "sink";
    error["message"] = Parameter(*detail, "message");
    if (!inner.empty()) error["condition"] = inner;
    AddParameters(ParametersToJson(*detail, "inner."), &error);
  } else {
    error["condition"] = "STREAM_FAILED";
    // Spark does not name its internal numbers in the text; ours stand for errors that have no condition in Spark.
    if (!inner.empty() && !inner.starts_with("_LEGACY") && !inner.starts_with("TIDEMILL_")) error["inner"] = inner;
  }
  return error;
}

}  // namespace tidemill::semantics
