#include "checkpoint/recovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/commit_log.h"
#include "checkpoint/offset_log.h"
#include "fs/local_file_system.h"
#include "testing/simulated_disk.h"

namespace tidemill::checkpoint {
namespace {

using ::testing::HasSubstr;
using testing::Fault;
using testing::SimulatedDisk;
using testing::Survival;

struct Case {
  std::vector<int64_t> offsets;
  std::vector<int64_t> commits;
  int64_t next;
  bool rerun;
  std::optional<int64_t> start;
  bool behind;
};

TEST(RecoveryTest, TheLogsDecideWhereToGoOn) {
  const std::vector<Case> cases = {
      {{}, {}, 0, false, std::nullopt, false},
      {{0}, {}, 0, true, std::nullopt, false},
      {{0}, {0}, 1, false, 0, false},
      {{0, 1}, {0}, 1, true, 0, false},
      {{0, 1}, {0, 1}, 2, false, 1, false},
      {{0, 1, 2}, {0}, 2, true, 1, true},
      {{0, 1, 2}, {}, 2, true, 1, true},
      {{9, 10}, {10}, 11, false, 10, false},
      {{9, 10}, {9}, 10, true, 9, false},
      {{0, 7, 8}, {0, 8}, 9, false, 8, false},
  };
  for (const Case& wanted : cases) {
    const RecoveryPlan plan = PlanRecovery({wanted.offsets, wanted.commits}).ValueOrDie();
    const std::string name = fmt::format("{} offsets, {} commits, next {}", wanted.offsets.size(), wanted.commits.size(), wanted.next);
    EXPECT_EQ(plan.next_batch_id, wanted.next) << name;
    EXPECT_EQ(plan.rerun, wanted.rerun) << name;
    EXPECT_EQ(plan.start_offsets_of, wanted.start) << name;
    EXPECT_EQ(plan.commits_behind, wanted.behind) << name;
    EXPECT_EQ(plan.end_offsets_of, wanted.offsets.empty() ? std::nullopt : std::optional(wanted.offsets.back())) << name;
  }
}

TEST(RecoveryTest, LostEntriesAreNamed) {
  EXPECT_THAT(PlanRecovery({{10}, {10}}).status().message(), HasSubstr("batch 9 doesn't exist"));
  EXPECT_THAT(PlanRecovery({{0, 1, 2, 4}, {0, 1, 2}}).status().message(), HasSubstr("batch 3 doesn't exist"));
  for (const auto& offsets : {std::vector<int64_t>{0, 1}, std::vector<int64_t>{}}) {
    const Status status = PlanRecovery({offsets, {0, 1, 2}}).status();
    ASSERT_NE(ErrorDetail::Of(status), nullptr);
    EXPECT_EQ(ErrorDetail::Of(status)->condition, "CONCURRENT_STREAM_LOG_UPDATE");
    EXPECT_THAT(status.message(), HasSubstr("Restore offsets/2"));
  }
}

// A process dies between linking offsets/0 and syncing its folder; the next one relies on the entry; then the power goes.
TEST(RecoveryTest, EntriesOfADeadProcessAreMadeDurable) {
  SimulatedDisk disk;
  const Layout layout{"/ck"};
  {
    const auto files = fs::MakeLocalFileSystem(disk);
    ASSERT_TRUE(WriteQueryId(*files, layout, "id").ok());
    disk.Inject({.fault = Fault::kCrashAfter, .kind = "link", .path = "/ck/offsets/0"});
    EXPECT_FALSE(OffsetLog(*files, layout.offsets()).Add(0, OffsetEntry{}).ok());
  }
  disk.Reboot(Survival::kPageCache);
  const auto files = fs::MakeLocalFileSystem(disk);
  ASSERT_TRUE(MakeRecoveryDurable(*files, layout).ok());
  ASSERT_TRUE(CommitLog(*files, layout.commits()).Add(0, CommitEntry{}).ok());
  disk.Reboot(Survival::kNothingUnsynced);
  EXPECT_TRUE(disk.Content("/ck/offsets/0").has_value());
}

TEST(RecoveryTest, WhatSparkLeftIsMadeDurableAsAWhole) {
  SimulatedDisk disk;
  // Spark syncs nothing.
  disk.ignore_sync = [](const testing::Call&) { return true; };
  const Layout layout{"/ck"};
  {
    const auto spark = fs::MakeLocalFileSystem(disk);
    for (const char* path : {"/ck/offsets/0", "/ck/offsets/.0.crc", "/ck/commits/0", "/ck/state/0/3/1.delta"}) {
      ASSERT_TRUE(spark->CreateIfAbsent(path, "x").ok());
    }
  }
  disk.ignore_sync = nullptr;
  const auto files = fs::MakeLocalFileSystem(disk);
  ASSERT_TRUE(MakeRecoveryDurable(*files, layout).ok());
  disk.Reboot(Survival::kNothingUnsynced);
  EXPECT_TRUE(disk.Content("/ck/state/0/3/1.delta").has_value());
}

TEST(RecoveryTest, AnEmptyCheckpointNeedsNothing) {
  SimulatedDisk disk;
  const auto files = fs::MakeLocalFileSystem(disk);
  EXPECT_TRUE(MakeRecoveryDurable(*files, Layout{"/ck"}).ok());
}

TEST(QueryMetadataTest, TheIdIsWrittenOnce) {
  SimulatedDisk disk;
  const auto files = fs::MakeLocalFileSystem(disk);
  const Layout layout{"/ck"};
  EXPECT_FALSE(ReadQueryId(*files, layout).ValueOrDie().has_value());
  ASSERT_TRUE(WriteQueryId(*files, layout, "dddc5e7f-1e71-454c-8362-de184444fb5a").ok());
  EXPECT_EQ(disk.Content("/ck/metadata"), "{\"id\":\"dddc5e7f-1e71-454c-8362-de184444fb5a\"}");
  EXPECT_EQ(ReadQueryId(*files, layout).ValueOrDie(), "dddc5e7f-1e71-454c-8362-de184444fb5a");
  EXPECT_EQ(ErrorDetail::Of(WriteQueryId(*fs::MakeLocalFileSystem(disk), layout, "other"))->condition, "CONCURRENT_QUERY");
  for (const char* text : {"", "{}", "{\"id\":7}", "[]"}) {
    disk.Put("/ck/metadata", text);
    EXPECT_FALSE(ReadQueryId(*files, layout).ok()) << text;
  }
}

TEST(QueryMetadataTest, TheLockSaysWhoHasIt) {
  SimulatedDisk disk;
  const auto files = fs::MakeLocalFileSystem(disk);
  const Layout layout{"/ck"};
  auto lock = LockCheckpoint(*files, layout).ValueOrDie();
  const std::string message = LockCheckpoint(*files, layout).status().message();
  EXPECT_THAT(message, HasSubstr("host "));
  EXPECT_THAT(message, HasSubstr(", pid "));
  EXPECT_THAT(message, HasSubstr(", started 20"));
  lock.reset();
  EXPECT_TRUE(LockCheckpoint(*files, layout).ok());
}

}  // namespace
}  // namespace tidemill::checkpoint
