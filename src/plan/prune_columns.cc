// Columns nobody reads are dropped as deep as possible: the fewer a relation delivers, the less is parsed.

#include <algorithm>
#include <set>
#include <utility>

#include "plan/expression_tree.h"
#include "plan/optimizer_internal.h"

namespace tidemill::plan {

using expr::ExprPtr;

namespace {

using Ids = std::set<int64_t>;

Ids IdsOf(const std::vector<ExprPtr>& columns) {
  Ids ids;
  for (const ExprPtr& column : columns) ids.insert(column->id);
  return ids;
}

std::vector<ExprPtr> Keep(const std::vector<ExprPtr>& columns, const Ids& wanted) {
  std::vector<ExprPtr> kept;
  for (const ExprPtr& column : columns) {
    if (wanted.count(column->id) > 0) kept.push_back(column);
  }
  return kept;
}

PlanPtr Prune(const PlanPtr& plan, Ids wanted);

PlanPtr PruneProject(const LogicalPlan& node, const Ids& wanted) {
  std::vector<ExprPtr> items = Keep(node.expressions, wanted);
  PlanPtr child = Prune(node.children[0], References(items));
  if (items.empty()) return child;  // only the number of rows matters
  auto project = CopyWithChild(node, std::move(child));
  project->expressions = std::move(items);
  project->output = Keep(node.output, wanted);
  return project;
}

PlanPtr PruneFilter(const LogicalPlan& node, Ids wanted) {
  expr::ExprPtr condition = node.condition;
  CollectReferences(*condition, &wanted);
  return MakeFilter(Prune(node.children[0], wanted), std::move(condition));
}

PlanPtr PruneWatermark(const LogicalPlan& node, Ids wanted) {
  wanted.insert(node.column->id);
  auto watermark = CopyWithChild(node, Prune(node.children[0], wanted));
  watermark->output.clear();
  for (const ExprPtr& column : watermark->children[0]->output) {
    std::vector<ExprPtr> same = Keep(node.output, {column->id});
    watermark->output.push_back(same[0]);
  }
  return watermark;
}

PlanPtr PruneExpand(const LogicalPlan& node, const Ids& wanted) {
  auto expand = std::make_shared<LogicalPlan>(node);
  expand->output = Keep(node.output, wanted);
  Ids read;
  for (std::vector<ExprPtr>& projection : expand->projections) {
    std::vector<ExprPtr> kept;
    for (size_t i = 0; i < projection.size(); ++i) {
      if (wanted.count(node.output[i]->id) > 0) kept.push_back(projection[i]);
    }
    projection = std::move(kept);
    read.merge(References(projection));
  }
  expand->children = {Prune(node.children[0], read)};
  return expand;
}

PlanPtr PruneAggregate(const LogicalPlan& node, const Ids& wanted) {
  if (node.expressions.empty()) return CopyWithChild(node, Prune(node.children[0], IdsOf(node.children[0]->output)));
  auto aggregate = std::make_shared<LogicalPlan>(node);
  aggregate->expressions = Keep(node.expressions, wanted);
  aggregate->output = Keep(node.output, wanted);
  if (aggregate->expressions.empty()) {  // how many groups there are is still asked for
    aggregate->expressions = {node.expressions[0]};
    aggregate->output = {node.output[0]};
  }
  Ids read = References(aggregate->expressions);
  read.merge(References(aggregate->grouping));
  aggregate->children = {Prune(node.children[0], read)};
  return aggregate;
}

PlanPtr PruneJoin(const LogicalPlan& node, Ids wanted) {
  auto join = std::make_shared<LogicalPlan>(node);
  if (join->condition) CollectReferences(*join->condition, &wanted);
  for (PlanPtr& child : join->children) child = Prune(child, wanted);
  join->output = JoinOutput(*join);
  return join;
}

// Columns of a union go by position, so each side has to deliver exactly those that are left.
PlanPtr PruneUnion(const LogicalPlan& node, const Ids& wanted) {
  std::vector<size_t> kept;
  for (size_t i = 0; i < node.output.size(); ++i) {
    if (wanted.count(node.output[i]->id) > 0) kept.push_back(i);
  }
  auto pruned = std::make_shared<LogicalPlan>(node);
  pruned->output.clear();
  for (const size_t i : kept) pruned->output.push_back(node.output[i]);
  for (PlanPtr& child : pruned->children) {
    std::vector<ExprPtr> columns;
    for (const size_t i : kept) columns.push_back(child->output[i]);
    PlanPtr side = Prune(child, IdsOf(columns));
    const bool exact = std::equal(side->output.begin(), side->output.end(), columns.begin(), columns.end(),
                                  [](const ExprPtr& a, const ExprPtr& b) { return a->id == b->id; });
    child = exact ? std::move(side) : MakeProject(std::move(side), std::move(columns));
  }
  return pruned;
}

PlanPtr Prune(const PlanPtr& plan, Ids wanted) {
  switch (plan->kind) {
    case PlanKind::kRelation: {
      auto relation = std::make_shared<LogicalPlan>(*plan);
      relation->output = Keep(plan->output, wanted);
      return relation;
    }
    case PlanKind::kProject:
      return PruneProject(*plan, wanted);
    case PlanKind::kFilter:
      return PruneFilter(*plan, wanted);
    case PlanKind::kWatermark:
      return PruneWatermark(*plan, wanted);
    case PlanKind::kExpand:
      return PruneExpand(*plan, wanted);
    case PlanKind::kAggregate:
      return PruneAggregate(*plan, wanted);
    case PlanKind::kUnion:
      return PruneUnion(*plan, wanted);
    case PlanKind::kJoin:
      return PruneJoin(*plan, std::move(wanted));
    default:
      return plan;
  }
}

}  // namespace

PlanPtr PruneColumns(const PlanPtr& plan) { return Prune(plan, IdsOf(plan->output)); }

}  // namespace tidemill::plan
