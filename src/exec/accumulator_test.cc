#include "exec/accumulator.h"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/type.h>
#include <arrow/util/decimal.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tidemill::exec {
namespace {

using expr::AggregateFunction;
using expr::AggregateKind;

template <typename Builder, typename Value>
ArrayPtr ArrayOf(Builder builder, const std::vector<std::optional<Value>>& values) {
  for (const auto& value : values) EXPECT_TRUE((value ? builder.Append(*value) : builder.AppendNull()).ok());
  return builder.Finish().ValueOrDie();
}
ArrayPtr Longs(const std::vector<std::optional<int64_t>>& values) { return ArrayOf(arrow::Int64Builder(), values); }
ArrayPtr Doubles(const std::vector<std::optional<double>>& values) { return ArrayOf(arrow::DoubleBuilder(), values); }
ArrayPtr Strings(const std::vector<std::optional<std::string>>& values) { return ArrayOf(arrow::StringBuilder(), values); }
ArrayPtr Decimals(int precision, int scale, const std::vector<std::optional<arrow::Decimal128>>& values) {
  return ArrayOf(arrow::Decimal128Builder(arrow::decimal128(precision, scale)), values);
}

AggregateFunction Function(AggregateKind kind, type::TypePtr result, std::vector<type::Field> buffer) {
  AggregateFunction function;
  function.kind = kind;
  function.result_type = std::move(result);
  function.buffer = std::move(buffer);
  return function;
}

/// Two batches through one accumulator, as partial then merged buffers of a second one, then finished.
Result<std::string> TwoPhase(const AggregateFunction& function, const std::vector<ArrayPtr>& batches, const std::vector<uint32_t>& groups, int64_t count) {
  ARROW_ASSIGN_OR_RAISE(auto total, Accumulator::Make(function));
  total->Resize(count);
  std::vector<uint32_t> identity(count);
  for (int64_t i = 0; i < count; ++i) identity[i] = static_cast<uint32_t>(i);
  for (const ArrayPtr& batch : batches) {
    ARROW_ASSIGN_OR_RAISE(auto partial, Accumulator::Make(function));
    partial->Resize(count);
    ARROW_RETURN_NOT_OK(partial->Update(batch.get(), groups));
    ARROW_ASSIGN_OR_RAISE(auto buffers, partial->Buffers());
    ARROW_RETURN_NOT_OK(total->Merge(buffers, identity));
  }
  ARROW_ASSIGN_OR_RAISE(auto buffers, total->Buffers());
  ARROW_ASSIGN_OR_RAISE(auto result, FinishAggregate(function, buffers));
  std::string text;
  for (int64_t i = 0; i < result->length(); ++i) text += (i ? " " : "") + result->GetScalar(i).ValueOrDie()->ToString();
  return text;
}

TEST(Accumulator, CountsRowsThatAreNotNull) {
  const auto function = Function(AggregateKind::kCount, type::Long(), {{"count", type::Long(), false}});
  EXPECT_EQ(TwoPhase(function, {Longs({1, std::nullopt, 3}), Longs({std::nullopt, 5, 6})}, {0, 0, 1}, 3).ValueOrDie(), "2 2 0");
}

TEST(Accumulator, SumsLongsAndKeepsNullForGroupsWithoutValues) {
  const auto function = Function(AggregateKind::kSum, type::Long(), {{"sum", type::Long()}});
  EXPECT_EQ(TwoPhase(function, {Longs({1, 2, std::nullopt}), Longs({10, 20, std::nullopt})}, {0, 0, 1}, 2).ValueOrDie(), "33 null");
}

TEST(Accumulator, LongSumFailsOnOverflowInAnsiModeAndWrapsOtherwise) {
  auto function = Function(AggregateKind::kSum, type::Long(), {{"sum", type::Long()}});
  const auto batch = Longs({std::numeric_limits<int64_t>::max(), 1});
  const auto result = TwoPhase(function, {batch}, {0, 0}, 1);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(ErrorDetail::Of(result.status())->condition, "ARITHMETIC_OVERFLOW");
  function.ansi = false;
  EXPECT_EQ(TwoPhase(function, {batch}, {0, 0}, 1).ValueOrDie(), std::to_string(std::numeric_limits<int64_t>::min()));
}

TEST(Accumulator, AveragesDoubles) {
  const auto function = Function(AggregateKind::kAvg, type::Double(), {{"sum", type::Double()}, {"count", type::Long()}});
  EXPECT_EQ(TwoPhase(function, {Doubles({1, 2, std::nullopt}), Doubles({6, std::nullopt, std::nullopt})}, {0, 0, 1}, 2).ValueOrDie(), "3 null");
}

TEST(Accumulator, NanIsTheGreatestValue) {
  const double nan = std::nan("");
  const auto max = Function(AggregateKind::kMax, type::Double(), {{"max", type::Double()}});
  const auto min = Function(AggregateKind::kMin, type::Double(), {{"min", type::Double()}});
  EXPECT_EQ(TwoPhase(max, {Doubles({1, nan}), Doubles({5, 2})}, {0, 0}, 1).ValueOrDie(), "nan");
  EXPECT_EQ(TwoPhase(min, {Doubles({nan, nan}), Doubles({nan, 2})}, {0, 0}, 1).ValueOrDie(), "2");
}

TEST(Accumulator, ExtremesOfStringsGrowAndShrink) {
  const auto max = Function(AggregateKind::kMax, type::String(), {{"max", type::String()}});
  const auto min = Function(AggregateKind::kMin, type::String(), {{"min", type::String()}});
  const std::vector<ArrayPtr> batches = {Strings({"pear", "", std::nullopt}), Strings({"zebra and more", "a", std::nullopt})};
  EXPECT_EQ(TwoPhase(max, batches, {0, 0, 1}, 2).ValueOrDie(), "zebra and more null");
  EXPECT_EQ(TwoPhase(min, batches, {0, 0, 1}, 2).ValueOrDie(), " null");
}

TEST(Accumulator, SumsWideDecimalsAndReportsWhatDoesNotFit) {
  const auto sum_type = type::Decimal(38, 2);
  auto function = Function(AggregateKind::kSum, sum_type, {{"sum", sum_type}, {"isEmpty", type::Boolean(), false}});
  EXPECT_EQ(TwoPhase(function, {Decimals(38, 2, {arrow::Decimal128(125), std::nullopt}), Decimals(38, 2, {arrow::Decimal128(-25), std::nullopt})}, {0, 1}, 2).ValueOrDie(),
            "1.00 null");
  const auto huge = arrow::Decimal128::GetMaxValue(38);
  const auto overflow = TwoPhase(function, {Decimals(38, 2, {huge, huge})}, {0, 0}, 1);
  ASSERT_FALSE(overflow.ok());
  EXPECT_EQ(ErrorDetail::Of(overflow.status())->condition, "ARITHMETIC_OVERFLOW");
  function.ansi = false;
  EXPECT_EQ(TwoPhase(function, {Decimals(38, 2, {huge, huge})}, {0, 0}, 1).ValueOrDie(), "null");
}

TEST(Accumulator, AveragesWideDecimalsRoundingHalfUp) {
  const auto function = Function(AggregateKind::kAvg, type::Decimal(24, 6), {{"sum", type::Decimal(30, 2)}, {"count", type::Long()}});
  // (0.01 + 0.00 + 0.01) / 3 = 0.00666…
  EXPECT_EQ(TwoPhase(function, {Decimals(20, 2, {arrow::Decimal128(1), arrow::Decimal128(0), arrow::Decimal128(1)})}, {0, 0, 0}, 1).ValueOrDie(), "0.006667");
  EXPECT_EQ(TwoPhase(function, {Decimals(20, 2, {arrow::Decimal128(-1), arrow::Decimal128(0), arrow::Decimal128(-1)})}, {0, 0, 0}, 1).ValueOrDie(), "-0.006667");
}

TEST(Accumulator, NarrowDecimalsAreHeldUnscaled) {
  auto sum = Function(AggregateKind::kSum, type::Decimal(18, 2), {{"sum", type::Long()}});
  sum.unscaled_scale = 2;
  EXPECT_EQ(TwoPhase(sum, {Decimals(8, 2, {arrow::Decimal128(125), arrow::Decimal128(-50)})}, {0, 0}, 1).ValueOrDie(), "0.75");
  auto avg = Function(AggregateKind::kAvg, type::Decimal(12, 6), {{"sum", type::Double()}, {"count", type::Long()}});
  avg.unscaled_scale = 2;
  EXPECT_EQ(TwoPhase(avg, {Decimals(8, 2, {arrow::Decimal128(125), arrow::Decimal128(-50)})}, {0, 0}, 1).ValueOrDie(), "0.375000");
  // 0.09 over 32 rows is 0.0028125, whose double lies below it: a half all the same.
  std::vector<std::optional<arrow::Decimal128>> rows(32, arrow::Decimal128(0));
  rows[0] = arrow::Decimal128(9);
  EXPECT_EQ(TwoPhase(avg, {Decimals(8, 2, rows)}, std::vector<uint32_t>(32, 0), 1).ValueOrDie(), "0.002813");
}

}  // namespace
}  // namespace tidemill::exec
