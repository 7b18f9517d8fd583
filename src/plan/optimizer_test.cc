// The plans that operators are made from, as text with ids renumbered from 1.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "plan/test_plans.h"
#include "sql/parser.h"

namespace tidemill::plan {
namespace {

std::string Renumbered(const std::string& text) {
  std::map<std::string, std::string> names;
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text[at] == '#' ? std::min(text.find_first_not_of("0123456789", at + 1), text.size()) : at + 1;
    if (text[at] == '#' && end > at + 1) {
      std::string& name = names[text.substr(at, end - at)];
      if (name.empty()) name = "#" + std::to_string(names.size());
      out += name;
    } else {
      out += text.substr(at, end - at);
    }
    at = end;
  }
  return out;
}

Result<PlanPtr> OptimizeText(const std::string& text) {
  Config config = Config().With(conf::kSessionTimeZone, "UTC").ValueOrDie();
  ARROW_ASSIGN_OR_RAISE(PlanPtr parsed, sql::ParseQuery(text));
  ARROW_ASSIGN_OR_RAISE(PlanPtr plan, Analyze(parsed, TestCatalog(), config));
  return Optimize(plan, config);
}

std::string Optimized(const std::string& text) {
  Result<PlanPtr> plan = OptimizeText(text);
  return plan.ok() ? Renumbered((*plan)->ToString()) : plan.status().ToString();
}

TEST(OptimizerTest, ReadsOnlyColumnsThatAreUsed) {
  EXPECT_EQ(Optimized("SELECT k AS x FROM (SELECT * FROM sv) AS s"),
            "Project [k#1 AS x#2]\n"
            "+- StreamingRelation sv, json, [k#1]\n");
  EXPECT_EQ(Optimized("SELECT k FROM sv"), "StreamingRelation sv, json, [k#1]\n");
}

TEST(OptimizerTest, CountsRowsWithoutReadingColumns) {
  EXPECT_EQ(Optimized("SELECT count(*) AS c FROM sv"),
            "Project [count(1)#1 AS c#2]\n"
            "+- Aggregate [], [count(1)#1 := *]\n"
            "   +- StreamingRelation sv, json, []\n");
}

TEST(OptimizerTest, FiltersBelowTheWatermarkUnlessTheyLookAtTheTime) {
  EXPECT_EQ(Optimized("SELECT k FROM sv WATERMARK ts DELAY OF INTERVAL 5 SECONDS WHERE v > 1 AND ts < current_timestamp()"),
            "Project [k#1]\n"
            "+- Filter (ts#2 < current_timestamp())\n"
            "   +- EventTimeWatermark ts#2, INTERVAL '05' SECOND\n"
            "      +- Filter (v#3 > 1)\n"
            "         +- StreamingRelation sv, json, [ts#2, k#1, v#3]\n");
}

TEST(OptimizerTest, MakesAWindowedAggregationOfPlainColumns) {
  Result<PlanPtr> plan = OptimizeText(
      "SELECT window(ts, '10 seconds') AS w, k, count(*) AS c, sum(v) / count(*) AS a FROM sv WATERMARK ts DELAY OF INTERVAL 5 SECONDS "
      "GROUP BY window(ts, '10 seconds'), k HAVING max(v) > 1");
  ASSERT_TRUE(plan.ok()) << plan.status();
  const LogicalPlan* node = plan->get();
  while (node->kind != PlanKind::kAggregate) {
    ASSERT_EQ(node->children.size(), 1u);
    node = node->children[0].get();
  }
  ASSERT_EQ(node->keys.size(), 2u);
  EXPECT_EQ(node->output[0]->name, "window");
  EXPECT_EQ(node->output[0]->metadata_json, R"({"spark.timeWindow":true,"spark.watermarkDelayMs":5000})");
  EXPECT_EQ(node->output[1]->name, "k");
  ASSERT_EQ(node->aggregates.size(), 3u);  // count and sum once each, max for HAVING
  EXPECT_EQ(node->aggregates[0].argument, -1);
  EXPECT_EQ(node->aggregates[0].function.kind, expr::AggregateKind::kCount);
  EXPECT_EQ(node->aggregates[1].function.kind, expr::AggregateKind::kSum);
  EXPECT_EQ(node->aggregates[2].function.kind, expr::AggregateKind::kMax);
  EXPECT_EQ(node->children[0]->output[node->aggregates[1].argument]->name, "v");
  for (const expr::ExprPtr& column : node->output) EXPECT_TRUE(column->nullable);
  EXPECT_EQ((*plan)->output.size(), 4u);
  EXPECT_EQ((*plan)->output[0]->name, "w");
}

TEST(OptimizerTest, NamesComputedKeysAsTheStateSchemaDoes) {
  EXPECT_EQ(Optimized("SELECT upper(k) AS u, min(v) AS m FROM sv GROUP BY upper(k)"),
            "Project [_groupingexpression#1 AS u#2, min(v)#3 AS m#4]\n"
            "+- Aggregate [_groupingexpression#1], [min(v)#3 := v#5]\n"
            "   +- Project [upper(k#6) AS _groupingexpression#1, v#5]\n"
            "      +- StreamingRelation sv, json, [k#6, v#5]\n");
}

TEST(OptimizerTest, PushesFiltersOnKeysBelowTheAggregation) {
  EXPECT_EQ(Optimized("SELECT * FROM (SELECT k, count(*) AS c FROM sv GROUP BY k) WHERE k = 'a' AND c > 1"),
            "Filter (c#1 > 1)\n"
            "+- Project [k#2, count(1)#3 AS c#1]\n"
            "   +- Aggregate [k#2], [count(1)#3 := *]\n"
            "      +- Filter (k#2 = a)\n"
            "         +- StreamingRelation sv, json, [k#2]\n");
}

TEST(OptimizerTest, ExpandsSlidingWindows) {
  Result<PlanPtr> plan = OptimizeText("SELECT window(ts, '10 seconds', '4 seconds') AS w, v FROM sv");
  ASSERT_TRUE(plan.ok()) << plan.status();
  std::string text = Renumbered((*plan)->ToString());
  EXPECT_THAT(text, testing::HasSubstr("Filter ((ts#"));
  const LogicalPlan* node = plan->get();
  while (node->kind != PlanKind::kExpand) node = node->children[0].get();
  EXPECT_EQ(node->projections.size(), 3u);
  for (const auto& projection : node->projections) EXPECT_EQ(projection.size(), node->output.size());
}

TEST(OptimizerTest, FoldsConstantsAndLeavesErrorsToTheRowsThatMeetThem) {
  EXPECT_THAT(Optimized("SELECT k FROM sv WHERE v > 1 + 2"), testing::HasSubstr("> 3)"));
  EXPECT_THAT(Optimized("SELECT k, 1 div 0 AS x FROM sv"), testing::HasSubstr("(cast(1 as bigint) div cast(0 as bigint)) AS x"));
}

TEST(OptimizerTest, KeepsWhatMayFailBehindEarlierConditions) {
  std::string text = Optimized("SELECT k FROM sv WHERE v <> 0 AND 10 div v > 1");
  size_t fails = text.find("div");
  size_t guards = text.find("NOT");  // v <> 0
  ASSERT_NE(fails, std::string::npos) << text;
  EXPECT_LT(fails, guards) << text;  // the tree is printed from the top: the guard stands below
}

TEST(OptimizerTest, BothSidesOfAUnionAreFilteredPrunedAndWidened) {
  EXPECT_EQ(Optimized("SELECT x FROM (SELECT k, v AS x, ts FROM sv UNION ALL SELECT k, v + 1L, ts FROM sv) WHERE x > 2"),
            "Union\n"
            ":- Project [CAST(v#1 AS BIGINT) AS x#2]\n"
            ":  +- Filter (CAST(v#1 AS BIGINT) > 2)\n"
            ":     +- StreamingRelation sv, json, [v#1]\n"
            "+- Project [(cast(v#3 as bigint) + 1) AS (v + 1)#4]\n"
            "   +- Filter ((cast(v#3 as bigint) + 1) > 2)\n"
            "      +- StreamingRelation sv, json, [v#3]\n");
  EXPECT_EQ(Optimized("SELECT count(*) AS c FROM (SELECT k FROM sv UNION ALL SELECT k FROM sv)"),
            "Project [count(1)#1 AS c#2]\n"
            "+- Aggregate [], [count(1)#1 := *]\n"
            "   +- Union\n"
            "      :- StreamingRelation sv, json, []\n"
            "      +- StreamingRelation sv, json, []\n");
}

TEST(OptimizerTest, AJoinAsksItsSidesFirst) {
  EXPECT_EQ(Optimized("SELECT sv.k, e.v FROM sv JOIN e ON sv.k = e.k AND e.v > 1 WHERE sv.v < 5 AND sv.v <> e.v"),
            "Project [k#1, v#2]\n"
            "+- Filter (NOT (v#3 = v#2))\n"
            "   +- Join Inner, (k#1 = k#4)\n"
            "      :- Filter ((v#3 < 5) AND (k#1 IS NOT NULL))\n"
            "      :  +- StreamingRelation sv, json, [k#1, v#3]\n"
            "      +- Filter ((v#2 > 1) AND (k#4 IS NOT NULL))\n"
            "         +- Relation e, json, [k#4, v#2]\n");
  EXPECT_EQ(Optimized("SELECT sv.k FROM sv LEFT JOIN e ON sv.k = e.k AND sv.v > 1 AND e.v > 2 WHERE e.v IS NULL"),
            "Project [k#1]\n"
            "+- Filter (v#2 IS NULL)\n"
            "   +- Join LeftOuter, ((k#1 = k#3) AND (v#4 > 1))\n"
            "      :- StreamingRelation sv, json, [k#1, v#4]\n"
            "      +- Filter ((v#2 > 2) AND (k#3 IS NOT NULL))\n"
            "         +- Relation e, json, [k#3, v#2]\n");
}

TEST(OptimizerTest, RefusesOperatorsThatDoNotRunYet) {
  for (const char* text : {"SELECT k FROM sv LIMIT 1", "SELECT a.k FROM sv AS a JOIN r ON a.k = r.k", "SELECT k FROM e"}) {
    Result<PlanPtr> plan = OptimizeText(text);
    ASSERT_FALSE(plan.ok()) << text;
    EXPECT_EQ(ErrorDetail::Of(plan.status())->condition, "TIDEMILL_UNSUPPORTED_OPERATOR") << plan.status();
  }
}

}  // namespace
}  // namespace tidemill::plan
