// Names, types, nullability and refusals of analysed SQL. The text is parsed by sql/, one level above: tests may look up.

#include "plan/analyzer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "plan/column_metadata.h"
#include "plan/test_plans.h"
#include "sql/parser.h"

namespace tidemill::plan {
namespace {

Config UtcConfig() { return Config().With(conf::kSessionTimeZone, "UTC").ValueOrDie(); }

Result<PlanPtr> AnalyzeText(const std::string& text, const TestCatalog& catalog = TestCatalog(), const Config& config = UtcConfig()) {
  ARROW_ASSIGN_OR_RAISE(PlanPtr parsed, sql::ParseQuery(text));
  return Analyze(parsed, catalog, config);
}

// "name type null" of each column.
std::vector<std::string> Columns(const Result<PlanPtr>& plan) {
  if (!plan.ok()) return {plan.status().ToString()};
  std::vector<std::string> columns;
  for (const expr::ExprPtr& column : (*plan)->output) {
    columns.push_back(column->name + " " + column->type->ToString() + (column->nullable ? "" : " not null"));
  }
  return columns;
}

TEST(AnalyzerTest, NamesAndTypesColumnsAsSparkDoes) {
  struct Case {
    const char* text;
    std::vector<std::string> columns;
  };
  const std::vector<Case> cases = {
      {"SELECT * FROM sv", {"ts timestamp", "k string", "v int"}},
      {"SELECT sv.K, x.v FROM sv AS x JOIN sv ON true", {"K string", "v int"}},
      {"SELECT v + 1, v AS a, r.s.b FROM (SELECT * FROM sv JOIN r ON true)", {}},
      {"SELECT v + 1, upper(k) FROM sv", {"(v + 1) int", "upper(k) string"}},
      {"SELECT s.a, s.b AS x FROM r", {"a int", "x string"}},
      {"SELECT k, count(*), sum(v) AS s FROM sv GROUP BY k", {"k string", "count(1) bigint", "s bigint"}},
      {"SELECT count(*) AS c FROM sv", {"c bigint"}},
      {"SELECT avg(v) + 1 AS a FROM sv GROUP BY ALL", {"a double"}},
      {"SELECT window(ts, '5 seconds') AS w, count(*) AS c FROM sv GROUP BY 1", {"w struct<start:timestamp,end:timestamp>", "c bigint"}},
      {"SELECT window, count(*) AS c FROM sv GROUP BY window(ts, '5 seconds')",
       {"window struct<start:timestamp,end:timestamp>", "c bigint"}},
      {"SELECT window.start, w.end FROM (SELECT window(ts, '5 seconds'), window(ts, '5 seconds') AS w FROM sv)",
       {"start timestamp", "end timestamp"}},
      {"SELECT window(rt, '1 day') AS w, count(*) AS c FROM r GROUP BY 1", {"w struct<start:timestamp_ntz,end:timestamp_ntz>", "c bigint"}},
      {"SELECT *, window(ts, '10 seconds', '5 seconds') AS w FROM sv",
       {"ts timestamp", "k string", "v int", "w struct<start:timestamp,end:timestamp>"}},
      {"SELECT upper(k) AS u FROM sv GROUP BY u HAVING count(*) > 1", {"u string"}},
      {"SELECT k FROM sv GROUP BY k", {"k string"}},
      {"WITH c AS (SELECT k AS q FROM STREAM e) SELECT c.q FROM c", {"q string"}},
      {"SELECT * FROM sv WATERMARK ts + INTERVAL 1 SECOND AS late DELAY OF INTERVAL 5 SECONDS",
       {"late timestamp", "ts timestamp", "k string", "v int"}},
  };
  for (const Case& c : cases) {
    if (c.columns.empty()) continue;
    EXPECT_EQ(Columns(AnalyzeText(c.text)), c.columns) << c.text;
  }
}

TEST(AnalyzerTest, ReadsStreamsByKeywordOrView) {
  EXPECT_TRUE(IsStreaming(**AnalyzeText("SELECT * FROM STREAM e")));
  EXPECT_FALSE(IsStreaming(**AnalyzeText("SELECT * FROM e")));
  EXPECT_TRUE(IsStreaming(**AnalyzeText("SELECT * FROM sv")));
  EXPECT_TRUE(IsStreaming(**AnalyzeText("SELECT * FROM STREAM(sv)")));
}

std::optional<int64_t> DelayOfFirstColumn(const std::string& text) {
  Result<PlanPtr> plan = AnalyzeText(text);
  if (!plan.ok()) ADD_FAILURE() << plan.status();
  return plan.ok() ? WatermarkDelayMs((*plan)->output[0]->metadata_json) : std::nullopt;
}

TEST(AnalyzerTest, CarriesTheWatermarkThroughNamesOnly) {
  const std::string from = " FROM sv WATERMARK ts DELAY OF INTERVAL 5 SECONDS";
  EXPECT_EQ(DelayOfFirstColumn("SELECT ts" + from), 5000);
  EXPECT_EQ(DelayOfFirstColumn("SELECT ts AS t" + from), 5000);
  EXPECT_EQ(DelayOfFirstColumn("SELECT window(ts, '10 seconds') AS w" + from), 5000);
  EXPECT_EQ(DelayOfFirstColumn("SELECT window(ts, '10 seconds', '5 seconds') AS w, count(*)" + from + " GROUP BY 1"), 5000);
  EXPECT_EQ(DelayOfFirstColumn("SELECT window_time(w) AS t FROM (SELECT window(ts, '10 seconds') AS w" + from + ")"), 5000);
  EXPECT_EQ(DelayOfFirstColumn("SELECT window(w, '20 seconds') AS w2 FROM (SELECT window(ts, '10 seconds') AS w" + from + ")"), 5000);
  EXPECT_EQ(DelayOfFirstColumn("SELECT ts + INTERVAL 1 SECOND AS t" + from), std::nullopt);
  EXPECT_EQ(DelayOfFirstColumn("SELECT window(ts + INTERVAL 1 SECOND, '10 seconds') AS w" + from), std::nullopt);
  // A second watermark on another column takes the mark from the first.
  EXPECT_EQ(DelayOfFirstColumn("SELECT ts FROM (SELECT ts, ts AS u" + from + ") WATERMARK u DELAY OF INTERVAL 1 SECOND"), std::nullopt);
}

TEST(AnalyzerTest, WatermarkOfATableReadAsAWholeDoesNothing) {
  Result<PlanPtr> plan = AnalyzeText("SELECT ts FROM e WATERMARK ts DELAY OF INTERVAL 5 SECONDS");
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT((*plan)->ToString(), testing::Not(testing::HasSubstr("EventTimeWatermark")));
}

TEST(AnalyzerTest, FindsViewsThatNameThemselves) {
  TestCatalog catalog;
  catalog.AddView("loop", *sql::ParseQuery("SELECT * FROM loop"));
  Result<PlanPtr> plan = AnalyzeText("SELECT * FROM loop", catalog);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(ErrorDetail::Of(plan.status())->condition, "RECURSIVE_VIEW");
}

struct Refusal {
  const char* text;
  const char* condition;
  std::map<std::string, std::string> parameters;
};

TEST(AnalyzerTest, RefusesInSparksWords) {
  const std::vector<Refusal> cases = {
      {"SELECT zz FROM sv",
       "UNRESOLVED_COLUMN.WITH_SUGGESTION",
       {{"objectName", "`zz`"}, {"proposal", "`k`, `v`, `ts`"}, {"line", "1"}, {"column", "8"}}},
      {"SELECT sv.zz FROM sv", "UNRESOLVED_COLUMN.WITH_SUGGESTION", {{"objectName", "`sv`.`zz`"}}},
      {"SELECT * FROM nosuch", "TABLE_OR_VIEW_NOT_FOUND", {{"relationName", "`nosuch`"}}},
      {"SELECT s.zz FROM r", "FIELD_NOT_FOUND", {{"fieldName", "`zz`"}, {"fields", "`a`, `b`"}}},
      {"SELECT k.x FROM sv", "INVALID_EXTRACT_BASE_FIELD_TYPE", {{"base", "\"k\""}, {"other", "\"STRING\""}}},
      {"SELECT k FROM sv JOIN r ON true", "AMBIGUOUS_REFERENCE", {{"name", "`k`"}, {"referenceNames", "[`sv`.`k`, `r`.`k`]"}}},
      {"SELECT v, count(*) FROM sv GROUP BY k",
       "MISSING_AGGREGATION",
       {{"expression", "\"v\""}, {"expressionAnyValue", "\"any_value(v)\""}}},
      {"SELECT k, count(*) FROM sv", "MISSING_GROUP_BY", {}},
      {"SELECT k, count(*) FROM sv GROUP BY 3", "GROUP_BY_POS_OUT_OF_RANGE", {{"index", "3"}, {"size", "2"}}},
      {"SELECT k, count(*) FROM sv GROUP BY 2", "GROUP_BY_POS_AGGREGATE", {{"index", "2"}, {"aggExpr", "count(1)"}}},
      {"SELECT sum(count(*)) FROM sv", "NESTED_AGGREGATE_FUNCTION", {}},
      {"SELECT k FROM sv WHERE count(*) > 1", "INVALID_WHERE_CONDITION", {}},
      {"SELECT k FROM sv WHERE v", "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN", {{"type", "\"INT\""}}},
      {"SELECT k FROM sv WATERMARK k DELAY OF INTERVAL 1 SECOND",
       "EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE",
       {{"eventName", "`k`"}, {"eventType", "\"STRING\""}}},
      {"SELECT k FROM r WATERMARK rt DELAY OF INTERVAL 1 SECOND",
       "EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE",
       {{"eventName", "`rt`"}, {"eventType", "\"TIMESTAMP_NTZ\""}}},
      {"SELECT k FROM sv WATERMARK ts + INTERVAL 1 SECOND DELAY OF INTERVAL 1 SECOND", "REQUIRES_EXPLICIT_NAME_IN_WATERMARK_CLAUSE", {}},
      {"SELECT k FROM sv WATERMARK zz DELAY OF INTERVAL 1 SECOND", "UNRESOLVED_COLUMN.WITH_SUGGESTION", {{"proposal", "`k`, `v`, `ts`"}}},
      {"SELECT window(ts, INTERVAL 5 SECONDS) AS w FROM sv", "_LEGACY_ERROR_TEMP_1207", {}},
      {"SELECT window(ts, '10 seconds', '5 seconds', '5 seconds') AS w FROM sv",
       "DATATYPE_MISMATCH.PARAMETER_CONSTRAINT_VIOLATION",
       {{"constraint", "<"},
        {"leftExprName", "`abs(start_time)`"},
        {"leftExprValue", "5000000L"},
        {"rightExprName", "`slide_duration`"},
        {"rightExprValue", "5000000L"},
        {"sqlExpr", "\"window(ts, 10000000, 5000000, 5000000)\""}}},
      {"SELECT window(ts, '5 seconds', '10 seconds') AS w FROM sv",
       "DATATYPE_MISMATCH.PARAMETER_CONSTRAINT_VIOLATION",
       {{"constraint", "<="},
        {"leftExprName", "`slide_duration`"},
        {"leftExprValue", "10000000L"},
        {"rightExprName", "`window_duration`"},
        {"rightExprValue", "5000000L"},
        {"sqlExpr", "\"window(ts, 5000000, 10000000, 0)\""}}},
      {"SELECT window(ts, '-5 seconds') AS w FROM sv",
       "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE",
       {{"currentValue", "-5000000L"},
        {"exprName", "`window_duration`"},
        {"sqlExpr", "\"window(ts, -5000000, -5000000, 0)\""},
        {"valueRange", "(0, 9223372036854775807]"}}},
      {"SELECT window(ts, '1 month') AS w FROM sv", "_LEGACY_ERROR_TEMP_3231", {{"interval", "1 month"}}},
      {"SELECT window(ts, 'abc') AS w FROM sv", "CANNOT_PARSE_INTERVAL", {{"intervalString", "'abc'"}}},
      {"SELECT window(ts, '5 seconds') AS a, window(ts, '10 seconds') AS b, count(*) AS c FROM sv GROUP BY 1, 2",
       "_LEGACY_ERROR_TEMP_1039",
       {}},
      {"SELECT window_time(s) AS t FROM r", "_LEGACY_ERROR_TEMP_3101", {}},
      {"SELECT session_window(ts, '5 seconds') AS w, count(*) FROM sv GROUP BY 1",
       "TIDEMILL_UNSUPPORTED_OPERATOR",
       {{"feature", "session_window"}}},
  };
  for (const Refusal& refusal : cases) {
    Result<PlanPtr> plan = AnalyzeText(refusal.text);
    ASSERT_FALSE(plan.ok()) << refusal.text;
    const ErrorDetail* detail = ErrorDetail::Of(plan.status());
    ASSERT_NE(detail, nullptr) << plan.status();
    EXPECT_EQ(detail->condition, refusal.condition) << refusal.text << ": " << plan.status();
    for (const auto& [name, value] : refusal.parameters) {
      auto found = detail->parameters.find(name);
      ASSERT_NE(found, detail->parameters.end()) << refusal.text << ": " << name;
      EXPECT_EQ(found->second, value) << refusal.text;
    }
  }
}

TEST(AnalyzerTest, RefusesTheStreamOfAViewOverATable) {
  TestCatalog catalog;
  catalog.AddView("tv", *sql::ParseQuery("SELECT * FROM e"));
  EXPECT_TRUE(AnalyzeText("SELECT * FROM tv", catalog).ok());
  Result<PlanPtr> plan = AnalyzeText("SELECT * FROM STREAM tv", catalog);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(ErrorDetail::Of(plan.status())->condition, "_LEGACY_ERROR_TEMP_1008");
}

TEST(AnalyzerTest, TellsNamesByCaseOnlyWhenAsked) {
  Config exact = UtcConfig().With(conf::kCaseSensitive, "true").ValueOrDie();
  EXPECT_TRUE(AnalyzeText("SELECT K FROM sv").ok());
  EXPECT_FALSE(AnalyzeText("SELECT K FROM sv", TestCatalog(), exact).ok());
}

}  // namespace
}  // namespace tidemill::plan
