#pragma once

// Types of calls and casts: given resolved arguments, which function is it, what casts are implied (Spark's type coercion, ANSI or not), what comes out.
//
// Operators are calls too, by these names: + - * / % div || (unary: "negative", "positive"), = <=> <> < <= > >=, and, or, not, isnull, isnotnull,
// in(value, item…), between(value, low, high), like / ilike(value, pattern), case: when(condition, value, …[, else]), field access:
// getfield(struct, 'name'). "==", "!=", "!", and - or + with one argument are understood as well.

#include <string>
#include <vector>

#include "expr/expression.h"

namespace tidemill::expr {

/// Resolve one call whose children are resolved: looks the function up, inserts implied casts, sets type and nullability.
/// Errors, with Spark's conditions and parameters: UNRESOLVED_ROUTINE (with the nearest known name), WRONG_NUM_ARGS, DATATYPE_MISMATCH.*.
/// Aggregates (count, sum, avg, min, max) resolve too: IsAggregate() tells.
Result<ExprPtr> ResolveCall(const Expression& call, std::vector<ExprPtr> children, const EvalContext& context);
/// Resolve a cast; DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION and kin when Spark has none. Equal types: the child itself.
Result<ExprPtr> ResolveCast(ExprPtr child, const type::TypePtr& to, bool try_cast, const EvalContext& context, Origin origin = {});
/// The type that columns of a set operation have in common; null when there is none.
type::TypePtr WiderType(const type::TypePtr& a, const type::TypePtr& b, bool ansi);
bool IsAggregate(const Expression& call);
/// Known scalar and aggregate function names, for hints and for the generated support table.
std::vector<std::string> FunctionNames();
/// An expression without attributes, calls of time or chance: may be folded.
bool IsFoldable(const Expression& expression);
/// Evaluate a foldable expression to a literal.
Result<ExprPtr> Fold(const ExprPtr& expression);
/// `expression` with current_timestamp(), now(), current_date() and localtimestamp() as literals of the batch's time (milliseconds since the epoch).
ExprPtr ReplaceCurrentTime(const ExprPtr& expression, int64_t batch_timestamp_ms);

}  // namespace tidemill::expr
