#include "format/json_writer.h"

#include <arrow/array.h>
#include <arrow/json/from_string.h>
#include <arrow/record_batch.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemill::format {
namespace {

using ::testing::HasSubstr;

/// The lines of a batch whose columns are given as JSON arrays, in the order of `ddl`.
std::string Lines(std::string_view ddl, const std::vector<std::string>& columns, const JsonWriterOptions& options = {}) {
  const type::Schema schema = type::ParseDdl(ddl).ValueOrDie();
  arrow::ArrayVector arrays;
  for (int i = 0; i < schema.size(); ++i) {
    arrays.push_back(arrow::json::ArrayFromJSONString(schema.fields[i].type->ToArrow(), columns[i]).ValueOrDie());
  }
  const auto batch = arrow::RecordBatch::Make(schema.ToArrow(), arrays[0]->length(), arrays);
  std::string out;
  const Status status = AppendJsonLines(schema, *batch, options, &out);
  return status.ok() ? out : status.ToString();
}

/// The text of one value: what stands behind `{"v":`.
std::string Value(const std::string& type, const std::string& json, const JsonWriterOptions& options = {}) {
  const std::string line = Lines("v " + type, {"[" + json + "]"}, options);
  return line.starts_with("{\"v\":") ? line.substr(5, line.size() - 7) : line;
}

std::string Zoned(const std::string& time_zone, int64_t micros) { return Value("TIMESTAMP", std::to_string(micros), {.time_zone = time_zone}); }

// The expectations of this file were compared with what Spark 4.3.0 writes for the same rows.

TEST(JsonWriterTest, OneLineARowWithColumnsInOrder) {
  EXPECT_EQ(Lines("b INT, a STRING", {"[1, 2]", R"(["x", "y"])"}), "{\"b\":1,\"a\":\"x\"}\n{\"b\":2,\"a\":\"y\"}\n");
  EXPECT_EQ(Lines("a INT", {"[]"}), "");
}

TEST(JsonWriterTest, Scalars) {
  EXPECT_EQ(Value("BOOLEAN", "true"), "true");
  EXPECT_EQ(Value("BOOLEAN", "false"), "false");
  EXPECT_EQ(Value("TINYINT", "-128"), "-128");
  EXPECT_EQ(Value("SMALLINT", "32767"), "32767");
  EXPECT_EQ(Value("INT", "-2147483648"), "-2147483648");
  EXPECT_EQ(Value("BIGINT", "-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(Value("STRING", R"("s")"), R"("s")");
  EXPECT_EQ(Value("STRING", R"("")"), R"("")");
  EXPECT_EQ(Value("BINARY", R"("A\u0000~")"), R"("QQB+")");
  EXPECT_EQ(Value("BINARY", R"("AB")"), R"("QUI=")");
  EXPECT_EQ(Value("DATE", "19782"), R"("2024-02-29")");
  EXPECT_EQ(Value("DATE", "2932897"), R"("+10000-01-01")");
}

TEST(JsonWriterTest, RealNumbersAsJavaPrintsThem) {
  EXPECT_EQ(Value("FLOAT", "1.5"), "1.5");
  EXPECT_EQ(Value("FLOAT", "0.1"), "0.1");
  EXPECT_EQ(Value("FLOAT", "1e10"), "1.0E10");
  EXPECT_EQ(Value("DOUBLE", "2"), "2.0");
  EXPECT_EQ(Value("DOUBLE", "1234567"), "1234567.0");
  EXPECT_EQ(Value("DOUBLE", "1e7"), "1.0E7");
  EXPECT_EQ(Value("DOUBLE", "1e-5"), "1.0E-5");
  EXPECT_EQ(Value("DOUBLE", "-0.0"), "-0.0");
}

TEST(JsonWriterTest, WhatIsNoNumberGoesInQuotes) {
  EXPECT_EQ(Lines("d DOUBLE", {"[NaN, Inf, -Inf]"}), "{\"d\":\"NaN\"}\n{\"d\":\"Infinity\"}\n{\"d\":\"-Infinity\"}\n");
  EXPECT_EQ(Lines("f FLOAT", {"[NaN, Inf, -Inf]"}), "{\"f\":\"NaN\"}\n{\"f\":\"Infinity\"}\n{\"f\":\"-Infinity\"}\n");
}

TEST(JsonWriterTest, DecimalsKeepTheirScale) {
  EXPECT_EQ(Value("DECIMAL(10,2)", R"("1.50")"), "1.50");
  EXPECT_EQ(Value("DECIMAL(10,0)", R"("123")"), "123");
  EXPECT_EQ(Value("DECIMAL(2,1)", R"("-0.5")"), "-0.5");
  EXPECT_EQ(Value("DECIMAL(38,0)", R"("99999999999999999999999999999999999999")"), "99999999999999999999999999999999999999");
  EXPECT_EQ(Value("DECIMAL(38,37)", R"("1.5000000000000000000000000000000000000")"), "1.5000000000000000000000000000000000000");
  // As BigDecimal.toString() has it.
  EXPECT_EQ(Value("DECIMAL(20,6)", R"("0.000001")"), "0.000001");
  EXPECT_EQ(Value("DECIMAL(20,10)", R"("0.0000001500")"), "1.500E-7");
  EXPECT_EQ(Value("DECIMAL(38,18)", R"("0.000000000000000000")"), "0E-18");
}

TEST(JsonWriterTest, TimestampsHaveMillisecondsAndTheirZone) {
  EXPECT_EQ(Zoned("UTC", 1'704'067'200'123'456), R"("2024-01-01T00:00:00.123Z")");
  EXPECT_EQ(Zoned("UTC", -1), R"("1969-12-31T23:59:59.999Z")");
  EXPECT_EQ(Zoned("GMT", 0), R"("1970-01-01T00:00:00.000Z")");
  EXPECT_EQ(Zoned("+01:00", 0), R"("1970-01-01T01:00:00.000+01:00")");
  EXPECT_EQ(Zoned("Asia/Kolkata", -1), R"("1970-01-01T05:29:59.999+05:30")");
  EXPECT_EQ(Zoned("America/Los_Angeles", 1'719'792'000'000'000), R"("2024-06-30T17:00:00.000-07:00")");
  EXPECT_EQ(Zoned("America/Los_Angeles", -1), R"("1969-12-31T15:59:59.999-08:00")");
  // Both instants of the hour that the end of summer time repeats.
  EXPECT_EQ(Zoned("Europe/Berlin", 1'729'989'000'000'000), R"("2024-10-27T02:30:00.000+02:00")");
  EXPECT_EQ(Zoned("Europe/Berlin", 1'729'992'600'000'000), R"("2024-10-27T02:30:00.000+01:00")");
}

TEST(JsonWriterTest, TimestampsFarAway) {
  EXPECT_EQ(Zoned("UTC", 253'402'300'800'000'000), R"("+10000-01-01T00:00:00.000Z")");
  EXPECT_EQ(Zoned("UTC", -62'167'219'200'000'001), R"("-0001-12-31T23:59:59.999Z")");
  EXPECT_EQ(Zoned("Asia/Kolkata", 253'402'300'800'000'000), R"("+10000-01-01T05:30:00.000+05:30")");
  EXPECT_EQ(Zoned("Asia/Kolkata", -62'135'596'800'000'000), R"("0001-01-01T05:53:28.000+05:53:28")") << "local mean time has seconds";
  EXPECT_EQ(Zoned("America/Los_Angeles", -5'364'662'400'000'000), R"("1799-12-31T16:07:02.000-07:52:58")");
}

TEST(JsonWriterTest, TimestampsWithoutZoneStayAsTheyAre) {
  EXPECT_EQ(Value("TIMESTAMP_NTZ", "1704067200999900", {.time_zone = "Asia/Kolkata"}), R"("2024-01-01T00:00:00.999")");
}

TEST(JsonWriterTest, Intervals) {
  EXPECT_EQ(Value("INTERVAL DAY TO SECOND", "93784500000"), R"("INTERVAL '1 02:03:04.5' DAY TO SECOND")");
  EXPECT_EQ(Value("INTERVAL DAY TO SECOND", "-93784000001"), R"("INTERVAL '-1 02:03:04.000001' DAY TO SECOND")");
  EXPECT_EQ(Value("INTERVAL YEAR TO MONTH", "-14"), R"("INTERVAL '-1-2' YEAR TO MONTH")");
}

TEST(JsonWriterTest, NullsAreLeftOutOfObjectsAlone) {
  EXPECT_EQ(Lines("a INT, b INT, c VOID", {"[null, 1, null]", "[2, null, null]", "[null, null, null]"}), "{\"b\":2}\n{\"a\":1}\n{}\n");
  EXPECT_EQ(Lines("s STRUCT<x: INT, y: INT>, l ARRAY<INT>, m MAP<STRING, INT>, e STRUCT<x: INT>, ls ARRAY<STRUCT<x: INT>>",
                  {R"([{"x": null, "y": 2}])", "[[1, null]]", R"([[["k", null]]])", R"([{"x": null}])", R"([[{"x": null}, null]])"}),
            "{\"s\":{\"y\":2},\"l\":[1,null],\"m\":{\"k\":null},\"e\":{},\"ls\":[{},null]}\n");
}

TEST(JsonWriterTest, NullsAreWrittenWhenAskedFor) {
  const JsonWriterOptions options{.ignore_null_fields = false};
  EXPECT_EQ(Lines("a INT, b INT, s STRUCT<x: INT, y: INT>, v VOID", {"[null]", "[1]", R"([{"x": null, "y": 2}])", "[null]"}, options),
            "{\"a\":null,\"b\":1,\"s\":{\"x\":null,\"y\":2},\"v\":null}\n");
  EXPECT_EQ(Value("STRUCT<x: INT>", "null", options), "null");
}

TEST(JsonWriterTest, NestedValues) {
  EXPECT_EQ(Value("STRUCT<x: ARRAY<MAP<STRING, STRUCT<y: ARRAY<INT>>>>>", R"({"x": [[["k", {"y": [null, 1]}]], []]})"), R"({"x":[{"k":{"y":[null,1]}},{}]})");
  EXPECT_EQ(Lines("l ARRAY<INT>, m MAP<STRING, INT>", {"[[1, 2], [], [3]]", R"([[["a", 1], ["b", 2]], [], [["c", 3]]])"}),
            "{\"l\":[1,2],\"m\":{\"a\":1,\"b\":2}}\n{\"l\":[],\"m\":{}}\n{\"l\":[3],\"m\":{\"c\":3}}\n");
}

TEST(JsonWriterTest, ASlicedBatchIsItsOwnRows) {
  const type::Schema schema = type::ParseDdl("i INT, s STRUCT<x: INT>, l ARRAY<INT>, m MAP<STRING, INT>, b BOOLEAN").ValueOrDie();
  const std::vector<std::string> columns = {"[1, 2, 3]", R"([{"x": 1}, {"x": 2}, {"x": 3}])", "[[1], [2, 2], [3]]", R"([[["a", 1]], [["b", 2]], [["c", 3]]])",
                                            "[true, false, true]"};
  arrow::ArrayVector arrays;
  for (int i = 0; i < schema.size(); ++i) arrays.push_back(arrow::json::ArrayFromJSONString(schema.fields[i].type->ToArrow(), columns[i]).ValueOrDie());
  std::string out = "before\n";
  ASSERT_TRUE(AppendJsonLines(schema, *arrow::RecordBatch::Make(schema.ToArrow(), 3, arrays)->Slice(1, 1), {}, &out).ok());
  EXPECT_EQ(out, "before\n{\"i\":2,\"s\":{\"x\":2},\"l\":[2,2],\"m\":{\"b\":2},\"b\":false}\n");
}

TEST(JsonWriterTest, KeysOfMapsAreStrings) {
  EXPECT_EQ(Value("MAP<STRING, INT>", R"([["a\"b", 1]])"), R"({"a\"b":1})");
  EXPECT_EQ(Value("MAP<INT, INT>", "[[7, 1]]"), R"({"7":1})");
  EXPECT_EQ(Value("MAP<BOOLEAN, INT>", "[[true, 1]]"), R"({"true":1})");
  EXPECT_EQ(Value("MAP<DOUBLE, INT>", "[[2, 1]]"), R"({"2.0":1})");
  EXPECT_EQ(Value("MAP<DECIMAL(3,2), INT>", R"([["1.50", 1]])"), R"({"1.50":1})");
  // Spark has no text for these: it prints the number inside.
  EXPECT_EQ(Value("MAP<DATE, INT>", "[[19723, 1]]"), R"({"19723":1})");
  EXPECT_EQ(Value("MAP<TIMESTAMP, INT>", "[[1704067200000000, 1]]"), R"({"1704067200000000":1})");
  EXPECT_EQ(Value("MAP<TIMESTAMP_NTZ, INT>", "[[1704067200000000, 1]]"), R"({"1704067200000000":1})");
  EXPECT_EQ(Value("MAP<INTERVAL DAY TO SECOND, INT>", "[[86400000000, 1]]"), R"({"86400000000":1})");
  EXPECT_EQ(Value("MAP<INTERVAL YEAR TO MONTH, INT>", "[[1, 1]]"), R"({"1":1})");
}

TEST(JsonWriterTest, ColumnsThatJsonCannotHoldAreNamed) {
  const auto check = [](std::string_view ddl) { return CheckJsonColumns(type::ParseDdl(ddl).ValueOrDie()); };
  EXPECT_TRUE(check("a INT, b MAP<DATE, STRUCT<x: BINARY>>, c ARRAY<BINARY>, d VOID").ok());
  for (const char* key : {"BINARY", "ARRAY<INT>", "STRUCT<x: INT>", "MAP<INT, INT>"}) {
    const Status status = check(fmt::format("a INT, odd ARRAY<STRUCT<m: MAP<{}, INT>>>", key));
    ASSERT_FALSE(status.ok()) << key;
    EXPECT_THAT(status.message(), HasSubstr("Column odd cannot be written as JSON")) << key;
    EXPECT_EQ(ErrorDetail::Of(status)->fault, Fault::kUser) << key;
  }
  EXPECT_FALSE(check("m MAP<STRING, MAP<BINARY, INT>>").ok());
}

TEST(JsonWriterTest, Escapes) {
  const auto escaped = [](std::string_view text) {
    std::string out;
    AppendJsonString(text, &out);
    return out;
  };
  EXPECT_EQ(escaped("q\"b\\n/"), R"("q\"b\\n/")");
  EXPECT_EQ(escaped("\b\f\n\r\t"), R"("\b\f\n\r\t")");
  EXPECT_EQ(escaped(std::string_view("\0\x01\x1f", 3)), R"("\u0000\u0001\u001F")");
  EXPECT_EQ(escaped("\x7f<>&'\u00e9\u2028\U0001F600"), "\"\x7f<>&'\u00e9\u2028\U0001F600\"") << "nothing else is touched";
  const auto named = type::Schema{{{.name = "a \"b\"", .type = type::Int()}}};
  const auto batch = arrow::RecordBatch::Make(named.ToArrow(), 1, {arrow::json::ArrayFromJSONString(arrow::int32(), "[1]").ValueOrDie()});
  std::string out;
  ASSERT_TRUE(AppendJsonLines(named, *batch, {}, &out).ok());
  EXPECT_EQ(out, "{\"a \\\"b\\\"\":1}\n");
}

}  // namespace
}  // namespace tidemill::format
