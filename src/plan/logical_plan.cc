#include "plan/logical_plan.h"

#include "plan/analyzer.h"
#include "plan/expression_tree.h"

namespace tidemill::plan {

using expr::ExprPtr;

namespace {

std::string Join(const std::vector<ExprPtr>& expressions) {
  std::string text;
  for (const ExprPtr& expression : expressions) {
    if (!text.empty()) text += ", ";
    text += expression->ToString();
  }
  return text;
}

std::string JoinName(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += '.';
    text += part;
  }
  return text;
}

std::string RelationText(const LogicalPlan& node) {
  return fmt::format("{} {}, {}, [{}]", node.is_streaming ? "StreamingRelation" : "Relation", node.table->name, node.table->format,
                     Join(node.output));
}

// The normal form prints the columns it reads and what it makes of them.
std::string NormalAggregateText(const LogicalPlan& node) {
  const std::vector<ExprPtr>& input = node.children[0]->output;
  std::string keys;
  for (int key : node.keys) keys += (keys.empty() ? "" : ", ") + input[key]->ToString();
  std::string aggregates;
  for (const AggregateColumn& aggregate : node.aggregates) {
    if (!aggregates.empty()) aggregates += ", ";
    aggregates +=
        fmt::format("{} := {}", aggregate.output->ToString(), aggregate.argument < 0 ? "*" : input[aggregate.argument]->ToString());
  }
  return fmt::format("Aggregate [{}], [{}]", keys, aggregates);
}

std::string ExpandText(const LogicalPlan& node) {
  std::string text;
  for (const std::vector<ExprPtr>& projection : node.projections) {
    if (!text.empty()) text += ", ";
    text += "[" + Join(projection) + "]";
  }
  return fmt::format("Expand [{}], [{}]", text, Join(node.output));
}

std::string NodeText(const LogicalPlan& node) {
  switch (node.kind) {
    case PlanKind::kUnresolvedRelation:
      return fmt::format("'UnresolvedRelation [{}], [], {}", JoinName(node.name_parts), node.is_streaming);
    case PlanKind::kRelation:
      return RelationText(node);
    case PlanKind::kSubqueryAlias:
      return "SubqueryAlias " + JoinName(node.name_parts);
    case PlanKind::kProject:
      return fmt::format("Project [{}]", Join(node.expressions));
    case PlanKind::kFilter:
      return fmt::format("{} {}", node.having ? "'UnresolvedHaving" : "Filter", node.condition->ToString());
    case PlanKind::kWatermark:
      return fmt::format("EventTimeWatermark {}, {}", node.column->ToString(), node.delay_text);
    case PlanKind::kExpand:
      return ExpandText(node);
    case PlanKind::kAggregate:
      if (node.expressions.empty()) return NormalAggregateText(node);
      return fmt::format("Aggregate [{}], [{}]", Join(node.grouping), Join(node.expressions));
    case PlanKind::kDistinct:
      return "Distinct";
    case PlanKind::kSort:
      return fmt::format("Sort [{}]", Join(node.grouping));
    case PlanKind::kLimit:
      return fmt::format("Limit {}", node.limit);
    case PlanKind::kOffset:
      return fmt::format("Offset {}", node.limit);
    case PlanKind::kSample:
      return "Sample";
    case PlanKind::kUnion:
      return "Union";
    case PlanKind::kExcept:
      return "Except";
    case PlanKind::kIntersect:
      return "Intersect";
    case PlanKind::kJoin:
      return "Join " + node.join_type + (node.condition ? ", " + node.condition->ToString() : "");
  }
  return "?";
}

// Spark's tree: the last child hangs on "+- ", earlier ones on ":- ", and a bar runs down beside earlier ones.
void AppendTree(const LogicalPlan& node, const std::string& first_prefix, const std::string& other_prefix, std::string* text) {
  *text += first_prefix + NodeText(node) + "\n";
  for (size_t i = 0; i < node.children.size(); ++i) {
    bool last = i + 1 == node.children.size();
    AppendTree(*node.children[i], other_prefix + (last ? "+- " : ":- "), other_prefix + (last ? "   " : ":  "), text);
  }
}

std::shared_ptr<LogicalPlan> NewNode(PlanKind kind, std::vector<PlanPtr> children, expr::Origin origin = {}) {
  auto node = std::make_shared<LogicalPlan>();
  node->kind = kind;
  node->children = std::move(children);
  node->origin = origin;
  return node;
}

}  // namespace

std::string LogicalPlan::ToString() const {
  std::string text;
  AppendTree(*this, "", "", &text);
  return text;
}

bool IsStreaming(const LogicalPlan& plan) {
  if (plan.children.empty()) return plan.is_streaming;
  for (const PlanPtr& child : plan.children) {
    if (IsStreaming(*child)) return true;
  }
  return false;
}

std::vector<ExprPtr> JoinOutput(const LogicalPlan& plan) {
  std::vector<ExprPtr> output;
  const auto append = [&output](const std::vector<ExprPtr>& side, bool may_be_missing) {
    for (const ExprPtr& column : side) {
      if (!may_be_missing || column->nullable) {
        output.push_back(column);
        continue;
      }
      auto nullable = std::make_shared<expr::Expression>(*column);
      nullable->nullable = true;
      output.push_back(std::move(nullable));
    }
  };
  const bool full = plan.join_type == "FullOuter";
  append(plan.children[0]->output, full || plan.join_type == "RightOuter");
  if (plan.join_type != "LeftSemi" && plan.join_type != "LeftAnti") append(plan.children[1]->output, full || plan.join_type == "LeftOuter");
  return output;
}

type::Schema OutputSchema(const LogicalPlan& plan) {
  type::Schema schema;
  for (const ExprPtr& column : plan.output) {
    schema.fields.push_back({column->name, column->type, column->nullable, column->metadata_json});
  }
  return schema;
}

PlanPtr UnresolvedRelation(std::vector<std::string> name, bool streaming, Options options, expr::Origin origin) {
  auto node = NewNode(PlanKind::kUnresolvedRelation, {}, origin);
  node->name_parts = std::move(name);
  node->is_streaming = streaming;
  node->options = std::move(options);
  return node;
}

PlanPtr Relation(std::shared_ptr<const TableDescription> table, bool streaming) {
  auto node = NewNode(PlanKind::kRelation, {});
  for (const type::Field& field : table->schema.fields) {
    node->output.push_back(expr::Attribute(field, expr::NewExprId(), {table->name}));
  }
  node->is_streaming = streaming;
  node->table = std::move(table);
  node->relation_id = expr::NewExprId();
  return node;
}

PlanPtr SubqueryAlias(PlanPtr child, std::string name) {
  auto node = NewNode(PlanKind::kSubqueryAlias, {std::move(child)});
  node->name_parts = {std::move(name)};
  return node;
}

PlanPtr Project(PlanPtr child, std::vector<ExprPtr> expressions, expr::Origin origin) {
  auto node = NewNode(PlanKind::kProject, {std::move(child)}, origin);
  node->expressions = std::move(expressions);
  return node;
}

PlanPtr Filter(PlanPtr child, ExprPtr condition) {
  auto node = NewNode(PlanKind::kFilter, {std::move(child)}, condition->origin);
  node->condition = std::move(condition);
  return node;
}

PlanPtr Watermark(PlanPtr child, ExprPtr column, int64_t delay_ms, std::string delay_text) {
  auto node = NewNode(PlanKind::kWatermark, {std::move(child)}, column->origin);
  node->column = std::move(column);
  node->delay_ms = delay_ms;
  node->delay_text = std::move(delay_text);
  return node;
}

PlanPtr Aggregate(PlanPtr child, std::vector<ExprPtr> grouping, std::vector<ExprPtr> expressions, expr::Origin origin) {
  auto node = NewNode(PlanKind::kAggregate, {std::move(child)}, origin);
  node->grouping = std::move(grouping);
  node->expressions = std::move(expressions);
  return node;
}

}  // namespace tidemill::plan
