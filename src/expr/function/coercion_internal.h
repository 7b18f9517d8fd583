#pragma once

// Spark's implicit type conversions, in ANSI mode and out of it, and the errors for types that do not fit.

#include <optional>
#include <string>

#include "expr/expression.h"
#include "expr/function/registry_internal.h"

namespace tidemill::expr {

/// The type two operands of arithmetic, comparison or a choice (coalesce, case, in) have in common; null when there is none. Strings take
/// part as ANSI mode says.
type::TypePtr CommonType(const type::TypePtr& a, const type::TypePtr& b, bool ansi);
/// For = < > …: outside ANSI mode a string is read as what it is compared with.
type::TypePtr ComparisonType(const type::TypePtr& a, const type::TypePtr& b, bool ansi);
/// The decimal that holds every value of an integral type, or of a numeric literal.
type::TypePtr DecimalOf(const Expression& operand);
/// decimal(p,s) of a result that may not fit 38 digits: fraction digits are given up first, down to six.
type::TypePtr AdjustedDecimal(int precision, int scale);
type::TypePtr BoundedDecimal(int precision, int scale);
/// The smallest decimal that holds both.
type::TypePtr WiderDecimal(const type::DataType& a, const type::DataType& b);

/// A cast put in by coercion. Nulls become typed nulls.
ExprPtr ImplicitCast(const ExprPtr& child, const type::TypePtr& to, const EvalContext& context);

/// Make argument `i` a value of `type` if Spark would by itself. Errors: DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE.
Status ExpectType(CallSite& call, size_t i, const type::TypePtr& type);
/// Any numeric type; strings become double.
Status ExpectNumeric(CallSite& call, size_t i);
/// All of children[from…] cast to their common type. Errors: DATATYPE_MISMATCH.DATA_DIFF_TYPES.
Status UnifyArguments(CallSite& call, size_t from, size_t step = 1);

Error UnexpectedInputType(const CallSite& call, size_t i, const std::string& required);
Error BinaryDiffTypes(const CallSite& call);
Error BinaryWrongType(const CallSite& call, const std::string& required);
/// `text` in double quotes.
std::string Quoted(const std::string& text);

}  // namespace tidemill::expr
