#include "exec/scan_filter.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "expr/function/resolve.h"

namespace tidemill::exec {

using expr::ExprKind;
using expr::Expression;
using expr::ExprPtr;

std::vector<ExprPtr> Conjuncts(const ExprPtr& condition) {
  if (condition->kind != ExprKind::kCall || condition->name != "and") return {condition};
  std::vector<ExprPtr> all;
  for (const ExprPtr& child : condition->children) {
    const std::vector<ExprPtr> part = Conjuncts(child);
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

ExprPtr And(const std::vector<ExprPtr>& conditions) {
  if (conditions.empty()) return nullptr;
  ExprPtr all = conditions[0];
  for (size_t i = 1; i < conditions.size(); ++i) {
    auto both = std::make_shared<Expression>();
    both->kind = ExprKind::kCall;
    both->name = "and";
    both->children = {all, conditions[i]};
    both->type = type::Boolean();
    both->nullable = all->nullable || conditions[i]->nullable;
    both->context = conditions[i]->context;
    all = std::move(both);
  }
  return all;
}

namespace {

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// A top-level column; Spark also unwraps a widening cast of one that is compared with a constant.
bool IsColumn(const Expression& expression) {
  if (expression.kind == ExprKind::kCast && expression.children[0]->type->IsNumeric() && expression.type->IsNumeric()) {
    return IsColumn(*expression.children[0]);
  }
  return expression.kind == ExprKind::kAttribute && expression.type->kind() < type::Kind::kStruct;
}

bool IsConstant(const Expression& expression) { return expr::IsFoldable(expression); }

}  // namespace

bool IsPushable(const Expression& condition) {
  if (condition.kind != ExprKind::kCall) return false;
  const std::vector<ExprPtr>& children = condition.children;
  if (IsOneOf(condition.name, {"and", "or", "not"})) {
    return std::all_of(children.begin(), children.end(), [](const ExprPtr& child) { return IsPushable(*child); });
  }
  if (IsOneOf(condition.name, {"isnull", "isnotnull"})) return IsColumn(*children[0]);
  if (IsOneOf(condition.name, {"=", "==", "<=>", "<", "<=", ">", ">=", "!=", "<>"})) {
    return (IsColumn(*children[0]) && IsConstant(*children[1])) || (IsConstant(*children[0]) && IsColumn(*children[1]));
  }
  if (IsOneOf(condition.name, {"startswith", "endswith", "contains"})) return IsColumn(*children[0]) && IsConstant(*children[1]);
  if (condition.name == "in") {
    return IsColumn(*children[0]) &&
           std::all_of(children.begin() + 1, children.end(), [](const ExprPtr& child) { return IsConstant(*child); });
  }
  return false;
}

}  // namespace tidemill::exec
