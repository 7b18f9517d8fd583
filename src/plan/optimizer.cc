// The order of the optimiser's rules, and the small ones.

#include <algorithm>
#include <map>
#include <utility>

#include "expr/function/resolve.h"
#include "plan/expression_tree.h"
#include "plan/optimizer_internal.h"

namespace tidemill::plan {

using expr::ExprKind;
using expr::ExprPtr;

namespace {

// What CheckStreaming lets through, but no operator runs yet. `joined`: below a join, where a table may be read as a whole.
Status CheckSupported(const LogicalPlan& plan, bool joined) {
  for (const PlanPtr& child : plan.children) ARROW_RETURN_NOT_OK(CheckSupported(*child, joined || plan.kind == PlanKind::kJoin));
  switch (plan.kind) {
    case PlanKind::kRelation:
      if (plan.is_streaming || joined) return Status::OK();
      return Unsupported(fmt::format("Reading table {} as a whole in a streaming query (write STREAM {} for its stream)", plan.table->name,
                                     plan.table->name),
                         plan.origin);
    case PlanKind::kSort:
      return Unsupported("ORDER BY", plan.origin);
    case PlanKind::kLimit:
      return Unsupported("LIMIT", plan.origin);
    case PlanKind::kOffset:
      return Unsupported("OFFSET", plan.origin);
    case PlanKind::kSample:
      return Unsupported("TABLESAMPLE", plan.origin);
    case PlanKind::kExcept:
      return Unsupported("EXCEPT", plan.origin);
    case PlanKind::kIntersect:
      return Unsupported("INTERSECT", plan.origin);
    case PlanKind::kJoin:
      if (!IsStreaming(*plan.children[0]) || !IsStreaming(*plan.children[1])) return Status::OK();
      return Unsupported("A join of two streams", plan.origin);
    default:
      return Status::OK();
  }
}

// Qualifiers have served; DISTINCT is a grouping by every column.
Result<PlanPtr> Simplify(const PlanPtr& node) {
  if (node->kind == PlanKind::kSubqueryAlias) return node->children[0];
  if (node->kind != PlanKind::kDistinct) return node;
  auto aggregate =
      std::make_shared<LogicalPlan>(*Aggregate(node->children[0], node->children[0]->output, node->children[0]->output, node->origin));
  aggregate->output = node->output;
  return PlanPtr(std::move(aggregate));
}

ExprPtr FoldExpression(const ExprPtr& expression) {
  return Rewrite(expression, [](const ExprPtr& node) -> ExprPtr {
    if (node->kind == ExprKind::kLiteral || node->kind == ExprKind::kAttribute) return node;
    if (node->kind == ExprKind::kAlias || ContainsAggregate(*node) || !expr::IsFoldable(*node)) return nullptr;
    Result<ExprPtr> literal = expr::Fold(node);
    return literal.ok() ? *literal : node;
  });
}

void FoldAll(std::vector<ExprPtr>* expressions) {
  for (ExprPtr& expression : *expressions) expression = FoldExpression(expression);
}

}  // namespace

Result<PlanPtr> TransformUp(const PlanPtr& plan, const std::function<Result<PlanPtr>(const PlanPtr&)>& rule) {
  auto copy = std::make_shared<LogicalPlan>(*plan);
  for (PlanPtr& child : copy->children) {
    ARROW_ASSIGN_OR_RAISE(child, TransformUp(child, rule));
  }
  return rule(copy);
}

Result<PlanPtr> FoldConstants(const PlanPtr& plan) {
  return TransformUp(plan, [](const PlanPtr& node) -> Result<PlanPtr> {
    auto folded = std::make_shared<LogicalPlan>(*node);
    FoldAll(&folded->expressions);
    FoldAll(&folded->grouping);
    for (std::vector<ExprPtr>& projection : folded->projections) FoldAll(&projection);
    if (folded->condition) folded->condition = FoldExpression(folded->condition);
    return PlanPtr(std::move(folded));
  });
}

namespace {

// How often each column is read.
void CountReferences(const expr::Expression& expression, std::map<int64_t, int>* counts) {
  if (expression.kind == ExprKind::kAttribute) ++(*counts)[expression.id];
  for (const ExprPtr& child : expression.children) CountReferences(*child, counts);
}

bool ChangesNothing(const LogicalPlan& project) {
  const std::vector<ExprPtr>& input = project.children[0]->output;
  return std::equal(
      project.expressions.begin(), project.expressions.end(), input.begin(), input.end(),
      [](const ExprPtr& a, const ExprPtr& b) { return a->kind == ExprKind::kAttribute && a->id == b->id && a->name == b->name; });
}

// The inner item, under the name and id of the outer one.
ExprPtr Renamed(const ExprPtr& inner, const ExprPtr& outer) {
  auto renamed = std::make_shared<expr::Expression>(*inner);
  renamed->name = outer->name;
  return renamed;
}

PlanPtr MergeTwo(const LogicalPlan& outer, const LogicalPlan& inner) {
  std::map<int64_t, int> reads;
  for (const ExprPtr& item : outer.expressions) CountReferences(*item, &reads);
  std::map<int64_t, ExprPtr> computed;
  for (const ExprPtr& item : inner.expressions) {
    if (item->kind == ExprKind::kAlias && StripAlias(item)->kind != ExprKind::kAttribute && reads[item->id] > 1) return nullptr;
    computed[item->id] = item;
  }
  std::vector<ExprPtr> merged;
  for (const ExprPtr& item : outer.expressions) {
    if (item->kind == ExprKind::kAttribute) {
      merged.push_back(Renamed(computed.at(item->id), item));
      continue;
    }
    merged.push_back(Rewrite(
        item, [&](const ExprPtr& node) { return node->kind == ExprKind::kAttribute ? StripAlias(computed.at(node->id)) : nullptr; }));
  }
  auto project = std::make_shared<LogicalPlan>(outer);
  project->expressions = std::move(merged);
  project->children = inner.children;
  return project;
}

PlanPtr MergeProject(const PlanPtr& node) {
  if (node->kind != PlanKind::kProject) return node;
  if (ChangesNothing(*node)) return node->children[0];
  if (node->children[0]->kind != PlanKind::kProject) return node;
  PlanPtr merged = MergeTwo(*node, *node->children[0]);
  return merged != nullptr ? merged : node;
}

}  // namespace

PlanPtr MergeProjects(const PlanPtr& plan) {
  auto copy = std::make_shared<LogicalPlan>(*plan);
  for (PlanPtr& child : copy->children) child = MergeProjects(child);
  return MergeProject(copy);
}

Result<PlanPtr> Optimize(const PlanPtr& plan, const Config& config) {
  ARROW_RETURN_NOT_OK(CheckSupported(*plan, /*joined=*/false));
  ARROW_ASSIGN_OR_RAISE(PlanPtr optimized, TransformUp(plan, Simplify));
  ARROW_ASSIGN_OR_RAISE(optimized, FoldConstants(optimized));
  optimized = PruneColumns(PushFilters(optimized));
  ARROW_ASSIGN_OR_RAISE(optimized, NormalizeAggregates(optimized));
  // Merging may leave columns that only a merged Project read.
  return PruneColumns(MergeProjects(optimized));
}

}  // namespace tidemill::plan
