// Filters as far down as they may go. Spark's state and watermarks depend on how far: a row that a pushed filter rejects moves no watermark.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <arrow/scalar.h>
#include "plan/expression_tree.h"
#include "plan/optimizer_internal.h"

namespace tidemill::plan {

using expr::ExprKind;
using expr::ExprPtr;

namespace {

using Substitution = std::map<int64_t, ExprPtr>;

ExprPtr Substitute(const ExprPtr& expression, const Substitution& columns) {
  return Rewrite(expression, [&](const ExprPtr& node) -> ExprPtr {
    if (node->kind != ExprKind::kAttribute) return nullptr;
    auto found = columns.find(node->id);
    return found == columns.end() ? node : found->second;
  });
}

bool IsTrue(const ExprPtr& expression) {
  return expression->kind == ExprKind::kLiteral && expression->type->kind() == type::Kind::kBoolean && expression->value->is_valid &&
         static_cast<const arrow::BooleanScalar&>(*expression->value).value;
}

// Comparisons and null tests fail for no row. Anything else may (a cast, a division), so it must not see rows that an earlier conjunct rejects.
bool CannotFail(const expr::Expression& expression) {
  static const std::set<std::string> kHarmless = {
      "=", "==", "<=>", "!=", "<>", "<", "<=", ">", ">=", "and", "or", "not", "isnull", "isnotnull", "in", "like", "getfield"};
  return !AnyNode(expression, [](const expr::Expression& node) {
    return node.kind == ExprKind::kCast || (node.kind == ExprKind::kCall && kHarmless.count(node.name) == 0);
  });
}

// One Filter for a run of harmless conjuncts, one more for each that may fail.
PlanPtr FilterAbove(PlanPtr plan, const std::vector<ExprPtr>& conjuncts) {
  std::vector<ExprPtr> run;
  for (const ExprPtr& conjunct : conjuncts) {
    if (!run.empty() && !CannotFail(*conjunct)) {
      plan = MakeFilter(std::move(plan), JoinConjuncts(run));
      run.clear();
    }
    run.push_back(conjunct);
  }
  return run.empty() ? plan : MakeFilter(std::move(plan), JoinConjuncts(run));
}

PlanPtr Push(const PlanPtr& plan, const std::vector<ExprPtr>& conjuncts);

PlanPtr PushBelowFilter(const LogicalPlan& filter, const std::vector<ExprPtr>& conjuncts) {
  std::vector<ExprPtr> all;
  for (const ExprPtr& conjunct : SplitConjuncts(filter.condition)) {
    if (!IsTrue(conjunct)) all.push_back(conjunct);
  }
  all.insert(all.end(), conjuncts.begin(), conjuncts.end());
  return Push(filter.children[0], all);
}

PlanPtr PushBelowProject(const LogicalPlan& project, const std::vector<ExprPtr>& conjuncts) {
  Substitution columns;
  for (const ExprPtr& item : project.expressions) columns[item->id] = StripAlias(item);
  std::vector<ExprPtr> below;
  for (const ExprPtr& conjunct : conjuncts) below.push_back(Substitute(conjunct, columns));
  return CopyWithChild(project, Push(project.children[0], below));
}

// `may_pass` decides for each conjunct; one that stays holds back nothing, as filters commute.
template <typename MayPass>
PlanPtr PushSome(const LogicalPlan& node, const std::vector<ExprPtr>& conjuncts, const Substitution& columns, MayPass may_pass) {
  std::vector<ExprPtr> below, above;
  for (const ExprPtr& conjunct : conjuncts) {
    if (may_pass(conjunct)) {
      below.push_back(Substitute(conjunct, columns));
    } else {
      above.push_back(conjunct);
    }
  }
  return FilterAbove(CopyWithChild(node, Push(node.children[0], below)), above);
}

PlanPtr PushBelowAggregate(const LogicalPlan& aggregate, const std::vector<ExprPtr>& conjuncts) {
  Substitution keys;
  for (const ExprPtr& item : aggregate.expressions) {
    if (!ContainsAggregate(*item)) keys[item->id] = StripAlias(item);
  }
  return PushSome(aggregate, conjuncts, keys, [&](const ExprPtr& conjunct) {
    std::set<int64_t> read = References({conjunct});
    bool keys_only = std::all_of(read.begin(), read.end(), [&](int64_t id) { return keys.count(id) > 0; });
    return keys_only && !read.empty() && !aggregate.grouping.empty();
  });
}

PlanPtr PushBelowUnion(const LogicalPlan& node, const std::vector<ExprPtr>& conjuncts) {
  auto pushed = std::make_shared<LogicalPlan>(node);
  for (PlanPtr& child : pushed->children) {
    Substitution columns;
    for (size_t i = 0; i < node.output.size(); ++i) columns[node.output[i]->id] = child->output[i];
    std::vector<ExprPtr> below;
    for (const ExprPtr& conjunct : conjuncts) below.push_back(Substitute(conjunct, columns));
    child = Push(child, below);
  }
  return pushed;
}

bool ReadsOnly(const ExprPtr& conjunct, const LogicalPlan& side) {
  const std::set<int64_t> read = References({conjunct});
  return !read.empty() && std::all_of(read.begin(), read.end(), [&](int64_t id) {
    return std::any_of(side.output.begin(), side.output.end(), [&](const ExprPtr& column) { return column->id == id; });
  });
}

ExprPtr IsNotNull(const ExprPtr& column) {
  auto test = std::make_shared<expr::Expression>();
  test->kind = ExprKind::kCall;
  test->name = "isnotnull";
  test->children = {column};
  test->type = type::Boolean();
  test->nullable = false;
  return test;
}

// A row whose key is null finds no partner: where it would vanish for that, it need not come so far.
void AddNullTests(const std::vector<ExprPtr>& condition, const LogicalPlan& side, std::vector<ExprPtr>* below) {
  std::set<int64_t> tested;
  for (const ExprPtr& conjunct : condition) {
    const bool is_equality = conjunct->kind == ExprKind::kCall && (conjunct->name == "=" || conjunct->name == "==");
    if (!is_equality || ReadsOnly(conjunct, side)) continue;
    for (const ExprPtr& key : conjunct->children) {
      const bool is_column = key->kind == ExprKind::kAttribute && key->nullable && ReadsOnly(key, side);
      if (is_column && tested.insert(key->id).second) below->push_back(IsNotNull(key));
    }
  }
}

// What looks at one side only is asked there, unless an outer join would then show a row alone that it must not show.
PlanPtr PushBelowJoin(const LogicalPlan& node, const std::vector<ExprPtr>& conjuncts) {
  const std::string& type = node.join_type;
  const bool keeps[2] = {type == "LeftOuter" || type == "FullOuter" || type == "LeftAnti", type == "RightOuter" || type == "FullOuter"};
  auto join = std::make_shared<LogicalPlan>(node);
  std::vector<ExprPtr> above, below[2], on;
  const auto place = [&](const ExprPtr& conjunct, bool may_pass_left, bool may_pass_right, std::vector<ExprPtr>* rest) {
    if (may_pass_left && ReadsOnly(conjunct, *node.children[0])) {
      below[0].push_back(conjunct);
    } else if (may_pass_right && ReadsOnly(conjunct, *node.children[1])) {
      below[1].push_back(conjunct);
    } else {
      rest->push_back(conjunct);
    }
  };
  // A filter above may pass to a side that is never filled up with nulls, a part of the condition to one whose rows are not kept without a partner.
  for (const ExprPtr& conjunct : conjuncts) place(conjunct, !keeps[1], !keeps[0], &above);
  const std::vector<ExprPtr> condition = node.condition ? SplitConjuncts(node.condition) : std::vector<ExprPtr>{};
  for (const ExprPtr& conjunct : condition) place(conjunct, !keeps[0], !keeps[1], &on);
  for (int side = 0; side < 2; ++side) {
    if (!keeps[side]) AddNullTests(condition, *node.children[side], &below[side]);
    join->children[side] = Push(node.children[side], below[side]);
  }
  join->condition = on.empty() ? nullptr : JoinConjuncts(on);
  join->output = JoinOutput(*join);
  return FilterAbove(std::move(join), above);
}

PlanPtr Push(const PlanPtr& plan, const std::vector<ExprPtr>& conjuncts) {
  switch (plan->kind) {
    case PlanKind::kFilter:
      return PushBelowFilter(*plan, conjuncts);
    case PlanKind::kProject:
      return PushBelowProject(*plan, conjuncts);
    case PlanKind::kAggregate:
      return PushBelowAggregate(*plan, conjuncts);
    case PlanKind::kJoin:
      return PushBelowJoin(*plan, conjuncts);
    case PlanKind::kUnion:
      return PushBelowUnion(*plan, conjuncts);
    case PlanKind::kWatermark:
      return PushSome(*plan, conjuncts, {}, [&](const ExprPtr& conjunct) { return References({conjunct}).count(plan->column->id) == 0; });
    case PlanKind::kExpand:
      return PushSome(*plan, conjuncts, {},
                      [&](const ExprPtr& conjunct) { return References({conjunct}).count(plan->output[0]->id) == 0; });
    default: {
      auto copy = std::make_shared<LogicalPlan>(*plan);
      for (PlanPtr& child : copy->children) child = Push(child, {});
      return FilterAbove(std::move(copy), conjuncts);
    }
  }
}

}  // namespace

PlanPtr PushFilters(const PlanPtr& plan) { return Push(plan, {}); }

}  // namespace tidemill::plan
