#include "sql/literal_parser.h"

#include <arrow/buffer.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/util/decimal.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <utility>

#include "expr/function/evaluator.h"
#include "expr/function/resolve.h"
#include "expr/interval.h"
#include "expr/timestamp.h"

namespace tidemill::sql {

using expr::ExprPtr;

namespace {

constexpr int64_t kMicrosPerSecond = 1'000'000;

std::string Upper(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return upper;
}

Status OutOfRange(const Token& token, const std::string& number, const char* type, const std::string& least, const std::string& greatest) {
  return AtPlace(UserError("INVALID_NUMERIC_LITERAL_RANGE",
                           "Numeric literal {} is outside the valid range for {} with minimum value of {} and maximum value of {}.", number,
                           type, least, greatest)
                     .Param("rawStrippedQualifier", number)
                     .Param("minValue", least)
                     .Param("maxValue", greatest)
                     .Param("typeName", type),
                 token.origin);
}

template <typename T>
bool ParseWhole(const std::string& text, T* value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

template <typename T, typename Scalar>
Result<ExprPtr> IntegerLiteral(const Token& token, const std::string& number, const type::TypePtr& type, const char* name) {
  T value = 0;
  if (!ParseWhole(number, &value)) {
    return OutOfRange(token, number, name, std::to_string(std::numeric_limits<T>::min()), std::to_string(std::numeric_limits<T>::max()));
  }
  return expr::Literal(std::make_shared<Scalar>(value), type, token.origin);
}

template <typename T, typename Scalar>
Result<ExprPtr> FloatingLiteral(const Token& token, const std::string& number, const type::TypePtr& type, const char* name) {
  T value = 0;
  if (!ParseWhole(number, &value)) {
    return OutOfRange(token, number, name, fmt::format("{}", std::numeric_limits<T>::lowest()),
                      fmt::format("{}", std::numeric_limits<T>::max()));
  }
  return expr::Literal(std::make_shared<Scalar>(value), type, token.origin);
}

Result<ExprPtr> DecimalLiteral(const Token& token, const std::string& number) {
  arrow::Decimal128 value;
  int32_t precision = 0, scale = 0;
  Status parsed = arrow::Decimal128::FromString(number, &value, &precision, &scale);
  if (!parsed.ok() || precision > 38 || scale > 38 || scale < 0) {
    return AtPlace(
        UserError("DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", "Decimal literal {} needs more than the maximum precision 38.", number)
            .Param("precision", std::to_string(number.size()))
            .Param("maxPrecision", "38"),
        token.origin);
  }
  // Digits count from the first that is not zero, but never fewer than stand behind the point: 0.05 is DECIMAL(2,2).
  std::string digits = value.ToIntegerString();
  int significant = static_cast<int>(digits.size()) - (digits[0] == '-' ? 1 : 0);
  precision = std::max({significant, static_cast<int>(scale), 1});
  return expr::Literal(std::make_shared<arrow::Decimal128Scalar>(value, arrow::decimal128(precision, scale)),
                       type::Decimal(precision, scale), token.origin);
}

}  // namespace

Result<ExprPtr> NumberLiteral(const Token& token, bool negative) {
  std::string number = (negative ? "-" : "") + token.value;
  if (token.kind == TokenKind::kInteger) {
    int32_t small = 0;
    int64_t large = 0;
    if (ParseWhole(number, &small)) return expr::Literal(std::make_shared<arrow::Int32Scalar>(small), type::Int(), token.origin);
    if (ParseWhole(number, &large)) return expr::Literal(std::make_shared<arrow::Int64Scalar>(large), type::Long(), token.origin);
    return DecimalLiteral(token, number);
  }
  if (token.kind == TokenKind::kDecimal) return DecimalLiteral(token, number);
  char suffix = static_cast<char>(std::toupper(static_cast<unsigned char>(number.back())));
  if (token.kind == TokenKind::kDouble) {
    if (suffix == 'D') number.pop_back();
    return FloatingLiteral<double, arrow::DoubleScalar>(token, number, type::Double(), "double");
  }
  number.pop_back();
  switch (suffix) {
    case 'L':
      return IntegerLiteral<int64_t, arrow::Int64Scalar>(token, number, type::Long(), "bigint");
    case 'S':
      return IntegerLiteral<int16_t, arrow::Int16Scalar>(token, number, type::Short(), "smallint");
    case 'Y':
      return IntegerLiteral<int8_t, arrow::Int8Scalar>(token, number, type::Byte(), "tinyint");
    case 'F':
      return FloatingLiteral<float, arrow::FloatScalar>(token, number, type::Float(), "float");
    default:
      number.pop_back();
      return DecimalLiteral(token, number);  // BD
  }
}

namespace {

Status InvalidTyped(const std::string& type, const Token& text) {
  return AtPlace(UserError("INVALID_TYPED_VALUE", "The value of the typed literal {} is invalid: '{}'.", type, text.value)
                     .Param("valueType", "\"" + type + "\"")
                     .Param("value", "'" + text.value + "'"),
                 text.origin);
}

Result<ExprPtr> TimestampLiteral(const std::string& type, const Token& text) {
  int64_t micros = 0, elsewhere = 0;
  if (!expr::ParseTimestamp(text.value, "UTC", &micros)) return InvalidTyped(type, text);
  if (type == "TIMESTAMP_NTZ")
    return expr::Literal(std::make_shared<arrow::TimestampScalar>(micros, type::TimestampNtz()->ToArrow()), type::TimestampNtz(),
                         text.origin);
  // The same instant in two zones: the text names its own.
  bool has_zone = expr::ParseTimestamp(text.value, "+13:00", &elsewhere) && elsewhere == micros;
  if (has_zone)
    return expr::Literal(std::make_shared<arrow::TimestampScalar>(micros, type::Timestamp()->ToArrow()), type::Timestamp(), text.origin);
  return expr::UnresolvedCast(expr::LiteralString(text.value, text.origin), type::Timestamp(), false, text.origin);
}

Result<ExprPtr> BinaryLiteral(const Token& text) {
  std::string hex = text.value.size() % 2 == 0 ? text.value : "0" + text.value;
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    unsigned value = 0;
    auto [end, error] = std::from_chars(hex.data() + i, hex.data() + i + 2, value, 16);
    if (error != std::errc() || end != hex.data() + i + 2) return InvalidTyped("X", text);
    bytes += static_cast<char>(value);
  }
  return expr::Literal(std::make_shared<arrow::BinaryScalar>(arrow::Buffer::FromString(std::move(bytes))), type::Binary(), text.origin);
}

}  // namespace

Result<ExprPtr> TypedLiteral(const Token& type_name, const Token& text) {
  std::string type = Upper(type_name.text);
  if (type == "X") return BinaryLiteral(text);
  if (type != "DATE") return TimestampLiteral(type == "TIMESTAMP_LTZ" ? "TIMESTAMP" : type, text);
  int32_t days = 0;
  if (!expr::ParseDate(text.value, &days)) return InvalidTyped(type, text);
  return expr::Literal(std::make_shared<arrow::Date32Scalar>(days), type::Date(), text.origin);
}

namespace {

struct IntervalUnit {
  std::string_view name;  // singular, upper case
  int64_t months;
  int64_t micros;
  int pad;  // digits that Spark prints at least, 0: the unit has no field of its own
};

constexpr IntervalUnit kUnits[] = {{"YEAR", 12, 0, 1},
                                   {"QUARTER", 3, 0, 0},
                                   {"MONTH", 1, 0, 1},
                                   {"WEEK", 0, 7 * 86400 * kMicrosPerSecond, 0},
                                   {"DAY", 0, 86400 * kMicrosPerSecond, 1},
                                   {"HOUR", 0, 3600 * kMicrosPerSecond, 2},
                                   {"MINUTE", 0, 60 * kMicrosPerSecond, 2},
                                   {"SECOND", 0, kMicrosPerSecond, 2},
                                   {"MILLISECOND", 0, 1000, 0},
                                   {"MICROSECOND", 0, 1, 0}};

const IntervalUnit* FindUnit(const Token& token) {
  for (const IntervalUnit& unit : kUnits) {
    if (token.Is(unit.name) || token.Is(std::string(unit.name) + "S")) return &unit;
  }
  return nullptr;
}

struct IntervalValue {
  int64_t whole = 0;
  int64_t millionths = 0;  // of the unit, with the sign of the whole
  bool negative = false;
};

bool ParseIntervalValue(std::string text, IntervalValue* value) {
  text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
  text.erase(text.find_last_not_of(' ') + 1);
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    value->negative = text[0] == '-';
    text.erase(0, 1);
  }
  size_t point = text.find('.');
  std::string fraction = point == std::string::npos ? "" : text.substr(point + 1);
  std::string whole = text.substr(0, point);
  if (fraction.size() > 9 || (whole.empty() && fraction.empty())) return false;
  uint64_t digits = 0;
  if (!whole.empty() && (!ParseWhole(whole, &digits) || digits > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))) return false;
  value->whole = static_cast<int64_t>(digits);
  fraction.resize(6, '0');
  if (!ParseWhole(fraction, &digits)) return false;
  value->millionths = static_cast<int64_t>(digits);
  if (value->negative) {
    value->whole = -value->whole;
    value->millionths = -value->millionths;
  }
  return true;
}

Status InvalidInterval(const Token& at) {
  return AtPlace(
      UserError("INVALID_INTERVAL_FORMAT.INVALID_VALUE", "Error parsing '{}' to interval.", at.text).Param("input", std::string(at.text)),
      at.origin);
}

Status AddField(const Token& at, const IntervalValue& value, const IntervalUnit& unit, IntervalLiteral* interval) {
  int64_t scale = unit.months != 0 ? unit.months : unit.micros;
  int64_t* total = unit.months != 0 ? &interval->months : &interval->micros;
  int64_t part = 0;
  bool fraction_fits = value.millionths == 0 || unit.micros == kMicrosPerSecond;  // only seconds have fractions
  if (!fraction_fits || __builtin_mul_overflow(value.whole, scale, &part) || __builtin_add_overflow(*total, part, total))
    return InvalidInterval(at);
  if (__builtin_add_overflow(*total, value.millionths, total)) return InvalidInterval(at);
  return Status::OK();
}

// The value before a unit: [sign] number, or text.
Result<IntervalValue> TakeValue(Cursor& cursor) {
  bool negative = cursor.AcceptSymbol("-");
  if (!negative) cursor.AcceptSymbol("+");
  Token token = cursor.Next();
  IntervalValue value;
  if (!ParseIntervalValue(token.value, &value)) return InvalidInterval(token);
  if (negative) value = {-value.whole, -value.millionths, !value.negative};
  return value;
}

bool AtValue(Cursor& cursor, size_t ahead) {
  if (cursor.Peek(ahead).IsSymbol("-") || cursor.Peek(ahead).IsSymbol("+")) ++ahead;
  TokenKind kind = cursor.Peek(ahead).kind;
  return kind == TokenKind::kInteger || kind == TokenKind::kDecimal || kind == TokenKind::kString;
}

// The unit behind the value that comes next, if it is one.
const IntervalUnit* UnitAfterValue(Cursor& cursor) { return FindUnit(cursor.Peek(cursor.Peek().kind == TokenKind::kSymbol ? 2 : 1)); }

std::string FieldText(const IntervalValue& value, const IntervalUnit& unit) {
  std::string digits = std::to_string(std::abs(value.whole));
  digits.insert(0, std::max<int>(0, unit.pad - static_cast<int>(digits.size())), '0');
  return fmt::format("INTERVAL '{}{}' {}", value.negative ? "-" : "", digits, unit.name);
}

// INTERVAL '1 hour 30 minutes': the text holds its units.
Result<IntervalLiteral> TextInterval(const Token& text) {
  IntervalLiteral interval;
  bool has_months = false;
  Result<int64_t> micros = expr::ParseIntervalMicros(text.value, &has_months);
  if (!micros.ok()) return AtPlace(micros.status(), text.origin);
  if (has_months) return UnsupportedSyntax("A text with months as an interval (write INTERVAL 1 MONTH)", text.origin);
  interval.micros = *micros;
  interval.text = "INTERVAL '" + text.value + "'";
  return interval;
}

}  // namespace

bool AtInterval(Cursor& cursor) { return cursor.Peek().Is("INTERVAL") && AtValue(cursor, 1); }

Result<IntervalLiteral> ParseInterval(Cursor& cursor, bool needs_unit) {
  expr::Origin origin = cursor.previous().origin;
  if (!AtValue(cursor, 0)) return cursor.Unexpected();
  bool text_alone = cursor.Peek().kind == TokenKind::kString && UnitAfterValue(cursor) == nullptr;
  if (text_alone && !needs_unit) {
    ARROW_ASSIGN_OR_RAISE(IntervalLiteral interval, TextInterval(cursor.Next()));
    interval.origin = origin;
    return interval;
  }
  IntervalLiteral interval;
  interval.origin = origin;
  int fields = 0;
  std::string single;
  bool day_time = false;
  do {
    Token at = cursor.Peek();
    const IntervalUnit* unit = UnitAfterValue(cursor);
    if (unit == nullptr) {
      if (cursor.Next().kind == TokenKind::kSymbol) cursor.Next();  // the sign of the value; what follows the value is at fault
      return cursor.Unexpected();
    }
    ARROW_ASSIGN_OR_RAISE(IntervalValue value, TakeValue(cursor));
    cursor.Next();
    if (cursor.Peek().Is("TO")) return UnsupportedSyntax("An interval of a range of units (… TO …)", cursor.Peek().origin);
    ARROW_RETURN_NOT_OK(AddField(at, value, *unit, &interval));
    (unit->months != 0 ? interval.is_year_month : day_time) = true;
    if (++fields == 1 && unit->pad > 0 && value.millionths == 0) single = FieldText(value, *unit);
  } while (AtValue(cursor, 0) && UnitAfterValue(cursor) != nullptr);
  if (interval.is_year_month && day_time) {
    return AtPlace(UserError("_LEGACY_ERROR_TEMP_0029", "Cannot mix year-month and day-time fields in one interval: {}.",
                             cursor.TextFrom(origin.start)),
                   origin);
  }
  if (interval.months != static_cast<int32_t>(interval.months)) return InvalidInterval(cursor.previous());
  interval.text = fields == 1 && !single.empty() ? single : std::string(cursor.TextFrom(origin.start));
  return interval;
}

ExprPtr ToExpression(const IntervalLiteral& interval) {
  if (interval.is_year_month) {
    return expr::Literal(std::make_shared<arrow::Int32Scalar>(static_cast<int32_t>(interval.months)), type::YearMonthInterval(),
                         interval.origin);
  }
  return expr::Literal(std::make_shared<arrow::DurationScalar>(interval.micros, type::DayTimeInterval()->ToArrow()),
                       type::DayTimeInterval(), interval.origin);
}

}  // namespace tidemill::sql
