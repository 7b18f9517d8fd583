#pragma once

// The optimiser's rules, a file each. All take and answer resolved plans and change no result.

#include <functional>

#include "plan/analyzer_internal.h"
#include "plan/logical_plan.h"

namespace tidemill::plan {

/// Rebuild a plan from the leaves up. `rule` sees each node with its new children and answers what takes its place.
Result<PlanPtr> TransformUp(const PlanPtr& plan, const std::function<Result<PlanPtr>(const PlanPtr&)>& rule);
/// Evaluate what needs no row. What fails stays: it is an error of the row that meets it, if one does.
Result<PlanPtr> FoldConstants(const PlanPtr& plan);
/// Move each conjunct of a filter as far down as Spark does: below a watermark only when it does not look at the event time, below an aggregation
/// only when it looks at keys alone.
PlanPtr PushFilters(const PlanPtr& plan);
/// Drop columns nobody reads, down to the columns a relation delivers.
PlanPtr PruneColumns(const PlanPtr& plan);
/// Aggregates to the form of PlanKind::kAggregate that exec/ runs.
Result<PlanPtr> NormalizeAggregates(const PlanPtr& plan);
/// Make one Project of two where nothing is computed twice by it, and none where it changes nothing.
PlanPtr MergeProjects(const PlanPtr& plan);

}  // namespace tidemill::plan
