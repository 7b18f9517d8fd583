#pragma once

// SQL types and schemas as Spark has them: their names, JSON form (checkpoint schema files, Connect), DDL form and mapping to Arrow.
//
//   ARROW_ASSIGN_OR_RAISE(type::Schema schema, type::ParseDdl("ts TIMESTAMP, k STRING, v INT"));

#include <arrow/type_fwd.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tidemill::type {

enum class Kind {
  kVoid, kBoolean, kByte, kShort, kInt, kLong, kFloat, kDouble, kDecimal, kString, kBinary, kDate, kTimestamp, kTimestampNtz,
  kDayTimeInterval, kYearMonthInterval, kStruct, kArray, kMap
};

class DataType;
using TypePtr = std::shared_ptr<const DataType>;

/// A named column. `metadata_json` is Spark's field metadata as compact JSON text, "{}" for none.
struct Field {
  std::string name;
  TypePtr type;
  bool nullable = true;
  std::string metadata_json = "{}";
};

/// An immutable SQL type. Compare with Equals(), never by address.
class DataType {
 public:
  explicit DataType(Kind kind) : kind_(kind) {}

  Kind kind() const { return kind_; }
  int precision() const { return precision_; }  ///< kDecimal: 1..38
  int scale() const { return scale_; }          ///< kDecimal
  const std::vector<Field>& fields() const { return fields_; }  ///< kStruct
  const TypePtr& element() const { return element_; }           ///< kArray: element; kMap: value
  const TypePtr& key() const { return key_; }                   ///< kMap
  bool contains_null() const { return contains_null_; }         ///< kArray elements, kMap values

  bool IsNumeric() const;
  bool IsIntegral() const { return kind_ >= Kind::kByte && kind_ <= Kind::kLong; }
  /// Same type, nested names included; nullability and metadata of nested fields are not looked at.
  bool Equals(const DataType& other) const;
  /// Spark's `catalogString`: "bigint", "struct<start:timestamp,end:timestamp>", "decimal(10,2)".
  std::string ToString() const;
  /// Spark's SQL name in upper case, as messages print it: "BIGINT", "STRUCT<start: TIMESTAMP, end: TIMESTAMP>".
  std::string ToSql() const;
  /// Spark's JSON form (compact text): `"long"`, `{"type":"struct","fields":[…]}`.
  std::string ToJson() const;
  static Result<TypePtr> FromJson(std::string_view json);
  /// timestamp → timestamp[us, UTC]; timestamp_ntz → timestamp[us]; decimal → decimal128; string → utf8; void → null; day-time interval →
  /// duration[us]; year-month → int32.
  std::shared_ptr<arrow::DataType> ToArrow() const;

 private:
  friend TypePtr Decimal(int, int);
  friend TypePtr Struct(std::vector<Field>);
  friend TypePtr Array(TypePtr, bool);
  friend TypePtr Map(TypePtr, TypePtr, bool);

  Kind kind_;
  int precision_ = 0;
  int scale_ = 0;
  std::vector<Field> fields_;
  TypePtr element_;
  TypePtr key_;
  bool contains_null_ = true;
};

/// Shared instances of the types without parameters.
const TypePtr& Void();
const TypePtr& Boolean();
const TypePtr& Byte();
const TypePtr& Short();
const TypePtr& Int();
const TypePtr& Long();
const TypePtr& Float();
const TypePtr& Double();
const TypePtr& String();
const TypePtr& Binary();
const TypePtr& Date();
const TypePtr& Timestamp();
const TypePtr& TimestampNtz();
const TypePtr& DayTimeInterval();
const TypePtr& YearMonthInterval();
TypePtr Decimal(int precision, int scale);
TypePtr Struct(std::vector<Field> fields);
TypePtr Array(TypePtr element, bool contains_null = true);
TypePtr Map(TypePtr key, TypePtr value, bool value_contains_null = true);
/// struct<start: timestamp, end: timestamp>, the type of `window(…)`; `time` is kTimestamp or kTimestampNtz.
TypePtr WindowStruct(const TypePtr& time);

/// Columns in order. Names may repeat.
struct Schema {
  std::vector<Field> fields;

  int size() const { return static_cast<int>(fields.size()); }
  TypePtr AsStruct() const { return Struct(fields); }
  std::string ToJson() const { return AsStruct()->ToJson(); }
  static Result<Schema> FromJson(std::string_view json);
  std::shared_ptr<arrow::Schema> ToArrow() const;
};

/// Parse a column list as in `CREATE TABLE t (…)` or `schema(…)`: `ts TIMESTAMP, k STRING NOT NULL, s STRUCT<a: INT, b: ARRAY<STRING>>`.
/// Errors: user error with Spark's condition and a caret-less message.
Result<Schema> ParseDdl(std::string_view ddl);
/// Parse one type: `DECIMAL(10, 2)`, `ARRAY<INT>`, `bigint`.
Result<TypePtr> ParseType(std::string_view text);

}  // namespace tidemill::type
