#include "stream/trigger.h"

#include <gtest/gtest.h>

namespace tidemill::stream {
namespace {

std::string ConditionOf(const Status& status) {
  const ErrorDetail* detail = ErrorDetail::Of(status);
  return detail == nullptr ? "no detail" : detail->condition;
}

TEST(ParseTriggerTest, TakesSpellingsOfUsers) {
  EXPECT_EQ(ParseTrigger("available-now")->kind, TriggerKind::kAvailableNow);
  EXPECT_EQ(ParseTrigger("AvailableNow")->kind, TriggerKind::kAvailableNow);
  EXPECT_EQ(ParseTrigger("once")->kind, TriggerKind::kOnce);
  EXPECT_EQ(ParseTrigger("10 seconds")->interval_ms, 10'000);
  EXPECT_EQ(ParseTrigger("1 minute 30 SECONDS")->interval_ms, 90'000);
  EXPECT_EQ(ParseTrigger("interval 1.5 seconds")->interval_ms, 1'500);
  EXPECT_EQ(ParseTrigger("0 seconds")->interval_ms, 0);
  EXPECT_EQ(ParseTrigger("2 weeks")->interval_ms, 14 * 86'400'000LL);
  EXPECT_EQ(ParseTrigger("500 milliseconds")->interval_ms, 500);
  EXPECT_EQ(ParseTrigger("10 seconds")->kind, TriggerKind::kProcessingTime);
}

TEST(ParseTriggerTest, RefusesInSparksWords) {
  const Status negative = ParseTrigger("-1 second").status();
  EXPECT_EQ(negative.message(), "requirement failed: the interval of trigger should not be negative");
  EXPECT_EQ(ConditionOf(negative), "");

  const Status month = ParseTrigger("1 month").status();
  EXPECT_EQ(month.message(), "Doesn't support month or year interval: 1 month");
  EXPECT_EQ(ConditionOf(month), "_LEGACY_ERROR_TEMP_3262");
  EXPECT_EQ(ErrorDetail::Of(month)->parameters.at("interval"), "1 month");

  const Status word = ParseTrigger("soon").status();
  EXPECT_EQ(ConditionOf(word), "INVALID_INTERVAL_FORMAT.UNRECOGNIZED_NUMBER");
  EXPECT_EQ(ErrorDetail::Of(word)->parameters.at("input"), "soon");
  EXPECT_EQ(ErrorDetail::Of(word)->parameters.at("number"), "soon");

  EXPECT_EQ(ConditionOf(ParseTrigger("").status()), "INVALID_INTERVAL_FORMAT.INPUT_IS_EMPTY");
  EXPECT_EQ(ConditionOf(ParseTrigger("10").status()), "INVALID_INTERVAL_FORMAT.MISSING_UNIT");
  EXPECT_EQ(ConditionOf(ParseTrigger("10 moons").status()), "INVALID_INTERVAL_FORMAT.INVALID_UNIT");
  EXPECT_EQ(ConditionOf(ParseTrigger("99999999999999999999 days").status()), "INVALID_INTERVAL_FORMAT.INVALID_VALUE");
  EXPECT_EQ(ConditionOf(ParseTrigger("1.5 days").status()), "INVALID_INTERVAL_FORMAT.INVALID_VALUE");
}

TEST(NextTickTest, TicksAlignToTheEpoch) {
  EXPECT_EQ(NextTickMs(0, 1000), 1000);
  EXPECT_EQ(NextTickMs(1, 1000), 1000);
  EXPECT_EQ(NextTickMs(999, 1000), 1000);
  EXPECT_EQ(NextTickMs(1000, 1000), 2000);
  EXPECT_EQ(NextTickMs(-1, 1000), 0);
  EXPECT_EQ(NextTickMs(-1000, 1000), 0);
}

}  // namespace
}  // namespace tidemill::stream
