#include "type/data_type.h"

#include <arrow/type.h>
#include <gtest/gtest.h>

namespace tidemill::type {
namespace {

TEST(DataType, PrintsSparkNames) {
  const TypePtr window = WindowStruct(Timestamp());
  EXPECT_EQ(window->ToString(), "struct<start:timestamp,end:timestamp>");
  EXPECT_EQ(window->ToSql(), "STRUCT<start: TIMESTAMP, end: TIMESTAMP>");
  EXPECT_EQ(Decimal(10, 2)->ToString(), "decimal(10,2)");
  EXPECT_EQ(Decimal(10, 2)->ToSql(), "DECIMAL(10,2)");
  EXPECT_EQ(Map(String(), Array(Long()))->ToString(), "map<string,array<bigint>>");
  EXPECT_EQ(Map(String(), Int())->ToSql(), "MAP<STRING, INT>");
  EXPECT_EQ(Struct({{"a b", Int(), false}})->ToSql(), "STRUCT<`a b`: INT NOT NULL>");
}

TEST(DataType, EqualsLooksAtNamesAndParametersButNotAtNullability) {
  EXPECT_TRUE(Struct({{"a", Int(), false}})->Equals(*Struct({{"a", Int(), true}})));
  EXPECT_FALSE(Struct({{"a", Int()}})->Equals(*Struct({{"b", Int()}})));
  EXPECT_FALSE(Struct({{"a", Int()}})->Equals(*Struct({{"a", Int()}, {"b", Int()}})));
  EXPECT_FALSE(Decimal(10, 2)->Equals(*Decimal(10, 3)));
  EXPECT_TRUE(Array(Int(), true)->Equals(*Array(Int(), false)));
  EXPECT_FALSE(Map(String(), Int())->Equals(*Map(String(), Long())));
}

TEST(DataType, MapsToArrow) {
  EXPECT_TRUE(Timestamp()->ToArrow()->Equals(arrow::timestamp(arrow::TimeUnit::MICRO, "UTC")));
  EXPECT_TRUE(TimestampNtz()->ToArrow()->Equals(arrow::timestamp(arrow::TimeUnit::MICRO)));
  EXPECT_TRUE(Decimal(12, 3)->ToArrow()->Equals(arrow::decimal128(12, 3)));
  EXPECT_TRUE(Void()->ToArrow()->Equals(arrow::null()));
  const Schema schema{{{"k", String(), false}, {"w", WindowStruct(Timestamp())}}};
  EXPECT_EQ(schema.ToArrow()->field(0)->nullable(), false);
  EXPECT_EQ(schema.ToArrow()->field(1)->type()->num_fields(), 2);
}

TEST(Json, WritesSparkForm) {
  const Schema schema{{{"k", String(), true}, {"n", Long(), false, R"({"spark.watermarkDelayMs":10000})"}}};
  EXPECT_EQ(schema.ToJson(), R"({"type":"struct","fields":[{"name":"k","type":"string","nullable":true,"metadata":{}},)"
                             R"({"name":"n","type":"long","nullable":false,"metadata":{"spark.watermarkDelayMs":10000}}]})");
  EXPECT_EQ(Byte()->ToJson(), "\"byte\"");
  EXPECT_EQ(Map(Int(), Decimal(5, 1), false)->ToJson(),
            R"json({"type":"map","keyType":"integer","valueType":"decimal(5,1)","valueContainsNull":false})json");
}

TEST(Json, ReadsWhatItWrites) {
  const std::string json =
      R"({"type":"struct","fields":[{"name":"é\"","type":"timestamp","nullable":true,"metadata":{"z":1,"a":"x"}},)"
      R"json({"name":"s","type":{"type":"struct","fields":[{"name":"a","type":{"type":"array","elementType":"decimal(38,18)","containsNull":false},)json"
      R"("nullable":false,"metadata":{}}]},"nullable":true,"metadata":{}},)"
      R"({"name":"m","type":{"type":"map","keyType":"string","valueType":"void","valueContainsNull":true},"nullable":true,"metadata":{}},)"
      R"({"name":"i","type":"interval day to second","nullable":true,"metadata":{}}]})";
  const auto schema = Schema::FromJson(json);
  ASSERT_TRUE(schema.ok()) << schema.status();
  EXPECT_EQ(schema->ToJson(), json);
}

TEST(Json, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"", "{", "\"variant\"", "\"decimal(39,0)\"", R"({"type":"udt"})", R"({"type":"struct"})", "7",
                           R"({"type":"struct","fields":[{"name":"a","type":"long","nullable":"yes"}]})"}) {
    const auto type = DataType::FromJson(text);
    ASSERT_FALSE(type.ok()) << text;
    EXPECT_EQ(ErrorDetail::Of(type.status())->condition, "INVALID_JSON_DATA_TYPE") << text;
  }
  EXPECT_FALSE(Schema::FromJson("\"long\"").ok());
}

std::string Condition(const Status& status) {
  const ErrorDetail* detail = ErrorDetail::Of(status);
  return detail == nullptr ? "" : detail->condition;
}

TEST(Ddl, ReadsColumnLists) {
  const auto schema =
      ParseDdl("ts TIMESTAMP, `k k` STRING NOT NULL COMMENT 'the key', s STRUCT<a: INT, b: ARRAY<MAP<STRING,decimal(5, 2)>>>, 1d: Double");
  ASSERT_TRUE(schema.ok()) << schema.status();
  ASSERT_EQ(schema->size(), 4);
  EXPECT_EQ(schema->fields[1].name, "k k");
  EXPECT_FALSE(schema->fields[1].nullable);
  EXPECT_EQ(schema->fields[1].metadata_json, R"({"comment":"the key"})");
  EXPECT_EQ(schema->AsStruct()->ToString(), "struct<ts:timestamp,k k:string,s:struct<a:int,b:array<map<string,decimal(5,2)>>>,1d:double>");
}

TEST(Ddl, KnowsEveryAlias) {
  const std::pair<const char*, TypePtr> cases[] = {
      {"byte", Byte()},
      {"TINYINT", Byte()},
      {"short", Short()},
      {"SmallInt", Short()},
      {"integer", Int()},
      {"bigint", Long()},
      {"long", Long()},
      {"real", Float()},
      {"dec", Decimal(10, 0)},
      {"void", Void()},
      {"numeric(7)", Decimal(7, 0)},
      {"timestamp_ltz", Timestamp()},
      {"timestamp_ntz", TimestampNtz()},
      {"interval day to second", DayTimeInterval()},
      {"INTERVAL MONTH", YearMonthInterval()},
      {"struct<>", Struct({})},
  };
  for (const auto& [text, expected] : cases) {
    const auto type = ParseType(text);
    ASSERT_TRUE(type.ok()) << text << ": " << type.status();
    EXPECT_TRUE((*type)->Equals(*expected)) << text;
  }
}

TEST(Ddl, ErrorsCarrySparkConditions) {
  const auto unknown = ParseDdl("a INT, b foo(3)");
  EXPECT_EQ(Condition(unknown.status()), "UNSUPPORTED_DATATYPE");
  EXPECT_EQ(ErrorDetail::Of(unknown.status())->parameters.at("typeName"), "\"FOO(3)\"");
  const auto syntax = ParseDdl("a INT b");
  EXPECT_EQ(Condition(syntax.status()), "PARSE_SYNTAX_ERROR");
  EXPECT_EQ(ErrorDetail::Of(syntax.status())->parameters.at("error"), "'b'");
  EXPECT_EQ(ErrorDetail::Of(ParseDdl("a").status())->parameters.at("error"), "end of input");
  EXPECT_EQ(Condition(ParseDdl("").status()), "PARSE_SYNTAX_ERROR");
  EXPECT_EQ(Condition(ParseDdl("a INT,").status()), "PARSE_SYNTAX_ERROR");
  EXPECT_EQ(Condition(ParseType("array").status()), "INCOMPLETE_TYPE_DEFINITION.ARRAY");
  EXPECT_EQ(Condition(ParseType("decimal(40,2)").status()), "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION");
  EXPECT_EQ(Condition(ParseType("decimal(4,5)").status()), "_LEGACY_ERROR_TEMP_1228");
  EXPECT_EQ(Condition(ParseType("varchar(3)").status()), "UNSUPPORTED_CHAR_OR_VARCHAR_AS_STRING");
  EXPECT_EQ(Condition(ParseType("interval").status()), "UNSUPPORTED_DATATYPE");
}

}  // namespace
}  // namespace tidemill::type
