#include "exec/aggregate_layout.h"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/type.h>
#include <gtest/gtest.h>

#include "row/unsafe_row.h"

namespace tidemill::exec {
namespace {

using expr::AggregateFunction;
using expr::AggregateKind;

std::string Encode(const type::Schema& schema, const std::vector<ArrayPtr>& columns) {
  row::RowBatch rows;
  EXPECT_TRUE(row::RowEncoder::Make(schema, false).ValueOrDie()->Encode(columns, 1, &rows).ok());
  return std::string(rows.row(0));
}

ArrayPtr Timestamp(std::optional<int64_t> micros) {
  arrow::TimestampBuilder builder(type::Timestamp()->ToArrow(), arrow::default_memory_pool());
  EXPECT_TRUE((micros ? builder.Append(*micros) : builder.AppendNull()).ok());
  return builder.Finish().ValueOrDie();
}
ArrayPtr Long(std::optional<int64_t> value) {
  arrow::Int64Builder builder;
  EXPECT_TRUE((value ? builder.Append(*value) : builder.AppendNull()).ok());
  return builder.Finish().ValueOrDie();
}
ArrayPtr String(const std::string& value) {
  arrow::StringBuilder builder;
  EXPECT_TRUE(builder.Append(value).ok());
  return builder.Finish().ValueOrDie();
}

constexpr char kDelay[] = R"({"spark.watermarkDelayMs":5000})";

TEST(EventTimeKey, ReadsATimestampAndTheEndOfAWindow) {
  const type::Schema plain{{{"k", type::String()}, {"ts", type::Timestamp(), true, kDelay}}};
  const auto time = EventTimeKey::Find(plain);
  ASSERT_TRUE(time.has_value());
  EXPECT_EQ((*time)(Encode(plain, {String("a"), Timestamp(1'500'000)})), 1'500'000);
  EXPECT_EQ((*time)(Encode(plain, {String("a"), Timestamp(std::nullopt)})), std::nullopt);

  const type::Schema windowed{{{"window", type::WindowStruct(type::Timestamp()), true, kDelay}, {"k", type::String()}}};
  const auto end = EventTimeKey::Find(windowed);
  ASSERT_TRUE(end.has_value());
  const auto window = arrow::StructArray::Make({Timestamp(0), Timestamp(10'000'000)}, std::vector<std::string>{"start", "end"}).ValueOrDie();
  EXPECT_EQ((*end)(Encode(windowed, {window, String("some longer key")})), 10'000'000);
}

TEST(EventTimeKey, IsAbsentWithoutWatermarkMetadata) {
  EXPECT_FALSE(EventTimeKey::Find({{{"ts", type::Timestamp()}}}).has_value());
}

std::vector<AggregateFunction> CountSumAvgMinMax() {
  const auto make = [](AggregateKind kind, std::vector<type::Field> buffer) {
    AggregateFunction function;
    function.kind = kind;
    function.result_type = buffer[0].type;
    function.buffer = std::move(buffer);
    return function;
  };
  return {make(AggregateKind::kCount, {{"count", type::Long()}}), make(AggregateKind::kSum, {{"sum", type::Long()}}),
          make(AggregateKind::kAvg, {{"sum", type::Double()}, {"count", type::Long()}}), make(AggregateKind::kMin, {{"min", type::Int()}}),
          make(AggregateKind::kMax, {{"max", type::Int()}})};
}

ArrayPtr Int(std::optional<int32_t> value) {
  arrow::Int32Builder builder;
  EXPECT_TRUE((value ? builder.Append(*value) : builder.AppendNull()).ok());
  return builder.Finish().ValueOrDie();
}
ArrayPtr Double(double value) {
  arrow::DoubleBuilder builder;
  EXPECT_TRUE(builder.Append(value).ok());
  return builder.Finish().ValueOrDie();
}

TEST(AggregateLayout, MergesFixedWidthRowsInPlaceToCanonicalBytes) {
  const AggregateLayout layout = AggregateLayout::Make({{{"k", type::String()}}}, CountSumAvgMinMax(), 2).ValueOrDie();
  ASSERT_TRUE(layout.merge.has_value());
  const std::string source = Encode(layout.buffers, {Long(2), Long(7), Double(7), Long(2), Int(-3), Int(10)});
  std::string target = layout.initial_value;
  const uint8_t* from = reinterpret_cast<const uint8_t*>(source.data());
  uint8_t* to = reinterpret_cast<uint8_t*>(target.data());
  ASSERT_TRUE(layout.merge->Merge({&from, 1}, {&to, 1}).ok());
  EXPECT_EQ(target, source);  // merging into the initial row gives the other row, byte for byte
  const std::string second = Encode(layout.buffers, {Long(1), Long(std::nullopt), Double(0), Long(0), Int(std::nullopt), Int(11)});
  from = reinterpret_cast<const uint8_t*>(second.data());
  ASSERT_TRUE(layout.merge->Merge({&from, 1}, {&to, 1}).ok());
  EXPECT_EQ(target, Encode(layout.buffers, {Long(3), Long(7), Double(7), Long(2), Int(-3), Int(11)}));
}

TEST(AggregateLayout, FormatOneRepeatsTheKeysInTheValue) {
  const AggregateLayout layout = AggregateLayout::Make({{{"k", type::String()}}}, CountSumAvgMinMax(), 1).ValueOrDie();
  EXPECT_FALSE(layout.merge.has_value());
  EXPECT_EQ(layout.state_value.size(), 7);
  EXPECT_EQ(layout.state_value.fields[0].name, "k");
  EXPECT_FALSE(AggregateLayout::Make({}, CountSumAvgMinMax(), 3).ok());
}

TEST(AggregateLayout, GrowingBuffersAreNotMergedInPlace) {
  AggregateFunction function;
  function.kind = AggregateKind::kMax;
  function.result_type = type::String();
  function.buffer = {{"max", type::String()}};
  EXPECT_FALSE(AggregateLayout::Make({}, {function}, 2).ValueOrDie().merge.has_value());
}

}  // namespace
}  // namespace tidemill::exec
