#pragma once

// What a hash join can look up, and what it has to compute for each pair.

#include <vector>

#include "expr/expression.h"

namespace tidemill::exec {

/// stream_keys[i] = static_keys[i] for every i, and all of `rest`.
struct JoinCondition {
  std::vector<expr::ExprPtr> stream_keys;
  std::vector<expr::ExprPtr> static_keys;
  std::vector<expr::ExprPtr> rest;
};

/// `condition` may be null. `stream` and `fixed` are the attributes of the two sides.
JoinCondition SplitJoinCondition(const expr::ExprPtr& condition, const std::vector<expr::ExprPtr>& stream,
                                 const std::vector<expr::ExprPtr>& fixed);

}  // namespace tidemill::exec
