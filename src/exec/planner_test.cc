// Where plans are cut: what becomes a source, a pipeline, a stateful operator, a table in memory.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "exec/physical_plan.h"
#include "plan/test_plans.h"
#include "sql/parser.h"

namespace tidemill::exec {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Result<PhysicalPlan> PlanOf(const std::string& text, plan::OutputMode mode = plan::OutputMode::kUpdate) {
  const Config config = Config().With(conf::kSessionTimeZone, "UTC").ValueOrDie();
  ARROW_ASSIGN_OR_RAISE(plan::PlanPtr parsed, sql::ParseQuery(text));
  ARROW_ASSIGN_OR_RAISE(plan::PlanPtr analyzed, plan::Analyze(parsed, plan::TestCatalog(), config));
  ARROW_ASSIGN_OR_RAISE(plan::PlanPtr optimized, plan::Optimize(analyzed, config));
  return MakePhysicalPlan(optimized, mode, config);
}

std::vector<std::string> Names(const std::vector<std::shared_ptr<const plan::TableDescription>>& tables) {
  std::vector<std::string> names;
  for (const auto& table : tables) names.push_back(table->name);
  return names;
}

TEST(PlannerTest, APipelineEndsAtAnExchange) {
  const PhysicalPlan plan = PlanOf("SELECT k, count(*) AS c FROM sv WHERE v > 1 GROUP BY k").ValueOrDie();
  EXPECT_THAT(Names(plan.sources), ElementsAre("sv"));
  ASSERT_THAT(plan.leaves, SizeIs(1));
  EXPECT_FALSE(plan.leaves[0].pipeline->spec().to_sink);
  EXPECT_NE(plan.leaves[0].scan_filter, nullptr) << "what Spark evaluates in the scan is counted there";
  ASSERT_THAT(plan.aggregates, SizeIs(1));
  EXPECT_TRUE(plan.aggregates[0].after->spec().to_sink);
  EXPECT_FALSE(plan.aggregates[0].single_partition);
}

TEST(PlannerTest, StatefulOperatorsAreNumberedFromTheSink) {
  const PhysicalPlan plan = PlanOf(
                                "SELECT window_time(w) AS t, max(c) AS m FROM (SELECT window(ts, '5 seconds') AS w, k, count(*) AS c FROM "
                                "sv WATERMARK ts DELAY OF "
                                "INTERVAL 1 SECOND GROUP BY window(ts, '5 seconds'), k) GROUP BY window_time(w)",
                                plan::OutputMode::kAppend)
                                .ValueOrDie();
  ASSERT_THAT(plan.aggregates, SizeIs(2));
  EXPECT_EQ(plan.aggregates[0].operator_id, 0);
  EXPECT_TRUE(plan.aggregates[0].after->spec().to_sink);
  EXPECT_EQ(plan.aggregates[1].after->spec().target.stateful_operator, 0);
  EXPECT_EQ(plan.leaves.at(0).pipeline->spec().target.stateful_operator, 1);
}

TEST(PlannerTest, EachSideOfAUnionHasItsSourceAndPipeline) {
  const PhysicalPlan plan =
      PlanOf("SELECT k, count(*) AS c FROM (SELECT k FROM sv UNION ALL SELECT k FROM r UNION ALL SELECT k FROM sv) GROUP BY k")
          .ValueOrDie();
  EXPECT_THAT(Names(plan.sources), ElementsAre("sv", "r", "sv")) << "a table that is named twice is read twice";
  ASSERT_THAT(plan.leaves, SizeIs(3));
  for (const Leaf& leaf : plan.leaves) EXPECT_EQ(leaf.pipeline->spec().target.stateful_operator, 0);
}

TEST(PlannerTest, SidesWithoutAColumnAreToldApart) {
  EXPECT_THAT(PlanOf("SELECT count(*) AS c FROM (SELECT 1 FROM sv UNION ALL SELECT 1 FROM r)").ValueOrDie().sources, SizeIs(2));
}

TEST(PlannerTest, WatermarksOfAUnionAreKeptApart) {
  const PhysicalPlan plan = PlanOf(
                                "SELECT k FROM sv WATERMARK ts DELAY OF INTERVAL 1 SECOND UNION ALL "
                                "SELECT k FROM sv WATERMARK ts DELAY OF INTERVAL 2 SECONDS")
                                .ValueOrDie();
  EXPECT_THAT(plan.watermark_delays_ms, ElementsAre(1000, 2000));
  EXPECT_FALSE(plan.redefines_watermark);
}

TEST(PlannerTest, ATableBesideAStreamIsHeldInMemory) {
  const PhysicalPlan plan = PlanOf("SELECT sv.k, e.v FROM sv JOIN e ON sv.k = e.k").ValueOrDie();
  EXPECT_THAT(Names(plan.sources), ElementsAre("sv"));
  EXPECT_THAT(Names(plan.static_sources), ElementsAre("e"));
  ASSERT_THAT(plan.static_sides, SizeIs(1));
  EXPECT_THAT(plan.static_sides[0].leaves, SizeIs(1));
  EXPECT_THAT(plan.aggregates, IsEmpty());
}

TEST(PlannerTest, AnAggregationOfAJoinedTableIsRefused) {
  const auto plan = PlanOf("SELECT sv.k, a.n FROM sv JOIN (SELECT k, count(*) AS n FROM e GROUP BY k) AS a ON sv.k = a.k");
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(ErrorDetail::Of(plan.status())->condition, "TIDEMILL_UNSUPPORTED_OPERATOR");
}

}  // namespace
}  // namespace tidemill::exec
