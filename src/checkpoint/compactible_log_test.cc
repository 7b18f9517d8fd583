#include "checkpoint/compactible_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fs/local_file_system.h"
#include "testing/fake_clock.h"
#include "testing/simulated_disk.h"

namespace tidemill::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Fault;
using testing::Survival;

TEST(CompactibleLogTest, TheIntervalIsDerivedFromWhatIsThere) {
  EXPECT_EQ(CompactInterval({}, 10), 10);
  EXPECT_EQ(CompactInterval({9, 19, 24}, 10), 5);
  const std::vector<std::pair<int64_t, int>> vectors = {{2, 3}, {9, 10}, {17, 18}, {29, 10}, {23, 12}, {28, 29}};
  for (const auto& [id, interval] : vectors) EXPECT_EQ(CompactInterval({id}, 10), interval) << id;
}

TEST(CompactibleLogTest, FilesAreLinesBehindAVersion) {
  EXPECT_EQ(PrintLogLines({}), "v1");
  EXPECT_EQ(PrintLogLines({"{\"a\":1}", "{\"a\":2}"}), "v1\n{\"a\":1}\n{\"a\":2}");
  EXPECT_THAT(ParseLogLines("v1\n{\"path\":\"/a/b/3\",\"timestamp\":1480730950000,\"batchId\":3}\n").ValueOrDie(),
              ElementsAre("{\"path\":\"/a/b/3\",\"timestamp\":1480730950000,\"batchId\":3}"));
  EXPECT_TRUE(ParseLogLines("v1").ValueOrDie().empty());
  EXPECT_THAT(ParseLogLines("v2").status().message(), HasSubstr("unsupported log version"));
  EXPECT_FALSE(ParseLogLines("").ok());
}

class CompactibleLogFilesTest : public ::testing::Test {
 protected:
  CompactibleLogFilesTest() {
    disk_.SetTimeSource([this] { return clock_.NowMs(); });
  }

  std::unique_ptr<CompactibleLog> Open(CompactionOptions options = {}) {
    return std::make_unique<CompactibleLog>(*files_, clock_, "/log", options);
  }

  void Fill(CompactibleLog& log, int64_t first, int64_t last) {
    for (int64_t id = first; id <= last; ++id) ASSERT_TRUE(log.Add(id, {fmt::format("{{\"id\":{}}}", id)}).ValueOrDie());
  }

  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const auto& [path, content] : disk_.Files()) names.push_back(fs::BaseName(path));
    return names;
  }

  testing::FakeClock clock_;
  testing::SimulatedDisk disk_;
  std::unique_ptr<fs::FileSystem> files_ = fs::MakeLocalFileSystem(disk_);
};

TEST_F(CompactibleLogFilesTest, EveryIntervalOneFileHoldsAllBefore) {
  auto log = Open({.compact_interval = 3});
  Fill(*log, 0, 6);
  EXPECT_THAT(Names(), ElementsAre("0", "1", "2.compact", "3", "4", "5.compact", "6"));
  EXPECT_EQ(disk_.Content("/log/5.compact"), "v1\n{\"id\":0}\n{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n{\"id\":4}\n{\"id\":5}");
  EXPECT_EQ(log->LatestId().ValueOrDie(), 6);
  EXPECT_EQ(log->AllLines().ValueOrDie().size(), 7u);
  EXPECT_THAT(*log->Get(3).ValueOrDie(), ElementsAre("{\"id\":3}"));
  EXPECT_FALSE(log->Get(7).ValueOrDie().has_value());
}

TEST_F(CompactibleLogFilesTest, CompactionDropsWhatIsNotWanted) {
  auto log = Open({.compact_interval = 3});
  Fill(*log, 0, 1);
  ASSERT_TRUE(log->Add(2, {"{\"id\":2}"}, [](const std::string& line) { return line != "{\"id\":0}"; }).ValueOrDie());
  EXPECT_THAT(log->AllLines().ValueOrDie(), ElementsAre("{\"id\":1}", "{\"id\":2}"));
}

TEST_F(CompactibleLogFilesTest, ALogGoesOnInTheIntervalItWasWrittenIn) {
  Fill(*Open({.compact_interval = 3}), 0, 6);
  auto log = Open({.compact_interval = 10});
  Fill(*log, 7, 8);
  EXPECT_TRUE(disk_.Content("/log/8.compact").has_value());
  EXPECT_EQ(log->AllLines().ValueOrDie().size(), 9u);
}

TEST_F(CompactibleLogFilesTest, AHoleIsNamed) {
  auto log = Open();
  Fill(*log, 0, 4);
  ASSERT_TRUE(files_->Remove("/log/2").ok());
  const Status status = log->AllLines().status();
  EXPECT_THAT(status.message(), HasSubstr("batches (2) don't exist (startId: 0, endId: 4)"));
  EXPECT_EQ(ErrorDetail::Of(status)->path, "/log/2");
}

TEST_F(CompactibleLogFilesTest, AnExistingEntryIsNotAdded) {
  disk_.Put("/log/0", "v1");
  auto log = Open();
  EXPECT_FALSE(log->Add(0, {"{}"}).ValueOrDie());
}

TEST_F(CompactibleLogFilesTest, ExpiredFilesGoWhenTheyAreOldAndCompacted) {
  auto log = Open({.compact_interval = 3, .cleanup_delay_ms = 1000, .min_batches_to_retain = 2});
  Fill(*log, 0, 7);
  ASSERT_TRUE(log->DeleteExpired(7).ok());
  EXPECT_EQ(Names().size(), 8u) << "nothing is old yet";
  clock_.AdvanceMs(1000);
  ASSERT_TRUE(log->DeleteExpired(7).ok());
  EXPECT_THAT(Names(), ElementsAre("5.compact", "6", "7"));
  EXPECT_EQ(log->AllLines().ValueOrDie().size(), 8u);
}

TEST_F(CompactibleLogFilesTest, NothingExpiresBeforeId109ByDefault) {
  auto log = Open({.cleanup_delay_ms = 0});
  Fill(*log, 0, 109);
  ASSERT_TRUE(log->DeleteExpired(108).ok());
  EXPECT_EQ(Names().size(), 110u);
  ASSERT_TRUE(log->DeleteExpired(109).ok());
  EXPECT_EQ(Names().size(), 101u);
}

TEST_F(CompactibleLogFilesTest, DeletionCanBeSwitchedOff) {
  auto log = Open({.compact_interval = 3, .cleanup_delay_ms = 0, .deletion = false, .min_batches_to_retain = 1});
  Fill(*log, 0, 7);
  ASSERT_TRUE(log->DeleteExpired(7).ok());
  EXPECT_EQ(Names().size(), 8u);
}

// A sink that is told "batch 0 is there" skips it; then the entry must not go with the power.
TEST_F(CompactibleLogFilesTest, TheLatestIdIsOneThatLasts) {
  disk_.Inject({.fault = Fault::kCrashAfter, .kind = "link"});
  EXPECT_FALSE(Open()->Add(0, {"{}"}).ok());
  disk_.Reboot(Survival::kPageCache);
  files_ = fs::MakeLocalFileSystem(disk_);
  EXPECT_EQ(Open()->LatestId().ValueOrDie(), 0);
  disk_.Reboot(Survival::kNothingUnsynced);
  EXPECT_EQ(disk_.Content("/log/0"), "v1\n{}");
}

TEST_F(CompactibleLogFilesTest, TheLatestIdLastsAfterAFailedAddToo) {
  auto log = Open();
  EXPECT_FALSE(log->LatestId().ValueOrDie().has_value());
  disk_.Inject({.kind = "syncdir", .path = "/log"});
  EXPECT_FALSE(log->Add(0, {"{}"}).ok());
  EXPECT_EQ(log->LatestId().ValueOrDie(), 0);
  disk_.Reboot(Survival::kNothingUnsynced);
  EXPECT_EQ(disk_.Content("/log/0"), "v1\n{}");
}

}  // namespace
}  // namespace tidemill::checkpoint
