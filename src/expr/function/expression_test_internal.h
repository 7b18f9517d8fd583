#pragma once

// Short forms for tests: columns from JSON, calls resolved in one line, results as text.

#include <arrow/array.h>
#include <arrow/json/from_string.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/util/decimal.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "expr/function/evaluator.h"
#include "expr/expression.h"
#include "expr/function/resolve.h"
#include "expr/value_text.h"

namespace tidemill::expr {

/// A batch with named columns, and attributes to refer to them.
class TestInput {
 public:
  TestInput& Add(const std::string& name, const type::TypePtr& type, const std::string& json) {
    attributes_.push_back(Attribute({name, type}, NewExprId()));
    columns_.push_back(arrow::json::ArrayFromJSONString(type->ToArrow(), json).ValueOrDie());
    return *this;
  }
  ExprPtr operator[](const std::string& name) const {
    for (const ExprPtr& attribute : attributes_) {
      if (attribute->name == name) return attribute;
    }
    return nullptr;
  }
  Result<std::shared_ptr<arrow::Array>> Evaluate(const ExprPtr& expression) const {
    arrow::FieldVector fields;
    for (const ExprPtr& attribute : attributes_) fields.push_back(arrow::field(attribute->name, attribute->type->ToArrow()));
    const int64_t rows = columns_.empty() ? 1 : columns_[0]->length();
    const auto batch = arrow::RecordBatch::Make(arrow::schema(fields), rows, columns_);
    ARROW_ASSIGN_OR_RAISE(auto evaluator, Evaluator::Make(expression, attributes_));
    return evaluator->Evaluate(*batch);
  }
  /// Values separated by "|", nulls as "NULL".
  std::string Show(const Result<ExprPtr>& expression) const {
    if (!expression.ok()) return ConditionOf(expression.status());
    const auto result = Evaluate(*expression);
    if (!result.ok()) return ConditionOf(result.status());
    EXPECT_TRUE((*result)->ValidateFull().ok()) << (*result)->ValidateFull();
    EXPECT_TRUE((*result)->type()->Equals((*expression)->type->ToArrow())) << (*result)->type()->ToString();
    std::string text;
    for (int64_t row = 0; row < (*result)->length(); ++row) {
      if (row > 0) text += "|";
      text += (*result)->IsNull(row) ? "NULL" : FormatValue(**result, row, *(*expression)->type, "UTC").ValueOrDie();
    }
    return text;
  }
  static std::string ConditionOf(const Status& status) {
    const ErrorDetail* detail = ErrorDetail::Of(status);
    return detail == nullptr ? status.ToString() : detail->condition;
  }

 private:
  std::vector<ExprPtr> attributes_;
  arrow::ArrayVector columns_;
};

inline const EvalContext kAnsi{"UTC", true};
inline const EvalContext kLegacy{"UTC", false};

inline Result<ExprPtr> Call(const std::string& name, std::vector<ExprPtr> arguments, const EvalContext& context = kAnsi) {
  return ResolveCall(*UnresolvedCall(name, {}), std::move(arguments), context);
}
inline Result<ExprPtr> Cast(const ExprPtr& child, const type::TypePtr& to, const EvalContext& context = kAnsi, bool try_cast = false) {
  return ResolveCast(child, to, try_cast, context);
}
inline const std::map<std::string, std::string>& ParametersOf(const Status& status) { return ErrorDetail::Of(status)->parameters; }

}  // namespace tidemill::expr
