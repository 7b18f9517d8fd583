// Which streaming queries Spark runs, and in its words why not the others. Condition names and parameters are those of Spark 4.3.

#include <strings.h>

#include <algorithm>
#include <string>
#include <utility>

#include "expr/function/resolve.h"
#include "plan/analyzer_internal.h"
#include "plan/column_metadata.h"
#include "plan/expression_tree.h"

namespace tidemill::plan {

using expr::Expression;
using expr::ExprKind;
using expr::ExprPtr;

namespace {

constexpr char kCorrectnessCheck[] = "spark.sql.streaming.statefulOperator.checkCorrectness.enabled";
constexpr char kCorrectnessMessage[] =
    "Detected pattern of possible 'correctness' issue due to global watermark. The query contains stateful operation which can emit rows "
    "older than the "
    "current watermark plus allowed late record delay, which are \"late rows\" in downstream stateful operations and these rows can be "
    "discarded. Please "
    "refer the programming guide doc for more details. If you understand the possible risk of correctness issue and still need to run the "
    "query, you can "
    "disable this check by setting the config `spark.sql.streaming.statefulOperator.checkCorrectness.enabled` to false.";

Status Refuse(std::string message, const LogicalPlan& node) {
  return AtOrigin(UserError("_LEGACY_ERROR_TEMP_3102", "{}", message).Param("msg", message), node.origin);
}

Status RefuseMode(std::string_view mode, const std::string& operation, const expr::Origin& origin) {
  return AtOrigin(UserError("STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION",
                            "Invalid streaming output mode: {}. This output mode is not supported for {} on streaming DataFrames/DataSets.",
                            mode, operation)
                      .Param("outputMode", std::string(mode))
                      .Param("operation", operation),
                  origin);
}

bool IsAggregation(const LogicalPlan& node) {
  return (node.kind == PlanKind::kAggregate || node.kind == PlanKind::kDistinct) && IsStreaming(node);
}

// From the top of the plan down.
void CollectAggregations(const LogicalPlan& plan, std::vector<const LogicalPlan*>* found) {
  if (IsAggregation(plan)) found->push_back(&plan);
  for (const PlanPtr& child : plan.children) CollectAggregations(*child, found);
}

bool HasEventTimeKey(const LogicalPlan& aggregation) {
  const std::vector<ExprPtr>& keys = aggregation.kind == PlanKind::kDistinct ? aggregation.output : aggregation.grouping;
  return std::any_of(keys.begin(), keys.end(), [](const ExprPtr& key) {
    return key->kind == ExprKind::kAttribute && WatermarkDelayMs(key->metadata_json).has_value();
  });
}

Status CheckMode(const LogicalPlan& plan, const std::vector<const LogicalPlan*>& aggregations, OutputMode mode) {
  switch (mode) {
    case OutputMode::kAppend:
      if (aggregations.empty() || HasEventTimeKey(*aggregations[0])) return Status::OK();
      return RefuseMode("append", "streaming aggregations without watermark", aggregations[0]->origin);
    case OutputMode::kUpdate:
      return Status::OK();
    case OutputMode::kComplete:
      if (!aggregations.empty()) return Status::OK();
      return RefuseMode("complete", "no streaming aggregations", plan.origin);
  }
  return Status::OK();
}

bool HasDistinctAggregate(const LogicalPlan& aggregate) {
  return std::any_of(aggregate.expressions.begin(), aggregate.expressions.end(), [](const ExprPtr& expression) {
    return AnyNode(*expression,
                   [](const Expression& node) { return node.kind == ExprKind::kCall && node.distinct && expr::IsAggregate(node); });
  });
}

Status CheckJoin(const LogicalPlan& join, OutputMode mode) {
  bool left = IsStreaming(*join.children[0]);
  bool right = IsStreaming(*join.children[1]);
  const std::string& type = join.join_type;
  if (left && right) {
    if (mode == OutputMode::kAppend) return Status::OK();
    bool may_update = type == "Inner" || type == "LeftSemi" || type == "Cross";
    if (may_update && mode == OutputMode::kUpdate) return Status::OK();
    return Refuse(fmt::format("{} between two streaming DataFrames/Datasets is not supported in {} output mode, only in Append output mode",
                              may_update ? "Join" : type + " join", OutputModeName(mode)),
                  join);
  }
  if (type == "FullOuter" && left) {
    return Refuse(
        "FullOuter joins with streaming DataFrames/Datasets on the left and a static DataFrame/Dataset on the right is not supported",
        join);
  }
  if (type == "FullOuter" && right) {
    return Refuse(
        "FullOuter joins with streaming DataFrames/Datasets on the right and a static DataFrame/Dataset on the left is not supported",
        join);
  }
  if ((type == "LeftOuter" || type == "LeftSemi") && right) {
    return Refuse(
        type + " join with a streaming DataFrame/Dataset on the right and a static DataFrame/Dataset on the left is not supported", join);
  }
  if (type == "RightOuter" && left) {
    return Refuse(
        "RightOuter join with a streaming DataFrame/Dataset on the left and a static DataFrame/DataSet on the right not supported", join);
  }
  return Status::OK();
}

Status CheckNode(const LogicalPlan& node, OutputMode mode) {
  if (!IsStreaming(node)) return Status::OK();
  switch (node.kind) {
    case PlanKind::kAggregate:
      if (!HasDistinctAggregate(node)) return Status::OK();
      return Refuse(
          "Distinct aggregations are not supported on streaming DataFrames/Datasets. Consider using approx_count_distinct() instead.",
          node);
    case PlanKind::kSort: {
      std::vector<const LogicalPlan*> below;
      CollectAggregations(node, &below);
      if (mode == OutputMode::kComplete && !below.empty()) return Status::OK();
      return Refuse(
          "Sorting is not supported on streaming DataFrames/Datasets, unless it is on aggregated DataFrame/Dataset in Complete output mode",
          node);
    }
    case PlanKind::kLimit:
      if (mode != OutputMode::kUpdate) return Status::OK();
      return Refuse("Limits are not supported on streaming DataFrames/Datasets in Update output mode", node);
    case PlanKind::kOffset:
      return Refuse("Offset is not supported on streaming DataFrames/Datasets", node);
    case PlanKind::kSample:
      return Refuse("Sampling is not supported on streaming DataFrames/Datasets", node);
    case PlanKind::kUnion: {
      bool all = std::all_of(node.children.begin(), node.children.end(), [](const PlanPtr& child) { return IsStreaming(*child); });
      if (all) return Status::OK();
      return Refuse("Union between streaming and batch DataFrames/Datasets is not supported", node);
    }
    case PlanKind::kExcept:
      if (!IsStreaming(*node.children[1])) return Status::OK();
      return Refuse("Except on a streaming DataFrame/Dataset on the right is not supported", node);
    case PlanKind::kIntersect:
      return Refuse("Intersect of streaming DataFrames/Datasets is not supported", node);
    case PlanKind::kJoin:
      if (node.join_type == "LeftAnti" && IsStreaming(*node.children[1])) {
        return Refuse("LeftAnti joins with a streaming DataFrame/Dataset on the right are not supported", node);
      }
      return CheckJoin(node, mode);
    default:
      return Status::OK();
  }
}

// Children first: the deepest culprit is named.
Status CheckNodes(const LogicalPlan& plan, OutputMode mode) {
  for (const PlanPtr& child : plan.children) ARROW_RETURN_NOT_OK(CheckNodes(*child, mode));
  return CheckNode(plan, mode);
}

bool IsStreamJoin(const LogicalPlan& node) {
  return node.kind == PlanKind::kJoin && IsStreaming(*node.children[0]) && IsStreaming(*node.children[1]);
}

bool HasAggregationBelow(const LogicalPlan& node) {
  return std::any_of(node.children.begin(), node.children.end(),
                     [](const PlanPtr& child) { return IsAggregation(*child) || HasAggregationBelow(*child); });
}

// In any mode but append an aggregation may emit a group again after the watermark has passed it, and a stateful operator above would drop that as late.
Status CheckChainedOperators(const LogicalPlan& plan, OutputMode mode) {
  if (mode == OutputMode::kAppend) return Status::OK();
  if ((IsAggregation(plan) || IsStreamJoin(plan)) && HasAggregationBelow(plan)) return Refuse(kCorrectnessMessage, plan);
  for (const PlanPtr& child : plan.children) ARROW_RETURN_NOT_OK(CheckChainedOperators(*child, mode));
  return Status::OK();
}

}  // namespace

Result<OutputMode> ParseOutputMode(std::string_view text) {
  std::string name(text);
  for (OutputMode mode : {OutputMode::kAppend, OutputMode::kUpdate, OutputMode::kComplete}) {
    if (strcasecmp(name.c_str(), std::string(OutputModeName(mode)).c_str()) == 0) return mode;
  }
  return UserError("STREAMING_OUTPUT_MODE.INVALID",
                   "Invalid streaming output mode: {}. Accepted output modes are 'Append', 'Complete', 'Update'.", name)
      .Param("outputMode", name);
}

std::string_view OutputModeName(OutputMode mode) {
  switch (mode) {
    case OutputMode::kAppend:
      return "Append";
    case OutputMode::kUpdate:
      return "Update";
    case OutputMode::kComplete:
      return "Complete";
  }
  return "?";
}

Status CheckStreaming(const LogicalPlan& plan, OutputMode mode, const Config& config) {
  if (!config.GetBool(conf::kUnsupportedOperationCheck)) return Status::OK();
  if (!IsStreaming(plan)) return Refuse("Queries without streaming sources cannot be executed with writeStream.start()", plan);
  std::vector<const LogicalPlan*> aggregations;
  CollectAggregations(plan, &aggregations);
  ARROW_RETURN_NOT_OK(CheckMode(plan, aggregations, mode));
  ARROW_RETURN_NOT_OK(CheckNodes(plan, mode));
  if (config.Get(kCorrectnessCheck) == "false") return Status::OK();
  return CheckChainedOperators(plan, mode);
}

}  // namespace tidemill::plan
