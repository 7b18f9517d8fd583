// UNION and its kin: columns go by position, take their names from the first side and the type that both have in common.

#include <algorithm>
#include <utility>

#include "expr/function/resolve.h"
#include "plan/analyzer_internal.h"
#include "plan/expression_tree.h"

namespace tidemill::plan {

using expr::ExprPtr;

namespace {

std::string_view SetOperationName(PlanKind kind) {
  return kind == PlanKind::kUnion ? "UNION" : kind == PlanKind::kExcept ? "EXCEPT" : "INTERSECT";
}

std::string OrdinalNumber(size_t index) {
  return index == 0 ? "first" : index == 1 ? "second" : index == 2 ? "third" : fmt::format("{}th", index + 1);
}

// Columns of the sides get the type that they have in common; a side whose columns have it already stays as it is.
Status WidenColumns(const LogicalPlan& node, const AnalysisFrame& frame, std::vector<PlanPtr>* children) {
  std::vector<type::TypePtr> types;
  for (size_t column = 0; column < (*children)[0]->output.size(); ++column) {
    type::TypePtr& wide = types.emplace_back((*children)[0]->output[column]->type);
    for (size_t i = 1; i < children->size(); ++i) {
      const type::TypePtr& other = (*children)[i]->output[column]->type;
      const type::TypePtr common = expr::WiderType(wide, other, frame.context.ansi);
      if (common == nullptr) {
        return AtOrigin(
            UserError(
                "INCOMPATIBLE_COLUMN_TYPE",
                "{} can only be performed on inputs with compatible column types. The {} column of the {} table is {} type which is not "
                "compatible with {} at the same column of the first table.",
                SetOperationName(node.kind), OrdinalNumber(column), OrdinalNumber(i), QuoteSql(other->ToSql()), QuoteSql(wide->ToSql()))
                .Param("operator", std::string(SetOperationName(node.kind)))
                .Param("columnOrdinalNumber", OrdinalNumber(column))
                .Param("tableOrdinalNumber", OrdinalNumber(i))
                .Param("dataType1", QuoteSql(other->ToSql()))
                .Param("dataType2", QuoteSql(wide->ToSql())),
            node.origin);
      }
      wide = common;
    }
  }
  for (PlanPtr& child : *children) {
    std::vector<ExprPtr> items = child->output;
    bool changed = false;
    for (size_t column = 0; column < types.size(); ++column) {
      ExprPtr& item = items[column];
      if (item->type->Equals(*types[column])) continue;
      ExprPtr cast = expr::UnresolvedCast(item, types[column], /*try_cast=*/false, node.origin);
      ARROW_ASSIGN_OR_RAISE(
          item, ResolveNamed(expr::UnresolvedAlias(std::move(cast), item->name), NameScope(child->output, frame.case_sensitive), frame));
      changed = true;
    }
    if (changed) child = MakeProject(child, std::move(items));
  }
  return Status::OK();
}

}  // namespace

// An output column may be null when it may be on any side.
Result<PlanPtr> ResolveSetOperation(const LogicalPlan& node, std::vector<PlanPtr> children, const AnalysisFrame& frame) {
  auto resolved = std::make_shared<LogicalPlan>(node);
  resolved->output.clear();
  for (size_t i = 1; i < children.size(); ++i) {
    if (children[i]->output.size() == children[0]->output.size()) continue;
    return AtOrigin(UserError("NUM_COLUMNS_MISMATCH",
                              "A set operation needs inputs with the same number of columns, but the first has {} and another {}.",
                              children[0]->output.size(), children[i]->output.size())
                        .Param("operator", std::string(SetOperationName(node.kind)))
                        .Param("firstNumColumns", std::to_string(children[0]->output.size()))
                        .Param("invalidNumColumns", std::to_string(children[i]->output.size())),
                    node.origin);
  }
  ARROW_RETURN_NOT_OK(WidenColumns(node, frame, &children));
  for (size_t column = 0; column < children[0]->output.size(); ++column) {
    const ExprPtr& first = children[0]->output[column];
    bool nullable = std::any_of(children.begin(), children.end(), [&](const PlanPtr& child) { return child->output[column]->nullable; });
    resolved->output.push_back(expr::Attribute(type::Field{first->name, first->type, nullable, first->metadata_json}, expr::NewExprId()));
  }
  resolved->children = std::move(children);
  return PlanPtr(std::move(resolved));
}

}  // namespace tidemill::plan
