// Arithmetic over decimals: exact in 256 bits, then rounded half up to the type that Spark's rules give the result.

#include <arrow/array/array_decimal.h>
#include <arrow/type.h>
#include <arrow/util/decimal.h>

#include <algorithm>

#include "expr/function/arithmetic_internal.h"
#include "expr/function/coercion_internal.h"
#include "expr/number_text.h"

namespace tidemill::expr {

namespace {

using arrow::Decimal128;
using arrow::Decimal256;

Decimal256 PowerOfTen(int exponent) { return Decimal256::GetScaleMultiplier(exponent); }

// `value` with `from` fraction digits brought to `to`, rounded half away from zero.
Decimal256 Rescale(const Decimal256& value, int from, int to) {
  if (to >= from) return Decimal256(value * PowerOfTen(to - from));
  return Decimal256(value.ReduceScaleBy(from - to, /*round=*/true));
}

// Quotient towards zero and remainder; the divisor is not zero. (The base class: Decimal256's own Divide makes a Result of each row.)
void DivideExactly(const arrow::BasicDecimal256& a, const arrow::BasicDecimal256& b, arrow::BasicDecimal256* quotient,
                   arrow::BasicDecimal256* rest) {
  a.Divide(b, quotient, rest);
}

// True when it fits decimal(precision, …); then stored.
bool Store(const Decimal256& value, int precision, Decimal128* out) {
  if (!value.FitsInPrecision(precision)) return false;
  const auto words = value.little_endian_array();
  *out = Decimal128(static_cast<int64_t>(words[1]), words[0]);
  return true;
}

enum class Operator { kAdd, kSubtract, kMultiply, kDivide, kRemainder, kPositiveRemainder, kWholeDivide };

Operator OperatorOf(const std::string& name) {
  if (name == "+") return Operator::kAdd;
  if (name == "-") return Operator::kSubtract;
  if (name == "*") return Operator::kMultiply;
  if (name == "/") return Operator::kDivide;
  if (name == "div") return Operator::kWholeDivide;
  return name == "pmod" ? Operator::kPositiveRemainder : Operator::kRemainder;
}

struct Scales {
  int left, right, result;
};

// `divisor` is not zero.
Decimal256 Divide(const Decimal256& a, const Decimal256& b, const Scales& scales) {
  // One digit more than asked for would not round right (double rounding); the remainder does.
  const int shift = scales.result - scales.left + scales.right;
  const Decimal256 dividend = shift >= 0 ? Decimal256(a * PowerOfTen(shift)) : a;
  const Decimal256 divisor = shift >= 0 ? b : Decimal256(b * PowerOfTen(-shift));
  arrow::BasicDecimal256 quotient, rest;
  DivideExactly(dividend, divisor, &quotient, &rest);
  const Decimal256 twice = Decimal256(Decimal256(arrow::BasicDecimal256::Abs(rest)) * Decimal256(2));
  if (twice >= Decimal256(arrow::BasicDecimal256::Abs(divisor)))
    quotient += (dividend.Sign() == divisor.Sign()) ? Decimal256(1) : Decimal256(-1);
  return Decimal256(quotient);
}

Decimal256 Remainder(const Decimal256& a, const Decimal256& b, const Scales& scales, bool positive) {
  const int scale = std::max(scales.left, scales.right);
  const Decimal256 dividend = Rescale(a, scales.left, scale);
  const Decimal256 divisor = Rescale(b, scales.right, scale);
  arrow::BasicDecimal256 quotient, rest;
  DivideExactly(dividend, divisor, &quotient, &rest);
  if (positive && rest.Sign() < 0) {
    rest += divisor;
    DivideExactly(Decimal256(rest), divisor, &quotient, &rest);
  }
  return Rescale(Decimal256(rest), scale, scales.result);
}

Decimal256 Compute(Operator op, const Decimal256& a, const Decimal256& b, const Scales& scales) {
  switch (op) {
    case Operator::kAdd:
    case Operator::kSubtract: {
      const int scale = std::max(scales.left, scales.right);
      const Decimal256 left = Rescale(a, scales.left, scale);
      const Decimal256 right = Rescale(b, scales.right, scale);
      return Rescale(Decimal256(left + (op == Operator::kAdd ? right : Decimal256(-right))), scale, scales.result);
    }
    case Operator::kMultiply:
      return Rescale(Decimal256(a * b), scales.left + scales.right, scales.result);
    case Operator::kDivide:
      return Divide(a, b, scales);
    case Operator::kWholeDivide: {
      const int scale = std::max(scales.left, scales.right);
      arrow::BasicDecimal256 quotient, rest;
      DivideExactly(Rescale(a, scales.left, scale), Rescale(b, scales.right, scale), &quotient, &rest);
      return Decimal256(quotient);
    }
    case Operator::kRemainder:
      return Remainder(a, b, scales, false);
    case Operator::kPositiveRemainder:
      return Remainder(a, b, scales, true);
  }
  return {};
}

// The text of a value too wide for Decimal128, for messages.
std::string WideText(const Decimal256& value, int scale) {
  std::string digits = value.ToIntegerString();
  const size_t sign = digits[0] == '-' ? 1 : 0;
  if (scale > 0) {
    if (digits.size() - sign <= static_cast<size_t>(scale))
      digits.insert(sign, static_cast<size_t>(scale) + 1 - (digits.size() - sign), '0');
    digits.insert(digits.size() - static_cast<size_t>(scale), 1, '.');
  }
  return digits;
}

}  // namespace

Error DecimalOutOfRange(const std::string& value, int precision, int scale) {
  return UserError("NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION",
                   "{} cannot be represented as DECIMAL({}, {}). With spark.sql.ansi.enabled=false it becomes NULL.", value, precision,
                   scale)
      .Param("value", value)
      .Param("precision", std::to_string(precision))
      .Param("scale", std::to_string(scale))
      .Param("config", "\"spark.sql.ansi.enabled\"");
}

Result<Bound> BindDecimalArithmetic(CallSite& call) {
  const int p1 = call.TypeOf(0).precision(), s1 = call.TypeOf(0).scale();
  const int p2 = call.TypeOf(1).precision(), s2 = call.TypeOf(1).scale();
  const int scale = std::max(s1, s2);
  const bool nullable = !call.context.ansi || call.AnyNullable();
  switch (OperatorOf(call.name)) {
    case Operator::kAdd:
    case Operator::kSubtract:
      return Bound{AdjustedDecimal(std::max(p1 - s1, p2 - s2) + scale + 1, scale), nullable};
    case Operator::kMultiply:
      return Bound{AdjustedDecimal(p1 + p2 + 1, s1 + s2), nullable};
    case Operator::kDivide: {
      const int fraction = std::max(6, s1 + p2 + 1);
      return Bound{AdjustedDecimal(p1 - s1 + s2 + fraction, fraction), nullable};
    }
    case Operator::kWholeDivide:
      return Bound{type::Long(), nullable};
    case Operator::kRemainder:
    case Operator::kPositiveRemainder:
      return Bound{AdjustedDecimal(std::max(1, std::min(p1 - s1, p2 - s2) + scale), scale), nullable};
  }
  return InternalError("No decimal operator {}", call.name);
}

Result<Kernel> CompileDecimalArithmetic(const Expression& call) {
  const Operator op = OperatorOf(call.name);
  const bool whole = op == Operator::kWholeDivide;
  const bool divides = op == Operator::kDivide || whole || op == Operator::kRemainder || op == Operator::kPositiveRemainder;
  const int precision = whole ? 38 : call.type->precision();
  const Scales scales{call.children[0]->type->scale(), call.children[1]->type->scale(), whole ? 0 : call.type->scale()};
  const auto type = whole ? arrow::decimal128(38, 0) : call.type->ToArrow();
  const bool ansi = call.context.ansi;
  return Kernel([=](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    const auto& a = static_cast<const arrow::Decimal128Array&>(*arguments[0].array);
    const auto& b = static_cast<const arrow::Decimal128Array&>(*arguments[1].array);
    ARROW_ASSIGN_OR_RAISE(Validity validity, IntersectValidity(arguments, rows));
    ARROW_ASSIGN_OR_RAISE(auto buffer, AllocateValues(rows * (whole ? 8 : 16)));
    std::vector<uint64_t> keep = LoadWords(validity.bitmap == nullptr ? nullptr : validity.bitmap->data(), 0, rows);
    for (int64_t row = 0; row < rows; ++row) {
      Decimal128 out(0);
      if (validity.IsValid(row)) {
        const Decimal256 left(Decimal128(a.GetValue(arguments[0].Index(row))));
        const Decimal256 right(Decimal128(b.GetValue(arguments[1].Index(row))));
        bool kept = !(divides && right == Decimal256(0));
        if (!kept && ansi) return DivisionByZero(!(op == Operator::kDivide || whole));
        if (kept) {
          const Decimal256 exact = Compute(op, left, right, scales);
          kept = Store(exact, precision, &out);
          if (!kept && ansi) return DecimalOutOfRange(WideText(exact, scales.result), precision, scales.result);
        }
        if (!kept) keep[static_cast<size_t>(row / 64)] &= ~(uint64_t{1} << (row % 64));
      }
      if (whole) {
        reinterpret_cast<int64_t*>(buffer->mutable_data())[row] = static_cast<int64_t>(out.low_bits());
      } else {
        out.ToBytes(buffer->mutable_data() + row * 16);
      }
    }
    ARROW_ASSIGN_OR_RAISE(validity, ValidityOf(keep, rows));
    return MakeFixed(whole ? arrow::int64() : type, rows, std::move(buffer), validity);
  });
}

Result<Kernel> CompileDecimalNegate(const Expression& call, bool absolute) {
  const auto type = call.type->ToArrow();
  return Kernel([=](std::span<const Column> arguments, int64_t rows) -> Result<ArrayPtr> {
    const auto& in = static_cast<const arrow::Decimal128Array&>(*arguments[0].array);
    ARROW_ASSIGN_OR_RAISE(const Validity validity, IntersectValidity(arguments, rows));
    ARROW_ASSIGN_OR_RAISE(auto buffer, AllocateValues(rows * 16));
    for (int64_t row = 0; row < rows; ++row) {
      const Decimal128 value(in.GetValue(row));
      (absolute && value.Sign() > 0 ? value : Decimal128(-value)).ToBytes(buffer->mutable_data() + row * 16);
    }
    return MakeFixed(type, rows, std::move(buffer), validity);
  });
}

}  // namespace tidemill::expr
