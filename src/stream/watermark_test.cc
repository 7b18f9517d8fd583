#include "stream/watermark.h"

#include <gtest/gtest.h>

namespace tidemill::stream {
namespace {

using exec::EventTimeStats;

EventTimeStats Saw(int64_t max_ms) { return {.count = 1, .max_ms = max_ms, .min_ms = max_ms, .sum_ms = static_cast<double>(max_ms)}; }
constexpr EventTimeStats kSilent = {};

TEST(WatermarkTest, FollowsTheLatestEventLessTheDelayAndNeverGoesBack) {
  const std::vector<int64_t> delays = {5'000};
  Watermarks marks;
  marks = AdvanceWatermarks(marks, std::vector{Saw(12'000)}, delays, WatermarkPolicy::kMin);
  EXPECT_EQ(marks.global_ms, 7'000);
  marks = AdvanceWatermarks(marks, std::vector{Saw(3'000)}, delays, WatermarkPolicy::kMin);
  EXPECT_EQ(marks.global_ms, 7'000);
  marks = AdvanceWatermarks(marks, std::vector{kSilent}, delays, WatermarkPolicy::kMin);
  EXPECT_EQ(marks.global_ms, 7'000);
}

TEST(WatermarkTest, NeverNegative) {
  const Watermarks marks = AdvanceWatermarks({}, std::vector{Saw(1'000)}, std::vector<int64_t>{5'000}, WatermarkPolicy::kMin);
  EXPECT_EQ(marks.global_ms, 0);
}

TEST(WatermarkTest, ASilentStreamHoldsTheMinimumAndNotTheMaximum) {
  const std::vector<int64_t> delays = {0, 0};
  const std::vector<EventTimeStats> stats = {Saw(9'000), kSilent};
  EXPECT_EQ(AdvanceWatermarks({}, stats, delays, WatermarkPolicy::kMin).global_ms, 0);
  EXPECT_EQ(AdvanceWatermarks({}, stats, delays, WatermarkPolicy::kMax).global_ms, 9'000);
}

TEST(WatermarkTest, AfterARestartEveryStreamHasToDeliverAgain) {
  const std::vector<int64_t> delays = {0, 0};
  Watermarks marks{.global_ms = 8'000, .operators_ms = {}};
  marks = AdvanceWatermarks(marks, std::vector{Saw(20'000), kSilent}, delays, WatermarkPolicy::kMin);
  EXPECT_EQ(marks.global_ms, 8'000);
  marks = AdvanceWatermarks(marks, std::vector{kSilent, Saw(15'000)}, delays, WatermarkPolicy::kMin);
  EXPECT_EQ(marks.global_ms, 15'000);
}

TEST(WatermarkTest, APlanWithoutWatermarkLeavesItAlone) {
  EXPECT_EQ(AdvanceWatermarks({.global_ms = 5, .operators_ms = {}}, {}, {}, WatermarkPolicy::kMax).global_ms, 5);
}

TEST(WatermarkTest, PolicyNames) {
  EXPECT_EQ(*ParseWatermarkPolicy("min"), WatermarkPolicy::kMin);
  EXPECT_EQ(*ParseWatermarkPolicy("max"), WatermarkPolicy::kMax);
  EXPECT_FALSE(ParseWatermarkPolicy("avg").ok());
}

}  // namespace
}  // namespace tidemill::stream
