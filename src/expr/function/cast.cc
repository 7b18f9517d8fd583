// CAST: which conversion a pair of types needs. Failures are errors in ANSI mode and nulls otherwise or under try_cast. Text is read in
// cast_string.cc.

#include "expr/function/cast_internal.h"

#include <arrow/array.h>
#include <arrow/array/builder_binary.h>
#include <arrow/util/decimal.h>

#include <cmath>
#include <limits>

#include "expr/function/arithmetic_internal.h"
#include "expr/function/coercion_internal.h"
#include "expr/value_text.h"
#include "expr/number_text.h"
#include "expr/timestamp.h"

namespace tidemill::expr {

namespace {

using arrow::Decimal128;
using type::Kind;

Status NoFailure(int64_t) { return Status::OK(); }

// The value as messages show it: with the suffix of its type.
std::string Shown(const arrow::Array& array, int64_t row, const type::DataType& type) {
  ZoneRules utc;
  std::string text;
  if (!AppendValue(array, row, type, utc, &text).ok()) return "?";
  switch (type.kind()) {
    case Kind::kByte:
      return text + "Y";
    case Kind::kShort:
      return text + "S";
    case Kind::kLong:
      return text + "L";
    case Kind::kFloat:
      return "CAST('" + text + "' AS FLOAT)";
    case Kind::kDouble:
      return text + "D";
    case Kind::kDecimal:
      return text + "BD";
    case Kind::kTimestamp:
      return "TIMESTAMP '" + text + "'";
    default:
      return text;
  }
}

Status CastOverflow(const CastPlan& plan, const arrow::Array& array, int64_t row) {
  const std::string value = Shown(array, row, *plan.from);
  return UserError("CAST_OVERFLOW", "The value {} of the type {} does not fit {}. Use `try_cast` to get NULL instead.", value,
                   Quoted(plan.from->ToSql()), Quoted(plan.to->ToSql()))
      .Param("value", value)
      .Param("sourceType", Quoted(plan.from->ToSql()))
      .Param("targetType", Quoted(plan.to->ToSql()))
      .Param("ansiConfig", "\"spark.sql.ansi.enabled\"");
}

// A number of C++ type In to one of type Out. Out of ANSI mode integers wrap and floats saturate, as Java's casts do.
template <typename In, typename Out>
bool ConvertNumber(In value, bool checked, Out* out) {
  if constexpr (std::is_floating_point_v<Out>) {
    *out = static_cast<Out>(value);
    return true;
  } else if constexpr (std::is_integral_v<In>) {
    *out = static_cast<Out>(value);
    return !checked || static_cast<In>(*out) == value;
  } else {
    // 2^63 is exact in both float types; comparing with it needs no rounding.
    constexpr auto kLimit = static_cast<In>(9223372036854775808.0);
    if (checked) {
      const In floor = std::floor(value), ceil = std::ceil(value);
      if (!(floor < kLimit && ceil >= -kLimit)) return false;
      if (!(floor <= static_cast<In>(std::numeric_limits<Out>::max()) && ceil >= static_cast<In>(std::numeric_limits<Out>::min())))
        return false;
      *out = static_cast<Out>(value);
      return true;
    }
    using Wide = std::conditional_t<sizeof(Out) == 8, int64_t, int32_t>;  // Java goes through int to byte and short.
    if (std::isnan(value)) {
      *out = 0;
    } else if (value >= static_cast<In>(std::numeric_limits<Wide>::max())) {
      *out = static_cast<Out>(std::numeric_limits<Wide>::max());
    } else if (value <= static_cast<In>(std::numeric_limits<Wide>::min())) {
      *out = static_cast<Out>(std::numeric_limits<Wide>::min());
    } else {
      *out = static_cast<Out>(static_cast<Wide>(value));
    }
    return true;
  }
}

template <typename In, typename Out>
Kernel NumberKernel(const CastPlan& plan) {
  return [plan, type = plan.to->ToArrow()](std::span<const Column> arguments, int64_t rows) {
    const arrow::Array& array = *arguments[0].array;
    const In* in = RawValues<In>(array);
    // try_cast has no wrapping either: what does not fit is null.
    const bool checked = plan.fails || plan.nulls;
    return ConvertFixed<Out>(
        arguments[0], rows, type, [=](int64_t row, Out* out) { return ConvertNumber(in[row], checked, out); },
        [&](int64_t row) { return plan.fails ? CastOverflow(plan, array, row) : Status::OK(); });
  };
}

// A decimal to a whole number: cut off, not rounded.
template <typename Out>
Kernel DecimalToInteger(const CastPlan& plan) {
  return [plan, type = plan.to->ToArrow()](std::span<const Column> arguments, int64_t rows) {
    const auto& array = static_cast<const arrow::Decimal128Array&>(*arguments[0].array);
    const int scale = plan.from->scale();
    return ConvertFixed<Out>(
        arguments[0], rows, type,
        [&, scale](int64_t row, Out* out) {
          const Decimal128 whole(scale == 0 ? arrow::BasicDecimal128(Decimal128(array.GetValue(row)))
                                            : Decimal128(array.GetValue(row)).ReduceScaleBy(scale, /*round=*/false));
          *out = static_cast<Out>(whole.low_bits());
          return Decimal128(static_cast<int64_t>(*out)) == whole || !(plan.fails || plan.nulls);
        },
        [&](int64_t row) { return plan.fails ? CastOverflow(plan, array, row) : Status::OK(); });
  };
}

template <typename Out>
Kernel DecimalToFloat(const CastPlan& plan) {
  return [plan, type = plan.to->ToArrow()](std::span<const Column> arguments, int64_t rows) {
    const auto& array = static_cast<const arrow::Decimal128Array&>(*arguments[0].array);
    const int scale = plan.from->scale();
    return ConvertFixed<Out>(
        arguments[0], rows, type,
        [&, scale](int64_t row, Out* out) {
          // Through text: correctly rounded, as BigDecimal.doubleValue.
          const Decimal128 value(array.GetValue(row));
          *out = scale == 0 && value.FitsInPrecision(15) ? static_cast<Out>(static_cast<int64_t>(value))
                                                         : static_cast<Out>(*ParseDouble(PlainDecimal(value, scale)));
          return true;
        },
        NoFailure);
  };
}

struct DecimalValue {
  uint64_t low = 0;
  int64_t high = 0;
};

DecimalValue ToWords(const Decimal128& value) { return {value.low_bits(), value.high_bits()}; }

// Any number to a decimal by its text: short, and the rounding of floats is that of their shortest digits, as in Spark.
Kernel NumberToDecimal(const CastPlan& plan) {
  return [plan, type = plan.to->ToArrow()](std::span<const Column> arguments, int64_t rows) {
    const arrow::Array& array = *arguments[0].array;
    std::string text;
    const int precision = plan.to->precision(), scale = plan.to->scale();
    return ConvertFixed<DecimalValue>(
        arguments[0], rows, type,
        [&](int64_t row, DecimalValue* out) {
          ZoneRules utc;
          text.clear();
          Decimal128 value;
          if (!AppendValue(array, row, *plan.from, utc, &text).ok() || ParseDecimal(text, precision, scale, &value) != DecimalParse::kOk)
            return false;
          *out = ToWords(value);
          return true;
        },
        [&](int64_t) { return plan.fails ? static_cast<Status>(DecimalOutOfRange(text, precision, scale)) : Status::OK(); });
  };
}

template <typename In>
Kernel IntegerToDecimal(const CastPlan& plan) {
  return [plan, type = plan.to->ToArrow()](std::span<const Column> arguments, int64_t rows) {
    const In* in = RawValues<In>(*arguments[0].array);
    const int precision = plan.to->precision(), scale = plan.to->scale();
    const Decimal128 factor = Decimal128::GetScaleMultiplier(scale);
    return ConvertFixed<DecimalValue>(
        arguments[0], rows, type,
        [=](int64_t row, DecimalValue* out) {
          const Decimal128 whole(static_cast<int64_t>(in[row]));
          if (!whole.FitsInPrecision(std::max(precision - scale, 1)) || (precision == scale && whole != Decimal128(0))) return false;
          *out = ToWords(Decimal128(whole * factor));
          return true;
        },
        [&](int64_t row) {
          return plan.fails ? static_cast<Status>(DecimalOutOfRange(std::to_string(in[row]), precision, scale)) : Status::OK();
        });
  };
}

// To boolean: not zero. From boolean: one or zero.
template <typename In>
Kernel NumberToBoolean() {
  return [](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    const In* in = RawValues<In>(*arguments[0].array);
    ARROW_ASSIGN_OR_RAISE(const Validity validity, IntersectValidity(arguments, rows));
    ARROW_ASSIGN_OR_RAISE(auto bits, PackBits(rows, [in](int64_t row) { return in[row] != In{}; }));
    return MakeFixed(arrow::boolean(), rows, std::move(bits), validity);
  };
}

template <typename Out>
Kernel BooleanToNumber(const CastPlan& plan) {
  return [type = plan.to->ToArrow()](std::span<const Column> arguments, int64_t rows) {
    const auto& in = static_cast<const arrow::BooleanArray&>(*arguments[0].array);
    return ConvertFixed<Out>(
        arguments[0], rows, type,
        [&in](int64_t row, Out* out) {
          *out = static_cast<Out>(in.Value(row));
          return true;
        },
        NoFailure);
  };
}

Kernel ToText(const CastPlan& plan) {
  return [plan](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    const arrow::Array& array = *arguments[0].array;
    ARROW_ASSIGN_OR_RAISE(ZoneRules zone, ZoneRules::Find(plan.time_zone));
    arrow::StringBuilder builder;
    std::string text;
    for (int64_t row = 0; row < rows; ++row) {
      if (array.IsNull(row)) {
        ARROW_RETURN_NOT_OK(builder.AppendNull());
        continue;
      }
      text.clear();
      if (plan.from->kind() == Kind::kBinary) {
        text = static_cast<const arrow::BinaryArray&>(array).GetView(row);
      } else if (plan.from->kind() == Kind::kDecimal && !plan.ansi) {
        text = DecimalText(Decimal128(static_cast<const arrow::Decimal128Array&>(array).GetValue(row)), plan.from->scale());
      } else {
        ARROW_RETURN_NOT_OK(AppendValue(array, row, *plan.from, zone, &text));
      }
      ARROW_RETURN_NOT_OK(builder.Append(text));
    }
    return builder.Finish();
  };
}

// The same bytes under another type (string to binary, one timestamp to another in UTC).
Kernel Relabel(const CastPlan& plan) {
  return [type = plan.to->ToArrow()](std::span<const Column> arguments, int64_t) -> Result<ArrayPtr> {
    auto data = arguments[0].array->data()->Copy();
    data->type = type;
    return arrow::MakeArray(data);
  };
}

// One template parameter per numeric source or target.
template <typename In>
Result<Kernel> FromNumber(const CastPlan& plan) {
  switch (plan.to->kind()) {
    case Kind::kByte:
      return NumberKernel<In, int8_t>(plan);
    case Kind::kShort:
      return NumberKernel<In, int16_t>(plan);
    case Kind::kInt:
      return NumberKernel<In, int32_t>(plan);
    case Kind::kLong:
      return NumberKernel<In, int64_t>(plan);
    case Kind::kFloat:
      return NumberKernel<In, float>(plan);
    case Kind::kDouble:
      return NumberKernel<In, double>(plan);
    case Kind::kBoolean:
      return NumberToBoolean<In>();
    case Kind::kDecimal:
      if constexpr (std::is_integral_v<In>) return IntegerToDecimal<In>(plan);
      return NumberToDecimal(plan);
    default:
      return UnsupportedCast(plan);
  }
}

Result<Kernel> FromDecimal(const CastPlan& plan) {
  switch (plan.to->kind()) {
    case Kind::kByte:
      return DecimalToInteger<int8_t>(plan);
    case Kind::kShort:
      return DecimalToInteger<int16_t>(plan);
    case Kind::kInt:
      return DecimalToInteger<int32_t>(plan);
    case Kind::kLong:
      return DecimalToInteger<int64_t>(plan);
    case Kind::kFloat:
      return DecimalToFloat<float>(plan);
    case Kind::kDouble:
      return DecimalToFloat<double>(plan);
    case Kind::kBoolean:
      return NumberToBoolean<__int128>();
    case Kind::kDecimal:
      return NumberToDecimal(plan);
    default:
      return UnsupportedCast(plan);
  }
}

Result<Kernel> FromBoolean(const CastPlan& plan) {
  switch (plan.to->kind()) {
    case Kind::kByte:
      return BooleanToNumber<int8_t>(plan);
    case Kind::kShort:
      return BooleanToNumber<int16_t>(plan);
    case Kind::kInt:
      return BooleanToNumber<int32_t>(plan);
    case Kind::kLong:
      return BooleanToNumber<int64_t>(plan);
    case Kind::kFloat:
      return BooleanToNumber<float>(plan);
    case Kind::kDouble:
      return BooleanToNumber<double>(plan);
    default:
      return UnsupportedCast(plan);
  }
}

}  // namespace

Error UnsupportedCast(const CastPlan& plan) {
  return UserError("TIDEMILL_UNSUPPORTED_FEATURE", "Casting {} to {} is not built yet.", Quoted(plan.from->ToSql()),
                   Quoted(plan.to->ToSql()));
}

Result<Kernel> CompileCast(const Expression& cast) {
  CastPlan plan;
  plan.from = cast.children[0]->type;
  plan.to = cast.type;
  plan.ansi = cast.context.ansi;
  plan.nulls = cast.name == "try_cast";
  plan.fails = cast.context.ansi && !plan.nulls;
  plan.time_zone = cast.context.time_zone;
  const Kind from = plan.from->kind();
  const Kind to = plan.to->kind();
  if (plan.from->Equals(*plan.to)) return Relabel(plan);
  if (from == Kind::kVoid) {
    return Kernel([type = plan.to->ToArrow()](std::span<const Column>, int64_t rows) { return AllNull(type, rows); });
  }
  if (to == Kind::kString) return ToText(plan);
  if (from == Kind::kString) return to == Kind::kBinary ? Relabel(plan) : CompileCastFromString(plan);
  if (from == Kind::kTimestamp || from == Kind::kTimestampNtz || from == Kind::kDate || to == Kind::kTimestamp)
    return CompileTimeCast(plan);
  switch (from) {
    case Kind::kBoolean:
      if (to == Kind::kDecimal) return UnsupportedCast(plan);
      return FromBoolean(plan);
    case Kind::kByte:
      return FromNumber<int8_t>(plan);
    case Kind::kShort:
      return FromNumber<int16_t>(plan);
    case Kind::kInt:
      return FromNumber<int32_t>(plan);
    case Kind::kLong:
      return FromNumber<int64_t>(plan);
    case Kind::kFloat:
      return FromNumber<float>(plan);
    case Kind::kDouble:
      return FromNumber<double>(plan);
    case Kind::kDecimal:
      return FromDecimal(plan);
    default:
      return UnsupportedCast(plan);
  }
}

}  // namespace tidemill::expr
