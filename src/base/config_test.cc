#include "base/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/config_internal.h"

namespace tidemill {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Config Set(std::string_view key, std::string_view value) { return Config().With(key, value).ValueOrDie(); }

std::string ConditionOf(std::string_view key, std::string_view value) {
  const Status status = Config().With(key, value).status();
  const ErrorDetail* detail = ErrorDetail::Of(status);
  return detail == nullptr ? "" : detail->condition;
}

TEST(ConfigTest, EveryDefaultPassesItsOwnCheck) {
  for (const internal::ConfigKey& key : internal::ConfigKeys()) {
    EXPECT_TRUE(Config().With(key.name, internal::DefaultOf(key)).ok()) << key.name;
  }
}

TEST(ConfigTest, DefaultsAreSparksButForThePartitions) {
  const Config config;
  EXPECT_EQ(config.GetInt(conf::kShufflePartitions), 16);
  EXPECT_TRUE(config.GetBool(conf::kAnsiEnabled));
  EXPECT_FALSE(config.GetBool(conf::kCaseSensitive));
  EXPECT_EQ(config.GetInt(conf::kMinBatchesToRetain), 100);
  EXPECT_EQ(config.GetDurationMs(conf::kFileSourceCleanupDelay), 600'000);
  EXPECT_EQ(config.GetDurationMs(conf::kMaintenanceInterval), 60'000);
  EXPECT_EQ(config.Get(conf::kCompressionCodec), "lz4");
  EXPECT_FALSE(config.IsSet(conf::kCompressionCodec));
}

TEST(ConfigTest, WithLeavesTheOriginalAlone) {
  const Config config;
  const Config changed = config.With(conf::kShufflePartitions, " 7 ").ValueOrDie();
  EXPECT_EQ(config.GetInt(conf::kShufflePartitions), 16);
  EXPECT_EQ(changed.GetInt(conf::kShufflePartitions), 7);
}

TEST(ConfigTest, DurationsHaveUnits) {
  EXPECT_EQ(Set(conf::kPollingDelay, "25").GetDurationMs(conf::kPollingDelay), 25);
  EXPECT_EQ(Set(conf::kPollingDelay, "2s").GetDurationMs(conf::kPollingDelay), 2000);
  EXPECT_EQ(Set(conf::kPollingDelay, "3min").GetDurationMs(conf::kPollingDelay), 180'000);
  EXPECT_EQ(Set(conf::kPollingDelay, "1 D").GetDurationMs(conf::kPollingDelay), 86'400'000);
}

TEST(ConfigTest, ValuesAreRefusedWithTheirKey) {
  EXPECT_EQ(ConditionOf(conf::kAnsiEnabled, "yes"), "INVALID_CONF_VALUE.TYPE_MISMATCH");
  EXPECT_EQ(ConditionOf(conf::kShufflePartitions, "many"), "INVALID_CONF_VALUE.TYPE_MISMATCH");
  EXPECT_EQ(ConditionOf(conf::kShufflePartitions, "0"), "INVALID_CONF_VALUE.REQUIREMENT");
  EXPECT_EQ(ConditionOf(conf::kShufflePartitions, "3000000000"), "INVALID_CONF_VALUE.REQUIREMENT");
  EXPECT_EQ(ConditionOf(conf::kPollingDelay, "10 parsecs"), "INVALID_CONF_VALUE.TYPE_MISMATCH");
  EXPECT_EQ(ConditionOf(conf::kPollingDelay, "99999999999999999h"), "INVALID_CONF_VALUE.TYPE_MISMATCH");
  EXPECT_EQ(ConditionOf(conf::kMultipleWatermarkPolicy, "mean"), "INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS");
  EXPECT_EQ(ConditionOf(conf::kMultipleWatermarkPolicy, "MAX"), "");
  EXPECT_EQ(ConditionOf(conf::kSessionTimeZone, "Mars/Olympus"), "INVALID_CONF_VALUE.TIME_ZONE");
  EXPECT_EQ(ConditionOf(conf::kSessionTimeZone, "../../etc/passwd"), "INVALID_CONF_VALUE.TIME_ZONE");
  EXPECT_THAT(Config().With(conf::kAnsiEnabled, "yes").status().message(), HasSubstr("spark.sql.ansi.enabled"));
}

TEST(ConfigTest, OffsetsAreTimeZones) {
  for (const char* zone : {"UTC", "Z", "+02:00", "-8", "GMT+1", "UTC-03:30"}) EXPECT_TRUE(internal::IsTimeZone(zone)) << zone;
  for (const char* zone : {"+19:00", "+2:", "GMT+", "", "+01:60"}) EXPECT_FALSE(internal::IsTimeZone(zone)) << zone;
}

TEST(ConfigTest, UnknownKeysNameTheirNeighbour) {
  EXPECT_THAT(Set("spark.sql.shuffle.partition", "4").Unknown(), ElementsAre(HasSubstr("Did you mean spark.sql.shuffle.partitions?")));
  EXPECT_THAT(Set("zebra", "4").Unknown(), ElementsAre(HasSubstr("it has no effect")));
  EXPECT_THAT(Set(conf::kShufflePartitions, "4").Unknown(), ElementsAre());
}

TEST(ConfigTest, PopularKeysThatDoNothingSayWhy) {
  EXPECT_THAT(Set("spark.sql.streaming.stateStore.retryCount", "3").Unknown(), ElementsAre(HasSubstr("spark.task.maxFailures")));
  EXPECT_THAT(Set("fs.s3a.consistent.retry.count", "3").Unknown(), ElementsAre(HasSubstr("strongly consistent")));
  EXPECT_THAT(Set("spark.executor.memory", "8g").Unknown(), ElementsAre(HasSubstr("--memory")));
}

TEST(ConfigTest, NearestNameNeedsToBeNear) {
  EXPECT_EQ(NearestName("maxFilePerTrigger", {"maxFilesPerTrigger", "maxFileAge"}), "maxFilesPerTrigger");
  EXPECT_EQ(NearestName("PATH", {"path", "mode"}), "path");
  EXPECT_EQ(NearestName("colour", {"path", "mode"}), "");
}

}  // namespace
}  // namespace tidemill
