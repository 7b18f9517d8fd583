#include "expr/aggregate.h"

#include <arrow/scalar.h>

#include <algorithm>

#include "expr/coercion_internal.h"
#include "expr/registry_internal.h"

namespace tidemill::expr {

using type::Kind;

namespace {

// Spark sums and averages decimals up to these precisions by their unscaled values.
constexpr int kUnscaledSumPrecision = 8;
constexpr int kUnscaledAveragePrecision = 11;

Result<Bound> BindCount(CallSite&) { return Bound{type::Long(), false}; }

Result<Bound> BindSum(CallSite& call) {
  ARROW_RETURN_NOT_OK(ExpectNumeric(call, 0));
  const type::DataType& argument = call.TypeOf(0);
  if (argument.kind() == Kind::kDecimal) return Bound{BoundedDecimal(argument.precision() + 10, argument.scale()), true};
  if (argument.IsIntegral()) return Bound{type::Long(), true};
  call.Cast(0, type::Double());
  return Bound{type::Double(), true};
}

Result<Bound> BindAverage(CallSite& call) {
  ARROW_RETURN_NOT_OK(ExpectNumeric(call, 0));
  const type::DataType& argument = call.TypeOf(0);
  if (argument.kind() == Kind::kDecimal) return Bound{BoundedDecimal(argument.precision() + 4, argument.scale() + 4), true};
  return Bound{type::Double(), true};
}

Result<Bound> BindExtreme(CallSite& call) {
  if (call.TypeOf(0).kind() == Kind::kMap) return UnexpectedInputType(call, 0, "\"ORDERABLE\"");
  return Bound{call.children[0]->type, true};
}

constexpr Function kFunctions[] = {
    {"count", 1, -1, BindCount}, {"sum", 1, 1, BindSum},     {"avg", 1, 1, BindAverage},
    {"mean", 1, 1, BindAverage}, {"min", 1, 1, BindExtreme}, {"max", 1, 1, BindExtreme},
};

bool IsNeverNullLiteral(const Expression& expression) {
  return expression.kind == ExprKind::kLiteral && expression.value != nullptr && expression.value->is_valid;
}

void MakeSum(const type::DataType& argument, AggregateFunction* function) {
  function->kind = AggregateKind::kSum;
  if (argument.kind() != Kind::kDecimal) {
    function->buffer = {{"sum", function->result_type}};
  } else if (argument.precision() <= kUnscaledSumPrecision) {
    function->buffer = {{"sum", type::Long()}};
    function->unscaled_scale = argument.scale();
  } else {
    function->buffer = {{"sum", function->result_type}, {"isEmpty", type::Boolean(), false}};
  }
}

void MakeAverage(const type::DataType& argument, AggregateFunction* function) {
  function->kind = AggregateKind::kAvg;
  type::TypePtr sum = type::Double();
  if (argument.kind() == Kind::kDecimal && argument.precision() <= kUnscaledAveragePrecision) {
    function->unscaled_scale = argument.scale();
  } else if (argument.kind() == Kind::kDecimal) {
    sum = BoundedDecimal(argument.precision() + 10, argument.scale());
  }
  function->buffer = {{"sum", std::move(sum)}, {"count", type::Long()}};
}

}  // namespace

std::span<const Function> AggregateFunctions() { return kFunctions; }

Result<AggregateFunction> MakeAggregate(const Expression& call) {
  AggregateFunction function;
  function.result_type = call.type;
  function.nullable = call.nullable;
  function.ansi = call.context.ansi;
  if (call.name == "count") {
    if (call.children.size() > 1) {
      return UserError("TIDEMILL_UNSUPPORTED_FEATURE", "count over several columns is not supported yet; count one, or count(*).");
    }
    function.kind = AggregateKind::kCount;
    if (!IsNeverNullLiteral(*call.children[0])) function.argument = call.children[0];
    function.buffer = {{"count", type::Long(), false}};
    return function;
  }
  function.argument = call.children[0];
  const type::DataType& argument = *function.argument->type;
  if (call.name == "sum") {
    MakeSum(argument, &function);
  } else if (call.name == "avg" || call.name == "mean") {
    MakeAverage(argument, &function);
  } else if (call.name == "min" || call.name == "max") {
    if (argument.kind() == Kind::kStruct || argument.kind() == Kind::kArray) {
      return UserError("TIDEMILL_UNSUPPORTED_FEATURE", "{} over {} is not supported yet.", call.name, argument.ToSql());
    }
    function.kind = call.name == "min" ? AggregateKind::kMin : AggregateKind::kMax;
    function.buffer = {{call.name, call.type}};
  } else {
    return InternalError("{} is no aggregate function", call.name);
  }
  return function;
}

bool SameAggregate(const AggregateFunction& a, const AggregateFunction& b) {
  if (a.kind != b.kind || a.ansi != b.ansi || (a.argument == nullptr) != (b.argument == nullptr)) return false;
  return a.argument == nullptr || SameExpression(*a.argument, *b.argument);
}

bool SameExpression(const Expression& a, const Expression& b) {
  if (a.kind != b.kind || (a.type == nullptr) != (b.type == nullptr)) return false;
  if (a.type != nullptr && !a.type->Equals(*b.type)) return false;
  switch (a.kind) {
    case ExprKind::kAttribute:
    case ExprKind::kAlias:
      if (a.id != b.id) return false;
      break;
    case ExprKind::kLiteral:
      return (a.value == nullptr || b.value == nullptr) ? a.value == b.value : a.value->Equals(*b.value);
    case ExprKind::kUnresolvedAttribute:
    case ExprKind::kStar:
      if (a.name_parts != b.name_parts) return false;
      break;
    case ExprKind::kCall:
    case ExprKind::kCast:
      if (a.name != b.name || a.distinct != b.distinct) return false;
      break;
  }
  return std::equal(a.children.begin(), a.children.end(), b.children.begin(), b.children.end(),
                    [](const ExprPtr& x, const ExprPtr& y) { return SameExpression(*x, *y); });
}

}  // namespace tidemill::expr
