#include "row/murmur3.h"

#include <arrow/array/array_base.h>
#include <arrow/json/from_string.h>
#include <gtest/gtest.h>

#include "row/unsafe_row.h"

namespace tidemill::row {
namespace {

/// Hashes of one column given as Arrow's JSON text, by column and by encoded row; both must agree.
std::vector<int32_t> HashesOf(const type::Schema& schema, const std::vector<std::string>& columns_json) {
  std::vector<std::shared_ptr<arrow::Array>> columns;
  for (int i = 0; i < schema.size(); ++i) {
    columns.push_back(arrow::json::ArrayFromJSONString(schema.fields[i].type->ToArrow(), columns_json[i]).ValueOrDie());
  }
  const int64_t rows = columns[0]->length();
  std::vector<int32_t> hashes;
  EXPECT_TRUE(HashColumns(schema, columns, rows, &hashes).ok());
  RowBatch batch;
  EXPECT_TRUE(RowEncoder::Make(schema, true).ValueOrDie()->Encode(columns, rows, &batch).ok());
  for (int64_t i = 0; i < rows; ++i) EXPECT_EQ(HashRow(schema, batch.row(i)), hashes[i]) << "row " << i;
  return hashes;
}

type::Schema One(type::TypePtr type) { return {{{"c", std::move(type)}}}; }

TEST(Murmur3Test, HashesIntegersAsSparkDoes) {
  EXPECT_EQ(HashesOf(One(type::Int()), {"[0, 1, 2, 3, 4, 5, 6, 42, -1, null]"}),
            (std::vector<int32_t>{933211791, -559580957, 1765031574, -1823081949, -397064898, 1023896466, -331964951, 29417773, -1604776387,
                                  42}));
  EXPECT_EQ(HashesOf(One(type::Long()), {"[0, 1, -1, 1099511627776]"}),
            (std::vector<int32_t>{-1670924195, -1712319331, -939490007, -1596767687}));
  EXPECT_EQ(HashesOf(One(type::Byte()), {"[-1]"}), HashesOf(One(type::Int()), {"[-1]"}));
  EXPECT_EQ(HashesOf(One(type::Short()), {"[-1]"}), HashesOf(One(type::Int()), {"[-1]"}));
}

TEST(Murmur3Test, HashesStringsByByteInTheTail) {
  EXPECT_EQ(HashesOf(One(type::String()), {R"(["", "a", "abc", "abcd", "hello", "key1", "key2", "é"])"}),
            (std::vector<int32_t>{142593372, 1485273170, 1322437556, -396302900, -1008564952, -1531925907, -709694859, 2119106806}));
}

TEST(Murmur3Test, HashesFractionsAndTimes) {
  EXPECT_EQ(HashesOf(One(type::Double()), {"[1.0, NaN]"}), (std::vector<int32_t>{-460888942, -1281358385}));
  EXPECT_EQ(HashesOf(One(type::Float()), {"[1.0, NaN]"}), (std::vector<int32_t>{-466301895, -349261430}));
  EXPECT_EQ(HashesOf(One(type::Double()), {"[-0.0]"}), HashesOf(One(type::Double()), {"[0.0]"}));
  EXPECT_EQ(HashesOf(One(type::Timestamp()), {"[1000000]"}), (std::vector<int32_t>{-1715802514}));
  EXPECT_EQ(HashesOf(One(type::Decimal(10, 2)), {R"(["1.23"])"}), (std::vector<int32_t>{-46242105}));
  EXPECT_EQ(HashesOf(One(type::Decimal(38, 0)), {R"(["1", "-1"])"}), (std::vector<int32_t>{-386724586, 1398487324}));
  EXPECT_EQ(HashesOf(One(type::Decimal(20, 0)), {R"(["128", "10000000000000000000"])"}), (std::vector<int32_t>{-544401882, 645599275}));
}

TEST(Murmur3Test, ChainsColumnsAndSkipsNulls) {
  EXPECT_EQ(HashesOf({{{"a", type::Int()}, {"b", type::Int()}}}, {"[1, null]", "[2, 2]"}), (std::vector<int32_t>{-222940379, 1765031574}));
  EXPECT_EQ(HashesOf({{{"a", type::String()}, {"b", type::String()}}}, {R"(["a"])", R"(["b"])"}), (std::vector<int32_t>{190734147}));
  EXPECT_EQ(HashesOf({{{"a", type::Int()}, {"b", type::String()}}}, {"[5]", R"(["hi"])"}), (std::vector<int32_t>{2124481084}));
}

TEST(Murmur3Test, HashesNestedValues) {
  const type::TypePtr window = type::WindowStruct(type::Timestamp());
  EXPECT_EQ(HashesOf(One(window), {"[[0, 10000000], null]"}), (std::vector<int32_t>{-390309386, 42}));
  EXPECT_EQ(HashesOf({{{"w", window}, {"k", type::String()}}}, {"[[0, 10000000]]", R"(["a"])"}), (std::vector<int32_t>{-862206160}));
  EXPECT_EQ(HashesOf({{{"a", type::String()}, {"b", type::Array(type::Int())}, {"c", type::Int()}}}, {R"(["Spark"])", "[[123]]", "[2]"}),
            (std::vector<int32_t>{-1321691492}));
}

TEST(Murmur3Test, PartitionIsNeverNegative) {
  EXPECT_EQ(PartitionOf(-559580957, 5), 3);
  EXPECT_EQ(PartitionOf(-559580957, 200), 43);
  EXPECT_EQ(PartitionOf(42, 5), 2);
}

}  // namespace
}  // namespace tidemill::row
