// From aggregate buffers to results.

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/decimal.h>

#include <cmath>

#include "exec/accumulator.h"
#include "expr/function/evaluator.h"
#include "expr/function/resolve.h"

namespace tidemill::exec {

using arrow::Decimal128;
using expr::AggregateFunction;
using expr::AggregateKind;
using type::Kind;

namespace {

/// `value` of `from_scale` divided by `count`, rounded half up to the result's scale; nullopt when it does not fit.
std::optional<Decimal128> DivideHalfUp(const Decimal128& value, int from_scale, int64_t count, int precision, int scale) {
  // Widened to 256 bits: the dividend is scaled up before it is divided.
  arrow::Decimal256 wide(value);
  wide = wide.IncreaseScaleBy(scale - from_scale);
  const bool negative = wide.Sign() < 0;
  if (negative) wide.Negate();
  const arrow::Decimal256 divisor(count);
  const auto divided = wide.Divide(divisor);
  if (!divided.ok()) return std::nullopt;
  auto [quotient, remainder] = *divided;
  remainder += remainder;
  if (remainder >= divisor) quotient += arrow::Decimal256(1);
  if (negative) quotient.Negate();
  if (!quotient.FitsInPrecision(precision)) return std::nullopt;
  const auto words = quotient.little_endian_array();
  return Decimal128(static_cast<int64_t>(words[1]), words[0]);
}

Error DecimalOutOfPrecision(const type::DataType& type) {
  return UserError("NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION", "The average cannot be represented as DECIMAL({}, {}).", type.precision(), type.scale())
      .Param("precision", std::to_string(type.precision()))
      .Param("scale", std::to_string(type.scale()))
      .Param("config", "\"spark.sql.ansi.enabled\"");
}

Result<ArrayPtr> FinishDoubleAverage(const arrow::Array& sums, const arrow::Array& counts) {
  const auto& sum = static_cast<const arrow::DoubleArray&>(sums);
  const auto& count = static_cast<const arrow::Int64Array&>(counts);
  arrow::DoubleBuilder builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(sum.length()));
  for (int64_t i = 0; i < sum.length(); ++i) {
    if (count.IsNull(i) || count.Value(i) == 0) {
      builder.UnsafeAppendNull();
    } else {
      builder.UnsafeAppend(sum.Value(i) / static_cast<double>(count.Value(i)));
    }
  }
  return builder.Finish();
}

Result<ArrayPtr> FinishDecimalAverage(const AggregateFunction& function, const arrow::Array& sums, const arrow::Array& counts) {
  const auto& sum = static_cast<const arrow::Decimal128Array&>(sums);
  const auto& count = static_cast<const arrow::Int64Array&>(counts);
  const type::DataType& result = *function.result_type;
  arrow::Decimal128Builder builder(result.ToArrow());
  for (int64_t i = 0; i < sum.length(); ++i) {
    if (count.IsNull(i) || count.Value(i) == 0) {
      ARROW_RETURN_NOT_OK(builder.AppendNull());
      continue;
    }
    std::optional<Decimal128> average;
    if (sum.IsValid(i)) {
      average = DivideHalfUp(Decimal128(sum.GetValue(i)), function.buffer[0].type->scale(), count.Value(i), result.precision(), result.scale());
    }
    if (average) {
      ARROW_RETURN_NOT_OK(builder.Append(*average));
    } else if (function.ansi) {
      return DecimalOutOfPrecision(result);
    } else {
      ARROW_RETURN_NOT_OK(builder.AppendNull());
    }
  }
  return builder.Finish();
}

/// As CAST rounds: by the shortest decimal text of the double, so 0.0028125 is a half and goes up whatever its bits are.
Result<ArrayPtr> CastToDecimal(const ArrayPtr& doubles, const AggregateFunction& function) {
  const expr::ExprPtr input = expr::Attribute({"average", type::Double()}, expr::NewExprId());
  expr::EvalContext context;
  context.ansi = function.ansi;
  ARROW_ASSIGN_OR_RAISE(const expr::ExprPtr cast, expr::ResolveCast(input, function.result_type, /*try_cast=*/false, context));
  ARROW_ASSIGN_OR_RAISE(const auto evaluator, expr::Evaluator::Make(cast, {input}));
  return evaluator->Evaluate(*arrow::RecordBatch::Make(arrow::schema({arrow::field("average", arrow::float64())}), doubles->length(), {doubles}));
}

/// Spark averages narrow decimals as doubles of their unscaled values and casts the quotient back.
Result<ArrayPtr> FinishUnscaledAverage(const AggregateFunction& function, const arrow::Array& sums, const arrow::Array& counts) {
  ARROW_ASSIGN_OR_RAISE(ArrayPtr quotients, FinishDoubleAverage(sums, counts));
  const auto& quotient = static_cast<const arrow::DoubleArray&>(*quotients);
  arrow::DoubleBuilder builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(quotient.length()));
  const double unit = std::pow(10.0, function.unscaled_scale);
  for (int64_t i = 0; i < quotient.length(); ++i) {
    if (quotient.IsNull(i)) {
      builder.UnsafeAppendNull();
    } else {
      builder.UnsafeAppend(quotient.Value(i) / unit);
    }
  }
  ARROW_ASSIGN_OR_RAISE(const ArrayPtr averages, builder.Finish());
  return CastToDecimal(averages, function);
}

Result<ArrayPtr> FinishDecimalSum(const AggregateFunction& function, const arrow::Array& sums, const arrow::Array& is_empty) {
  const auto& sum = static_cast<const arrow::Decimal128Array&>(sums);
  const auto& empty = static_cast<const arrow::BooleanArray&>(is_empty);
  arrow::Decimal128Builder builder(function.result_type->ToArrow());
  for (int64_t i = 0; i < sum.length(); ++i) {
    if (empty.IsValid(i) && empty.Value(i)) {
      ARROW_RETURN_NOT_OK(builder.AppendNull());
    } else if (sum.IsValid(i)) {
      ARROW_RETURN_NOT_OK(builder.Append(Decimal128(sum.GetValue(i))));
    } else if (function.ansi) {
      return UserError("ARITHMETIC_OVERFLOW", "Overflow in sum of decimals. Use 'try_sum' to tolerate overflow and return NULL instead. If necessary set \"spark.sql.ansi.enabled\" to \"false\" to bypass this error.")
          .Param("message", "Overflow in sum of decimals")
          .Param("alternative", "Use 'try_sum' to tolerate overflow and return NULL instead.")
          .Param("config", "\"spark.sql.ansi.enabled\"");
    } else {
      ARROW_RETURN_NOT_OK(builder.AppendNull());
    }
  }
  return builder.Finish();
}

Result<ArrayPtr> FinishUnscaledSum(const AggregateFunction& function, const arrow::Array& sums) {
  const auto& sum = static_cast<const arrow::Int64Array&>(sums);
  arrow::Decimal128Builder builder(function.result_type->ToArrow());
  for (int64_t i = 0; i < sum.length(); ++i) {
    ARROW_RETURN_NOT_OK(sum.IsNull(i) ? builder.AppendNull() : builder.Append(Decimal128(sum.Value(i))));
  }
  return builder.Finish();
}

}  // namespace

Result<ArrayPtr> FinishAggregate(const AggregateFunction& function, std::span<const ArrayPtr> buffers) {
  const Kind first = function.buffer.at(0).type->kind();
  switch (function.kind) {
    case AggregateKind::kCount:
    case AggregateKind::kMin:
    case AggregateKind::kMax: return buffers[0];
    case AggregateKind::kSum:
      if (first == Kind::kDecimal) return FinishDecimalSum(function, *buffers[0], *buffers[1]);
      if (function.unscaled_scale >= 0) return FinishUnscaledSum(function, *buffers[0]);
      return buffers[0];
    case AggregateKind::kAvg:
      if (first == Kind::kDecimal) return FinishDecimalAverage(function, *buffers[0], *buffers[1]);
      if (function.unscaled_scale >= 0) return FinishUnscaledAverage(function, *buffers[0], *buffers[1]);
      return FinishDoubleAverage(*buffers[0], *buffers[1]);
  }
  return InternalError("unknown aggregate");
}

}  // namespace tidemill::exec
