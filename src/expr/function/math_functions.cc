// round, ceil, floor, sqrt, power.

#include <arrow/array/array_decimal.h>
#include <arrow/scalar.h>
#include <arrow/type.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "expr/function/arithmetic_internal.h"
#include "expr/function/coercion_internal.h"
#include "expr/number_text.h"
#include "expr/function/registry_internal.h"

namespace tidemill::expr {

namespace {

using arrow::Decimal128;
using type::Kind;

Result<Bound> BindDouble(CallSite& call) {
  for (size_t i = 0; i < call.children.size(); ++i) {
    ARROW_RETURN_NOT_OK(ExpectNumeric(call, i));
    call.Cast(i, type::Double());
  }
  return Bound{type::Double(), call.AnyNullable()};
}

Result<Bound> BindWhole(CallSite& call) {
  ARROW_RETURN_NOT_OK(ExpectNumeric(call, 0));
  const type::DataType& argument = call.TypeOf(0);
  if (argument.kind() == Kind::kDecimal) {
    // Rounding up may need one more digit.
    return Bound{BoundedDecimal(argument.precision() - argument.scale() + 1, 0), call.AnyNullable()};
  }
  call.Cast(0, argument.IsIntegral() ? type::Long() : type::Double());
  return Bound{type::Long(), call.AnyNullable()};
}

template <double (*kFunction)(double)>
Result<Kernel> CompileUnary(const Expression&) {
  return Kernel([](std::span<const Column> arguments, int64_t rows) {
    const double* in = RawValues<double>(*arguments[0].array);
    return ConvertFixed<double>(
        arguments[0], rows, arrow::float64(),
        [in](int64_t row, double* out) {
          *out = kFunction(in[row]);
          return true;
        },
        [](int64_t) { return Status::OK(); });
  });
}

Result<Kernel> CompilePower(const Expression&) {
  return Kernel([](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    ARROW_ASSIGN_OR_RAISE(const Validity validity, IntersectValidity(arguments, rows));
    ARROW_ASSIGN_OR_RAISE(auto buffer, AllocateValues(rows * 8));
    BinaryLoop<double, double>(arguments[0], arguments[1], rows, reinterpret_cast<double*>(buffer->mutable_data()),
                               [](double a, double b) { return std::pow(a, b); });
    return MakeFixed(arrow::float64(), rows, std::move(buffer), validity);
  });
}

double SquareRoot(double value) { return std::sqrt(value); }

// A double as Java's (long) does it.
int64_t ToLong(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 9223372036854775807.0) return std::numeric_limits<int64_t>::max();
  if (value <= -9223372036854775808.0) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

struct DecimalWords {
  uint64_t low = 0;
  int64_t high = 0;
};

Kernel WholeDecimal(const Expression& call, bool up) {
  const int scale = call.children[0]->type->scale();
  return [=, type = call.type->ToArrow()](std::span<const Column> arguments, int64_t rows) {
    const auto& in = static_cast<const arrow::Decimal128Array&>(*arguments[0].array);
    return ConvertFixed<DecimalWords>(
        arguments[0], rows, type,
        [&](int64_t row, DecimalWords* out) {
          const Decimal128 value(in.GetValue(row));
          Decimal128 whole(scale == 0 ? arrow::BasicDecimal128(value) : value.ReduceScaleBy(scale, false));
          if (Decimal128(whole * Decimal128::GetScaleMultiplier(scale)) != value) {
            if (up && value.Sign() > 0) whole += Decimal128(1);
            if (!up && value.Sign() < 0) whole -= Decimal128(1);
          }
          *out = {whole.low_bits(), whole.high_bits()};
          return true;
        },
        [](int64_t) { return Status::OK(); });
  };
}

template <bool kUp>
Result<Kernel> CompileWhole(const Expression& call) {
  if (call.type->kind() == Kind::kDecimal) return WholeDecimal(call, kUp);
  if (call.children[0]->type->kind() == Kind::kLong) {
    return Kernel([](std::span<const Column> arguments, int64_t) -> Result<ArrayPtr> { return arguments[0].array; });
  }
  return Kernel([](std::span<const Column> arguments, int64_t rows) {
    const double* in = RawValues<double>(*arguments[0].array);
    return ConvertFixed<int64_t>(
        arguments[0], rows, arrow::int64(),
        [in](int64_t row, int64_t* out) {
          *out = ToLong(kUp ? std::ceil(in[row]) : std::floor(in[row]));
          return true;
        },
        [](int64_t) { return Status::OK(); });
  });
}

int DigitsOf(const Expression& call) {
  if (call.children.size() < 2 || !call.children[1]->value->is_valid) return 0;
  return static_cast<const arrow::Int32Scalar&>(*call.children[1]->value).value;
}

Result<Bound> BindRound(CallSite& call) {
  ARROW_RETURN_NOT_OK(ExpectNumeric(call, 0));
  if (call.children.size() < 2) call.children.push_back(LiteralInt(0));  // Spark's column name shows the default.
  const Expression& digits = *call.children[1];
  if (digits.kind != ExprKind::kLiteral || digits.type->kind() != Kind::kInt) {
    return UserError("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT", "Cannot resolve {}: the number of digits must be a literal INT.",
                     call.QuotedSql())
        .Param("sqlExpr", call.QuotedSql())
        .Param("inputName", "`scale`")
        .Param("inputType", Quoted("INT"))
        .Param("inputExpr", Quoted(digits.ToSql()));
  }
  const type::DataType& argument = call.TypeOf(0);
  if (argument.kind() != Kind::kDecimal) return Bound{call.children[0]->type, call.children[0]->nullable};
  const int32_t scale = digits.value->is_valid ? static_cast<const arrow::Int32Scalar&>(*digits.value).value : 0;
  // One more whole digit than before: 9.9 becomes 10.
  const int kept = std::clamp(scale, 0, argument.scale());
  const int whole = argument.precision() - argument.scale() + 1;
  return Bound{BoundedDecimal(std::max(whole, scale < 0 ? -scale + 1 : 1) + kept, kept), call.children[0]->nullable};
}

// Half away from zero on the shortest decimal text of the number, which is what BigDecimal rounds.
template <typename T>
Kernel RoundFloats(std::shared_ptr<arrow::DataType> type, int digits) {
  return [=](std::span<const Column> arguments, int64_t rows) {
    const T* in = RawValues<T>(*arguments[0].array);
    return ConvertFixed<T>(
        arguments[0], rows, type,
        [=](int64_t row, T* out) {
          *out = in[row];
          if (!std::isfinite(in[row]) || std::fabs(in[row]) >= T(1e18) || digits > 18 || digits < -18) return true;
          std::string text;
          if constexpr (sizeof(T) == 4) {
            AppendFloat(in[row], &text);
          } else {
            AppendDouble(in[row], &text);
          }
          // A decimal with `digits` of fraction; a negative count is rounded off afterwards.
          Decimal128 value;
          if (ParseDecimal(text, 38, std::max(digits, 0), &value) != DecimalParse::kOk) return true;
          if (digits < 0 && ParseDecimal(text + (text.find('E') == std::string::npos ? "E" + std::to_string(digits) : ""), 38, 0, &value) !=
                                DecimalParse::kOk)
            return true;
          text = PlainDecimal(value, std::max(digits, 0));
          if (digits < 0) text += "E" + std::to_string(-digits);
          *out = static_cast<T>(*ParseDouble(text));
          return true;
        },
        [](int64_t) { return Status::OK(); });
  };
}

template <typename T>
Kernel RoundIntegers(std::shared_ptr<arrow::DataType> type, int digits, bool ansi) {
  return [=](std::span<const Column> arguments, int64_t rows) {
    const T* in = RawValues<T>(*arguments[0].array);
    return ConvertFixed<T>(
        arguments[0], rows, type,
        [=](int64_t row, T* out) {
          *out = in[row];
          if (digits >= 0) return true;
          *out = 0;
          if (digits < -18) return true;
          int64_t unit = 1;
          for (int i = 0; i < -digits; ++i) unit *= 10;
          const __int128 value = in[row];
          const __int128 rounded = (value + (value < 0 ? -unit / 2 : unit / 2)) / unit * unit;
          *out = static_cast<T>(rounded);
          return !ansi || *out == rounded;
        },
        [](int64_t) -> Status {
          return UserError("ARITHMETIC_OVERFLOW", "Overflow in round.")
              .Param("message", "overflow")
              .Param("alternative", "")
              .Param("config", "\"spark.sql.ansi.enabled\"");
        });
  };
}

Kernel RoundDecimals(const Expression& call, int digits) {
  const int from = call.children[0]->type->scale();
  const int to = call.type->scale();
  return [=, type = call.type->ToArrow()](std::span<const Column> arguments, int64_t rows) {
    const auto& in = static_cast<const arrow::Decimal128Array&>(*arguments[0].array);
    return ConvertFixed<DecimalWords>(
        arguments[0], rows, type,
        [&](int64_t row, DecimalWords* out) {
          const int drop = std::min(from - std::min(digits, from), 38);
          Decimal128 value(in.GetValue(row));
          if (drop > 0) value = Decimal128(value.ReduceScaleBy(drop, /*round=*/true));
          if (digits < 0) value = Decimal128(value * Decimal128::GetScaleMultiplier(std::min(-digits, 38)));
          *out = {value.low_bits(), value.high_bits()};
          return digits < 0 || to == std::min(digits, from);
        },
        [](int64_t) { return Status::OK(); });
  };
}

Result<Kernel> CompileRound(const Expression& call) {
  const auto type = call.type->ToArrow();
  const int digits = DigitsOf(call);
  switch (call.type->kind()) {
    case Kind::kByte:
      return RoundIntegers<int8_t>(type, digits, call.context.ansi);
    case Kind::kShort:
      return RoundIntegers<int16_t>(type, digits, call.context.ansi);
    case Kind::kInt:
      return RoundIntegers<int32_t>(type, digits, call.context.ansi);
    case Kind::kLong:
      return RoundIntegers<int64_t>(type, digits, call.context.ansi);
    case Kind::kFloat:
      return RoundFloats<float>(type, digits);
    case Kind::kDouble:
      return RoundFloats<double>(type, digits);
    default:
      return RoundDecimals(call, digits);
  }
}

constexpr Function kFunctions[] = {
    {"sqrt", 1, 1, BindDouble, CompileUnary<SquareRoot>},
    {"power", 2, 2, BindDouble, CompilePower},
    {"pow", 2, 2, BindDouble, CompilePower},
    {"ceil", 1, 1, BindWhole, CompileWhole<true>},
    {"ceiling", 1, 1, BindWhole, CompileWhole<true>},
    {"floor", 1, 1, BindWhole, CompileWhole<false>},
    {"round", 1, 2, BindRound, CompileRound, Failing::kAnsi},
};

}  // namespace

std::span<const Function> MathFunctions() { return kFunctions; }

}  // namespace tidemill::expr
