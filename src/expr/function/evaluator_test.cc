#include "expr/function/evaluator.h"

#include "expr/function/expression_test_internal.h"

namespace tidemill::expr {
namespace {

using type::Boolean, type::Decimal, type::Double, type::Int, type::Long, type::String, type::Timestamp;

TEST(Arithmetic, FollowsAnsiMode) {
  TestInput in;
  in.Add("i", Int(), "[1, 2147483647, null]").Add("d", Double(), "[1.5, 0.0, null]").Add("z", Int(), "[1, 0, 1]");
  EXPECT_EQ(in.Show(Call("+", {in["i"], LiteralInt(1)})), "ARITHMETIC_OVERFLOW");
  EXPECT_EQ(in.Show(Call("+", {in["i"], LiteralInt(1)}, kLegacy)), "2|-2147483648|NULL");
  EXPECT_EQ(in.Show(Call("+", {in["i"], LiteralLong(1)})), "2|2147483648|NULL");
  EXPECT_EQ(in.Show(Call("*", {in["d"], LiteralInt(2)})), "3.0|0.0|NULL");
  EXPECT_EQ(in.Show(Call("/", {in["i"], in["z"]})), "DIVIDE_BY_ZERO");
  EXPECT_EQ(in.Show(Call("/", {in["i"], in["z"]}, kLegacy)), "1.0|NULL|NULL");
  EXPECT_EQ(in.Show(Call("%", {in["i"], in["z"]})), "REMAINDER_BY_ZERO");
  EXPECT_EQ(in.Show(Call("%", {in["i"], LiteralInt(10)})), "1|7|NULL");
  EXPECT_EQ(in.Show(Call("div", {in["i"], LiteralInt(2)})), "0|1073741823|NULL");
  EXPECT_EQ(in.Show(Call("-", {in["i"]})), "-1|-2147483647|NULL");
  EXPECT_EQ(in.Show(Call("pmod", {LiteralInt(-7), LiteralInt(3)})), "2|2|2");
}

// Compared with Spark 4.3.0.
TEST(Arrays, AreBuiltRowByRowAndCounted) {
  TestInput in;
  in.Add("i", Int(), "[1, null, 3]").Add("s", String(), R"(["a", "b", null])");
  EXPECT_EQ(in.Show(Call("array", {in["i"], LiteralInt(7)})), "[1, 7]|[null, 7]|[3, 7]");
  EXPECT_EQ(in.Show(Call("array", {in["s"]})), "[a]|[b]|[null]");
  EXPECT_EQ((*Call("array", {in["i"], LiteralLong(7)}))->type->ToString(), "array<bigint>");
  EXPECT_EQ(in.Show(Call("size", {Call("array", {in["i"], in["i"]}).ValueOrDie()})), "2|2|2");
}

// Compared with Spark 4.3.0.
TEST(Bitwise, WorksOnTheWiderType) {
  TestInput in;
  in.Add("i", Int(), "[12, -1, null]").Add("l", Long(), "[10, 4294967296, 1]").Add("b", type::Byte(), "[127, -128, 0]");
  EXPECT_EQ(in.Show(Call("&", {in["i"], LiteralInt(10)})), "8|10|NULL");
  EXPECT_EQ(in.Show(Call("|", {in["i"], in["l"]})), "14|-1|NULL");
  EXPECT_EQ(in.Show(Call("^", {in["b"], LiteralInt(255)})), "128|-129|255");
  EXPECT_EQ(in.Show(Call("~", {in["b"]})), "-128|127|-1");
  EXPECT_EQ((*Call("&", {in["b"], in["b"]}))->type->ToString(), "tinyint");
  EXPECT_EQ((*Call("|", {in["i"], in["l"]}))->type->ToString(), "bigint");
}

TEST(Arithmetic, OverflowInANullRowIsNone) {
  TestInput in;
  in.Add("a", Long(), "[9223372036854775807, 1]").Add("b", Long(), "[null, 1]");
  EXPECT_EQ(in.Show(Call("+", {in["a"], in["b"]})), "NULL|2");
}

TEST(Arithmetic, OverflowNamesTheRemedy) {
  TestInput in;
  in.Add("l", Long(), "[9223372036854775807]");
  const auto result = in.Evaluate(*Call("+", {in["l"], LiteralLong(1)}));
  EXPECT_EQ(ParametersOf(result.status()),
            (std::map<std::string, std::string>{{"message", "overflow"},
                                                {"alternative", "Use 'try_add' to tolerate overflow and return NULL instead."},
                                                {"config", "\"spark.sql.ansi.enabled\""}}));
}

TEST(Decimals, HaveSparkPrecision) {
  TestInput in;
  in.Add("m", Decimal(10, 2), R"(["1.25", "-99999999.99", null])").Add("n", Decimal(5, 3), R"(["0.125", "10.000", "1.000"])");
  const auto type_of = [&](const Result<ExprPtr>& e) { return (*e)->type->ToString(); };
  EXPECT_EQ(type_of(Call("+", {in["m"], in["n"]})), "decimal(12,3)");
  EXPECT_EQ(type_of(Call("*", {in["m"], in["n"]})), "decimal(16,5)");
  EXPECT_EQ(type_of(Call("/", {in["m"], in["n"]})), "decimal(19,8)");
  EXPECT_EQ(type_of(Call("+", {in["m"], LiteralInt(1)})), "decimal(11,2)");
  EXPECT_EQ(in.Show(Call("+", {in["m"], in["n"]})), "1.375|-99999989.990|NULL");
  EXPECT_EQ(in.Show(Call("-", {in["n"], in["m"]})), "-1.125|100000009.990|NULL");
  EXPECT_EQ(in.Show(Call("*", {in["m"], in["n"]})), "0.15625|-999999999.90000|NULL");
  EXPECT_EQ(in.Show(Call("/", {in["m"], in["n"]})), "10.00000000|-9999999.99900000|NULL");
  EXPECT_EQ(
      in.Show(Call("/", {LiteralInt(2), Literal(std::make_shared<arrow::Decimal128Scalar>(arrow::Decimal128(300), arrow::decimal128(3, 2)),
                                                Decimal(3, 2))})),
      "0.666667|0.666667|0.666667");
  EXPECT_EQ(in.Show(Call("%", {in["m"], in["n"]})), "0.000|-9.990|NULL");
  EXPECT_EQ(in.Show(Call("negative", {in["m"]})), "-1.25|99999999.99|NULL");
}

TEST(Decimals, OutOfRangeIsAnErrorOrNull) {
  TestInput in;
  in.Add("h", Decimal(38, 10), R"(["9999999999999999999999999999.0000000000"])");
  EXPECT_EQ(in.Show(Call("*", {in["h"], in["h"]})), "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION");
  EXPECT_EQ(in.Show(Call("*", {in["h"], in["h"]}, kLegacy)), "NULL");
}

TEST(Comparison, NanIsLargestAndZerosAreEqual) {
  TestInput in;
  in.Add("a", Double(), "[NaN, NaN, 0.0, 1.0, null]").Add("b", Double(), "[NaN, 1.0, -0.0, NaN, 1.0]");
  EXPECT_EQ(in.Show(Call("=", {in["a"], in["b"]})), "true|false|true|false|NULL");
  EXPECT_EQ(in.Show(Call(">", {in["a"], in["b"]})), "false|true|false|false|NULL");
  EXPECT_EQ(in.Show(Call("<=", {in["a"], in["b"]})), "true|false|true|true|NULL");
  EXPECT_EQ(in.Show(Call("<=>", {in["a"], in["b"]})), "true|false|true|false|false");
  EXPECT_EQ(in.Show(Call("!=", {in["a"], in["b"]})), "false|true|false|true|NULL");
}

TEST(Comparison, StringsAgainstALiteral) {
  TestInput in;
  in.Add("k", String(), R"(["view", "views", "", null, "vieW"])");
  EXPECT_EQ(in.Show(Call("=", {in["k"], LiteralString("view")})), "true|false|false|NULL|false");
  EXPECT_EQ(in.Show(Call("<", {in["k"], LiteralString("view")})), "false|false|true|NULL|true");
  EXPECT_EQ(in.Show(Call("in", {in["k"], LiteralString("view"), LiteralString("")})), "true|false|true|NULL|false");
  EXPECT_EQ(in.Show(Call("in", {in["k"], LiteralString("view"), LiteralNull(String())})), "true|NULL|NULL|NULL|NULL");
  EXPECT_EQ(in.Show(Call("like", {in["k"], LiteralString("%iew")})), "true|false|false|NULL|false");
  EXPECT_EQ(in.Show(Call("ilike", {in["k"], LiteralString("v__W")})), "true|false|false|NULL|true");
}

TEST(Comparison, StringsAndNumbersMeet) {
  TestInput in;
  in.Add("s", String(), R"(["1", "2", null])").Add("i", Int(), "[1, 1, 1]");
  EXPECT_EQ(in.Show(Call("=", {in["s"], in["i"]})), "true|false|NULL");
  EXPECT_EQ(in.Show(Call("=", {in["s"], in["i"]}, kLegacy)), "true|false|NULL");
  EXPECT_EQ(in.Show(Call("=", {LiteralString("x"), in["i"]})), "CAST_INVALID_INPUT");
  EXPECT_EQ(in.Show(Call("=", {LiteralString("x"), in["i"]}, kLegacy)), "NULL|NULL|NULL");
}

TEST(Logic, HasThreeTruthValues) {
  TestInput in;
  in.Add("a", Boolean(), "[true, true, true, false, false, false, null, null, null]");
  in.Add("b", Boolean(), "[true, false, null, true, false, null, true, false, null]");
  EXPECT_EQ(in.Show(Call("and", {in["a"], in["b"]})), "true|false|NULL|false|false|false|NULL|false|NULL");
  EXPECT_EQ(in.Show(Call("or", {in["a"], in["b"]})), "true|true|true|true|false|NULL|true|NULL|NULL");
  EXPECT_EQ(in.Show(Call("not", {in["a"]})), "false|false|false|true|true|true|NULL|NULL|NULL");
  EXPECT_EQ(in.Show(Call("isnull", {in["a"]})), "false|false|false|false|false|false|true|true|true");
  EXPECT_EQ(in.Show(Call("and", {in["a"], LiteralBoolean(false)})), "false|false|false|false|false|false|false|false|false");
}

TEST(Conditional, BranchesNotTakenRaiseNoError) {
  TestInput in;
  in.Add("v", Int(), "[2, 0, null, 4]");
  const ExprPtr positive = *Call(">", {in["v"], LiteralInt(0)});
  const ExprPtr quotient = *Call("div", {LiteralInt(8), in["v"]});
  EXPECT_EQ(in.Show(Call("if", {positive, quotient, LiteralLong(-1)})), "4|-1|-1|2");
  EXPECT_EQ(in.Show(Call("when", {positive, quotient})), "4|NULL|NULL|2");
  EXPECT_EQ(in.Show(Call("and", {positive, *Call(">", {quotient, LiteralInt(3)})})), "true|false|NULL|false");
  EXPECT_EQ(in.Show(Call("or", {*Call("<=", {in["v"], LiteralInt(0)}), *Call(">", {quotient, LiteralInt(3)})})), "true|true|NULL|false");
  EXPECT_EQ(in.Show(Call("coalesce", {in["v"], LiteralInt(9)})), "2|0|9|4");
  EXPECT_EQ(in.Show(Call("nullif", {in["v"], LiteralInt(0)})), "2|NULL|NULL|4");
  EXPECT_EQ(in.Show(Call("between", {in["v"], LiteralInt(1), LiteralInt(3)})), "true|false|NULL|false");
  EXPECT_EQ(in.Show(Call("greatest", {in["v"], LiteralInt(1)})), "2|1|1|4");
}

TEST(Windows, AlignToTheEpochAlsoBeforeIt) {
  TestInput in;
  in.Add("ts", Timestamp(), R"(["1970-01-01 00:00:12", "1969-12-31 23:59:58", null, "1970-01-01 00:00:10"])");
  const auto window = [&](int64_t length, int64_t slide, int64_t start, int64_t index) {
    const int64_t second = 1'000'000;
    return Call("time_window",
                {in["ts"], LiteralLong(length * second), LiteralLong(slide * second), LiteralLong(start * second), LiteralLong(index)});
  };
  EXPECT_EQ(in.Show(window(10, 10, 0, 0)),
            "{1970-01-01 00:00:10, 1970-01-01 00:00:20}|{1969-12-31 23:59:50, 1970-01-01 00:00:00}|NULL|{1970-01-01 00:00:10, 1970-01-01 "
            "00:00:20}");
  EXPECT_EQ(in.Show(window(10, 5, 0, 1)),
            "{1970-01-01 00:00:05, 1970-01-01 00:00:15}|{1969-12-31 23:59:50, 1970-01-01 00:00:00}|NULL|{1970-01-01 00:00:05, 1970-01-01 "
            "00:00:15}");
  EXPECT_EQ(in.Show(window(10, 10, 3, 0)),
            "{1970-01-01 00:00:03, 1970-01-01 00:00:13}|{1969-12-31 23:59:53, 1970-01-01 00:00:03}|NULL|{1970-01-01 00:00:03, 1970-01-01 "
            "00:00:13}");
  const ExprPtr tumbling = *window(10, 10, 0, 0);
  EXPECT_EQ(in.Show(Call("window_time", {tumbling})),
            "1970-01-01 00:00:19.999999|1969-12-31 23:59:59.999999|NULL|1970-01-01 00:00:19.999999");
  EXPECT_EQ(in.Show(Call("getfield", {tumbling, LiteralString("start")})),
            "1970-01-01 00:00:10|1969-12-31 23:59:50|NULL|1970-01-01 00:00:10");
}

TEST(Times, MoveByIntervals) {
  TestInput in;
  in.Add("ts", Timestamp(), R"(["2024-03-10 06:30:00", null])");
  const auto day = [](int64_t micros) {
    return Literal(std::make_shared<arrow::DurationScalar>(micros, arrow::TimeUnit::MICRO), type::DayTimeInterval());
  };
  EXPECT_EQ(in.Show(Call("+", {in["ts"], day(1'000'000)})), "2024-03-10 06:30:01|NULL");
  EXPECT_EQ(in.Show(Call("-", {in["ts"], day(86'400'000'000)})), "2024-03-09 06:30:00|NULL");
  // A calendar day across the change of clocks is 23 hours long.
  EXPECT_EQ(in.Show(Call("+", {in["ts"], day(86'400'000'000)}, {"America/New_York", true})), "2024-03-11 05:30:00|NULL");
  EXPECT_EQ(in.Show(Call("date_trunc", {LiteralString("minute"), in["ts"]})), "2024-03-10 06:30:00|NULL");
  EXPECT_EQ(in.Show(Call("date_trunc", {LiteralString("WEEK"), in["ts"]})), "2024-03-04 00:00:00|NULL");
  EXPECT_EQ(in.Show(Call("date_trunc", {LiteralString("DAY"), in["ts"]}, {"America/New_York", true})), "2024-03-10 05:00:00|NULL");
  EXPECT_EQ(in.Show(Call("date_trunc", {LiteralString("nonsense"), in["ts"]})), "NULL|NULL");
  EXPECT_EQ(in.Show(Call("hour", {in["ts"]}, {"America/New_York", true})), "1|NULL");
  EXPECT_EQ(in.Show(Call("year", {in["ts"]})), "2024|NULL");
  EXPECT_EQ(in.Show(Call("weekofyear", {in["ts"]})), "10|NULL");
  EXPECT_EQ(in.Show(Call("unix_millis", {in["ts"]})), "1710052200000|NULL");
  EXPECT_EQ(in.Show(Call("timestamp_seconds", {LiteralInt(5)})), "1970-01-01 00:00:05|1970-01-01 00:00:05");
}

TEST(Strings, CountCharacters) {
  TestInput in;
  in.Add("s", String(), R"(["héllo", "", null, " x "])");
  EXPECT_EQ(in.Show(Call("length", {in["s"]})), "5|0|NULL|3");
  EXPECT_EQ(in.Show(Call("upper", {in["s"]})), "HÉLLO||NULL| X ");
  EXPECT_EQ(in.Show(Call("substring", {in["s"], LiteralInt(2), LiteralInt(2)})), "él||NULL|x ");
  EXPECT_EQ(in.Show(Call("substring", {in["s"], LiteralInt(-2)})), "lo||NULL|x ");
  EXPECT_EQ(in.Show(Call("substring", {in["s"], LiteralInt(-7), LiteralInt(4)})), "hé||NULL|");
  EXPECT_EQ(in.Show(Call("trim", {in["s"]})), "héllo||NULL|x");
  EXPECT_EQ(in.Show(Call("||", {in["s"], LiteralInt(1)})), "héllo1|1|NULL| x 1");
  EXPECT_EQ(in.Show(Call("replace", {in["s"], LiteralString("l"), LiteralString("LL")})), "héLLLLo||NULL| x ");
  EXPECT_EQ(in.Show(Call("split_part", {in["s"], LiteralString("l"), LiteralInt(-1)})), "o||NULL| x ");
  EXPECT_EQ(in.Show(Call("startswith", {in["s"], LiteralString("hé")})), "true|false|NULL|false");
  EXPECT_EQ(in.Show(Call("like", {in["s"], LiteralString("h_llo")})), "true|false|NULL|false");
}

TEST(Math, RoundsHalfAwayFromZero) {
  TestInput in;
  in.Add("d", Double(), "[2.5, -2.5, 1.005, null, 1e300]").Add("m", Decimal(4, 2), R"(["9.95", "-0.05", "0.00", null, "1.00"])");
  EXPECT_EQ(in.Show(Call("round", {in["d"]})), "3.0|-3.0|1.0|NULL|1.0E300");
  EXPECT_EQ(in.Show(Call("round", {in["d"], LiteralInt(2)})), "2.5|-2.5|1.01|NULL|1.0E300");
  EXPECT_EQ(in.Show(Call("round", {in["m"], LiteralInt(1)})), "10.0|-0.1|0.0|NULL|1.0");
  EXPECT_EQ(in.Show(Call("round", {LiteralInt(155), LiteralInt(-1)})), "160|160|160|160|160");
  EXPECT_EQ(in.Show(Call("ceil", {in["m"]})), "10|0|0|NULL|1");
  EXPECT_EQ(in.Show(Call("floor", {in["d"]})), "2|-3|1|NULL|9223372036854775807");
  EXPECT_EQ(in.Show(Call("abs", {in["d"]})), "2.5|2.5|1.005|NULL|1.0E300");
  EXPECT_EQ(in.Show(Call("sqrt", {LiteralInt(16)})), "4.0|4.0|4.0|4.0|4.0");
}

TEST(Structs, AreBuiltAndReadBack) {
  TestInput in;
  in.Add("a", Int(), "[1, null]");
  const ExprPtr built = *Call("named_struct", {LiteralString("x"), in["a"], LiteralString("y"), LiteralString("z")});
  EXPECT_EQ(in.Show(built), "{1, z}|{null, z}");
  EXPECT_EQ(in.Show(Call("getfield", {built, LiteralString("x")})), "1|NULL");
  EXPECT_EQ(in.Show(Call("getfield", {built, LiteralString("q")})), "FIELD_NOT_FOUND");
  EXPECT_EQ((*Call("struct", {in["a"], LiteralInt(1)}))->type->ToString(), "struct<a:int,col2:int>");
}

TEST(Evaluator, ReadsSlicesAndSpreadsConstants) {
  const ExprPtr v = Attribute({"v", Int()}, NewExprId());
  const ExprPtr k = Attribute({"k", String()}, NewExprId());
  const auto whole =
      arrow::RecordBatch::Make(arrow::schema({arrow::field("v", arrow::int32()), arrow::field("k", arrow::utf8())}), 5,
                               {arrow::json::ArrayFromJSONString(arrow::int32(), "[1, null, 3, null, 5]").ValueOrDie(),
                                arrow::json::ArrayFromJSONString(arrow::utf8(), R"(["a", "b", null, "d", "e"])").ValueOrDie()});
  const auto slice = whole->Slice(1, 3);
  const auto run = [&](const ExprPtr& e) { return (*(*Evaluator::Make(e, {v, k}))->Evaluate(*slice)); };
  EXPECT_EQ(run(*Call("+", {v, LiteralInt(1)}))->ToString(),
            arrow::json::ArrayFromJSONString(arrow::int32(), "[null, 4, null]").ValueOrDie()->ToString());
  EXPECT_EQ(run(*Call("isnull", {v}))->ToString(),
            arrow::json::ArrayFromJSONString(arrow::boolean(), "[true, false, true]").ValueOrDie()->ToString());
  EXPECT_EQ(run(*Call("=", {k, LiteralString("d")}))->ToString(),
            arrow::json::ArrayFromJSONString(arrow::boolean(), "[false, null, true]").ValueOrDie()->ToString());
  EXPECT_EQ(run(*Call("coalesce", {k, LiteralString("-")}))->ToString(),
            arrow::json::ArrayFromJSONString(arrow::utf8(), R"(["b", "-", "d"])").ValueOrDie()->ToString());
  EXPECT_EQ(run(LiteralInt(7))->length(), 3);
  EXPECT_EQ(TestInput::ConditionOf(Evaluator::Make(v, {k}).status()), "INTERNAL_ERROR");
}

TEST(FilterBatch, KeepsRowsThatAreTrue) {
  const auto batch = arrow::RecordBatch::Make(arrow::schema({arrow::field("v", arrow::int32())}), 3,
                                              {arrow::json::ArrayFromJSONString(arrow::int32(), "[1, 2, 3]").ValueOrDie()});
  const auto keep = [&](const char* json) {
    return (*FilterBatch(batch, *arrow::json::ArrayFromJSONString(arrow::boolean(), json).ValueOrDie()));
  };
  EXPECT_EQ(keep("[true, null, true]")->num_rows(), 2);
  EXPECT_EQ(keep("[true, true, true]").get(), batch.get());
  EXPECT_EQ(keep("[false, null, false]")->num_rows(), 0);
}

}  // namespace
}  // namespace tidemill::expr
