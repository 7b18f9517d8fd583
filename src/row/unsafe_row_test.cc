#include "row/unsafe_row.h"

#include <arrow/array/array_base.h>
#include <arrow/json/from_string.h>
#include <arrow/memory_pool.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include <limits>

namespace tidemill::row {
namespace {

using arrow::json::ArrayFromJSONString;

std::string Hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<uint8_t>(c));
  return text;
}

std::vector<std::shared_ptr<arrow::Array>> Columns(const type::Schema& schema, const std::vector<std::string>& json) {
  std::vector<std::shared_ptr<arrow::Array>> columns;
  for (int i = 0; i < schema.size(); ++i) {
    columns.push_back(ArrayFromJSONString(schema.fields[i].type->ToArrow(), json[i]).ValueOrDie());
  }
  return columns;
}

/// Encode, decode again, compare, and return the rows in hex without blanks.
std::vector<std::string> RoundTrip(const type::Schema& schema, const std::vector<std::string>& json) {
  const auto columns = Columns(schema, json);
  const int64_t rows = columns[0]->length();
  RowBatch batch;
  EXPECT_TRUE(RowEncoder::Make(schema, false).ValueOrDie()->Encode(columns, rows, &batch).ok());
  auto decoder = RowDecoder::Make(schema, arrow::default_memory_pool()).ValueOrDie();
  std::vector<std::string> hex;
  for (int64_t i = 0; i < rows; ++i) {
    EXPECT_TRUE(decoder->Append(batch.row(i)).ok()) << decoder->Append(batch.row(i)).ToString();
    hex.push_back(Hex(batch.row(i)));
  }
  const auto decoded = decoder->Finish().ValueOrDie();
  for (size_t c = 0; c < columns.size(); ++c) {
    EXPECT_TRUE(decoded[c]->ValidateFull().ok());
    EXPECT_TRUE(decoded[c]->Equals(columns[c])) << decoded[c]->ToString() << columns[c]->ToString();
  }
  return hex;
}

std::string Bytes(std::string_view spaced) {
  std::string text;
  for (const char c : spaced) {
    if (c != ' ') text += c;
  }
  return text;
}

TEST(UnsafeRowTest, EncodesFixedWidthColumns) {
  EXPECT_EQ(RoundTrip({{{"k", type::Int()}}}, {"[3]"})[0], Bytes("0000000000000000 0300000000000000"));
  EXPECT_EQ(RoundTrip({{{"a", type::Int()}, {"b", type::Long()}}}, {"[-1]", "[-1]"})[0],
            Bytes("0000000000000000 ffffffff00000000 ffffffffffffffff"));
  EXPECT_EQ(RoundTrip({{{"v", type::Void()}}}, {"[null]"})[0], Bytes("0100000000000000 0000000000000000"));
}

TEST(UnsafeRowTest, EncodesStringsPaddedInOrder) {
  EXPECT_EQ(RoundTrip({{{"k", type::String()}}}, {R"(["a"])"})[0], Bytes("0000000000000000 0100000010000000 6100000000000000"));
  EXPECT_EQ(RoundTrip({{{"a", type::String()}, {"b", type::String()}}}, {R"(["a"])", R"(["a"])"})[0],
            Bytes("0000000000000000 0100000018000000 0100000020000000 6100000000000000 6100000000000000"));
  EXPECT_EQ(RoundTrip({{{"k", type::String()}}}, {R"(["", null])"}),
            (std::vector<std::string>{Bytes("0000000000000000 0000000010000000"), Bytes("0100000000000000 0000000000000000")}));
}

TEST(UnsafeRowTest, EncodesMixedColumns) {
  const type::Schema schema{
      {{"a", type::Int()}, {"b", type::String()}, {"c", type::Long()}, {"d", type::Decimal(10, 2)}, {"e", type::Boolean()}}};
  EXPECT_EQ(RoundTrip(schema, {"[5]", R"(["hi"])", "[null]", R"(["1.23"])", "[true]"})[0],
            Bytes("0400000000000000 0500000000000000 0200000030000000 0000000000000000 7b00000000000000 0100000000000000 "
                  "6869000000000000"));
}

TEST(UnsafeRowTest, WideDecimalsReserveSixteenBytes) {
  const type::Schema schema{{{"a", type::Decimal(38, 0)}, {"b", type::Decimal(38, 0)}}};
  EXPECT_EQ(RoundTrip(schema, {R"(["10000000000000000000"])", "[null]"})[0],
            Bytes("0200000000000000 0900000018000000 0000000028000000 008ac7230489e800 0000000000000000 0000000000000000 "
                  "0000000000000000"));
  RoundTrip({{{"a", type::Decimal(38, 3)}}},
            {R"(["-0.001", "0.000", "99999999999999999999999999999999999.999", "-99999999999999999999999999999999999.999"])"});
}

TEST(UnsafeRowTest, EncodesNestedValues) {
  EXPECT_EQ(RoundTrip({{{"a", type::Array(type::Int())}}}, {"[[1, null, 3]]"})[0],
            Bytes("0000000000000000 2000000010000000 0300000000000000 0200000000000000 0100000000000000 0300000000000000"));
  EXPECT_EQ(RoundTrip({{{"a", type::Array(type::String())}}}, {R"([["a", "bcd"]])"})[0],
            Bytes("0000000000000000 3000000010000000 0200000000000000 0000000000000000 0100000020000000 0300000028000000 "
                  "6100000000000000 6263640000000000"));
  EXPECT_EQ(RoundTrip({{{"m", type::Map(type::String(), type::Int())}}}, {R"([[["a", 1]]])"})[0],
            Bytes("0000000000000000 4000000010000000 2000000000000000 0100000000000000 0000000000000000 0100000018000000 "
                  "6100000000000000 0100000000000000 0000000000000000 0100000000000000"));
  EXPECT_EQ(RoundTrip({{{"s", type::Struct({{"a", type::Int()}, {"b", type::String()}})}}}, {R"([[7, "x"]])"})[0],
            Bytes("0000000000000000 2000000010000000 0000000000000000 0700000000000000 0100000018000000 7800000000000000"));
}

TEST(UnsafeRowTest, EncodesSessionRowsAsSparkStoresThem) {
  const type::Schema key{{{"a", type::String()}, {"b", type::String()}, {"sessionStartTime", type::Timestamp()}}};
  EXPECT_EQ(RoundTrip(key, {R"(["hello"])", R"(["key2"])", "[41000000]"})[0],
            Bytes("0000000000000000 0500000020000000 0400000028000000 409c710200000000 68656c6c6f000000 6b65793200000000"));
  const type::Schema value{
      {{"session", type::WindowStruct(type::Timestamp())}, {"a", type::String()}, {"b", type::String()}, {"count", type::Long()}}};
  EXPECT_EQ(RoundTrip(value, {"[[41000000, 51000000]]", R"(["hello"])", R"(["key2"])", "[1]"})[0],
            Bytes("0000000000000000 1800000028000000 0500000040000000 0400000048000000 0100000000000000 0000000000000000 "
                  "409c710200000000 c0320a0300000000 68656c6c6f000000 6b65793200000000"));
}

TEST(UnsafeRowTest, RoundTripsEveryTypeWithNullsAndDeepNesting) {
  RoundTrip({{{"a", type::Boolean()},
              {"b", type::Byte()},
              {"c", type::Short()},
              {"d", type::Float()},
              {"e", type::Double()},
              {"f", type::Date()},
              {"g", type::TimestampNtz()},
              {"h", type::DayTimeInterval()},
              {"i", type::YearMonthInterval()},
              {"j", type::Decimal(18, 4)}}},
            {"[true, null]", "[-128, null]", "[null, -2]", "[1.5, null]", "[null, -2.5]", "[-1, null]", "[null, 5]", "[7, null]",
             "[null, -3]", R"(["-1.0000", null])"});
  const type::TypePtr inner = type::Struct({{"x", type::Array(type::Decimal(30, 2))}, {"y", type::Map(type::Int(), type::String())}});
  RoundTrip({{{"deep", type::Array(inner)}, {"s", inner}}},
            {R"([[[["1.00", null, "-5000000000000000000000.25"], [[1, null], [2, "z"]]], null], [], null])",
             R"([[null, [[9, "nine"]]], null, [[], []]])"});
  RoundTrip({{{"flags", type::Array(type::Boolean())}, {"dates", type::Array(type::Date())}}},
            {"[[true, null, false], []]", "[[1, 2, 3], null]"});
}

TEST(UnsafeRowTest, HasOneNullWordForEachSixtyFourColumns) {
  type::Schema schema;
  std::vector<std::string> json;
  for (int i = 0; i < 65; ++i) {
    schema.fields.push_back({fmt::format("c{}", i), type::Byte()});
    json.push_back(i == 64 ? "[null]" : "[1]");
  }
  const std::string row = RoundTrip(schema, json)[0];
  EXPECT_EQ(row.size(), 2 * static_cast<size_t>(FixedBytes(65)));
  EXPECT_EQ(row.substr(0, 32), Bytes("0000000000000000 0100000000000000"));
}

TEST(UnsafeRowTest, EncodesSlicedColumns) {
  const type::Schema schema{{{"k", type::String()}, {"w", type::WindowStruct(type::Timestamp())}, {"a", type::Array(type::Int())}}};
  auto columns = Columns(schema, {R"(["x", "yy", null])", "[[1, 2], [3, 4], null]", "[[1], [2, 3], null]"});
  for (auto& column : columns) column = column->Slice(1, 2);
  RowBatch batch;
  ASSERT_TRUE(RowEncoder::Make(schema, true).ValueOrDie()->Encode(columns, 2, &batch).ok());
  const auto whole = RoundTrip(schema, {R"(["yy", null])", "[[3, 4], null]", "[[2, 3], null]"});
  EXPECT_EQ(Hex(batch.row(0)), whole[0]);
  EXPECT_EQ(Hex(batch.row(1)), whole[1]);
}

TEST(UnsafeRowTest, NormalizesFloatsOnlyWhenAsked) {
  const type::Schema schema{{{"d", type::Double()}, {"f", type::Float()}}};
  const auto columns = Columns(schema, {"[-0.0]", "[-0.0]"});
  RowBatch batch;
  ASSERT_TRUE(RowEncoder::Make(schema, true).ValueOrDie()->Encode(columns, 1, &batch).ok());
  EXPECT_EQ(Hex(batch.row(0)), Bytes("0000000000000000 0000000000000000 0000000000000000"));
  ASSERT_TRUE(RowEncoder::Make(schema, false).ValueOrDie()->Encode(columns, 1, &batch).ok());
  EXPECT_EQ(Hex(batch.row(0)), Bytes("0000000000000000 0000000000000080 0000008000000000"));
}

TEST(UnsafeRowTest, ReusedBatchCarriesNothingOver) {
  const type::Schema schema{{{"k", type::String()}}};
  auto encoder = RowEncoder::Make(schema, true).ValueOrDie();
  RowBatch batch;
  ASSERT_TRUE(encoder->Encode(Columns(schema, {R"(["zzzzzzzz"])"}), 1, &batch).ok());
  ASSERT_TRUE(encoder->Encode(Columns(schema, {R"(["a"])"}), 1, &batch).ok());
  EXPECT_EQ(Hex(batch.row(0)), Bytes("0000000000000000 0100000010000000 6100000000000000"));
}

TEST(UnsafeRowTest, RowsWithoutColumnsAreEmpty) {
  RowBatch batch;
  ASSERT_TRUE(RowEncoder::Make({}, true).ValueOrDie()->Encode({}, 2, &batch).ok());
  EXPECT_EQ(batch.size(), 2);
  EXPECT_EQ(batch.row(1).size(), 0u);
  EXPECT_TRUE(ValidateRow({}, batch.row(0)).ok());
}

/// Every single-byte damage of a row with all kinds of variable parts is either refused or decoded inside the row (the sanitizers watch).
TEST(UnsafeRowTest, DamagedRowsAreRefusedOrHarmless) {
  const type::Schema schema{{{"s", type::String()},
                             {"a", type::Array(type::String())},
                             {"m", type::Map(type::Int(), type::Decimal(30, 0))},
                             {"t", type::Struct({{"x", type::Array(type::Int())}})}}};
  RowBatch batch;
  ASSERT_TRUE(RowEncoder::Make(schema, false)
                  .ValueOrDie()
                  ->Encode(Columns(schema, {R"(["abc"])", R"([["x", "yy"]])", R"([[[1, "5"]]])", "[[[1, 2]]]"}), 1, &batch)
                  .ok());
  const std::string good(batch.row(0));
  auto decoder = RowDecoder::Make(schema, arrow::default_memory_pool()).ValueOrDie();
  int refused = 0;
  for (size_t i = 0; i < good.size(); ++i) {
    for (const int flip : {0x01, 0x08, 0x80, 0xff}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      // A copy without slack, so that a read past its end is seen.
      const std::vector<char> exact(bad.begin(), bad.end());
      if (decoder->Append({exact.data(), exact.size()}).ok()) {
        ASSERT_TRUE(decoder->Finish().ok());
      } else {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 100);
  for (size_t bytes = 0; bytes < good.size(); ++bytes) {
    EXPECT_FALSE(ValidateRow(schema, std::string_view(good).substr(0, bytes)).ok()) << bytes;
  }
}

}  // namespace
}  // namespace tidemill::row
