#include "connector/file/json_writer.h"

#include <arrow/json/from_string.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

namespace tidemill::connector {
namespace {

/// `rows` as Arrow's JSON (a list of objects), written as lines.
std::string Lines(std::string_view ddl, std::string_view rows, JsonWriterOptions options = {}) {
  const type::Schema schema{type::ParseDdl(ddl).ValueOrDie().fields};
  const auto type = arrow::struct_(schema.ToArrow()->fields());
  const auto structs = arrow::json::ArrayFromJSONString(type, rows).ValueOrDie();
  const auto batch = arrow::RecordBatch::FromStructArray(structs).ValueOrDie();
  std::string out;
  const Status written = AppendJsonLines(schema, *batch, options, &out);
  return written.ok() ? out : written.ToString();
}

// The expectations were compared with Spark 4.3.0 writing the same rows.

TEST(JsonWriterTest, NumbersAndTruth) {
  EXPECT_EQ(Lines("b BOOLEAN, y TINYINT, s SMALLINT, i INT, l BIGINT", R"([[true, -128, 32767, -1, 9223372036854775807]])"),
            "{\"b\":true,\"y\":-128,\"s\":32767,\"i\":-1,\"l\":9223372036854775807}\n");
  EXPECT_EQ(Lines("d DECIMAL(10,2)", R"([["1.50"], ["-0.01"]])"), "{\"d\":1.50}\n{\"d\":-0.01}\n");
  EXPECT_EQ(Lines("f FLOAT, d DOUBLE", R"([[1.5, 1e10], [0.1, 1e-7]])"), "{\"f\":1.5,\"d\":1.0E10}\n{\"f\":0.1,\"d\":1.0E-7}\n");
  EXPECT_EQ(Lines("d DOUBLE", R"([[NaN], [Inf], [-Inf]])"), "{\"d\":\"NaN\"}\n{\"d\":\"Infinity\"}\n{\"d\":\"-Infinity\"}\n");
}

TEST(JsonWriterTest, NullsAreLeftOutUnlessTheyAreWanted) {
  EXPECT_EQ(Lines("a INT, b STRING", R"([[null, "x"], [1, null], [null, null]])"), "{\"b\":\"x\"}\n{\"a\":1}\n{}\n");
  EXPECT_EQ(Lines("a INT, b STRING", R"([[null, "x"]])", {.ignore_null_fields = false}), "{\"a\":null,\"b\":\"x\"}\n");
}

TEST(JsonWriterTest, TextIsEscapedAndTheRestStays) {
  EXPECT_EQ(Lines("s STRING", R"([["a\"b\\c/\n\t\u0001é"]])"), "{\"s\":\"a\\\"b\\\\c/\\n\\t\\u0001é\"}\n");
  EXPECT_EQ(Lines("`a \"b` INT", R"([[1]])"), "{\"a \\\"b\":1}\n");
}

TEST(JsonWriterTest, TimesHaveMillisecondsAndTheirZone) {
  constexpr char kRows[] = R"([["2026-07-01 12:00:00.123456"], ["1969-12-31 23:59:59.999999"]])";
  EXPECT_EQ(Lines("t TIMESTAMP_NTZ", kRows), "{\"t\":\"2026-07-01T12:00:00.123\"}\n{\"t\":\"1969-12-31T23:59:59.999\"}\n");
  EXPECT_EQ(Lines("t TIMESTAMP", "[[1782907200123456]]"), "{\"t\":\"2026-07-01T12:00:00.123Z\"}\n");
  EXPECT_EQ(Lines("t TIMESTAMP", "[[1782907200123456]]", {.time_zone = "Asia/Kolkata"}), "{\"t\":\"2026-07-01T17:30:00.123+05:30\"}\n");
  EXPECT_EQ(Lines("d DATE", "[[-1]]"), "{\"d\":\"1969-12-31\"}\n");
}

TEST(JsonWriterTest, NestedValues) {
  EXPECT_EQ(Lines("s STRUCT<a: INT, b: STRING>", R"([[[1, null]], [null]])"), "{\"s\":{\"a\":1}}\n{}\n");
  EXPECT_EQ(Lines("a ARRAY<INT>", R"([[[1, null, 3]], [[]]])"), "{\"a\":[1,null,3]}\n{\"a\":[]}\n");
  EXPECT_EQ(Lines("m MAP<STRING, INT>", R"([[[["k", 1], ["n", null]]]])"), "{\"m\":{\"k\":1,\"n\":null}}\n");
}

}  // namespace
}  // namespace tidemill::connector
