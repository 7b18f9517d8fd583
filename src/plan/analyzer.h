#pragma once

// The analyser: names, types and Spark's legality rules; then the optimiser's normal form for exec/.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/config.h"
#include "plan/logical_plan.h"

namespace tidemill::plan {

enum class OutputMode { kAppend, kUpdate, kComplete };

/// "append", "Update", …; error STREAMING_OUTPUT_MODE.INVALID.
Result<OutputMode> ParseOutputMode(std::string_view text);
/// "Append", "Update", "Complete".
std::string_view OutputModeName(OutputMode mode);

/// Where the analyser finds tables and views.
class Catalog {
 public:
  virtual ~Catalog() = default;
  /// A table by name, or nullptr.
  virtual std::shared_ptr<const TableDescription> FindTable(const std::vector<std::string>& name) const = 0;
  /// The plan of a temporary view, resolved or not, or nullptr.
  virtual PlanPtr FindView(const std::vector<std::string>& name) const = 0;
  /// Known names, for hints.
  virtual std::vector<std::string> Names() const = 0;
};

/// Resolve `plan`. Errors: TABLE_OR_VIEW_NOT_FOUND, UNRESOLVED_COLUMN.WITH_SUGGESTION, MISSING_AGGREGATION, … with Spark's parameters; the place of the
/// culprit is in the detail's parameters under "line" and "column" (ours, beside Spark's).
Result<PlanPtr> Analyze(const PlanPtr& plan, const Catalog& catalog, const Config& config);
/// Spark's unsupported-operation rules for a streaming query in `mode` (docs/semantics/legality.md).
Status CheckStreaming(const LogicalPlan& plan, OutputMode mode, const Config& config);
/// Prune columns, push filters (below a watermark only where Spark does), fold constants, expand windows, split aggregates into normal form.
Result<PlanPtr> Optimize(const PlanPtr& plan, const Config& config);

// Builders, for the parser, the C++ API and tests.
PlanPtr UnresolvedRelation(std::vector<std::string> name, bool streaming, Options options = {}, expr::Origin origin = {});
PlanPtr Relation(std::shared_ptr<const TableDescription> table, bool streaming);
PlanPtr SubqueryAlias(PlanPtr child, std::string name);
PlanPtr Project(PlanPtr child, std::vector<expr::ExprPtr> expressions, expr::Origin origin = {});
PlanPtr Filter(PlanPtr child, expr::ExprPtr condition);
PlanPtr Watermark(PlanPtr child, expr::ExprPtr column, int64_t delay_ms, std::string delay_text);
PlanPtr Aggregate(PlanPtr child, std::vector<expr::ExprPtr> grouping, std::vector<expr::ExprPtr> expressions, expr::Origin origin = {});

}  // namespace tidemill::plan
