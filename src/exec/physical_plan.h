#pragma once

// The parts of a physical plan: leaves that scan, pipelines, stateful aggregations between them.

#include <memory>
#include <string>
#include <vector>

#include "exec/aggregate_layout.h"
#include "exec/final_aggregate.h"
#include "exec/pipeline.h"
#include "exec/query_plan.h"
#include "exec/static_table.h"

namespace tidemill::exec {

/// A scan of one streaming relation.
struct Leaf {
  int source = 0;
  std::vector<int> columns;                 ///< of the table's schema
  std::vector<expr::ExprPtr> output;
  expr::ExprPtr scan_filter;                ///< what Spark would evaluate in the scan; null: nothing
  std::unique_ptr<PipelinePool> pipeline;
};

/// A table that a join holds in memory, and where its rows come from; a scan may itself go through joins with later tables.
struct StaticSide {
  std::unique_ptr<StaticTable> table;
  std::vector<Leaf> leaves;                 ///< Leaf::source counts in PhysicalPlan::static_sources
};

/// An aggregation with state, and what its results go through.
struct StatefulAggregate {
  int64_t operator_id = 0;
  std::unique_ptr<AggregateLayout> layout;  // pipelines point to it
  std::vector<expr::ExprPtr> output;
  bool single_partition = false;            ///< no keys
  std::unique_ptr<PipelinePool> after;
};

/// Operators are numbered from the sink downwards, so the one nearest to the sources is last.
struct PhysicalPlan {
  std::vector<std::shared_ptr<const plan::TableDescription>> sources;
  std::vector<std::shared_ptr<const plan::TableDescription>> static_sources;
  std::vector<StaticSide> static_sides;
  std::vector<Leaf> leaves;
  std::vector<StatefulAggregate> aggregates;
  std::vector<int64_t> watermark_delays_ms;
  bool redefines_watermark = false;         ///< a watermark above another one: fails once the watermark moves
  int partitions = 1;
  plan::OutputMode mode = plan::OutputMode::kAppend;
  std::string explained;
};

/// Cut `optimized` at its exchanges. Errors: a node that exec cannot run, by name.
Result<PhysicalPlan> MakePhysicalPlan(const plan::PlanPtr& optimized, plan::OutputMode mode, const Config& config);

}  // namespace tidemill::exec
