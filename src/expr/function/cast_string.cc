// CAST from string: what text means as a number, a truth value or a time.

#include <arrow/array/array_binary.h>
#include <arrow/type.h>

#include <algorithm>
#include <limits>

#include "expr/function/arithmetic_internal.h"
#include "expr/function/cast_internal.h"
#include "expr/function/coercion_internal.h"
#include "expr/function/evaluator.h"
#include "expr/number_text.h"
#include "expr/timestamp.h"

namespace tidemill::expr {

namespace {

using type::Kind;

// `read(text, Out*)` says whether the text is one.
template <typename Out, typename Read>
Kernel FromText(const CastPlan& plan, Read read) {
  return [plan, read, type = plan.to->ToArrow()](std::span<const Column> arguments, int64_t rows) mutable {
    const auto& in = static_cast<const arrow::StringArray&>(*arguments[0].array);
    return ConvertFixed<Out>(
        arguments[0], rows, type, [&](int64_t row, Out* out) { return read(in.GetView(row), out); },
        [&](int64_t row) {
          return plan.fails ? static_cast<Status>(CastInvalidInput(plan, "'" + in.GetString(row) + "'")) : Status::OK();
        });
  };
}

template <typename Out>
Kernel IntegerFromText(const CastPlan& plan) {
  // Only outside ANSI mode is "1.9" a whole number.
  return FromText<Out>(plan, [allow_fraction = !plan.ansi](std::string_view text, Out* out) {
    const auto value = ParseLong(text, allow_fraction);
    if (!value || *value < std::numeric_limits<Out>::min() || *value > std::numeric_limits<Out>::max()) return false;
    *out = static_cast<Out>(*value);
    return true;
  });
}

std::optional<bool> ParseBoolean(std::string_view text) {
  text = TrimWhitespace(text);
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const char* word : {"t", "true", "y", "yes", "1"}) {
    if (lower == word) return true;
  }
  for (const char* word : {"f", "false", "n", "no", "0"}) {
    if (lower == word) return false;
  }
  return std::nullopt;
}

Kernel BooleanFromText(const CastPlan& plan) {
  return [plan](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    const auto& in = static_cast<const arrow::StringArray&>(*arguments[0].array);
    std::vector<uint64_t> values(static_cast<size_t>((rows + 63) / 64), 0);
    std::vector<uint64_t> valid = values;
    for (int64_t row = 0; row < rows; ++row) {
      if (in.IsNull(row)) continue;
      const auto value = ParseBoolean(in.GetView(row));
      if (!value && plan.fails) return CastInvalidInput(plan, "'" + in.GetString(row) + "'");
      const uint64_t bit = uint64_t{1} << (row % 64);
      if (value) valid[static_cast<size_t>(row / 64)] |= bit;
      if (value && *value) values[static_cast<size_t>(row / 64)] |= bit;
    }
    return StoreBooleans(values, valid, rows);
  };
}

struct DecimalWords {
  uint64_t low = 0;
  int64_t high = 0;
};

Kernel DecimalFromText(const CastPlan& plan) {
  return [plan, type = plan.to->ToArrow()](std::span<const Column> arguments, int64_t rows) {
    const auto& in = static_cast<const arrow::StringArray&>(*arguments[0].array);
    DecimalParse outcome = DecimalParse::kOk;
    return ConvertFixed<DecimalWords>(
        arguments[0], rows, type,
        [&](int64_t row, DecimalWords* out) {
          arrow::Decimal128 value;
          outcome = ParseDecimal(in.GetView(row), plan.to->precision(), plan.to->scale(), &value);
          *out = {value.low_bits(), value.high_bits()};
          return outcome == DecimalParse::kOk;
        },
        [&](int64_t row) -> Status {
          if (!plan.fails) return Status::OK();
          if (outcome == DecimalParse::kOutOfRange) return DecimalOutOfRange(in.GetString(row), plan.to->precision(), plan.to->scale());
          return CastInvalidInput(plan, "'" + in.GetString(row) + "'");
        });
  };
}

template <typename Out, typename Parse>
Kernel FloatFromText(const CastPlan& plan, Parse parse) {
  return FromText<Out>(plan, [parse](std::string_view text, Out* out) {
    const auto value = parse(text);
    if (value) *out = *value;
    return value.has_value();
  });
}

}  // namespace

Error CastInvalidInput(const CastPlan& plan, const std::string& shown) {
  return UserError("CAST_INVALID_INPUT", "The value {} of the type {} does not read as {}. Use `try_cast` to get NULL instead.", shown,
                   Quoted(plan.from->ToSql()), Quoted(plan.to->ToSql()))
      .Param("expression", shown)
      .Param("sourceType", Quoted(plan.from->ToSql()))
      .Param("targetType", Quoted(plan.to->ToSql()))
      .Param("ansiConfig", "\"spark.sql.ansi.enabled\"");
}

Result<Kernel> CompileCastFromString(const CastPlan& plan) {
  switch (plan.to->kind()) {
    case Kind::kBoolean:
      return BooleanFromText(plan);
    case Kind::kByte:
      return IntegerFromText<int8_t>(plan);
    case Kind::kShort:
      return IntegerFromText<int16_t>(plan);
    case Kind::kInt:
      return IntegerFromText<int32_t>(plan);
    case Kind::kLong:
      return IntegerFromText<int64_t>(plan);
    case Kind::kFloat:
      return FloatFromText<float>(plan, ParseFloat);
    case Kind::kDouble:
      return FloatFromText<double>(plan, ParseDouble);
    case Kind::kDecimal:
      return DecimalFromText(plan);
    case Kind::kDate:
      return FromText<int32_t>(plan, [](std::string_view text, int32_t* days) { return ParseDate(text, days); });
    case Kind::kTimestamp: {
      ARROW_ASSIGN_OR_RAISE(ZoneRules zone, ZoneRules::Find(plan.time_zone));
      return FromText<int64_t>(plan, [zone](std::string_view text, int64_t* micros) mutable { return ParseTimestamp(text, zone, micros); });
    }
    case Kind::kTimestampNtz:
      return FromText<int64_t>(plan, [](std::string_view text, int64_t* micros) { return ParseTimestampNtz(text, micros); });
    default:
      return UnsupportedCast(plan);
  }
}

}  // namespace tidemill::expr
