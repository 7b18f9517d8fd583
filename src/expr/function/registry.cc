#include "expr/function/registry_internal.h"

#include <algorithm>
#include <map>

#include "expr/function/coercion_internal.h"
#include "expr/function/resolve.h"

namespace tidemill::expr {

namespace {

using Families = std::span<const Function> (*)();
constexpr Families kFamilies[] = {ArithmeticFunctions,  BitwiseFunctions, MathFunctions,  ComparisonFunctions, LogicFunctions,
                                  ConditionalFunctions, StringFunctions,  LikeFunctions,  DateFunctions,       TimestampFunctions,
                                  WindowFunctions,      StructFunctions,  ArrayFunctions, AggregateFunctions};

std::map<std::string_view, const Function*> IndexFunctions() {
  std::map<std::string_view, const Function*> index;
  for (const Families family : kFamilies) {
    for (const Function& function : family()) index.emplace(function.name, &function);
  }
  return index;
}

const std::map<std::string_view, const Function*>& FunctionIndex() {
  static const std::map<std::string_view, const Function*> index = IndexFunctions();
  return index;
}

// Casts that a value may not survive.
bool CastMayFail(const Expression& cast) {
  if (cast.name == "try_cast" || !cast.context.ansi) return false;
  const type::DataType& from = *cast.children[0]->type;
  const type::DataType& to = *cast.type;
  if (to.kind() == type::Kind::kString) return false;
  if (from.IsNumeric() && to.IsNumeric()) return !(from.IsIntegral() && to.kind() > from.kind() && to.kind() <= type::Kind::kDouble);
  return from.kind() == type::Kind::kString || from.IsNumeric() || to.IsNumeric();
}

}  // namespace

bool CallSite::AnyNullable() const {
  return std::any_of(children.begin(), children.end(), [](const ExprPtr& child) { return child->nullable; });
}

std::string CallSite::QuotedSql() const { return Quoted(UnresolvedCall(name, children, distinct)->ToSql()); }

void CallSite::Cast(size_t i, const type::TypePtr& type) { children[i] = ImplicitCast(children[i], type, context); }

const Function* FindFunction(std::string_view name) {
  const auto& index = FunctionIndex();
  const auto found = index.find(name);
  return found == index.end() ? nullptr : found->second;
}

ExprPtr MakeResolvedCall(std::string name, std::vector<ExprPtr> children, type::TypePtr type, bool nullable, const EvalContext& context,
                         Origin origin) {
  auto call = std::make_shared<Expression>(*UnresolvedCall(std::move(name), std::move(children), false, origin));
  call->type = std::move(type);
  call->nullable = nullable;
  call->context = context;
  return call;
}

bool MayFail(const Expression& expression) {
  if (expression.kind == ExprKind::kCast && CastMayFail(expression)) return true;
  if (expression.kind == ExprKind::kCall) {
    const Function* function = FindFunction(expression.name);
    if (function == nullptr || function->failing == Failing::kAlways || (function->failing == Failing::kAnsi && expression.context.ansi))
      return true;
  }
  return std::any_of(expression.children.begin(), expression.children.end(), [](const ExprPtr& child) { return MayFail(*child); });
}

std::vector<std::string> FunctionNames() {
  std::vector<std::string> names;
  for (const auto& [name, function] : FunctionIndex()) {
    // Operators have names too, but no one writes them with parentheses.
    if (name != "getfield" && name != "time_window" && (name[0] >= 'a' && name[0] <= 'z')) names.emplace_back(name);
  }
  return names;
}

}  // namespace tidemill::expr
