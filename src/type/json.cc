// Types in the JSON form of Spark's StructType.json: what schema files of a checkpoint and `spark.sql.sources.schema` hold.

#include <nlohmann/json.hpp>

#include <optional>

#include "type/data_type.h"

namespace tidemill::type {

namespace {

// Field metadata goes back out as it came in, so the order of its keys is kept.
using Json = nlohmann::ordered_json;

std::string Quoted(const std::string& text) { return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace); }

struct SimpleName {
  const char* name;
  const TypePtr& (*type)();
};

constexpr SimpleName kSimpleNames[] = {
    {"void", Void},
    {"null", Void},
    {"boolean", Boolean},
    {"byte", Byte},
    {"short", Short},
    {"integer", Int},
    {"long", Long},
    {"float", Float},
    {"double", Double},
    {"string", String},
    {"binary", Binary},
    {"date", Date},
    {"timestamp", Timestamp},
    {"timestamp_ltz", Timestamp},
    {"timestamp_ntz", TimestampNtz},
};

constexpr const char* kDayTimeNames[] = {"interval day to second",  "interval day",    "interval day to hour",
                                         "interval day to minute",  "interval hour",   "interval hour to minute",
                                         "interval hour to second", "interval minute", "interval minute to second",
                                         "interval second"};
constexpr const char* kYearMonthNames[] = {"interval year to month", "interval year", "interval month"};

std::string SimpleJsonName(const DataType& type) {
  switch (type.kind()) {
    case Kind::kByte:
      return "byte";
    case Kind::kShort:
      return "short";
    case Kind::kInt:
      return "integer";
    case Kind::kLong:
      return "long";
    default:
      return type.ToString();
  }
}

Error InvalidType(const std::string& text) {
  return UserError("INVALID_JSON_DATA_TYPE", "Failed to convert the JSON string '{}' to a data type. Please enter a valid data type.", text)
      .Param("invalidType", text);
}

// "decimal(p,s)"; nothing else looks like it.
std::optional<TypePtr> DecimalFromName(const std::string& name) {
  int precision = 0;
  int scale = 0;
  int used = 0;
  if (std::sscanf(name.c_str(), "decimal(%d,%d)%n", &precision, &scale, &used) != 2 || used != static_cast<int>(name.size()))
    return std::nullopt;
  if (precision < 1 || precision > 38 || scale < 0 || scale > precision) return std::nullopt;
  return Decimal(precision, scale);
}

Result<TypePtr> FromName(const std::string& name) {
  for (const SimpleName& simple : kSimpleNames) {
    if (name == simple.name) return simple.type();
  }
  if (name == "decimal") return Decimal(10, 0);
  if (auto decimal = DecimalFromName(name)) return *decimal;
  for (const char* interval : kDayTimeNames) {
    if (name == interval) return DayTimeInterval();
  }
  for (const char* interval : kYearMonthNames) {
    if (name == interval) return YearMonthInterval();
  }
  return InvalidType(name);
}

Result<TypePtr> FromNode(const Json& node);

Result<Field> FieldFromNode(const Json& node) {
  if (!node.is_object() || !node.contains("name") || !node.contains("type") || !node["name"].is_string()) return InvalidType(node.dump());
  Field field;
  field.name = node["name"].get<std::string>();
  ARROW_ASSIGN_OR_RAISE(field.type, FromNode(node["type"]));
  field.nullable = node.value("nullable", true);
  if (node.contains("metadata") && node["metadata"].is_object()) {
    field.metadata_json = node["metadata"].dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return field;
}

Result<TypePtr> StructFromNode(const Json& node) {
  if (!node.contains("fields") || !node["fields"].is_array()) return InvalidType(node.dump());
  std::vector<Field> fields;
  for (const Json& field : node["fields"]) {
    ARROW_ASSIGN_OR_RAISE(fields.emplace_back(), FieldFromNode(field));
  }
  return Struct(std::move(fields));
}

Result<TypePtr> FromNode(const Json& node) {
  if (node.is_string()) return FromName(node.get<std::string>());
  if (!node.is_object() || !node.contains("type") || !node["type"].is_string()) return InvalidType(node.dump());
  const std::string kind = node["type"].get<std::string>();
  if (kind == "struct") return StructFromNode(node);
  if (kind == "array" && node.contains("elementType")) {
    ARROW_ASSIGN_OR_RAISE(TypePtr element, FromNode(node["elementType"]));
    return Array(std::move(element), node.value("containsNull", true));
  }
  if (kind == "map" && node.contains("keyType") && node.contains("valueType")) {
    ARROW_ASSIGN_OR_RAISE(TypePtr key, FromNode(node["keyType"]));
    ARROW_ASSIGN_OR_RAISE(TypePtr value, FromNode(node["valueType"]));
    return Map(std::move(key), std::move(value), node.value("valueContainsNull", true));
  }
  return InvalidType(node.dump());
}

}  // namespace

std::string DataType::ToJson() const {
  switch (kind_) {
    case Kind::kStruct: {
      std::string text = R"({"type":"struct","fields":[)";
      for (size_t i = 0; i < fields_.size(); ++i) {
        if (i > 0) text += ',';
        text += R"({"name":)" + Quoted(fields_[i].name) + R"(,"type":)" + fields_[i].type->ToJson();
        text += fields_[i].nullable ? R"(,"nullable":true)" : R"(,"nullable":false)";
        text += R"(,"metadata":)" + fields_[i].metadata_json + "}";
      }
      return text + "]}";
    }
    case Kind::kArray:
      return R"({"type":"array","elementType":)" + element_->ToJson() + R"(,"containsNull":)" + (contains_null_ ? "true}" : "false}");
    case Kind::kMap:
      return R"({"type":"map","keyType":)" + key_->ToJson() + R"(,"valueType":)" + element_->ToJson() + R"(,"valueContainsNull":)" +
             (contains_null_ ? "true}" : "false}");
    default:
      return Quoted(SimpleJsonName(*this));
  }
}

Result<TypePtr> DataType::FromJson(std::string_view json) {
  // Without exceptions: a text that does not parse comes back as a "discarded" value.
  const Json node = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (node.is_discarded()) return InvalidType(std::string(json));
  try {
    return FromNode(node);
  } catch (const Json::exception&) {  // A member of the wrong JSON type ("nullable": "yes").
    return InvalidType(std::string(json));
  }
}

Result<Schema> Schema::FromJson(std::string_view json) {
  ARROW_ASSIGN_OR_RAISE(TypePtr type, DataType::FromJson(json));
  if (type->kind() != Kind::kStruct) return InvalidType(std::string(json));
  return Schema{type->fields()};
}

}  // namespace tidemill::type
