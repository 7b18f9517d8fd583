#pragma once

// What the analyser's rules share: the frame of one analysis, name lookup, and the rules themselves, a file each.

#include <optional>
#include <string>
#include <vector>

#include "base/config.h"
#include "expr/expression.h"
#include "plan/analyzer.h"
#include "plan/logical_plan.h"

namespace tidemill::plan {

/// One analysis: where names come from, and the rules of the session.
struct AnalysisFrame {
  const Catalog& catalog;
  const Config& config;
  expr::EvalContext context;
  bool case_sensitive = false;
  int64_t* nodes = nullptr;  ///< resolved so far in the whole query, against views that double at every use
  int depth = 0;  ///< nested views and subqueries, against views that name themselves
};

// resolve_references.cc

/// The columns that expressions of one node may name.
class NameScope {
 public:
  NameScope(const std::vector<expr::ExprPtr>& columns, bool case_sensitive) : columns_(columns), case_sensitive_(case_sensitive) {}

  /// The column `parts` names, with field accesses for the parts behind it; nullopt when there is none.
  /// Errors: AMBIGUOUS_REFERENCE, FIELD_NOT_FOUND, INVALID_EXTRACT_BASE_FIELD_TYPE.
  Result<std::optional<expr::ExprPtr>> Find(const std::vector<std::string>& parts) const;
  /// UNRESOLVED_COLUMN with the nearest names first, as Spark orders them.
  Status UnknownColumn(const std::vector<std::string>& parts) const;
  /// The columns of `qualifier.*`; all without qualifier. Error: CANNOT_RESOLVE_STAR_EXPAND.
  Result<std::vector<expr::ExprPtr>> ExpandStar(const std::vector<std::string>& qualifier) const;
  const std::vector<expr::ExprPtr>& columns() const { return columns_; }
  bool NamesEqual(std::string_view a, std::string_view b) const;

 private:
  bool QualifierEndsWith(const expr::Expression& column, const std::vector<std::string>& parts, size_t count) const;
  Result<expr::ExprPtr> AccessFields(expr::ExprPtr base, const std::vector<std::string>& parts, size_t first) const;

  const std::vector<expr::ExprPtr>& columns_;
  bool case_sensitive_;
};

/// `status` with line and column of `origin` in its detail, unless it has a place already.
Status AtOrigin(const Status& status, const expr::Origin& origin);
/// Put columns in the place of names and of stars inside calls; calls and casts stay untyped, so that their text is what the user wrote.
Result<expr::ExprPtr> BindNames(const expr::ExprPtr& expression, const NameScope& scope);
/// Type a bound expression from the leaves up.
Result<expr::ExprPtr> ResolveTypes(const expr::ExprPtr& bound, const AnalysisFrame& frame);
/// Bind and type.
Result<expr::ExprPtr> ResolveExpression(const expr::ExprPtr& expression, const NameScope& scope, const AnalysisFrame& frame);
/// Bind and type a select item, and name it as Spark does.
Result<expr::ExprPtr> ResolveNamed(const expr::ExprPtr& expression, const NameScope& scope, const AnalysisFrame& frame);
/// Select items with top-level stars expanded to the scope's columns.
Result<std::vector<expr::ExprPtr>> ExpandStars(const std::vector<expr::ExprPtr>& expressions, const NameScope& scope);

// analyzer.cc

Result<PlanPtr> ResolvePlan(const PlanPtr& plan, AnalysisFrame frame);
/// A copy of `node` over `child`, for the caller to fill in.
std::shared_ptr<LogicalPlan> CopyWithChild(const LogicalPlan& node, PlanPtr child);
/// A resolved Project of named expressions.
PlanPtr MakeProject(PlanPtr child, std::vector<expr::ExprPtr> named);
/// A resolved Filter.
PlanPtr MakeFilter(PlanPtr child, expr::ExprPtr condition);
/// "This is parsed, but not run yet": names the feature.
Status Unsupported(std::string_view feature, const expr::Origin& origin = {});

// The rules: children of the node are resolved.

Result<PlanPtr> ResolveRelation(const LogicalPlan& node, const AnalysisFrame& frame);
Result<PlanPtr> ResolveAggregate(const LogicalPlan& node, const PlanPtr& child, const AnalysisFrame& frame);
Result<PlanPtr> ResolveHaving(const LogicalPlan& filter, const PlanPtr& aggregate, const AnalysisFrame& frame);
Result<PlanPtr> ResolveSetOperation(const LogicalPlan& node, std::vector<PlanPtr> children, const AnalysisFrame& frame);
Result<PlanPtr> ResolveWatermark(const LogicalPlan& node, const PlanPtr& child, const AnalysisFrame& frame);
/// Lower the one window(…) call in `expressions`, if any, and the window_time(…) calls: the answer is the child that computes them as columns, and
/// the calls are replaced by these.
Result<PlanPtr> LowerTimeWindow(const PlanPtr& child, const AnalysisFrame& frame, std::vector<expr::ExprPtr>* expressions);

}  // namespace tidemill::plan
