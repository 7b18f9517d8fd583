#include "plan/expression_tree.h"

#include <utility>

#include "expr/function/resolve.h"

namespace tidemill::plan {

using expr::Expression;
using expr::ExprKind;
using expr::ExprPtr;

ExprPtr Rewrite(const ExprPtr& expression, const std::function<ExprPtr(const ExprPtr&)>& rule) {
  if (ExprPtr replacement = rule(expression)) return replacement;
  std::vector<ExprPtr> children;
  children.reserve(expression->children.size());
  bool changed = false;
  for (const ExprPtr& child : expression->children) {
    children.push_back(Rewrite(child, rule));
    changed |= children.back() != child;
  }
  return changed ? expr::WithChildren(expression, std::move(children)) : expression;
}

bool AnyNode(const Expression& expression, const std::function<bool(const Expression&)>& predicate) {
  if (predicate(expression)) return true;
  for (const ExprPtr& child : expression.children) {
    if (AnyNode(*child, predicate)) return true;
  }
  return false;
}

bool ContainsAggregate(const Expression& expression) {
  return AnyNode(expression, [](const Expression& node) { return node.kind == ExprKind::kCall && expr::IsAggregate(node); });
}

void CollectReferences(const Expression& expression, std::set<int64_t>* ids) {
  if (expression.kind == ExprKind::kAttribute) ids->insert(expression.id);
  for (const ExprPtr& child : expression.children) CollectReferences(*child, ids);
}

std::set<int64_t> References(const std::vector<ExprPtr>& expressions) {
  std::set<int64_t> ids;
  for (const ExprPtr& expression : expressions) CollectReferences(*expression, &ids);
  return ids;
}

ExprPtr ToAttribute(const ExprPtr& named) {
  if (named->kind == ExprKind::kAttribute) return named;
  return expr::Attribute(type::Field{named->name, named->type, named->nullable, named->metadata_json}, named->id);
}

const ExprPtr& StripAlias(const ExprPtr& expression) {
  return expression->kind == ExprKind::kAlias ? StripAlias(expression->children[0]) : expression;
}

namespace {
void AppendConjuncts(const ExprPtr& condition, std::vector<ExprPtr>* conjuncts) {
  if (condition->kind == ExprKind::kCall && condition->name == "and") {
    for (const ExprPtr& child : condition->children) AppendConjuncts(child, conjuncts);
  } else {
    conjuncts->push_back(condition);
  }
}
}  // namespace

std::vector<ExprPtr> SplitConjuncts(const ExprPtr& condition) {
  std::vector<ExprPtr> conjuncts;
  AppendConjuncts(condition, &conjuncts);
  return conjuncts;
}

ExprPtr JoinConjuncts(const std::vector<ExprPtr>& conjuncts) {
  ExprPtr joined = conjuncts[0];
  for (size_t i = 1; i < conjuncts.size(); ++i) {
    auto conjunction = std::make_shared<Expression>(*expr::UnresolvedCall("and", {joined, conjuncts[i]}));
    conjunction->type = type::Boolean();
    conjunction->nullable = joined->nullable || conjuncts[i]->nullable;
    joined = std::move(conjunction);
  }
  return joined;
}

std::string QuoteSql(const std::string& sql) { return "\"" + sql + "\""; }

std::string QuoteName(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += '.';
    text += '`';
    for (char c : part) {
      if (c == '`') text += '`';
      text += c;
    }
    text += '`';
  }
  return text;
}

}  // namespace tidemill::plan
