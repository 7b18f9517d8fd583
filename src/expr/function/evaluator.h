#pragma once

// Resolved expressions over record batches, a column at a time.

#include <arrow/type_fwd.h>

#include <memory>
#include <vector>

#include "expr/expression.h"

namespace tidemill::expr {

/// Compiled for one input shape. One object serves one thread.
class Evaluator {
 public:
  /// `input`: the attributes of the child, in column order; attributes are found by id. Errors: internal error on an attribute that is not there.
  static Result<std::unique_ptr<Evaluator>> Make(const ExprPtr& expression, const std::vector<ExprPtr>& input);
  virtual ~Evaluator() = default;
  /// One value a row of `batch`; the array's type is expression->type->ToArrow(). Errors at run time: DIVIDE_BY_ZERO, ARITHMETIC_OVERFLOW, CAST_INVALID_INPUT, … (ANSI).
  virtual Result<std::shared_ptr<arrow::Array>> Evaluate(const arrow::RecordBatch& batch) = 0;
};

/// Rows of `batch` where `predicate` (boolean) is true.
Result<std::shared_ptr<arrow::RecordBatch>> FilterBatch(const std::shared_ptr<arrow::RecordBatch>& batch, const arrow::Array& predicate);

}  // namespace tidemill::expr
