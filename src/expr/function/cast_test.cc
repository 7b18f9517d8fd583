#include "expr/function/expression_test_internal.h"

namespace tidemill::expr {
namespace {

using type::Boolean, type::Byte, type::Date, type::Decimal, type::Double, type::Float, type::Int, type::Long, type::String, type::Timestamp;

TEST(Cast, StringsToNumbers) {
  TestInput in;
  in.Add("s", String(), R"([" 12 ", "-7", "1.9", "x", null, "99999999999"])");
  EXPECT_EQ(in.Show(Cast(in["s"], Int())), "CAST_INVALID_INPUT");
  EXPECT_EQ(in.Show(Cast(in["s"], Int(), kAnsi, true)), "12|-7|NULL|NULL|NULL|NULL");
  EXPECT_EQ(in.Show(Cast(in["s"], Int(), kLegacy)), "12|-7|1|NULL|NULL|NULL");
  EXPECT_EQ(in.Show(Cast(in["s"], Double(), kLegacy)), "12.0|-7.0|1.9|NULL|NULL|9.9999999999E10");
  EXPECT_EQ(in.Show(Cast(in["s"], Decimal(4, 1), kLegacy)), "12.0|-7.0|1.9|NULL|NULL|NULL");
}

TEST(Cast, ErrorsSayWhatAndWhereTo) {
  TestInput in;
  in.Add("k", String(), R"(["a"])");
  const auto result = in.Evaluate(*Cast(in["k"], Timestamp()));
  EXPECT_EQ(ParametersOf(result.status()), (std::map<std::string, std::string>{{"expression", "'a'"},
                                                                               {"sourceType", "\"STRING\""},
                                                                               {"targetType", "\"TIMESTAMP\""},
                                                                               {"ansiConfig", "\"spark.sql.ansi.enabled\""}}));
}

TEST(Cast, SpecialDoubles) {
  TestInput in;
  in.Add("s", String(), R"(["NaN", "Infinity", "-inf", "1d", "+.5", "1e400", "0x10"])");
  EXPECT_EQ(in.Show(Cast(in["s"], Double(), kLegacy)), "NaN|Infinity|-Infinity|1.0|0.5|Infinity|NULL");
}

TEST(Cast, BetweenNumbers) {
  TestInput in;
  in.Add("l", Long(), "[1, 300, -129]").Add("d", Double(), "[1.9, -1.9, 1e20]");
  EXPECT_EQ(in.Show(Cast(in["l"], Byte())), "CAST_OVERFLOW");
  EXPECT_EQ(in.Show(Cast(in["l"], Byte(), kLegacy)), "1|44|127");
  EXPECT_EQ(in.Show(Cast(in["l"], Byte(), kAnsi, true)), "1|NULL|NULL");
  EXPECT_EQ(in.Show(Cast(in["d"], Int())), "CAST_OVERFLOW");
  EXPECT_EQ(in.Show(Cast(in["d"], Int(), kLegacy)), "1|-1|2147483647");
  EXPECT_EQ(in.Show(Cast(in["d"], Boolean())), "true|true|true");
  EXPECT_EQ(in.Show(Cast(in["d"], Float())), "1.9|-1.9|1.0E20");
  EXPECT_EQ(in.Show(Cast(in["l"], Decimal(3, 0))), "1|300|-129");
  EXPECT_EQ(in.Show(Cast(in["l"], Decimal(2, 0))), "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION");
  EXPECT_EQ(in.Show(Cast(in["d"], Decimal(3, 1), kLegacy)), "1.9|-1.9|NULL");
}

TEST(Cast, Decimals) {
  TestInput in;
  in.Add("m", Decimal(10, 3), R"(["1.555", "-1.555", "1234567.000"])");
  EXPECT_EQ(in.Show(Cast(in["m"], Decimal(10, 2))), "1.56|-1.56|1234567.00");
  EXPECT_EQ(in.Show(Cast(in["m"], Int())), "1|-1|1234567");
  EXPECT_EQ(in.Show(Cast(in["m"], type::Short(), kAnsi, true)), "1|-1|NULL");
  EXPECT_EQ(in.Show(Cast(in["m"], Double())), "1.555|-1.555|1234567.0");
  EXPECT_EQ(in.Show(Cast(in["m"], String())), "1.555|-1.555|1234567.000");
}

TEST(Cast, Times) {
  TestInput in;
  in.Add("ts", Timestamp(), R"(["2024-01-01 03:00:00.5", "1969-12-31 23:59:59.5", null])").Add("d", Date(), "[19723, 0, null]");
  const EvalContext new_york{"America/New_York", true};
  EXPECT_EQ(in.Show(Cast(in["ts"], Long())), "1704078000|-1|NULL");
  EXPECT_EQ(in.Show(Cast(in["ts"], Double())), "1.7040780005E9|-0.5|NULL");
  EXPECT_EQ(in.Show(Cast(in["ts"], Date())), "2024-01-01|1969-12-31|NULL");
  EXPECT_EQ(in.Show(Cast(in["ts"], Date(), new_york)), "2023-12-31|1969-12-31|NULL");
  EXPECT_EQ(in.Show(Cast(in["d"], Timestamp(), new_york)), "2024-01-01 05:00:00|1970-01-01 05:00:00|NULL");
  EXPECT_EQ(in.Show(Cast(in["ts"], String(), new_york)), "2023-12-31 22:00:00.5|1969-12-31 18:59:59.5|NULL");
  EXPECT_EQ(in.Show(Cast(LiteralLong(5), Timestamp())), "1970-01-01 00:00:05|1970-01-01 00:00:05|1970-01-01 00:00:05");
  EXPECT_EQ(in.Show(Cast(LiteralString("2024-01-01 00:00:00"), Timestamp(), new_york)),
            "2024-01-01 05:00:00|2024-01-01 05:00:00|2024-01-01 05:00:00");
}

TEST(Cast, BooleansAndText) {
  TestInput in;
  in.Add("s", String(), R"(["true", " Y ", "0", "maybe", null])").Add("b", Boolean(), "[true, false, null, true, false]");
  EXPECT_EQ(in.Show(Cast(in["s"], Boolean(), kLegacy)), "true|true|false|NULL|NULL");
  EXPECT_EQ(in.Show(Cast(in["s"], Boolean())), "CAST_INVALID_INPUT");
  EXPECT_EQ(in.Show(Cast(in["b"], Int())), "1|0|NULL|1|0");
  EXPECT_EQ(in.Show(Cast(in["b"], String())), "true|false|NULL|true|false");
}

TEST(Cast, DoublesPrintAsInJava) {
  TestInput in;
  in.Add("d", Double(), "[1.0, 0.001, 0.0001, 1e7, 9999999.0, 123456.789, -0.0, 1e-5, 1.5e300]");
  EXPECT_EQ(in.Show(Cast(in["d"], String())), "1.0|0.001|1.0E-4|1.0E7|9999999.0|123456.789|-0.0|1.0E-5|1.5E300");
}

TEST(Cast, IsRefusedWhereSparkHasNone) {
  TestInput in;
  in.Add("ts", Timestamp(), R"(["2024-01-01"])").Add("i", Int(), "[1]");
  EXPECT_EQ(in.Show(Cast(in["ts"], Boolean())), "DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION");
  EXPECT_EQ(in.Show(Cast(in["i"], type::Binary())), "DATATYPE_MISMATCH.CAST_WITH_CONF_SUGGESTION");
  EXPECT_EQ(Cast(in["i"], Int())->get(), in["i"].get());
}

}  // namespace
}  // namespace tidemill::expr
