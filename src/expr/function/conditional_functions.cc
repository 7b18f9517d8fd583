// CASE, IF and their kin: types only. The evaluator runs them itself, because a branch must not see rows that it is not chosen for.

#include "expr/function/coercion_internal.h"
#include "expr/function/registry_internal.h"

namespace tidemill::expr {

namespace {

Status ExpectCondition(CallSite& call, size_t i) {
  if (call.TypeOf(i).kind() == type::Kind::kVoid) call.Cast(i, type::Boolean());
  if (call.TypeOf(i).kind() == type::Kind::kBoolean) return Status::OK();
  return UnexpectedInputType(call, i, Quoted("BOOLEAN"));
}

Result<Bound> BindCase(CallSite& call) {
  const size_t count = call.children.size();
  bool nullable = count % 2 == 0;  // Without ELSE a row may match nothing.
  for (size_t i = 0; i + 1 < count; i += 2) ARROW_RETURN_NOT_OK(ExpectCondition(call, i));
  // Values are at odd places, and last when there is an ELSE; brought together by themselves.
  std::vector<size_t> places;
  for (size_t i = 1; i < count; i += 2) places.push_back(i);
  if (count % 2 == 1) places.push_back(count - 1);
  std::vector<ExprPtr> values;
  for (size_t place : places) {
    values.push_back(call.children[place]);
    nullable = nullable || call.children[place]->nullable;
  }
  CallSite choice{call.name == "when" ? "casewhen" : call.name, std::move(values), call.context, call.origin};
  ARROW_RETURN_NOT_OK(UnifyArguments(choice, 0));
  for (size_t i = 0; i < places.size(); ++i) call.children[places[i]] = choice.children[i];
  return Bound{call.children[places[0]]->type, nullable};
}

Result<Bound> BindCoalesce(CallSite& call) {
  ARROW_RETURN_NOT_OK(UnifyArguments(call, 0));
  bool nullable = true;
  for (const ExprPtr& child : call.children) nullable = nullable && child->nullable;
  return Bound{call.children[0]->type, nullable};
}

Result<Bound> BindNullIf(CallSite& call) {
  const type::TypePtr common = ComparisonType(call.children[0]->type, call.children[1]->type, call.context.ansi);
  if (common == nullptr) return BinaryDiffTypes(call);
  return Bound{call.children[0]->type, true};
}

Result<Bound> BindBetween(CallSite& call) {
  for (size_t i = 1; i < 3; ++i) {
    if (ComparisonType(call.children[0]->type, call.children[i]->type, call.context.ansi) == nullptr) return BinaryDiffTypes(call);
  }
  return Bound{type::Boolean(), call.AnyNullable()};
}

constexpr Function kFunctions[] = {
    {"when", 2, -1, BindCase},
    {"if", 3, 3, BindCase},
    {"coalesce", 1, -1, BindCoalesce},
    {"ifnull", 2, 2, BindCoalesce},
    {"nvl", 2, 2, BindCoalesce},
    {"nullif", 2, 2, BindNullIf},
    {"between", 3, 3, BindBetween, nullptr, Failing::kAnsi},
};

}  // namespace

std::span<const Function> ConditionalFunctions() { return kFunctions; }

}  // namespace tidemill::expr
