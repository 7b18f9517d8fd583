#pragma once

// Aggregate functions: result types and the buffer columns Spark keeps in state for them (docs/formats/aggregation-state.md). The loops over state rows are in exec/.

#include <memory>
#include <string>
#include <vector>

#include "expr/expression.h"

namespace tidemill::expr {

enum class AggregateKind { kCount, kSum, kAvg, kMin, kMax };

/// One distinct aggregate function of a query. Same function with the same arguments twice is one.
struct AggregateFunction {
  AggregateKind kind = AggregateKind::kCount;
  ExprPtr argument;                  ///< null for count(*) / count(1)
  type::TypePtr result_type;
  bool nullable = true;
  std::vector<type::Field> buffer;   ///< Spark's buffer columns, in order
  bool ansi = true;                  ///< overflow of sum fails, else wraps or becomes null
  /// sum/avg of a narrow decimal (precision <= 8 / <= 11): the buffer holds unscaled values and the result is rescaled (Spark's DecimalAggregates).
  int unscaled_scale = -1;
};

/// From a resolved aggregate call. Errors: user error for a function that has no interchangeable buffer yet.
Result<AggregateFunction> MakeAggregate(const Expression& call);
/// Same kind, argument and flags?
bool SameAggregate(const AggregateFunction& a, const AggregateFunction& b);
/// Structural equality of expressions by attribute id.
bool SameExpression(const Expression& a, const Expression& b);

}  // namespace tidemill::expr
