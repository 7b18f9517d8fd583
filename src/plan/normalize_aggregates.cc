// GROUP BY as an operator can run it: a Project below computes keys and arguments, the aggregation itself reads and makes plain columns, a Project
// above computes the results from them.
//
//   SELECT upper(k), sum(v) / count(*) … GROUP BY upper(k)
//
//   Project [_groupingexpression, sum / count]
//   +- Aggregate keys [_groupingexpression], sum := v, count := *
//      +- Project [upper(k) AS _groupingexpression, v]

#include <algorithm>
#include <utility>

#include "expr/function/aggregate.h"
#include "expr/function/resolve.h"
#include "plan/expression_tree.h"
#include "plan/optimizer_internal.h"

namespace tidemill::plan {

using expr::Expression;
using expr::ExprKind;
using expr::ExprPtr;

namespace {

// Persisted: the schema file of the state names key columns so, as Spark's does.
constexpr char kKeyName[] = "_groupingexpression";
constexpr char kArgumentName[] = "_aggregateargument";

ExprPtr NamedColumn(const ExprPtr& expression, const char* name) {
  auto alias = std::make_shared<Expression>(*expr::UnresolvedAlias(expression, name));
  alias->id = expr::NewExprId();
  alias->type = expression->type;
  alias->nullable = expression->nullable;
  return alias;
}

class Normalizer {
 public:
  explicit Normalizer(const LogicalPlan& node) : node_(node), normal_(std::make_shared<LogicalPlan>()) {
    normal_->kind = PlanKind::kAggregate;
    normal_->origin = node.origin;
  }

  Result<PlanPtr> Run() {
    ChooseKeys();
    for (const ExprPtr& item : node_.expressions) ARROW_RETURN_NOT_OK(CollectAggregates(item));
    for (int key : normal_->keys) normal_->output.push_back(Nullable(ToAttribute(inputs_[key])));
    for (const AggregateColumn& aggregate : normal_->aggregates) normal_->output.push_back(aggregate.output);
    // With neither keys nor arguments (count(*) alone) only the number of rows matters.
    normal_->children = {inputs_.empty() ? node_.children[0] : MakeProject(node_.children[0], inputs_)};

    std::vector<ExprPtr> results;
    for (const ExprPtr& item : node_.expressions) results.push_back(ResultOf(item));
    auto project = std::make_shared<LogicalPlan>(*Project(normal_, std::move(results), node_.origin));
    project->output = node_.output;
    return PlanPtr(std::move(project));
  }

 private:
  // A repeated key is one key, and a constant is none, unless all are.
  void ChooseKeys() {
    bool all_constant =
        std::all_of(node_.grouping.begin(), node_.grouping.end(), [](const ExprPtr& key) { return key->kind == ExprKind::kLiteral; });
    for (const ExprPtr& key : node_.grouping) {
      if (key->kind == ExprKind::kLiteral && !(all_constant && normal_->keys.empty())) continue;
      int input = InputOf(key, kKeyName);
      if (std::find(normal_->keys.begin(), normal_->keys.end(), input) == normal_->keys.end()) normal_->keys.push_back(input);
    }
  }

  int InputOf(const ExprPtr& expression, const char* name) {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (expr::SameExpression(*StripAlias(inputs_[i]), *expression)) return static_cast<int>(i);
    }
    inputs_.push_back(expression->kind == ExprKind::kAttribute ? expression : NamedColumn(expression, name));
    return static_cast<int>(inputs_.size()) - 1;
  }

  static ExprPtr Nullable(const ExprPtr& column) {
    auto nullable = std::make_shared<Expression>(*column);
    nullable->nullable = true;
    return nullable;
  }

  Status CollectAggregates(const ExprPtr& expression) {
    if (expression->kind != ExprKind::kCall || !expr::IsAggregate(*expression)) {
      for (const ExprPtr& child : expression->children) ARROW_RETURN_NOT_OK(CollectAggregates(child));
      return Status::OK();
    }
    if (expression->distinct) return Unsupported("DISTINCT in an aggregate function", expression->origin);
    Result<expr::AggregateFunction> made = expr::MakeAggregate(*expression);
    if (!made.ok()) return AtOrigin(made.status(), expression->origin);
    calls_.push_back({expression, 0});
    for (const AggregateColumn& known : normal_->aggregates) {
      if (expr::SameAggregate(known.function, *made)) return Status::OK();
      ++calls_.back().second;
    }
    AggregateColumn column;
    column.argument = made->argument == nullptr ? -1 : InputOf(made->argument, kArgumentName);
    column.output = expr::Attribute(type::Field{expression->ToSql(), made->result_type, true}, expr::NewExprId());
    column.function = std::move(*made);
    normal_->aggregates.push_back(std::move(column));
    return Status::OK();
  }

  // The item with keys and aggregate calls replaced by columns of the aggregation.
  ExprPtr ResultOf(const ExprPtr& item) const {
    ExprPtr result = Rewrite(item, [&](const ExprPtr& node) -> ExprPtr {
      if (node->kind == ExprKind::kLiteral) return node;
      for (const auto& [call, index] : calls_) {
        if (call == node) return normal_->aggregates[index].output;
      }
      for (int key : normal_->keys) {
        if (expr::SameExpression(*StripAlias(inputs_[key]), *node)) return Nullable(ToAttribute(inputs_[key]));
      }
      return nullptr;
    });
    if (item->kind != ExprKind::kAttribute || result->name == item->name) return result;
    auto renamed = std::make_shared<Expression>(*result);  // GROUP BY k, but SELECT K
    renamed->name = item->name;
    return renamed;
  }

  const LogicalPlan& node_;
  std::shared_ptr<LogicalPlan> normal_;
  std::vector<ExprPtr> inputs_;
  std::vector<std::pair<ExprPtr, size_t>> calls_;  // each aggregate call and its column
};

}  // namespace

Result<PlanPtr> NormalizeAggregates(const PlanPtr& plan) {
  return TransformUp(plan, [](const PlanPtr& node) -> Result<PlanPtr> {
    if (node->kind != PlanKind::kAggregate || node->expressions.empty()) return node;
    return Normalizer(*node).Run();
  });
}

}  // namespace tidemill::plan
