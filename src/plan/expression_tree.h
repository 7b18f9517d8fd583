#pragma once

// Walks over expression trees, shared by the rules of this folder.

#include <functional>
#include <set>
#include <vector>

#include "expr/expression.h"

namespace tidemill::plan {

/// Replace nodes from the top down: `rule` answers the replacement of a node, or nullptr to look below it. A replacement is not looked into.
expr::ExprPtr Rewrite(const expr::ExprPtr& expression, const std::function<expr::ExprPtr(const expr::ExprPtr&)>& rule);
/// Does some node, `expression` included, satisfy `predicate`?
bool AnyNode(const expr::Expression& expression, const std::function<bool(const expr::Expression&)>& predicate);
bool ContainsAggregate(const expr::Expression& expression);
/// Add the ids of all attributes below `expression`.
void CollectReferences(const expr::Expression& expression, std::set<int64_t>* ids);
std::set<int64_t> References(const std::vector<expr::ExprPtr>& expressions);
/// The column that a named expression (attribute or alias) makes.
expr::ExprPtr ToAttribute(const expr::ExprPtr& named);
/// The expression without its alias.
const expr::ExprPtr& StripAlias(const expr::ExprPtr& expression);
/// The conjuncts of a condition, left to right.
std::vector<expr::ExprPtr> SplitConjuncts(const expr::ExprPtr& condition);
/// `conjuncts` joined by AND; there is at least one, and all are resolved.
expr::ExprPtr JoinConjuncts(const std::vector<expr::ExprPtr>& conjuncts);
/// A message parameter that quotes SQL text: `"sum(v)"`.
std::string QuoteSql(const std::string& sql);
/// Quote name parts for a message: `a`.`b`.
std::string QuoteName(const std::vector<std::string>& parts);

}  // namespace tidemill::plan
