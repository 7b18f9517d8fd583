#include "checkpoint/commit_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fs/local_file_system.h"
#include "testing/simulated_disk.h"

namespace tidemill::checkpoint {
namespace {

TEST(CommitLogTest, VersionOneIsWrittenAsSparkWritesIt) {
  EXPECT_EQ(PrintCommitEntry({.next_batch_watermark_ms = 0}), "v1\n{\"nextBatchWatermarkMs\":0}");
  EXPECT_EQ(ParseCommitEntry("v1\n{\"nextBatchWatermarkMs\":7}").ValueOrDie().next_batch_watermark_ms, 7);
}

TEST(CommitLogTest, EveryVersionIsReadAndKeptAsItIs) {
  for (const std::string text : {"v1\n{\"nextBatchWatermarkMs\":0,\"stateUniqueIds\":{}}",
                                 "v2\n{\"nextBatchWatermarkMs\":5,\"stateUniqueIds\":{\"0\":[[\"id1\",\"id2\"],[\"id3\",\"id4\"]]}}",
                                 "v3\n{\"nextBatchWatermarkMs\":5}"}) {
    EXPECT_EQ(PrintCommitEntry(ParseCommitEntry(text).ValueOrDie()), text);
  }
  EXPECT_EQ(ParseCommitEntry("v3\n{\"nextBatchWatermarkMs\":5,\"sinkMetadataMap\":{\"a\":{}}}").ValueOrDie().next_batch_watermark_ms, 5);
}

TEST(CommitLogTest, OldEntriesHaveNoWatermark) {
  for (const char* text : {"v1\n{}", "v1", "v1\n"}) EXPECT_EQ(ParseCommitEntry(text).ValueOrDie().next_batch_watermark_ms, 0) << text;
}

TEST(CommitLogTest, DamageIsRefused) {
  for (const char* text : {"", "v4\n{}", "x", "v1\n{", "v1\n{\"nextBatchWatermarkMs\":\"x\"}", "v1\n{\"nextBatchWatermarkMs\":18446744073709551615}"}) {
    EXPECT_FALSE(ParseCommitEntry(text).ok()) << text;
  }
}

TEST(CommitLogTest, EntriesLast) {
  testing::SimulatedDisk disk;
  const auto files = fs::MakeLocalFileSystem(disk);
  CommitLog log(*files, "/ck/commits");
  ASSERT_TRUE(log.Add(0, {.next_batch_watermark_ms = 3}).ok());
  disk.Reboot(testing::Survival::kNothingUnsynced);
  EXPECT_THAT(log.ListIds().ValueOrDie(), ::testing::ElementsAre(0));
  EXPECT_EQ(log.Get(0).ValueOrDie().next_batch_watermark_ms, 3);
  EXPECT_FALSE(log.Get(1).ok());
}

}  // namespace
}  // namespace tidemill::checkpoint
