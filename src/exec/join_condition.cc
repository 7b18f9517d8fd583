#include "exec/join_condition.h"

#include <algorithm>

#include "exec/scan_filter.h"

namespace tidemill::exec {

using expr::ExprKind;
using expr::ExprPtr;

namespace {

/// Does `expression` read columns of `side`, and none but those?
bool IsOf(const expr::Expression& expression, const std::vector<ExprPtr>& side, bool* reads) {
  if (expression.kind == ExprKind::kAttribute) {
    *reads = true;
    return std::any_of(side.begin(), side.end(), [&](const ExprPtr& column) { return column->id == expression.id; });
  }
  return std::all_of(expression.children.begin(), expression.children.end(),
                     [&](const ExprPtr& child) { return IsOf(*child, side, reads); });
}

bool IsOf(const ExprPtr& expression, const std::vector<ExprPtr>& side) {
  bool reads = false;
  return IsOf(*expression, side, &reads) && reads;
}

}  // namespace

JoinCondition SplitJoinCondition(const ExprPtr& condition, const std::vector<ExprPtr>& stream, const std::vector<ExprPtr>& fixed) {
  JoinCondition split;
  if (condition == nullptr) return split;
  for (const ExprPtr& conjunct : Conjuncts(condition)) {
    const bool is_equality = conjunct->kind == ExprKind::kCall && (conjunct->name == "=" || conjunct->name == "==");
    if (is_equality && IsOf(conjunct->children[0], stream) && IsOf(conjunct->children[1], fixed)) {
      split.stream_keys.push_back(conjunct->children[0]);
      split.static_keys.push_back(conjunct->children[1]);
    } else if (is_equality && IsOf(conjunct->children[1], stream) && IsOf(conjunct->children[0], fixed)) {
      split.stream_keys.push_back(conjunct->children[1]);
      split.static_keys.push_back(conjunct->children[0]);
    } else {
      split.rest.push_back(conjunct);
    }
  }
  return split;
}

}  // namespace tidemill::exec
