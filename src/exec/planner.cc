// From the optimised logical plan to pipelines.

#include <algorithm>

#include "exec/join_condition.h"
#include "exec/physical_plan.h"
#include "exec/row_operator.h"
#include "exec/scan_filter.h"

namespace tidemill::exec {

using expr::ExprKind;
using expr::ExprPtr;
using plan::LogicalPlan;
using plan::PlanKind;

namespace {

ExprPtr WithoutAlias(const ExprPtr& expression) { return expression->kind == ExprKind::kAlias ? expression->children[0] : expression; }

std::vector<ExprPtr> WithoutAliases(const std::vector<ExprPtr>& expressions) {
  std::vector<ExprPtr> plain;
  for (const ExprPtr& expression : expressions) plain.push_back(WithoutAlias(expression));
  return plain;
}

/// Walks from the sink down, gathering the row operators of the pipeline at hand (topmost first) until an exchange or a scan closes it.
class Planner {
 public:
  Planner(plan::OutputMode mode, const Config& config) : config_(config) {
    physical_.mode = mode;
    physical_.partitions = static_cast<int>(config.GetInt(conf::kShufflePartitions));
  }

  Result<PhysicalPlan> Plan(const plan::PlanPtr& root) {
    PipelineSpec to_sink;
    to_sink.output = root->output;
    ARROW_RETURN_NOT_OK(Walk(*root, std::move(to_sink), /*below_watermark=*/false));
    physical_.explained = root->ToString();
    // Only now is the number of watermark operators known, which every pipeline keeps statistics for.
    const int watermarks = static_cast<int>(physical_.watermark_delays_ms.size());
    for (size_t i = 0; i < leaf_specs_.size(); ++i) physical_.leaves[i].pipeline = MakePool(std::move(leaf_specs_[i]), watermarks);
    for (size_t side = 0; side < static_specs_.size(); ++side) {
      std::vector<Leaf>& leaves = physical_.static_sides[side].leaves;
      for (size_t i = 0; i < leaves.size(); ++i) leaves[i].pipeline = MakePool(std::move(static_specs_[side][i]), watermarks);
    }
    for (size_t i = 0; i < after_specs_.size(); ++i) physical_.aggregates[i].after = MakePool(std::move(after_specs_[i]), watermarks);
    return std::move(physical_);
  }

 private:
  std::unique_ptr<PipelinePool> MakePool(PipelineSpec spec, int watermarks) {
    const AggregateLayout* layout = spec.to_sink ? nullptr : physical_.aggregates[spec.target.stateful_operator].layout.get();
    return std::make_unique<PipelinePool>(std::move(spec), layout, physical_.partitions, watermarks);
  }

  Status Walk(const LogicalPlan& node, PipelineSpec above, bool below_watermark) {
    switch (node.kind) {
      case PlanKind::kSubqueryAlias: return Walk(*node.children[0], std::move(above), below_watermark);
      case PlanKind::kProject:
      case PlanKind::kFilter:
      case PlanKind::kExpand: {
        RowOperatorSpec spec;
        spec.input = node.children[0]->output;
        spec.output = node.output;
        if (node.kind == PlanKind::kFilter) {
          spec.kind = RowOperatorKind::kFilter;
          spec.condition = node.condition;
        } else if (node.kind == PlanKind::kProject) {
          spec.kind = RowOperatorKind::kProject;
          spec.projections.push_back(WithoutAliases(node.expressions));
        } else {
          spec.kind = RowOperatorKind::kExpand;
          for (const auto& projection : node.projections) spec.projections.push_back(WithoutAliases(projection));
        }
        above.operators.push_back(std::move(spec));
        return Walk(*node.children[0], std::move(above), below_watermark);
      }
      case PlanKind::kWatermark: return WalkWatermark(node, std::move(above), below_watermark);
      case PlanKind::kJoin: return WalkJoin(node, std::move(above), below_watermark);
      case PlanKind::kUnion: return WalkUnion(node, above, below_watermark);
      case PlanKind::kAggregate: return WalkAggregate(node, std::move(above), below_watermark);
      case PlanKind::kRelation: return CloseWithScan(node, std::move(above));
      default:
        return UserError("TIDEMILL_UNSUPPORTED_OPERATOR", "This operator is not supported in a streaming query yet: {}",
                         node.ToString().substr(0, node.ToString().find('\n')));
    }
  }

  // What is above is done to each side by itself.
  Status WalkUnion(const LogicalPlan& node, const PipelineSpec& above, bool below_watermark) {
    for (const plan::PlanPtr& child : node.children) {
      RowOperatorSpec rename;
      rename.kind = RowOperatorKind::kProject;
      rename.input = child->output;
      rename.output = node.output;
      rename.projections.push_back(child->output);
      PipelineSpec side = above;
      side.operators.push_back(std::move(rename));
      ARROW_RETURN_NOT_OK(Walk(*child, std::move(side), below_watermark));
    }
    return Status::OK();
  }

  // The side that streams goes on; the other is read into memory before the first batch. Of two tables, the side of which every row is kept goes on.
  Status WalkJoin(const LogicalPlan& node, PipelineSpec above, bool below_watermark) {
    const std::vector<plan::PlanPtr>& sides = node.children;
    const bool left_goes_on = IsStreaming(*sides[0]) || (!IsStreaming(*sides[1]) && node.join_type != "RightOuter");
    const LogicalPlan& through = *sides[left_goes_on ? 0 : 1];
    const LogicalPlan& fixed = *sides[left_goes_on ? 1 : 0];
    if (IsStreaming(fixed)) return Unsupported("A join of two streams");
    if (node.join_type == "FullOuter") return Unsupported("A full outer join");
    RowOperatorSpec spec;
    spec.kind = RowOperatorKind::kHashJoin;
    spec.input = through.output;
    spec.output = node.output;
    spec.stream_is_left = left_goes_on;
    spec.join = node.join_type == "LeftSemi"                              ? JoinKind::kSemi
                : node.join_type == "LeftAnti"                            ? JoinKind::kAnti
                : node.join_type == "Inner" || node.join_type == "Cross" ? JoinKind::kInner
                                                                          : JoinKind::kOuter;
    JoinCondition condition = SplitJoinCondition(node.condition, through.output, fixed.output);
    spec.keys = std::move(condition.stream_keys);
    spec.condition = And(condition.rest);

    const auto index = physical_.static_sides.size();
    physical_.static_sides.push_back({std::make_unique<StaticTable>(fixed.output, std::move(condition.static_keys)), {}});
    static_specs_.emplace_back();
    spec.static_table = physical_.static_sides[index].table.get();
    above.operators.push_back(std::move(spec));
    PipelineSpec rows;
    rows.output = fixed.output;
    rows.static_table = static_cast<int>(index);
    ARROW_RETURN_NOT_OK(Walk(fixed, std::move(rows), /*below_watermark=*/false));
    return Walk(through, std::move(above), below_watermark);
  }

  static Status Unsupported(std::string_view what) {
    return UserError("TIDEMILL_UNSUPPORTED_OPERATOR", "{} is not supported yet.", what);
  }

  Status WalkWatermark(const LogicalPlan& node, PipelineSpec above, bool below_watermark) {
    RowOperatorSpec spec;
    spec.kind = RowOperatorKind::kWatermark;
    spec.input = node.children[0]->output;
    spec.output = node.output;
    spec.watermark = static_cast<int>(physical_.watermark_delays_ms.size());
    physical_.redefines_watermark |= below_watermark;
    physical_.watermark_delays_ms.push_back(node.delay_ms);
    for (size_t i = 0; i < node.output.size(); ++i) {
      if (node.output[i]->id == node.column->id) spec.column = static_cast<int>(i);
    }
    if (spec.column < 0) return InternalError("the event-time column {} is not in the output of its watermark", node.column->name);
    above.operators.push_back(std::move(spec));
    return Walk(*node.children[0], std::move(above), /*below_watermark=*/true);
  }

  Status WalkAggregate(const LogicalPlan& node, PipelineSpec above, bool below_watermark) {
    if (above.static_table >= 0) return Unsupported("An aggregation of a table that is joined with a stream");
    StatefulAggregate aggregate;
    aggregate.operator_id = static_cast<int64_t>(physical_.aggregates.size());
    aggregate.output = node.output;
    aggregate.single_partition = node.keys.empty();
    const std::vector<ExprPtr>& input = node.children[0]->output;

    PipelineSpec below;
    below.output = input;
    below.to_sink = false;
    below.target.stateful_operator = static_cast<int>(physical_.aggregates.size());
    below.target.key_columns = node.keys;
    std::vector<ExprPtr> keys;
    for (const int key : node.keys) keys.push_back(input.at(key));
    std::vector<expr::AggregateFunction> functions;
    for (const plan::AggregateColumn& column : node.aggregates) {
      below.target.arguments.push_back(column.argument);
      functions.push_back(column.function);
    }
    type::Schema key_schema = StateColumns(SchemaOf(keys));
    for (expr::AggregateFunction& function : functions) function.buffer = StateColumns({function.buffer}).fields;
    ARROW_ASSIGN_OR_RAISE(AggregateLayout layout, AggregateLayout::Make(std::move(key_schema), std::move(functions),
                                                                        static_cast<int>(config_.GetInt(conf::kAggregationStateFormat))));
    aggregate.layout = std::make_unique<AggregateLayout>(std::move(layout));
    std::reverse(above.operators.begin(), above.operators.end());
    after_specs_.push_back(std::move(above));
    physical_.aggregates.push_back(std::move(aggregate));
    return Walk(*node.children[0], std::move(below), below_watermark);
  }

  /// Columns of a state schema: nullable throughout where the query says so. A checkpoint of a release before that rule recorded what cannot be null,
  /// and is continued with the same schema.
  type::Schema StateColumns(type::Schema schema) const {
    return config_.GetBool(conf::kAlwaysNullableOutput) ? Nullable(std::move(schema)) : schema;
  }

  static type::Schema Nullable(type::Schema schema) {
    for (type::Field& field : schema.fields) {
      field.nullable = true;
      if (field.type->kind() == type::Kind::kStruct) field.type = type::Struct(Nullable({field.type->fields()}).fields);
    }
    return schema;
  }

  Status CloseWithScan(const LogicalPlan& relation, PipelineSpec above) {
    const int side = above.static_table;
    Leaf leaf;
    leaf.source = side < 0 ? SourceOf(relation) : static_cast<int>(physical_.static_sources.size());
    if (side >= 0) physical_.static_sources.push_back(relation.table);
    leaf.output = relation.output;
    const type::Schema& schema = relation.table->schema;
    for (const ExprPtr& attribute : relation.output) {
      const auto field = std::find_if(schema.fields.begin(), schema.fields.end(), [&](const type::Field& f) { return f.name == attribute->name; });
      if (field == schema.fields.end()) return InternalError("column {} is not in table {}", attribute->name, relation.table->name);
      leaf.columns.push_back(static_cast<int>(field - schema.fields.begin()));
    }
    // Filters right above the scan: what Spark evaluates in the scan is taken out of the pipeline, so that it is counted there.
    std::vector<ExprPtr> in_scan;
    while (!above.operators.empty() && above.operators.back().kind == RowOperatorKind::kFilter) {
      RowOperatorSpec filter = std::move(above.operators.back());
      above.operators.pop_back();
      std::vector<ExprPtr> rest;
      for (const ExprPtr& conjunct : Conjuncts(filter.condition)) (IsPushable(*conjunct) ? in_scan : rest).push_back(conjunct);
      if (rest.empty()) continue;
      filter.condition = And(rest);
      above.operators.push_back(std::move(filter));
      break;
    }
    leaf.scan_filter = And(in_scan);
    std::reverse(above.operators.begin(), above.operators.end());
    (side < 0 ? leaf_specs_ : static_specs_[side]).push_back(std::move(above));
    (side < 0 ? physical_.leaves : physical_.static_sides[side].leaves).push_back(std::move(leaf));
    return Status::OK();
  }

  int SourceOf(const LogicalPlan& relation) {
    for (size_t i = 0; i < relations_.size(); ++i) {
      if (relations_[i] == relation.relation_id) return static_cast<int>(i);
    }
    relations_.push_back(relation.relation_id);
    physical_.sources.push_back(relation.table);
    return static_cast<int>(relations_.size()) - 1;
  }

  const Config& config_;
  PhysicalPlan physical_;
  std::vector<PipelineSpec> leaf_specs_;
  std::vector<std::vector<PipelineSpec>> static_specs_;  // by static side, by leaf
  std::vector<PipelineSpec> after_specs_;
  std::vector<int64_t> relations_;  // by source: LogicalPlan::relation_id
};

}  // namespace

Result<PhysicalPlan> MakePhysicalPlan(const plan::PlanPtr& optimized, plan::OutputMode mode, const Config& config) {
  return Planner(mode, config).Plan(optimized);
}

}  // namespace tidemill::exec
