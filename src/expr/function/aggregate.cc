#include "expr/function/aggregate.h"

#include <arrow/scalar.h>

#include <algorithm>

#include "expr/function/coercion_internal.h"
#include "expr/function/registry_internal.h"
#include "expr/function/resolve.h"

namespace tidemill::expr {

namespace {

using type::Kind;

// Sums of this many digits fit a long, averages of this many a double: Spark then aggregates the unscaled values.
constexpr int kMaxLongSumPrecision = 8;
constexpr int kMaxDoubleAveragePrecision = 11;

Result<Bound> BindCount(CallSite& call) {
  // count(*) counts rows, as count(1) does.
  for (ExprPtr& child : call.children) {
    if (child->kind == ExprKind::kStar) child = LiteralInt(1);
  }
  return Bound{type::Long(), false};
}

Result<Bound> BindSum(CallSite& call) {
  ARROW_RETURN_NOT_OK(ExpectNumeric(call, 0));
  const type::DataType& argument = call.TypeOf(0);
  if (argument.kind() == Kind::kDecimal) return Bound{BoundedDecimal(argument.precision() + 10, argument.scale()), true};
  return Bound{argument.IsIntegral() ? type::Long() : type::Double(), true};
}

Result<Bound> BindAvg(CallSite& call) {
  ARROW_RETURN_NOT_OK(ExpectNumeric(call, 0));
  const type::DataType& argument = call.TypeOf(0);
  if (argument.kind() == Kind::kDecimal) return Bound{BoundedDecimal(argument.precision() + 4, argument.scale() + 4), true};
  return Bound{type::Double(), true};
}

Result<Bound> BindMinMax(CallSite& call) {
  if (call.TypeOf(0).kind() == Kind::kMap) {
    return UserError("DATATYPE_MISMATCH.INVALID_ORDERING_TYPE", "Cannot resolve {}: `{}` cannot order values of type {}.", call.QuotedSql(),
                     call.name, Quoted(call.TypeOf(0).ToSql()))
        .Param("sqlExpr", call.QuotedSql())
        .Param("functionName", "`" + call.name + "`")
        .Param("dataType", Quoted(call.TypeOf(0).ToSql()));
  }
  return Bound{call.children[0]->type, true};
}

constexpr Function kFunctions[] = {
    {"count", 1, -1, BindCount}, {"sum", 1, 1, BindSum},    {"avg", 1, 1, BindAvg},
    {"mean", 1, 1, BindAvg},     {"min", 1, 1, BindMinMax}, {"max", 1, 1, BindMinMax},
};

type::Field Nullable(std::string name, type::TypePtr type) { return {std::move(name), std::move(type), true}; }
type::Field NotNull(std::string name, type::TypePtr type) { return {std::move(name), std::move(type), false}; }

void FillSum(AggregateFunction& function) {
  const type::DataType& argument = *function.argument->type;
  if (argument.kind() != Kind::kDecimal) {
    function.buffer = {Nullable("sum", function.result_type)};
  } else if (argument.precision() <= kMaxLongSumPrecision) {
    function.buffer = {Nullable("sum", type::Long())};
    function.unscaled_scale = argument.scale();
  } else {
    function.buffer = {Nullable("sum", function.result_type), NotNull("isEmpty", type::Boolean())};
  }
}

void FillAvg(AggregateFunction& function) {
  const type::DataType& argument = *function.argument->type;
  type::TypePtr sum = type::Double();
  if (argument.kind() == Kind::kDecimal) {
    if (argument.precision() <= kMaxDoubleAveragePrecision) {
      function.unscaled_scale = argument.scale();
    } else {
      sum = BoundedDecimal(argument.precision() + 10, argument.scale());
    }
  }
  function.buffer = {Nullable("sum", std::move(sum)), Nullable("count", type::Long())};
}

Error UnsupportedAggregate(const Expression& call, std::string_view why) {
  return UserError("TIDEMILL_UNSUPPORTED_AGGREGATE", "{} cannot be run as a streaming aggregate here: {}.", call.ToSql(), why);
}

bool SameChildren(const Expression& a, const Expression& b) {
  return std::equal(a.children.begin(), a.children.end(), b.children.begin(), b.children.end(),
                    [](const ExprPtr& x, const ExprPtr& y) { return SameExpression(*x, *y); });
}

}  // namespace

std::span<const Function> AggregateFunctions() { return kFunctions; }

Result<AggregateFunction> MakeAggregate(const Expression& call) {
  if (!IsAggregate(call) || !call.resolved()) return InternalError("{} is not a resolved aggregate", call.ToSql());
  if (call.distinct) return UnsupportedAggregate(call, "DISTINCT aggregates have no state that other engines can read");
  if (call.children.size() != 1) return UnsupportedAggregate(call, "count of several columns is not built yet");
  AggregateFunction function;
  function.result_type = call.type;
  function.nullable = call.nullable;
  function.ansi = call.context.ansi;
  function.argument = call.children[0];
  if (call.name == "count") {
    function.kind = AggregateKind::kCount;
    if (function.argument->kind == ExprKind::kLiteral && function.argument->value->is_valid) function.argument = nullptr;
    function.buffer = {NotNull("count", type::Long())};
  } else if (call.name == "sum") {
    function.kind = AggregateKind::kSum;
    FillSum(function);
  } else if (call.name == "avg" || call.name == "mean") {
    function.kind = AggregateKind::kAvg;
    FillAvg(function);
  } else {
    if (call.type->kind() == Kind::kStruct || call.type->kind() == Kind::kArray)
      return UnsupportedAggregate(call, "its state would hold nested values");
    function.kind = call.name == "min" ? AggregateKind::kMin : AggregateKind::kMax;
    function.buffer = {Nullable(call.name, call.type)};
  }
  return function;
}

bool SameAggregate(const AggregateFunction& a, const AggregateFunction& b) {
  if (a.kind != b.kind || a.ansi != b.ansi || (a.argument == nullptr) != (b.argument == nullptr)) return false;
  return a.argument == nullptr || SameExpression(*a.argument, *b.argument);
}

bool SameExpression(const Expression& a, const Expression& b) {
  if (a.kind != b.kind) return false;
  switch (a.kind) {
    case ExprKind::kLiteral:
      return a.type->Equals(*b.type) && a.value->Equals(*b.value);
    case ExprKind::kAttribute:
      return a.id == b.id;
    case ExprKind::kUnresolvedAttribute:
    case ExprKind::kStar:
      return a.name_parts == b.name_parts;
    case ExprKind::kAlias:
      return SameChildren(a, b);
    case ExprKind::kCast:
      // Who put a cast in makes no difference to its value; try_cast does.
      return (a.name == "try_cast") == (b.name == "try_cast") && a.type->Equals(*b.type) && SameChildren(a, b);
    case ExprKind::kCall:
      return a.name == b.name && a.distinct == b.distinct && SameChildren(a, b);
  }
  return false;
}

}  // namespace tidemill::expr
