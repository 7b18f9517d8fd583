#pragma once

// The parts of arithmetic that have files of their own: decimals and times.

#include <vector>

#include "expr/function/registry_internal.h"

namespace tidemill::expr {

/// Result type of an operator over two decimals: Spark's precision rules.
Result<Bound> BindDecimalArithmetic(CallSite& call);
Result<Kernel> CompileDecimalArithmetic(const Expression& call);
Result<Kernel> CompileDecimalNegate(const Expression& call, bool absolute);

/// + and - over timestamps, dates and intervals.
Result<Bound> BindTimeArithmetic(CallSite& call);
Result<Kernel> CompileTimeArithmetic(const Expression& call);

/// DIVIDE_BY_ZERO or REMAINDER_BY_ZERO.
Error DivisionByZero(bool remainder);
/// NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION for a decimal that does not fit decimal(precision, scale).
Error DecimalOutOfRange(const std::string& value, int precision, int scale);
/// Words of kept rows as a bitmap.
Result<Validity> ValidityOf(const std::vector<uint64_t>& keep, int64_t rows);

}  // namespace tidemill::expr
