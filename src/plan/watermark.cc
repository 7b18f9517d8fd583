// WATERMARK … DELAY OF … and withWatermark: which column becomes the event time.

#include "plan/analyzer_internal.h"
#include "plan/column_metadata.h"
#include "plan/expression_tree.h"

namespace tidemill::plan {

using expr::Expression;
using expr::ExprKind;
using expr::ExprPtr;

namespace {

bool IsEventTimeType(const type::DataType& type) {
  if (type.kind() == type::Kind::kTimestamp) return true;
  if (type.kind() != type::Kind::kStruct) return false;
  for (const type::Field& field : type.fields()) {
    if (field.name == "end") return field.type->kind() == type::Kind::kTimestamp;
  }
  return false;
}

Status CheckEventTime(const ExprPtr& column) {
  if (IsEventTimeType(*column->type)) return Status::OK();
  return UserError("EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE", "The event time {} has the invalid type {}, but expected \"TIMESTAMP\".",
                   QuoteName({column->name}), QuoteSql(column->type->ToSql()))
      .Param("eventName", QuoteName({column->name}))
      .Param("eventType", QuoteSql(column->type->ToSql()));
}

// Only a column can carry event time; an expression has to be made one, under a name, in front of the others.
Result<ExprPtr> EventTimeColumn(const LogicalPlan& node, const AnalysisFrame& frame, PlanPtr* child) {
  NameScope scope((*child)->output, frame.case_sensitive);
  ARROW_ASSIGN_OR_RAISE(ExprPtr column, ResolveExpression(node.column, scope, frame));
  if (column->kind == ExprKind::kAttribute) return column;
  if (column->kind == ExprKind::kAlias) {
    std::vector<ExprPtr> columns = {column};
    columns.insert(columns.end(), (*child)->output.begin(), (*child)->output.end());
    *child = MakeProject(*child, std::move(columns));
    return (*child)->output[0];
  }
  if (node.column->kind == ExprKind::kUnresolvedAttribute) {
    return UserError("EVENT_TIME_MUST_BE_TOP_LEVEL_COLUMN", "The event time {} must be a top-level column.", QuoteSql(column->ToSql()))
        .Param("eventExpr", QuoteSql(column->ToSql()));
  }
  return UserError("REQUIRES_EXPLICIT_NAME_IN_WATERMARK_CLAUSE",
                   "The watermark clause requires an explicit name if expression is specified, but got {}.", column->ToSql())
      .Param("sqlExpr", column->ToSql());
}

}  // namespace

Result<PlanPtr> ResolveWatermark(const LogicalPlan& node, const PlanPtr& child, const AnalysisFrame& frame) {
  if (node.delay_ms < 0) {
    return AtOrigin(UserError("", "requirement failed: delay threshold ({}) should not be negative.", node.delay_text), node.origin);
  }
  PlanPtr input = child;
  Result<ExprPtr> column = EventTimeColumn(node, frame, &input);
  if (!column.ok()) return AtOrigin(column.status(), node.column->origin);
  if (Status status = CheckEventTime(*column); !status.ok()) return AtOrigin(status, node.column->origin);
  if (!IsStreaming(*input)) return input;  // of no effect on a table read as a whole

  auto watermark = CopyWithChild(node, input);
  watermark->output.clear();
  for (const ExprPtr& attribute : input->output) {
    bool is_event_time = attribute->id == (*column)->id;
    if (!is_event_time && !WatermarkDelayMs(attribute->metadata_json)) {
      watermark->output.push_back(attribute);
      continue;
    }
    // One event time at a time: a watermark declared below loses its column's mark.
    auto marked = std::make_shared<Expression>(*attribute);
    marked->metadata_json =
        WithWatermarkDelay(attribute->metadata_json, is_event_time ? std::optional<int64_t>(node.delay_ms) : std::nullopt);
    if (is_event_time) watermark->column = marked;
    watermark->output.push_back(std::move(marked));
  }
  return PlanPtr(std::move(watermark));
}

}  // namespace tidemill::plan
