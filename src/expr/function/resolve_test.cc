#include "expr/function/resolve.h"
#include "expr/interval.h"

#include "expr/function/aggregate.h"
#include "expr/function/expression_test_internal.h"

namespace tidemill::expr {
namespace {

using type::Decimal, type::Double, type::Int, type::Long, type::String, type::Timestamp;

TestInput Columns() {
  TestInput in;
  in.Add("k", String(), "[null]")
      .Add("v", Int(), "[null]")
      .Add("ts", Timestamp(), "[null]")
      .Add("d", Double(), "[null]")
      .Add("m", Decimal(10, 2), "[null]");
  return in;
}

TEST(ToSql, IsSparkColumnName) {
  const TestInput in = Columns();
  const ExprPtr sum = *Call("+", {in["v"], LiteralInt(1)});
  EXPECT_EQ(sum->ToSql(), "(v + 1)");
  EXPECT_EQ((*Call("sum", {sum}))->ToSql(), "sum((v + 1))");
  EXPECT_EQ((*Call("count", {Star({})}))->ToSql(), "count(1)");
  EXPECT_EQ((*Call("<>", {in["v"], in["d"]}))->ToSql(), "(NOT (v = d))");
  EXPECT_EQ((*Call("isnotnull", {in["k"]}))->ToSql(), "(k IS NOT NULL)");
  EXPECT_EQ((*Call("in", {in["k"], LiteralString("a"), LiteralString("b")}))->ToSql(), "(k IN (a, b))");
  EXPECT_EQ((*Call("when", {*Call(">", {in["v"], LiteralInt(0)}), LiteralString("p"), LiteralString("n")}))->ToSql(),
            "CASE WHEN (v > 0) THEN p ELSE n END");
  EXPECT_EQ((*Cast(in["v"], Long()))->ToSql(), "CAST(v AS BIGINT)");
  EXPECT_EQ((*Call("+", {in["v"], in["d"]}))->ToSql(), "(v + d)");
  EXPECT_EQ((*Call("-", {in["v"]}))->ToSql(), "negative(v)");
  EXPECT_EQ((*Call("date_trunc", {LiteralString("minute"), in["ts"]}))->ToSql(), "date_trunc(minute, ts)");
  EXPECT_EQ(UnresolvedCall("count", {in["v"]}, true)->ToSql(), "count(DISTINCT v)");
  EXPECT_EQ(in["v"]->ToString(), "v#" + std::to_string(in["v"]->id));
}

TEST(ResolveCall, ErrorsAreSparks) {
  const TestInput in = Columns();
  const auto unknown = Call("uper", {in["k"]});
  EXPECT_EQ(TestInput::ConditionOf(unknown.status()), "UNRESOLVED_ROUTINE");
  EXPECT_EQ(ParametersOf(unknown.status()).at("routineName"), "`uper`");
  EXPECT_NE(unknown.status().message().find("`upper`"), std::string::npos);
  const auto count = Call("upper", {in["k"], in["k"]});
  EXPECT_EQ(
      ParametersOf(count.status()),
      (std::map<std::string, std::string>{
          {"functionName", "`upper`"}, {"expectedNum", "1"}, {"actualNum", "2"}, {"docroot", "https://spark.apache.org/docs/latest"}}));
  const auto differ = Call("=", {in["ts"], in["v"]});
  EXPECT_EQ(TestInput::ConditionOf(differ.status()), "DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES");
  EXPECT_EQ(ParametersOf(differ.status()),
            (std::map<std::string, std::string>{{"sqlExpr", "\"(ts = v)\""}, {"left", "\"TIMESTAMP\""}, {"right", "\"INT\""}}));
  EXPECT_EQ(ParametersOf(Call("+", {in["k"], in["ts"]}).status()).at("left"), "\"STRING\"");
  const auto input = Call("sum", {in["ts"]});
  EXPECT_EQ(TestInput::ConditionOf(input.status()), "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE");
  EXPECT_EQ(ParametersOf(input.status()).at("inputType"), "\"TIMESTAMP\"");
  EXPECT_EQ(TestInput::ConditionOf(Call("coalesce", {in["ts"], in["v"]}).status()), "DATATYPE_MISMATCH.DATA_DIFF_TYPES");
  EXPECT_EQ(TestInput::ConditionOf(Call("and", {in["v"], in["v"]}).status()), "DATATYPE_MISMATCH.BINARY_OP_WRONG_TYPE");
}

TEST(ResolveCall, Nullability) {
  const ExprPtr a = Attribute({"a", Int(), false}, NewExprId());
  const ExprPtr n = Attribute({"n", Int(), true}, NewExprId());
  EXPECT_FALSE((*Call("+", {a, a}))->nullable);
  EXPECT_TRUE((*Call("+", {a, n}))->nullable);
  EXPECT_FALSE((*Call("/", {a, a}))->nullable);
  EXPECT_TRUE((*Call("/", {a, a}, kLegacy))->nullable);
  EXPECT_FALSE((*Call("coalesce", {n, a}))->nullable);
  EXPECT_FALSE((*Call("<=>", {n, n}))->nullable);
  EXPECT_FALSE((*Call("count", {n}))->nullable);
  EXPECT_TRUE((*Call("sum", {a}))->nullable);
  EXPECT_TRUE((*Call("when", {*Call("=", {a, a}), a}))->nullable);
}

TEST(Fold, EvaluatesConstants) {
  const auto folded = Fold(*Call("+", {LiteralInt(1), LiteralInt(2)}));
  ASSERT_TRUE(folded.ok()) << folded.status();
  EXPECT_EQ((*folded)->kind, ExprKind::kLiteral);
  EXPECT_EQ((*folded)->ToSql(), "3");
  EXPECT_FALSE(IsFoldable(**Call("current_timestamp", {})));
  EXPECT_FALSE(IsFoldable(*Columns()["v"]));
}

TEST(ReplaceCurrentTime, GivesTheBatchTime) {
  const EvalContext new_york{"America/New_York", true};
  const ExprPtr now = *Call("unix_millis", {*Call("current_timestamp", {}, new_york)}, new_york);
  EXPECT_EQ(TestInput().Show(ReplaceCurrentTime(now, 1'704'078'000'000)), "1704078000000");
  EXPECT_EQ(TestInput().Show(ReplaceCurrentTime(*Call("current_date", {}, new_york), 1'704'078'000'000)), "2023-12-31");
  EXPECT_EQ(TestInput().Show(*Call("now", {})), "INTERNAL_ERROR");
}

TEST(ParseIntervalMicros, ReadsNumbersAndUnits) {
  bool months = false;
  EXPECT_EQ(*ParseIntervalMicros("10 seconds", nullptr), 10'000'000);
  EXPECT_EQ(*ParseIntervalMicros("1 hour 30 minutes", nullptr), 5'400'000'000);
  EXPECT_EQ(*ParseIntervalMicros("INTERVAL '5' SECOND", nullptr), 5'000'000);
  EXPECT_EQ(*ParseIntervalMicros("interval 1 week", nullptr), 604'800'000'000);
  EXPECT_EQ(*ParseIntervalMicros("-2 seconds", nullptr), -2'000'000);
  EXPECT_EQ(*ParseIntervalMicros("1.5 seconds", nullptr), 1'500'000);
  EXPECT_EQ(*ParseIntervalMicros("3 microseconds", nullptr), 3);
  EXPECT_EQ(*ParseIntervalMicros("1 month", &months), 31 * 86'400'000'000LL);
  EXPECT_TRUE(months);
  EXPECT_EQ(TestInput::ConditionOf(ParseIntervalMicros("1 month", nullptr).status()), "_LEGACY_ERROR_TEMP_3231");
  for (const char* text : {"", "abc", "ten seconds", "10", "10 parsecs", "1.5 hours", "1second", "interval"}) {
    const auto parsed = ParseIntervalMicros(text, &months);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_EQ(ParametersOf(parsed.status()).at("intervalString"), "'" + std::string(text) + "'");
  }
}

TEST(MakeAggregate, HasSparkBuffers) {
  const TestInput in = Columns();
  const auto buffers = [&](const char* name, const ExprPtr& argument) {
    const AggregateFunction function = *MakeAggregate(**Call(name, {argument}));
    std::string text = function.result_type->ToString() + ":";
    for (const type::Field& field : function.buffer)
      text += " " + field.name + " " + field.type->ToString() + (field.nullable ? "" : " nn");
    return text;
  };
  const ExprPtr narrow = Attribute({"n", Decimal(8, 2)}, NewExprId());
  const ExprPtr middle = Attribute({"n", Decimal(11, 2)}, NewExprId());
  EXPECT_EQ(buffers("count", in["v"]), "bigint: count bigint nn");
  EXPECT_EQ(buffers("sum", in["v"]), "bigint: sum bigint");
  EXPECT_EQ(buffers("sum", in["d"]), "double: sum double");
  EXPECT_EQ(buffers("sum", in["m"]), "decimal(20,2): sum decimal(20,2) isEmpty boolean nn");
  EXPECT_EQ(buffers("sum", narrow), "decimal(18,2): sum bigint");
  EXPECT_EQ(buffers("avg", in["v"]), "double: sum double count bigint");
  EXPECT_EQ(buffers("avg", in["m"]), "decimal(14,6): sum double count bigint");
  EXPECT_EQ(buffers("avg", middle), "decimal(15,6): sum double count bigint");
  EXPECT_EQ(buffers("avg", Attribute({"n", Decimal(12, 2)}, NewExprId())), "decimal(16,6): sum decimal(22,2) count bigint");
  EXPECT_EQ(buffers("min", in["k"]), "string: min string");
  EXPECT_EQ(MakeAggregate(**Call("count", {LiteralInt(1)}))->argument, nullptr);
}

TEST(MakeAggregate, SameMeansSameArguments) {
  const TestInput in = Columns();
  const auto sum = [&](const char* column) { return *MakeAggregate(**Call("sum", {in[column]})); };
  EXPECT_TRUE(SameAggregate(sum("v"), sum("v")));
  EXPECT_FALSE(SameAggregate(sum("v"), sum("d")));
  EXPECT_TRUE(SameExpression(**Call("+", {in["v"], LiteralInt(1)}), **Call("+", {in["v"], LiteralInt(1)})));
  EXPECT_FALSE(SameExpression(**Call("+", {in["v"], LiteralInt(1)}), **Call("+", {in["v"], LiteralInt(2)})));
  EXPECT_TRUE(IsAggregate(*UnresolvedCall("COUNT", {in["v"]})));
  EXPECT_EQ(TestInput::ConditionOf(MakeAggregate(**Call("count", {in["v"], in["d"]})).status()), "TIDEMILL_UNSUPPORTED_AGGREGATE");
}

}  // namespace
}  // namespace tidemill::expr
