#include "stream/pinned_config.h"

#include <gtest/gtest.h>

namespace tidemill::stream {
namespace {

TEST(RecordConfTest, ANewQueryRecordsTheKeysOfItsRelease) {
  const Config session;
  EXPECT_EQ(RecordConf(session).size(), 9u);
  EXPECT_EQ(RecordConf(*session.With(conf::kCompatSparkVersion, "4.0")).size(), 11u);
  EXPECT_EQ(RecordConf(*session.With(conf::kCompatSparkVersion, "4.2")).size(), 15u);
  EXPECT_EQ(RecordConf(*session.With(conf::kCompatSparkVersion, "4.3")).size(), 17u);
}

TEST(RecordConfTest, TheNineOfRelease35WithTheirValues) {
  const RecordedConf expected = {
      {"spark.sql.shuffle.partitions", "3"},
      {"spark.sql.streaming.stateStore.providerClass", "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"},
      {"spark.sql.streaming.multipleWatermarkPolicy", "min"},
      {"spark.sql.streaming.flatMapGroupsWithState.stateFormatVersion", "2"},
      {"spark.sql.streaming.aggregation.stateFormatVersion", "2"},
      {"spark.sql.streaming.join.stateFormatVersion", "2"},
      {"spark.sql.streaming.stateStore.compression.codec", "lz4"},
      {"spark.sql.streaming.stateStore.rocksdb.formatVersion", "5"},
      {"spark.sql.streaming.statefulOperator.useStrictDistribution", "true"},
  };
  EXPECT_EQ(RecordConf(*Config().With(conf::kShufflePartitions, "3")), expected);
}

TEST(RecordConfTest, WhatShapesTheFilesIsRecordedForEveryRelease) {
  const RecordedConf recorded = RecordConf(*Config().With(conf::kRowChecksum, "true"));
  EXPECT_EQ(recorded.size(), 10u);
  EXPECT_EQ(recorded.at(conf::kRowChecksum), "true");
}

TEST(PinConfTest, RecordedValuesWinWithAWarning) {
  const Config session = *Config().With(conf::kShufflePartitions, "3");
  const PinnedConfig pinned = *PinConf(session, {{conf::kShufflePartitions, "5"}, {conf::kCompressionCodec, "zstd"}});
  EXPECT_EQ(pinned.config.Get(conf::kShufflePartitions), "5");
  EXPECT_EQ(pinned.config.Get(conf::kCompressionCodec), "zstd");
  ASSERT_EQ(pinned.warnings.size(), 1u) << "a default that loses is nobody's wish";
  EXPECT_NE(pinned.warnings[0].find("spark.sql.shuffle.partitions is '5'"), std::string::npos) << pinned.warnings[0];
}

TEST(PinConfTest, AbsentKeysMeanWhatTheirWriterMeant) {
  const Config session = *Config().With(conf::kShufflePartitions, "7");
  const PinnedConfig pinned = *PinConf(session, {});
  EXPECT_EQ(pinned.config.Get(conf::kShufflePartitions), "7");
  EXPECT_EQ(pinned.config.Get(conf::kAggregationStateFormat), "1");
  EXPECT_EQ(pinned.config.Get(conf::kJoinStateFormat), "1");
  EXPECT_EQ(pinned.config.Get(conf::kUseStrictDistribution), "false");
  EXPECT_EQ(pinned.config.Get(conf::kPruneFilters), "true");
  EXPECT_EQ(pinned.config.Get(conf::kCompressionCodec), "lz4");
  EXPECT_EQ(pinned.recorded.at(conf::kShufflePartitions), "7") << "from now on the number is pinned";
  EXPECT_EQ(pinned.recorded.size(), 9u);
}

TEST(PinConfTest, UnknownKeysAndTheVendorNameAreWrittenOn) {
  const RecordedConf recorded = {{"spark.some.future.key", "x"},
                                 {"spark.databricks.sql.optimizer.pruneFiltersCanPruneStreamingSubplan", "false"}};
  const PinnedConfig pinned = *PinConf(Config(), recorded);
  EXPECT_EQ(pinned.recorded.at("spark.some.future.key"), "x");
  EXPECT_EQ(pinned.config.Get(conf::kPruneFilters), "false");
}

TEST(PinConfTest, AValueThatDoesNotParseNamesTheLog) {
  const Status status = PinConf(Config(), {{conf::kShufflePartitions, "many"}}).status();
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("the checkpoint's offset log records spark.sql.shuffle.partitions"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace tidemill::stream
