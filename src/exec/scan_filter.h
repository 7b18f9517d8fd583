#pragma once

// Which filters Spark hands to a file scan. They decide what progress reports as input rows: a row that the scan itself rejects is not counted.

#include <utility>
#include <vector>

#include "expr/expression.h"

namespace tidemill::exec {

/// The conjuncts of `condition`, in order.
std::vector<expr::ExprPtr> Conjuncts(const expr::ExprPtr& condition);
/// The conjunction of `conditions`, or null when there is none.
expr::ExprPtr And(const std::vector<expr::ExprPtr>& conditions);
/// Would Spark translate `condition` into a source filter: a comparison of a column with a constant, a null test, IN over constants, a prefix, suffix or substring test,
/// and AND, OR, NOT of these?
bool IsPushable(const expr::Expression& condition);

}  // namespace tidemill::exec
