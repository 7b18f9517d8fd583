#include "plan/analyzer.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "plan/analyzer_internal.h"
#include "plan/expression_tree.h"

namespace tidemill::plan {

using expr::ExprKind;
using expr::ExprPtr;

namespace {

// Far above what a person writes; a view that names itself gets here.
constexpr int kMaxDepth = 200;
// Views used twice by views used twice … double each time; planning must end before memory does.
constexpr int64_t kMaxNodes = 50'000;

Result<PlanPtr> ResolveProject(const LogicalPlan& node, PlanPtr child, const AnalysisFrame& frame) {
  ARROW_ASSIGN_OR_RAISE(std::vector<ExprPtr> items, ExpandStars(node.expressions, NameScope(child->output, frame.case_sensitive)));
  if (std::any_of(items.begin(), items.end(), [](const ExprPtr& item) { return ContainsAggregate(*item); })) {
    return ResolveAggregate(node, child, frame);
  }
  ARROW_ASSIGN_OR_RAISE(child, LowerTimeWindow(child, frame, &items));
  NameScope scope(child->output, frame.case_sensitive);
  for (ExprPtr& item : items) {
    ARROW_ASSIGN_OR_RAISE(item, ResolveNamed(item, scope, frame));
  }
  return MakeProject(std::move(child), std::move(items));
}

Status CheckCondition(const ExprPtr& condition) {
  if (condition->type->kind() == type::Kind::kBoolean || condition->type->kind() == type::Kind::kVoid) return Status::OK();
  return UserError("DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN",
                   "Cannot resolve {} due to data type mismatch: filter expression {} of type {} is not a boolean.",
                   QuoteSql(condition->ToSql()), QuoteSql(condition->ToSql()), QuoteSql(condition->type->ToSql()))
      .Param("sqlExpr", QuoteSql(condition->ToSql()))
      .Param("filter", QuoteSql(condition->ToSql()))
      .Param("type", QuoteSql(condition->type->ToSql()));
}

Result<PlanPtr> ResolveFilter(const LogicalPlan& node, PlanPtr child, const AnalysisFrame& frame) {
  if (node.having) return ResolveHaving(node, child, frame);
  if (ContainsAggregate(*node.condition)) {
    return AtOrigin(
        UserError("INVALID_WHERE_CONDITION", "The WHERE condition {} contains an aggregate function.", QuoteSql(node.condition->ToSql()))
            .Param("condition", QuoteSql(node.condition->ToSql()))
            .Param("expressionList", node.condition->ToSql()),
        node.condition->origin);
  }
  ARROW_ASSIGN_OR_RAISE(ExprPtr condition, ResolveExpression(node.condition, NameScope(child->output, frame.case_sensitive), frame));
  if (Status status = CheckCondition(condition); !status.ok()) return AtOrigin(status, node.condition->origin);
  return MakeFilter(std::move(child), std::move(condition));
}

Result<PlanPtr> ResolveSubqueryAlias(const LogicalPlan& node, PlanPtr child) {
  auto alias = CopyWithChild(node, child);
  alias->output.clear();
  for (const ExprPtr& column : child->output) {
    auto renamed = std::make_shared<expr::Expression>(*column);
    renamed->qualifier = node.name_parts;
    alias->output.push_back(std::move(renamed));
  }
  return PlanPtr(std::move(alias));
}

Result<PlanPtr> ResolveJoin(const LogicalPlan& node, std::vector<PlanPtr> children, const AnalysisFrame& frame) {
  auto join = std::make_shared<LogicalPlan>(node);
  if (join->condition) {
    std::vector<ExprPtr> both = children[0]->output;
    both.insert(both.end(), children[1]->output.begin(), children[1]->output.end());
    ARROW_ASSIGN_OR_RAISE(join->condition, ResolveExpression(join->condition, NameScope(both, frame.case_sensitive), frame));
  }
  join->children = std::move(children);
  join->output = JoinOutput(*join);
  return PlanPtr(std::move(join));
}

Result<PlanPtr> ResolveNode(const LogicalPlan& node, std::vector<PlanPtr> children, const AnalysisFrame& frame) {
  switch (node.kind) {
    case PlanKind::kUnresolvedRelation:
      return ResolveRelation(node, frame);
    case PlanKind::kSubqueryAlias:
      return ResolveSubqueryAlias(node, children[0]);
    case PlanKind::kProject:
      return ResolveProject(node, children[0], frame);
    case PlanKind::kFilter:
      return ResolveFilter(node, children[0], frame);
    case PlanKind::kWatermark:
      return ResolveWatermark(node, children[0], frame);
    case PlanKind::kAggregate:
      return ResolveAggregate(node, children[0], frame);
    case PlanKind::kUnion:
    case PlanKind::kExcept:
    case PlanKind::kIntersect:
      return ResolveSetOperation(node, std::move(children), frame);
    case PlanKind::kJoin:
      return ResolveJoin(node, std::move(children), frame);
    case PlanKind::kRelation:
    case PlanKind::kExpand:
    case PlanKind::kDistinct:
    case PlanKind::kSort:
    case PlanKind::kLimit:
    case PlanKind::kOffset:
    case PlanKind::kSample:
      break;
  }
  auto resolved = std::make_shared<LogicalPlan>(node);
  if (!children.empty() && resolved->output.empty()) resolved->output = children[0]->output;
  resolved->children = std::move(children);
  return PlanPtr(std::move(resolved));
}

Status TooLarge(const LogicalPlan& plan) {
  return AtOrigin(UserError("TIDEMILL_QUERY_TOO_DEEP", "The query has more than {} relations and operators once its views are put in.", kMaxNodes),
                  plan.origin);
}

// Nodes of the tree, where a plan that is used twice counts twice; never more than a little above kMaxNodes.
int64_t TreeSize(const LogicalPlan& plan, std::unordered_map<const LogicalPlan*, int64_t>* sizes) {
  const auto known = sizes->find(&plan);
  if (known != sizes->end()) return known->second;
  int64_t size = 1;
  for (const PlanPtr& child : plan.children) size = std::min(size + TreeSize(*child, sizes), kMaxNodes + 1);
  (*sizes)[&plan] = size;
  return size;
}

bool IsResolved(const LogicalPlan& plan) { return !plan.output.empty() && plan.kind != PlanKind::kSubqueryAlias; }

}  // namespace

Result<PlanPtr> ResolvePlan(const PlanPtr& plan, AnalysisFrame frame) {
  if (IsResolved(*plan)) return plan;
  if (frame.nodes != nullptr && ++*frame.nodes > kMaxNodes) {
    return TooLarge(*plan);
  }
  if (++frame.depth > kMaxDepth) {
    return AtOrigin(UserError("RECURSIVE_VIEW", "The plan is nested deeper than {} levels; does a view name itself?", kMaxDepth),
                    plan->origin);
  }
  std::vector<PlanPtr> children;
  for (const PlanPtr& child : plan->children) {
    ARROW_ASSIGN_OR_RAISE(PlanPtr resolved, ResolvePlan(child, frame));
    children.push_back(std::move(resolved));
  }
  return ResolveNode(*plan, std::move(children), frame);
}

std::shared_ptr<LogicalPlan> CopyWithChild(const LogicalPlan& node, PlanPtr child) {
  auto copy = std::make_shared<LogicalPlan>(node);
  copy->children = {std::move(child)};
  return copy;
}

PlanPtr MakeProject(PlanPtr child, std::vector<ExprPtr> named) {
  auto project = std::make_shared<LogicalPlan>(*Project(std::move(child), std::move(named)));
  for (const ExprPtr& item : project->expressions) project->output.push_back(ToAttribute(item));
  return project;
}

PlanPtr MakeFilter(PlanPtr child, ExprPtr condition) {
  auto filter = std::make_shared<LogicalPlan>(*Filter(child, std::move(condition)));
  filter->output = child->output;
  return filter;
}

Status Unsupported(std::string_view feature, const expr::Origin& origin) {
  return AtOrigin(UserError("TIDEMILL_UNSUPPORTED_OPERATOR", "{} is not supported yet.", feature).Param("feature", std::string(feature)),
                  origin);
}

Result<PlanPtr> Analyze(const PlanPtr& plan, const Catalog& catalog, const Config& config) {
  int64_t nodes = 0;
  AnalysisFrame frame{catalog, config, {}, false, &nodes, 0};
  frame.context.time_zone = config.Get(conf::kSessionTimeZone);
  frame.context.ansi = config.GetBool(conf::kAnsiEnabled);
  frame.case_sensitive = config.GetBool(conf::kCaseSensitive);
  ARROW_ASSIGN_OR_RAISE(PlanPtr resolved, ResolvePlan(plan, frame));
  std::unordered_map<const LogicalPlan*, int64_t> sizes;
  if (TreeSize(*resolved, &sizes) > kMaxNodes) return TooLarge(*plan);
  return resolved;
}

}  // namespace tidemill::plan
