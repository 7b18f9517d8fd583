// GROUP BY, aggregates in select lists, HAVING.
//
// Output columns of an aggregation over a stream may all be null, as Spark 4.3 has it: its state may come from a version that wrote nulls.

#include <strings.h>

#include <algorithm>
#include <utility>

#include "expr/function/resolve.h"
#include "plan/analyzer_internal.h"
#include "plan/expression_tree.h"

namespace tidemill::plan {

using expr::Expression;
using expr::ExprKind;
using expr::ExprPtr;

namespace {

bool IsAggregateCall(const Expression& node) { return node.kind == ExprKind::kCall && expr::IsAggregate(node); }

bool MatchesAny(const ExprPtr& expression, const std::vector<ExprPtr>& candidates) {
  return std::any_of(candidates.begin(), candidates.end(), [&](const ExprPtr& other) { return expr::SameExpression(*expression, *other); });
}

Status MissingAggregation(const ExprPtr& column, bool has_grouping) {
  if (!has_grouping) {
    return UserError("MISSING_GROUP_BY",
                     "The query does not include a GROUP BY clause, but column {} stands outside any aggregate function.",
                     QuoteName({column->name}));
  }
  std::string text = column->ToSql();
  return UserError("MISSING_AGGREGATION",
                   "The non-aggregating expression {} is based on columns which are not participating in the GROUP BY clause. Add the "
                   "columns or the "
                   "expression to the GROUP BY, aggregate the expression, or use {} if you do not care which of the values within a group "
                   "is returned.",
                   QuoteSql(text), QuoteSql("any_value(" + text + ")"))
      .Param("expression", QuoteSql(text))
      .Param("expressionAnyValue", QuoteSql("any_value(" + text + ")"));
}

// Everything outside aggregate functions must be made of grouping expressions.
Status CheckAggregated(const ExprPtr& expression, const std::vector<ExprPtr>& grouping) {
  if (expression->kind != ExprKind::kLiteral && MatchesAny(expression, grouping)) return Status::OK();
  if (IsAggregateCall(*expression)) {
    for (const ExprPtr& argument : expression->children) {
      if (!ContainsAggregate(*argument)) continue;
      return AtOrigin(
          UserError("NESTED_AGGREGATE_FUNCTION", "An aggregate function cannot be the argument of another: {}.", expression->ToSql()),
          expression->origin);
    }
    return Status::OK();
  }
  if (expression->kind == ExprKind::kAttribute) return MissingAggregation(expression, !grouping.empty());
  for (const ExprPtr& child : expression->children) ARROW_RETURN_NOT_OK(CheckAggregated(child, grouping));
  return Status::OK();
}

// Resolves the items of one GROUP BY against the child and the select list.
class GroupingResolver {
 public:
  GroupingResolver(const NameScope& scope, const std::vector<ExprPtr>& select, const AnalysisFrame& frame)
      : scope_(scope), select_(select), frame_(frame) {}

  Result<std::vector<ExprPtr>> Resolve(const std::vector<ExprPtr>& items) const {
    std::vector<ExprPtr> grouping;
    if (items.size() == 1) {
      ARROW_ASSIGN_OR_RAISE(bool all, IsGroupByAll(*items[0]));
      if (all) {
        for (const ExprPtr& item : select_) {
          if (!ContainsAggregate(*item)) grouping.push_back(StripAlias(item));
        }
        return grouping;
      }
    }
    for (const ExprPtr& item : items) {
      Result<ExprPtr> resolved = ResolveItem(item);
      if (!resolved.ok()) return AtOrigin(resolved.status(), item->origin);
      grouping.push_back(StripAlias(*resolved));
    }
    return grouping;
  }

 private:
  // GROUP BY ALL, unless a column is called so.
  Result<bool> IsGroupByAll(const Expression& item) const {
    if (item.kind != ExprKind::kUnresolvedAttribute || item.name_parts.size() != 1) return false;
    if (strcasecmp(item.name_parts[0].c_str(), "all") != 0) return false;
    ARROW_ASSIGN_OR_RAISE(std::optional<ExprPtr> column, scope_.Find(item.name_parts));
    return !column.has_value();
  }

  Result<ExprPtr> ResolveItem(const ExprPtr& item) const {
    if (item->kind == ExprKind::kLiteral && item->type->kind() == type::Kind::kInt) return AtOrdinal(*item);
    if (item->kind == ExprKind::kUnresolvedAttribute) {
      ARROW_ASSIGN_OR_RAISE(std::optional<ExprPtr> column, scope_.Find(item->name_parts));
      if (column) return *column;
      if (item->name_parts.size() == 1) {
        for (const ExprPtr& selected : select_) {
          if (selected->kind == ExprKind::kAlias && scope_.NamesEqual(selected->name, item->name_parts[0]))
            return CheckNoAggregate(selected);
        }
      }
    }
    ARROW_ASSIGN_OR_RAISE(ExprPtr resolved, ResolveExpression(item, scope_, frame_));
    return CheckNoAggregate(resolved);
  }

  Result<ExprPtr> CheckNoAggregate(const ExprPtr& expression) const {
    if (!ContainsAggregate(*expression)) return expression;
    std::string text = StripAlias(expression)->ToSql();
    return UserError("GROUP_BY_AGGREGATE", "Aggregate functions are not allowed in GROUP BY, but found {}.", text).Param("sqlExpr", text);
  }

  Result<ExprPtr> AtOrdinal(const Expression& literal) const {
    int64_t position = 0;
    for (char digit : literal.ToSql()) {
      if (digit < '0' || digit > '9') return OutOfRange(literal.ToSql());
      position = position * 10 + (digit - '0');
    }
    if (position < 1 || position > static_cast<int64_t>(select_.size())) return OutOfRange(literal.ToSql());
    const ExprPtr& selected = select_[position - 1];
    if (ContainsAggregate(*selected)) {
      std::string text = StripAlias(selected)->ToSql();
      return UserError("GROUP_BY_POS_AGGREGATE", "GROUP BY {} refers to an expression {} that contains an aggregate function.", position,
                       text)
          .Param("index", std::to_string(position))
          .Param("aggExpr", text);
    }
    return selected;
  }

  Status OutOfRange(const std::string& index) const {
    return UserError("GROUP_BY_POS_OUT_OF_RANGE", "GROUP BY position {} is not in select list (valid range is [1, {}]).", index,
                     select_.size())
        .Param("index", index)
        .Param("size", std::to_string(select_.size()));
  }

  const NameScope& scope_;
  const std::vector<ExprPtr>& select_;
  const AnalysisFrame& frame_;
};

ExprPtr OutputColumn(const ExprPtr& named, bool always_nullable) {
  auto column = std::make_shared<Expression>(*ToAttribute(named));
  column->nullable = column->nullable || always_nullable;
  column->qualifier.clear();
  return column;
}

PlanPtr MakeAggregate(PlanPtr child, std::vector<ExprPtr> grouping, std::vector<ExprPtr> named, const AnalysisFrame& frame) {
  bool always_nullable = IsStreaming(*child) && frame.config.GetBool(conf::kAlwaysNullableOutput);
  auto aggregate = std::make_shared<LogicalPlan>(*Aggregate(std::move(child), std::move(grouping), std::move(named)));
  for (const ExprPtr& item : aggregate->expressions) aggregate->output.push_back(OutputColumn(item, always_nullable));
  return aggregate;
}

}  // namespace

Result<PlanPtr> ResolveAggregate(const LogicalPlan& node, const PlanPtr& child, const AnalysisFrame& frame) {
  ARROW_ASSIGN_OR_RAISE(std::vector<ExprPtr> items, ExpandStars(node.expressions, NameScope(child->output, frame.case_sensitive)));
  size_t select_size = items.size();
  items.insert(items.end(), node.grouping.begin(), node.grouping.end());
  ARROW_ASSIGN_OR_RAISE(PlanPtr input, LowerTimeWindow(child, frame, &items));
  NameScope scope(input->output, frame.case_sensitive);

  std::vector<ExprPtr> select;
  for (size_t i = 0; i < select_size; ++i) {
    ARROW_ASSIGN_OR_RAISE(ExprPtr named, ResolveNamed(items[i], scope, frame));
    select.push_back(std::move(named));
  }
  std::vector<ExprPtr> grouping_items(items.begin() + select_size, items.end());
  ARROW_ASSIGN_OR_RAISE(std::vector<ExprPtr> grouping, GroupingResolver(scope, select, frame).Resolve(grouping_items));
  for (size_t i = 0; i < select_size; ++i) {
    if (Status status = CheckAggregated(StripAlias(select[i]), grouping); !status.ok()) return AtOrigin(status, items[i]->origin);
  }
  return MakeAggregate(std::move(input), std::move(grouping), std::move(select), frame);
}

namespace {

// Names in HAVING: columns of the result first, else columns below the aggregation; inside aggregate functions only the latter.
Result<ExprPtr> BindHaving(const ExprPtr& expression, const NameScope& result, const NameScope& input, bool in_aggregate) {
  if (expression->kind == ExprKind::kUnresolvedAttribute) {
    if (!in_aggregate) {
      ARROW_ASSIGN_OR_RAISE(std::optional<ExprPtr> found, result.Find(expression->name_parts));
      if (found) return *found;
    }
    ARROW_ASSIGN_OR_RAISE(std::optional<ExprPtr> below, input.Find(expression->name_parts));
    if (below) return *below;
    return AtOrigin(result.UnknownColumn(expression->name_parts), expression->origin);
  }
  if (expression->children.empty()) return BindNames(expression, input);
  bool aggregate = in_aggregate || IsAggregateCall(*expression);
  bool has_star =
      std::any_of(expression->children.begin(), expression->children.end(), [](const ExprPtr& c) { return c->kind == ExprKind::kStar; });
  if (has_star) return BindNames(expression, input);
  std::vector<ExprPtr> children;
  for (const ExprPtr& child : expression->children) {
    ARROW_ASSIGN_OR_RAISE(ExprPtr bound, BindHaving(child, result, input, aggregate));
    children.push_back(std::move(bound));
  }
  return expr::WithChildren(expression, std::move(children));
}

// The output column of `expression`; the aggregation computes it in addition when the select list does not have it.
ExprPtr ColumnFor(const ExprPtr& expression, std::vector<ExprPtr>* select) {
  for (const ExprPtr& item : *select) {
    if (expr::SameExpression(*StripAlias(item), *expression)) return OutputColumn(item, true);
  }
  auto alias = std::make_shared<Expression>(*expr::UnresolvedAlias(expression, expression->ToSql()));
  alias->id = expr::NewExprId();
  alias->type = expression->type;
  alias->nullable = expression->nullable;
  select->push_back(alias);
  return OutputColumn(alias, true);
}

}  // namespace

Result<PlanPtr> ResolveHaving(const LogicalPlan& filter, const PlanPtr& aggregate, const AnalysisFrame& frame) {
  if (aggregate->kind != PlanKind::kAggregate) {
    return Unsupported("HAVING without GROUP BY or aggregate function", filter.origin);
  }
  NameScope result(aggregate->output, frame.case_sensitive);
  NameScope input(aggregate->children[0]->output, frame.case_sensitive);
  ARROW_ASSIGN_OR_RAISE(ExprPtr bound, BindHaving(filter.condition, result, input, false));
  ARROW_ASSIGN_OR_RAISE(ExprPtr condition, ResolveTypes(bound, frame));

  std::vector<ExprPtr> select = aggregate->expressions;
  condition = Rewrite(condition, [&](const ExprPtr& node) -> ExprPtr {
    bool grouped = node->kind != ExprKind::kLiteral && MatchesAny(node, aggregate->grouping);
    return grouped || IsAggregateCall(*node) ? ColumnFor(node, &select) : nullptr;
  });
  PlanPtr wider = MakeAggregate(aggregate->children[0], aggregate->grouping, select, frame);
  std::set<int64_t> known;
  for (const ExprPtr& column : wider->output) known.insert(column->id);
  for (const ExprPtr& column : input.columns()) {
    if (known.count(column->id) == 0 && References({condition}).count(column->id) > 0) {
      return AtOrigin(MissingAggregation(column, !aggregate->grouping.empty()), filter.condition->origin);
    }
  }
  PlanPtr filtered = MakeFilter(wider, std::move(condition));
  return select.size() == aggregate->expressions.size() ? filtered : MakeProject(std::move(filtered), aggregate->output);
}

}  // namespace tidemill::plan
