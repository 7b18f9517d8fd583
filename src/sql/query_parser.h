#pragma once

// Queries: SELECT and what surrounds it, to unresolved plans.

#include <map>
#include <string>
#include <vector>

#include "plan/logical_plan.h"
#include "sql/cursor.h"
#include "sql/expression_parser.h"

namespace tidemill::sql {

class QueryParser {
 public:
  explicit QueryParser(Cursor& cursor) : cursor_(cursor), expressions_(cursor) {}

  /// [WITH …] terms, set operations, ORDER BY, LIMIT, OFFSET.
  Result<plan::PlanPtr> ParseQuery();
  /// Does a query begin here?
  bool AtQuery();

 private:
  using Ctes = std::map<std::string, plan::PlanPtr>;

  Status ParseCtes();
  Result<plan::PlanPtr> ParseSetOperations(bool intersect_only);
  Result<plan::PlanPtr> ParseTerm();
  Result<plan::PlanPtr> ParseSelect();
  Result<plan::PlanPtr> ParseGroupBy(plan::PlanPtr input, std::vector<expr::ExprPtr> items, expr::Origin origin);
  Result<std::vector<expr::ExprPtr>> ParseSelectList();
  Result<std::vector<expr::ExprPtr>> ParseExpressionList();
  Result<plan::PlanPtr> ParseOrderAndLimit(plan::PlanPtr query);

  // relation_parser.cc
  Result<plan::PlanPtr> ParseFrom();
  Result<plan::PlanPtr> ParseJoins(plan::PlanPtr left, int* joins);
  Result<std::string> ParseJoinType(bool* found);
  Result<plan::PlanPtr> ParseRelation();
  Result<plan::PlanPtr> ParseNamedRelation();
  Result<plan::PlanPtr> ParseStreamOrTable(bool is_stream);
  Result<plan::PlanPtr> ParseParenthesizedRelation();
  Result<plan::PlanPtr> ParseWatermark(plan::PlanPtr relation);
  Result<plan::PlanPtr> ParseSample(plan::PlanPtr relation);
  Result<plan::PlanPtr> ParseAlias(plan::PlanPtr relation);
  bool AtStream();
  plan::PlanPtr FindCte(const std::string& name) const;

  Cursor& cursor_;
  ExpressionParser expressions_;
  Ctes ctes_;
};

/// ( key [=] value, … ): keys are dotted words or texts and come out in lower case; values are texts, numbers, or TRUE and FALSE.
Result<plan::Options> ParseOptions(Cursor& cursor);

}  // namespace tidemill::sql
