// Which queries run in which output mode: a table of what Spark 4.3 answered.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plan/test_plans.h"
#include "sql/parser.h"

namespace tidemill::plan {
namespace {

constexpr char kMode[] = "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION";
constexpr char kPlan[] = "_LEGACY_ERROR_TEMP_3102";

struct Case {
  const char* mode;
  const char* text;
  const char* condition;  ///< empty: it may run
  const char* parameter = "";
  const char* value = "";
};

Status Check(const Case& c) {
  Config config = Config().With(conf::kSessionTimeZone, "UTC").ValueOrDie();
  ARROW_ASSIGN_OR_RAISE(PlanPtr parsed, sql::ParseQuery(c.text));
  ARROW_ASSIGN_OR_RAISE(PlanPtr plan, Analyze(parsed, TestCatalog(), config));
  ARROW_ASSIGN_OR_RAISE(OutputMode mode, ParseOutputMode(c.mode));
  return CheckStreaming(*plan, mode, config);
}

TEST(LegalityTest, AllowsAndRefusesWhatSparkDoes) {
  const std::vector<Case> cases = {
      {"APPEND", "SELECT k FROM sv", ""},
      {"upsert", "SELECT k FROM sv", "STREAMING_OUTPUT_MODE.INVALID", "outputMode", "upsert"},
      {"complete", "SELECT k FROM sv", kMode, "operation", "no streaming aggregations"},
      {"append", "SELECT k, count(*) AS c FROM sv GROUP BY k", kMode, "operation", "streaming aggregations without watermark"},
      {"append", "SELECT count(*) AS c FROM sv", kMode, "outputMode", "append"},
      {"append", "SELECT DISTINCT k, v FROM sv", kMode, "operation", "streaming aggregations without watermark"},
      {"append", "SELECT DISTINCT ts, k FROM sv WATERMARK ts DELAY OF INTERVAL 0 SECONDS", ""},
      {"update", "SELECT DISTINCT k, v FROM sv", ""},
      {"append", "SELECT k, count(*) FROM sv WATERMARK ts DELAY OF INTERVAL 0 SECONDS GROUP BY k", kMode, "operation",
       "streaming aggregations without watermark"},
      {"append", "SELECT window(ts, '5 seconds') AS w, count(*) FROM sv WATERMARK ts DELAY OF INTERVAL 1 SECOND GROUP BY 1", ""},
      {"append", "SELECT ts AS t, count(*) FROM sv WATERMARK ts DELAY OF INTERVAL 1 SECOND GROUP BY t", ""},
      {"append",
       "SELECT window(ts + INTERVAL 1 SECOND, '5 seconds') AS w, count(*) FROM sv WATERMARK ts DELAY OF INTERVAL 1 SECOND GROUP BY 1",
       kMode, "outputMode", "append"},
      {"update", "SELECT k, count(*) AS c FROM sv GROUP BY k", ""},
      {"complete", "SELECT k, count(*) AS c FROM sv GROUP BY k ORDER BY c DESC, k LIMIT 2", ""},
      {"update", "SELECT k, count(DISTINCT v) AS c FROM sv GROUP BY k", kPlan, "msg",
       "Distinct aggregations are not supported on streaming DataFrames/Datasets. Consider using approx_count_distinct() instead."},
      {"update", "SELECT k FROM sv LIMIT 2", kPlan, "msg",
       "Limits are not supported on streaming DataFrames/Datasets in Update output mode"},
      {"append", "SELECT k FROM sv LIMIT 2", ""},
      {"append", "SELECT k FROM sv OFFSET 2", kPlan, "msg", "Offset is not supported on streaming DataFrames/Datasets"},
      {"append", "SELECT k FROM sv ORDER BY k", kPlan, "msg",
       "Sorting is not supported on streaming DataFrames/Datasets, unless it is on aggregated DataFrame/Dataset in Complete output mode"},
      {"update", "SELECT k, count(*) AS c FROM sv GROUP BY k SORT BY k", kPlan, "msg",
       "Sorting is not supported on streaming DataFrames/Datasets, unless it is on aggregated DataFrame/Dataset in Complete output mode"},
      {"append", "SELECT k FROM sv TABLESAMPLE (50 PERCENT)", kPlan, "msg", "Sampling is not supported on streaming DataFrames/Datasets"},
      {"append", "SELECT k FROM sv UNION ALL SELECT k FROM e", kPlan, "msg",
       "Union between streaming and batch DataFrames/Datasets is not supported"},
      {"append", "SELECT k FROM sv UNION ALL SELECT k FROM r", ""},
      {"append", "SELECT k FROM e EXCEPT SELECT k FROM sv", kPlan, "msg",
       "Except on a streaming DataFrame/Dataset on the right is not supported"},
      {"update", "SELECT k FROM sv EXCEPT SELECT k FROM e", ""},
      {"update", "SELECT k FROM sv INTERSECT SELECT k FROM e", kPlan, "msg", "Intersect of streaming DataFrames/Datasets is not supported"},
      {"append", "SELECT a.k FROM e AS a LEFT JOIN sv ON true", kPlan, "msg",
       "LeftOuter join with a streaming DataFrame/Dataset on the right and a static DataFrame/Dataset on the left is not supported"},
      {"complete", "SELECT count(*) FROM sv AS a LEFT JOIN sv AS b ON a.k = b.k", kPlan, "msg",
       "LeftOuter join between two streaming DataFrames/Datasets is not supported in Complete output mode, only in Append output mode"},
  };
  for (const Case& c : cases) {
    Status status = Check(c);
    if (*c.condition == '\0') {
      EXPECT_TRUE(status.ok()) << c.mode << ": " << c.text << ": " << status;
      continue;
    }
    const ErrorDetail* detail = ErrorDetail::Of(status);
    ASSERT_NE(detail, nullptr) << c.mode << ": " << c.text << ": " << status;
    EXPECT_EQ(detail->condition, c.condition) << c.mode << ": " << c.text << ": " << status;
    ASSERT_TRUE(detail->parameters.count(c.parameter)) << c.text;
    EXPECT_EQ(detail->parameters.at(c.parameter), c.value) << c.text;
  }
}

TEST(LegalityTest, WarnsOfChainedAggregationsOutsideAppendMode) {
  const char* text =
      "SELECT window(window_time(w), '10 seconds') AS w2, sum(c) AS s FROM "
      "(SELECT window(ts, '5 seconds') AS w, k, count(*) AS c FROM sv WATERMARK ts DELAY OF INTERVAL 0 SECONDS GROUP BY 1, k) GROUP BY 1";
  EXPECT_TRUE(Check({"append", text, ""}).ok());
  for (const char* mode : {"update", "complete"}) {
    Status status = Check({mode, text, ""});
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(ErrorDetail::Of(status)->condition, kPlan);
    EXPECT_EQ(ErrorDetail::Of(status)->parameters.at("msg").rfind("Detected pattern of possible 'correctness' issue", 0), 0u);
  }
}

}  // namespace
}  // namespace tidemill::plan
