#include "sql/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tidemill::sql {
namespace {

using plan::PlanKind;

const ErrorDetail& DetailOf(const Status& status) {
  static const ErrorDetail kNone;
  const ErrorDetail* detail = ErrorDetail::Of(status);
  EXPECT_NE(detail, nullptr) << status.ToString();
  return detail == nullptr ? kNone : *detail;
}

std::string Sql(std::string_view text) {
  Result<expr::ExprPtr> expression = ParseExpression(text);
  return expression.ok() ? (*expression)->ToSql() : expression.status().ToString();
}

std::string Tree(std::string_view text) {
  Result<plan::PlanPtr> query = ParseQuery(text);
  return query.ok() ? (*query)->ToString() : query.status().ToString();
}

TEST(ExpressionParserTest, BindsOperatorsAsSparkDoes) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"a + b * c", "(a + (b * c))"},
      {"a - b - c", "((a - b) - c)"},
      {"NOT a = b AND c", "((NOT (a = b)) AND c)"},
      {"a OR b AND c", "(a OR (b AND c))"},
      {"a = b IS NULL", "((a = b) IS NULL)"},
      {"a BETWEEN 1 AND 2 OR c", "(((a >= 1) AND (a <= 2)) OR c)"},
      {"a NOT IN (1, 2)", "(NOT (a IN (1, 2)))"},
      {"a <> b", "(NOT (a = b))"},
      {"a IS NOT DISTINCT FROM b", "(a <=> b)"},
      {"-a + 1", "((- a) + 1)"},
      {"2 -1", "(2 - 1)"},
      {"a AND b AND c AND d", "((a AND b) AND (c AND d))"},
      {"CASE a WHEN 1 THEN 'x' ELSE 'y' END", "CASE WHEN (a = 1) THEN x ELSE y END"},
      {"a::int", "CAST(a AS INT)"},
      {"try_cast(a AS decimal(10, 2))", "TRY_CAST(a AS DECIMAL(10,2))"},
      {"count(DISTINCT v)", "count(DISTINCT v)"},
      {"count(*) FILTER (WHERE v > 1)", "count(CASE WHEN (v > 1) THEN 1 END)"},
      {"a.b.c", "a.b.c"},
      {"/* note /* nested */ */ a -- rest", "a"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(Sql(text), expected) << text;
}

TEST(ExpressionParserTest, GivesLiteralsTheirTypes) {
  const std::vector<std::pair<const char*, const char*>> cases = {{"1", "int"},
                                                                  {"3000000000", "bigint"},
                                                                  {"1L", "bigint"},
                                                                  {"1S", "smallint"},
                                                                  {"1Y", "tinyint"},
                                                                  {"1.50", "decimal(3,2)"},
                                                                  {"0.05", "decimal(2,2)"},
                                                                  {"1e3", "double"},
                                                                  {"1D", "double"},
                                                                  {"1.5F", "float"},
                                                                  {"7BD", "decimal(1,0)"},
                                                                  {"-2147483648", "int"},
                                                                  {"'x'", "string"},
                                                                  {"DATE '2024-01-01'", "date"},
                                                                  {"TIMESTAMP '2024-01-01 00:00:00Z'", "timestamp"},
                                                                  {"X'0A'", "binary"},
                                                                  {"true", "boolean"},
                                                                  {"NULL", "void"}};
  for (const auto& [text, expected] : cases) {
    Result<expr::ExprPtr> literal = ParseExpression(text);
    ASSERT_TRUE(literal.ok()) << text << ": " << literal.status();
    ASSERT_NE((*literal)->type, nullptr) << text;
    EXPECT_EQ((*literal)->type->ToString(), expected) << text;
  }
}

TEST(ExpressionParserTest, ReadsEscapesAndRawText) {
  EXPECT_EQ(Sql(R"('a\tb\'c')"), "a\tb'c");
  EXPECT_EQ(Sql("'it''s'"), "it's");
  EXPECT_EQ(Sql(R"(r'a\tb')"), R"(a\tb)");
  EXPECT_EQ(Sql(R"('\u00e9')"), "\u00e9");
  EXPECT_EQ(Sql("'a' 'b'"), "ab");
}

TEST(QueryParserTest, ReadsStreamsWithAllClausesInOrder) {
  Result<plan::PlanPtr> query = ParseQuery(
      "SELECT k FROM STREAM cat.t WITH ('maxFilesPerTrigger' = '1', k2 = 1) IDENTIFIED BY src WATERMARK ts DELAY OF INTERVAL 10 SECONDS AS "
      "x");
  ASSERT_TRUE(query.ok()) << query.status();
  const plan::LogicalPlan& alias = *(*query)->children[0];
  ASSERT_EQ(alias.kind, PlanKind::kSubqueryAlias);
  const plan::LogicalPlan& watermark = *alias.children[0];
  ASSERT_EQ(watermark.kind, PlanKind::kWatermark);
  EXPECT_EQ(watermark.delay_ms, 10'000);
  EXPECT_EQ(watermark.delay_text, "INTERVAL '10' SECOND");
  const plan::LogicalPlan& relation = *watermark.children[0];
  EXPECT_THAT(relation.name_parts, testing::ElementsAre("cat", "t"));
  EXPECT_TRUE(relation.is_streaming);
  EXPECT_EQ(relation.source_name, "src");
  EXPECT_THAT(relation.options, testing::ElementsAre(testing::Pair("k2", "1"), testing::Pair("maxfilespertrigger", "1")));
}

TEST(QueryParserTest, TakesStreamForANameWhereItIsOne) {
  EXPECT_THAT(Tree("SELECT 1 FROM stream"), testing::HasSubstr("'UnresolvedRelation [stream], [], false"));
  EXPECT_THAT(Tree("SELECT 1 FROM STREAM(t)"), testing::HasSubstr("'UnresolvedRelation [t], [], true"));
  EXPECT_THAT(Tree("SELECT 1 FROM STREAM t x"), testing::HasSubstr("SubqueryAlias x"));
}

TEST(QueryParserTest, CountsMonthsOfADelayAs31Days) {
  Result<plan::PlanPtr> query = ParseQuery("SELECT * FROM sv WATERMARK ts DELAY OF INTERVAL 1 MONTH");
  ASSERT_TRUE(query.ok()) << query.status();
  EXPECT_EQ((*query)->children[0]->delay_ms, int64_t{31} * 24 * 3600 * 1000);
}

TEST(QueryParserTest, PutsCommonTableExpressionsInPlace) {
  EXPECT_THAT(Tree("WITH c AS (SELECT a FROM STREAM t) SELECT a FROM C"), testing::HasSubstr("SubqueryAlias c"));
}

TEST(QueryParserTest, BuildsOneNodeAClause) {
  EXPECT_EQ(Tree("SELECT DISTINCT k FROM t WHERE v > 1 GROUP BY k HAVING count(*) > 1 ORDER BY k LIMIT 2"),
            "Limit 2\n"
            "+- Sort ['k]\n"
            "   +- Distinct\n"
            "      +- 'UnresolvedHaving (count(1) > 1)\n"
            "         +- Aggregate ['k], ['k]\n"
            "            +- Filter ('v > 1)\n"
            "               +- 'UnresolvedRelation [t], [], false\n");
}

struct Refusal {
  const char* text;
  const char* condition;
  const char* parameter;
  const char* value;
};

TEST(ParserTest, RefusesWithConditionAndPlace) {
  const std::vector<Refusal> cases = {
      {"SELECT k FORM t", "PARSE_SYNTAX_ERROR", "error", "'t'"},
      {"SELECT k FORM t", "PARSE_SYNTAX_ERROR", "suggestion", "FROM"},
      {"SELECT k FROM t WHERE", "PARSE_SYNTAX_ERROR", "error", "end of input"},
      {"SELECT (1 + 2 FROM t", "PARSE_SYNTAX_ERROR", "hint", ": missing ')'"},
      {"SELECT 'open FROM t", "PARSE_SYNTAX_ERROR", "error", "'''"},
      {"SELECT /* open", "UNCLOSED_BRACKETED_COMMENT", "line", "1"},
      {"SELECT * FROM STREAM (SELECT * FROM t)", "PARSE_SYNTAX_ERROR", "error", "'SELECT'"},
      {"SELECT * FROM STREAM t AS x WATERMARK ts DELAY OF INTERVAL 5 SECONDS", "PARSE_SYNTAX_ERROR", "error", "'WATERMARK'"},
      {"SELECT * FROM STREAM t AS x IDENTIFIED BY s", "PARSE_SYNTAX_ERROR", "error", "'IDENTIFIED'"},
      {"SELECT * FROM sv WATERMARK ts DELAY OF '5 seconds'", "PARSE_SYNTAX_ERROR", "error", "''5 seconds''"},
      {"SELECT * FROM sv WATERMARK ts DELAY OF INTERVAL '5 seconds'", "PARSE_SYNTAX_ERROR", "error", "end of input"},
      {"SELECT * FROM sv WATERMARK ts DELAY OF INTERVAL 1 SECOND WATERMARK ts DELAY OF INTERVAL 2 SECONDS", "PARSE_SYNTAX_ERROR", "error",
       "'WATERMARK'"},
      {"SELECT * FROM sv WATERMARK ts DELAY OF INTERVAL -1 SECOND", "", "delay", "INTERVAL '-01' SECOND"},
      {"SELECT * FROM sv WATERMARK ts + INTERVAL 1 SECOND AS (a, b) DELAY OF INTERVAL 5 SECONDS",
       "CANNOT_USE_MULTI_ALIASES_IN_WATERMARK_CLAUSE", "line", "1"},
      {"SELECT * FROM STREAM t TABLESAMPLE (10 PERCENT)", "PARSE_SYNTAX_ERROR", "error", "'TABLESAMPLE'"},
      {"SELECT * FROM STREAM t VERSION AS OF 1", "PARSE_SYNTAX_ERROR", "error", "'VERSION'"},
      {"SELECT * FROM read_files('x')", "UNRESOLVABLE_TABLE_VALUED_FUNCTION", "name", "`read_files`"},
      {"CREATE OR REPLACE STREAMING TABLE st AS SELECT * FROM STREAM t", "PARSE_SYNTAX_ERROR", "error", "'STREAMING'"},
      {"CREATE OR REFRESH STREAMING TABLE st AS SELECT * FROM STREAM t", "PARSE_SYNTAX_ERROR", "error", "'OR'"},
      {"CREATE STREAMING TABLE s USING json USING csv AS SELECT 1 FROM t", "DUPLICATE_CLAUSES", "clauseName", "USING"},
      {"CREATE TABLE t (a INT) USING json OPTIONS (path 'x', PATH 'y')", "DUPLICATE_KEY", "keyColumn", "`path`"},
      {"SELECT DATE 'soon' FROM t", "INVALID_TYPED_VALUE", "value", "'soon'"},
      {"SELECT 300Y FROM t", "INVALID_NUMERIC_LITERAL_RANGE", "typeName", "tinyint"},
      {"FROM STREAM t |> WHERE v > 1", "TIDEMILL_UNSUPPORTED_SYNTAX", "feature", "A query that begins with FROM (pipe syntax)"},
      {"SELECT sum(v) OVER (PARTITION BY k) FROM t", "TIDEMILL_UNSUPPORTED_SYNTAX", "feature", "A function call with OVER"},
      {"SELECT k FROM t WHERE k IN (SELECT k FROM s)", "TIDEMILL_UNSUPPORTED_SYNTAX", "feature", "IN with a subquery"},
      {"INSERT INTO t SELECT 1", "TIDEMILL_UNSUPPORTED_SYNTAX", "feature", "Statement INSERT"},
      {"SELCT k FROM t", "PARSE_SYNTAX_ERROR", "suggestion", "SELECT"},
  };
  for (const Refusal& refusal : cases) {
    Result<std::vector<Statement>> script = ParseScript(refusal.text);
    ASSERT_FALSE(script.ok()) << refusal.text;
    const ErrorDetail& detail = DetailOf(script.status());
    EXPECT_EQ(detail.condition, refusal.condition) << refusal.text << ": " << script.status();
    ASSERT_TRUE(detail.parameters.count(refusal.parameter)) << refusal.text << ": " << script.status();
    EXPECT_EQ(detail.parameters.at(refusal.parameter), refusal.value) << refusal.text;
    EXPECT_TRUE(detail.parameters.count("line")) << refusal.text;
  }
}

TEST(ParserTest, ReadsAJobStatementByStatement) {
  Result<std::vector<Statement>> script = ParseScript(R"(
    -- a job
    SET spark.sql.shuffle.partitions = 4;
    SET path = /data/it's/*.json -- raw to the end
    ;
    CREATE TABLE events (ts TIMESTAMP, /* the key */ k STRING COMMENT 'it''s; here', v DECIMAL(10, 2))
      USING json OPTIONS (path 'in', maxFilesPerTrigger 1, 'a.b' = TRUE);
    CREATE STREAMING TABLE IF NOT EXISTS counts USING json TBLPROPERTIES ('outputMode' = 'append') OPTIONS (path 'out')
      AS SELECT k, count(*) FROM STREAM events GROUP BY k;
    CREATE OR REPLACE TEMPORARY VIEW v (a INT) USING json LOCATION 'x';
    CREATE TEMPORARY VIEW w AS SELECT a FROM v;
    SELECT * FROM STREAM v
  )");
  ASSERT_TRUE(script.ok()) << script.status();
  ASSERT_EQ(script->size(), 7u);
  const auto& set = std::get<SetStatement>((*script)[0].node);
  EXPECT_EQ(set.key, "spark.sql.shuffle.partitions");
  EXPECT_EQ(set.value, "4");
  EXPECT_EQ(std::get<SetStatement>((*script)[1].node).value, "/data/it's/*.json");
  const auto& table = std::get<CreateTableStatement>((*script)[2].node);
  EXPECT_EQ(table.schema.size(), 3);
  EXPECT_EQ(table.schema.fields[2].type->ToString(), "decimal(10,2)");
  EXPECT_THAT(table.options,
              testing::ElementsAre(testing::Pair("a.b", "true"), testing::Pair("maxfilespertrigger", "1"), testing::Pair("path", "in")));
  const auto& streaming = std::get<CreateStreamingTableStatement>((*script)[3].node);
  EXPECT_TRUE(streaming.has_options);
  EXPECT_TRUE(streaming.if_not_exists);
  EXPECT_EQ(streaming.format, "json");
  EXPECT_THAT(streaming.properties, testing::ElementsAre(testing::Pair("outputmode", "append"), testing::Pair("path", "out")));
  const auto& view = std::get<CreateTableStatement>((*script)[4].node);
  EXPECT_TRUE(view.temporary_view && view.or_replace);
  EXPECT_EQ(view.options.at("path"), "x");
  EXPECT_TRUE(std::holds_alternative<CreateViewStatement>((*script)[5].node));
  EXPECT_EQ((*script)[6].text, "SELECT * FROM STREAM v");
  EXPECT_EQ((*script)[6].origin.line, 12);
  EXPECT_EQ((*script)[6].origin.column, 5);
}

TEST(ParserTest, BoundsNestingOfEveryKind) {
  const std::string brackets(1'000'000, '(');
  std::string sum = "1", types, nots, cases;
  for (int i = 0; i < 100'000; ++i) {
    sum += "+1";
    types += "ARRAY<";
    nots += "NOT ";
    cases += "CASE WHEN ";
  }
  for (const std::string& text : {"SELECT " + brackets, "SELECT " + sum + " FROM t", "SELECT CAST(a AS " + types, "SELECT " + nots,
                                  "SELECT " + cases, "SELECT a FROM " + brackets, "CREATE TABLE t (a " + types}) {
    Result<std::vector<Statement>> script = ParseScript(text);
    ASSERT_FALSE(script.ok());
    EXPECT_EQ(DetailOf(script.status()).condition, "TIDEMILL_QUERY_TOO_DEEP") << text.substr(0, 30) << script.status();
  }
}

TEST(ParserTest, ReadsLongChainsOfConditions) {
  std::string condition = "v = 0";
  for (int i = 1; i < 20'000; ++i) condition += " OR v = " + std::to_string(i);
  EXPECT_TRUE(ParseQuery("SELECT v FROM t WHERE " + condition).ok());
}

TEST(RenderErrorTest, PointsAtThePlace) {
  std::string text = "SELECT k\nFROM t WHER\tv > 1;\n";
  Result<std::vector<Statement>> script = ParseScript(text);
  ASSERT_FALSE(script.ok());
  EXPECT_EQ(RenderError(script.status(), "job.sql", text),
            "job.sql:2:13: error: [PARSE_SYNTAX_ERROR] Syntax error at or near 'v'. Did you mean WHERE?\n"
            "    2 | FROM t WHER\tv > 1;\n"
            "      |            \t^\n");
}

}  // namespace
}  // namespace tidemill::sql
