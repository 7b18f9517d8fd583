#include "type/data_type.h"

#include <arrow/type.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/check.h"

namespace tidemill::type {

namespace {

struct KindNames {
  Kind kind;
  const char* catalog;  // Spark's catalogString, which is also the SQL name in lower case.
};

constexpr KindNames kKindNames[] = {
    {Kind::kVoid, "void"},
    {Kind::kBoolean, "boolean"},
    {Kind::kByte, "tinyint"},
    {Kind::kShort, "smallint"},
    {Kind::kInt, "int"},
    {Kind::kLong, "bigint"},
    {Kind::kFloat, "float"},
    {Kind::kDouble, "double"},
    {Kind::kString, "string"},
    {Kind::kBinary, "binary"},
    {Kind::kDate, "date"},
    {Kind::kTimestamp, "timestamp"},
    {Kind::kTimestampNtz, "timestamp_ntz"},
    {Kind::kDayTimeInterval, "interval day to second"},
    {Kind::kYearMonthInterval, "interval year to month"},
};

std::string Upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

// Spark leaves a name bare in SQL text only when it consists of word characters and is not a number.
std::string QuoteIfNeeded(const std::string& name) {
  bool word = !name.empty();
  bool digits = true;
  for (unsigned char c : name) {
    word = word && (std::isalnum(c) != 0 || c == '_');
    digits = digits && std::isdigit(c) != 0;
  }
  if (word && !digits) return name;
  std::string quoted = "`";
  for (char c : name) {
    quoted += c;
    if (c == '`') quoted += c;
  }
  return quoted + "`";
}

TypePtr Shared(Kind kind) { return std::make_shared<const DataType>(kind); }

}  // namespace

bool DataType::IsNumeric() const { return IsIntegral() || kind_ == Kind::kFloat || kind_ == Kind::kDouble || kind_ == Kind::kDecimal; }

bool DataType::Equals(const DataType& other) const {
  if (kind_ != other.kind_) return false;
  switch (kind_) {
    case Kind::kDecimal:
      return precision_ == other.precision_ && scale_ == other.scale_;
    case Kind::kArray:
      return element_->Equals(*other.element_);
    case Kind::kMap:
      return key_->Equals(*other.key_) && element_->Equals(*other.element_);
    case Kind::kStruct:
      return std::equal(fields_.begin(), fields_.end(), other.fields_.begin(), other.fields_.end(),
                        [](const Field& a, const Field& b) { return a.name == b.name && a.type->Equals(*b.type); });
    default:
      return true;
  }
}

std::string DataType::ToString() const {
  switch (kind_) {
    case Kind::kDecimal:
      return fmt::format("decimal({},{})", precision_, scale_);
    case Kind::kArray:
      return "array<" + element_->ToString() + ">";
    case Kind::kMap:
      return "map<" + key_->ToString() + "," + element_->ToString() + ">";
    case Kind::kStruct: {
      std::string text = "struct<";
      for (size_t i = 0; i < fields_.size(); ++i) {
        if (i > 0) text += ',';
        text += fields_[i].name + ":" + fields_[i].type->ToString();
      }
      return text + ">";
    }
    default:
      for (const KindNames& names : kKindNames) {
        if (names.kind == kind_) return names.catalog;
      }
  }
  TIDEMILL_CHECK(false);
}

std::string DataType::ToSql() const {
  switch (kind_) {
    case Kind::kArray:
      return "ARRAY<" + element_->ToSql() + ">";
    case Kind::kMap:
      return "MAP<" + key_->ToSql() + ", " + element_->ToSql() + ">";
    case Kind::kStruct: {
      std::string text = "STRUCT<";
      for (size_t i = 0; i < fields_.size(); ++i) {
        if (i > 0) text += ", ";
        text += QuoteIfNeeded(fields_[i].name) + ": " + fields_[i].type->ToSql();
        if (!fields_[i].nullable) text += " NOT NULL";
      }
      return text + ">";
    }
    default:
      return Upper(ToString());
  }
}

std::shared_ptr<arrow::DataType> DataType::ToArrow() const {
  switch (kind_) {
    case Kind::kVoid:
      return arrow::null();
    case Kind::kBoolean:
      return arrow::boolean();
    case Kind::kByte:
      return arrow::int8();
    case Kind::kShort:
      return arrow::int16();
    case Kind::kInt:
    case Kind::kYearMonthInterval:
      return arrow::int32();
    case Kind::kLong:
      return arrow::int64();
    case Kind::kFloat:
      return arrow::float32();
    case Kind::kDouble:
      return arrow::float64();
    case Kind::kDecimal:
      return arrow::decimal128(precision_, scale_);
    case Kind::kString:
      return arrow::utf8();
    case Kind::kBinary:
      return arrow::binary();
    case Kind::kDate:
      return arrow::date32();
    case Kind::kTimestamp:
      return arrow::timestamp(arrow::TimeUnit::MICRO, "UTC");
    case Kind::kTimestampNtz:
      return arrow::timestamp(arrow::TimeUnit::MICRO);
    case Kind::kDayTimeInterval:
      return arrow::duration(arrow::TimeUnit::MICRO);
    case Kind::kStruct: {
      arrow::FieldVector fields;
      for (const Field& field : fields_) fields.push_back(arrow::field(field.name, field.type->ToArrow(), field.nullable));
      return arrow::struct_(std::move(fields));
    }
    case Kind::kArray:
      return arrow::list(arrow::field("item", element_->ToArrow(), contains_null_));
    case Kind::kMap:
      return arrow::map(key_->ToArrow(), arrow::field("value", element_->ToArrow(), contains_null_));
  }
  TIDEMILL_CHECK(false);
}

std::shared_ptr<arrow::Schema> Schema::ToArrow() const {
  arrow::FieldVector columns;
  for (const Field& field : fields) columns.push_back(arrow::field(field.name, field.type->ToArrow(), field.nullable));
  return arrow::schema(std::move(columns));
}

const TypePtr& Void() {
  static const TypePtr type = Shared(Kind::kVoid);
  return type;
}
const TypePtr& Boolean() {
  static const TypePtr type = Shared(Kind::kBoolean);
  return type;
}
const TypePtr& Byte() {
  static const TypePtr type = Shared(Kind::kByte);
  return type;
}
const TypePtr& Short() {
  static const TypePtr type = Shared(Kind::kShort);
  return type;
}
const TypePtr& Int() {
  static const TypePtr type = Shared(Kind::kInt);
  return type;
}
const TypePtr& Long() {
  static const TypePtr type = Shared(Kind::kLong);
  return type;
}
const TypePtr& Float() {
  static const TypePtr type = Shared(Kind::kFloat);
  return type;
}
const TypePtr& Double() {
  static const TypePtr type = Shared(Kind::kDouble);
  return type;
}
const TypePtr& String() {
  static const TypePtr type = Shared(Kind::kString);
  return type;
}
const TypePtr& Binary() {
  static const TypePtr type = Shared(Kind::kBinary);
  return type;
}
const TypePtr& Date() {
  static const TypePtr type = Shared(Kind::kDate);
  return type;
}
const TypePtr& Timestamp() {
  static const TypePtr type = Shared(Kind::kTimestamp);
  return type;
}
const TypePtr& TimestampNtz() {
  static const TypePtr type = Shared(Kind::kTimestampNtz);
  return type;
}
const TypePtr& DayTimeInterval() {
  static const TypePtr type = Shared(Kind::kDayTimeInterval);
  return type;
}
const TypePtr& YearMonthInterval() {
  static const TypePtr type = Shared(Kind::kYearMonthInterval);
  return type;
}

TypePtr Decimal(int precision, int scale) {
  TIDEMILL_CHECK(precision >= 1 && precision <= 38 && scale >= 0 && scale <= precision);
  auto type = std::make_shared<DataType>(Kind::kDecimal);
  type->precision_ = precision;
  type->scale_ = scale;
  return type;
}

TypePtr Struct(std::vector<Field> fields) {
  auto type = std::make_shared<DataType>(Kind::kStruct);
  type->fields_ = std::move(fields);
  return type;
}

TypePtr Array(TypePtr element, bool contains_null) {
  auto type = std::make_shared<DataType>(Kind::kArray);
  type->element_ = std::move(element);
  type->contains_null_ = contains_null;
  return type;
}

TypePtr Map(TypePtr key, TypePtr value, bool value_contains_null) {
  auto type = std::make_shared<DataType>(Kind::kMap);
  type->key_ = std::move(key);
  type->element_ = std::move(value);
  type->contains_null_ = value_contains_null;
  return type;
}

TypePtr WindowStruct(const TypePtr& time) { return Struct({{"start", time}, {"end", time}}); }

}  // namespace tidemill::type
