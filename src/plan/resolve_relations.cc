// Names of tables and views to relations.

#include "plan/analyzer_internal.h"
#include "plan/expression_tree.h"

namespace tidemill::plan {

namespace {

std::string DottedName(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ".") + part;
  return text;
}

Result<PlanPtr> NotFound(const LogicalPlan& node, const AnalysisFrame& frame) {
  std::string name = QuoteName(node.name_parts);
  std::string nearest = NearestName(DottedName(node.name_parts), frame.catalog.Names());
  Error error = UserError("TABLE_OR_VIEW_NOT_FOUND", "The table or view {} cannot be found.{}", name,
                          nearest.empty() ? "" : fmt::format(" Did you mean {}?", QuoteName({nearest})))
                    .Param("relationName", name);
  return AtOrigin(error, node.origin);
}

// The columns of a table or view can be reached by its name, whole or in part.
PlanPtr Named(PlanPtr plan, const std::vector<std::string>& name) {
  auto alias = std::make_shared<LogicalPlan>(*SubqueryAlias(plan, name.back()));
  alias->name_parts = name;
  for (const expr::ExprPtr& column : plan->output) {
    auto named = std::make_shared<expr::Expression>(*column);
    named->qualifier = name;
    alias->output.push_back(std::move(named));
  }
  return alias;
}

}  // namespace

Result<PlanPtr> ResolveRelation(const LogicalPlan& node, const AnalysisFrame& frame) {
  if (PlanPtr view = frame.catalog.FindView(node.name_parts)) {
    ARROW_ASSIGN_OR_RAISE(PlanPtr resolved, ResolvePlan(view, frame));
    if (node.is_streaming && !IsStreaming(*resolved)) {
      std::string name = DottedName(node.name_parts);
      return AtOrigin(UserError("_LEGACY_ERROR_TEMP_1008", "{} is not a temp view of streaming logical plan, read it without STREAM.", name)
                          .Param("quoted", name),
                      node.origin);
    }
    return Named(std::move(resolved), node.name_parts);
  }
  std::shared_ptr<const TableDescription> table = frame.catalog.FindTable(node.name_parts);
  if (table == nullptr) return NotFound(node, frame);
  if (!node.options.empty()) {
    // Options of the reference win over those of the table, for this use alone.
    auto with_options = std::make_shared<TableDescription>(*table);
    for (const auto& [key, value] : node.options) with_options->options[key] = value;
    table = std::move(with_options);
  }
  auto relation = std::make_shared<LogicalPlan>(*Relation(table, node.is_streaming || table->is_streaming_view));
  relation->source_name = node.source_name;
  relation->origin = node.origin;
  return Named(std::move(relation), node.name_parts);
}

}  // namespace tidemill::plan
