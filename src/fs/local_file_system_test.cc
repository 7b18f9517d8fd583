#include "fs/local_file_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "fs/hadoop_crc.h"
#include "testing/simulated_disk.h"

namespace tidemill::fs {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using testing::Call;
using testing::Fault;
using testing::SimulatedDisk;
using testing::Survival;

std::string ConditionOf(const Status& status) {
  const ErrorDetail* detail = ErrorDetail::Of(status);
  return detail == nullptr ? "" : detail->condition;
}

class LocalFileSystemTest : public ::testing::Test {
 protected:
  /// What a new process over the same disk has.
  void Restart(Survival survival, uint64_t seed = 0, LocalOptions options = {}) {
    disk_.Reboot(survival, seed);
    files_ = MakeLocalFileSystem(disk_, options);
  }

  StagedFile Stage(const std::string& path, std::string_view bytes, bool unique = false) {
    auto writer = files_->OpenStaged(path, unique).ValueOrDie();
    EXPECT_TRUE(writer->Append(bytes).ok());
    return writer->Finish().ValueOrDie();
  }

  std::vector<StagedFile> StageMany(int count) {
    std::vector<StagedFile> staged;
    for (int i = 0; i < count; ++i) staged.push_back(Stage(fmt::format("/ck/state/{}/1.delta", i), "delta"));
    return staged;
  }

  int64_t Count(std::string_view kind) const {
    int64_t count = 0;
    for (const Call& call : disk_.log()) count += call.kind == kind;
    return count;
  }

  SimulatedDisk disk_;
  std::unique_ptr<FileSystem> files_ = MakeLocalFileSystem(disk_);
};

// ---- CreateIfAbsent

TEST_F(LocalFileSystemTest, CreatedFilesSurviveAPowerCutWithTheirFolders) {
  ASSERT_EQ(files_->CreateIfAbsent("/a/b/offsets/0", "v1").ValueOrDie(), CreateOutcome::kCreated);
  EXPECT_EQ(files_->sync_counters().rounds, 1);
  Restart(Survival::kNothingUnsynced);
  EXPECT_THAT(disk_.Files(), ElementsAre(Pair("/a/b/offsets/0", "v1")));
}

TEST_F(LocalFileSystemTest, ARivalsFileIsTaken) {
  disk_.Put("/offsets/0", "rival");
  EXPECT_EQ(files_->CreateIfAbsent("/offsets/0", "ours").ValueOrDie(), CreateOutcome::kTaken);
  EXPECT_THAT(disk_.Files(), ElementsAre(Pair("/offsets/0", "rival")));
}

TEST_F(LocalFileSystemTest, ARivalsEqualFileIsTakenToo) {
  disk_.Put("/commits/0", "v1");
  EXPECT_EQ(files_->CreateIfAbsent("/commits/0", "v1").ValueOrDie(), CreateOutcome::kTaken);
  EXPECT_EQ(files_->CreateIfAbsent("/commits/0", "v1").ValueOrDie(), CreateOutcome::kTaken);
}

// Each call of a create fails in turn, by an error reply after the deed too; the repeated call must succeed, and the file must last.
TEST_F(LocalFileSystemTest, ACreateThatFailedHalfwayMayBeRepeated) {
  for (const Fault fault : {Fault::kFailOnce, Fault::kFailAfter}) {
    for (const bool crc : {false, true}) {
      for (int64_t call = 0;; ++call) {
        SimulatedDisk disk;
        const auto files = MakeLocalFileSystem(disk, {.hadoop_crc = crc});
        disk.Inject(fault, call);
        const auto first = files->CreateIfAbsent("/a/offsets/0", "v1");
        if (disk.fired() == 0) break;
        disk.ClearFaults();
        EXPECT_EQ(files->CreateIfAbsent("/a/offsets/0", "v1").ValueOrDie(), CreateOutcome::kCreated) << disk.log().at(call).ToString();
        disk.Reboot(Survival::kNothingUnsynced);
        EXPECT_EQ(disk.Content("/a/offsets/0"), "v1") << disk.log().at(call).ToString();
      }
    }
  }
}

TEST_F(LocalFileSystemTest, WhatAFailedCreateLeftMayBeReplacedUntilItIsAcknowledged) {
  disk_.Inject({.kind = "syncdir", .path = "/offsets"});
  EXPECT_TRUE(IsRetryable(files_->CreateIfAbsent("/offsets/3", "first").status()));
  EXPECT_EQ(files_->CreateIfAbsent("/offsets/3", "second").ValueOrDie(), CreateOutcome::kCreated);
  EXPECT_EQ(files_->CreateIfAbsent("/offsets/3", "third").ValueOrDie(), CreateOutcome::kTaken);
  Restart(Survival::kNothingUnsynced);
  EXPECT_EQ(disk_.Content("/offsets/3"), "second");
}

TEST_F(LocalFileSystemTest, AFailedCreateLeavesNoTemporaryFile) {
  for (const char* kind : {"write", "fsync", "close", "link"}) {
    SimulatedDisk disk;
    const auto files = MakeLocalFileSystem(disk);
    disk.Inject({.kind = kind});
    EXPECT_FALSE(files->CreateIfAbsent("/offsets/0", "v1").ok()) << kind;
    EXPECT_THAT(disk.Files(), IsEmpty()) << kind;
  }
}

TEST_F(LocalFileSystemTest, WhereLinksAreRefusedARenameWithoutReplacingServes) {
  disk_.Inject({.fault = Fault::kFailFrom, .error = EPERM, .kind = "link"});
  EXPECT_EQ(files_->CreateIfAbsent("/offsets/0", "v1").ValueOrDie(), CreateOutcome::kCreated);
  disk_.Put("/offsets/1", "rival");
  EXPECT_EQ(files_->CreateIfAbsent("/offsets/1", "v1").ValueOrDie(), CreateOutcome::kTaken);
  disk_.Inject({.fault = Fault::kFailFrom, .error = EINVAL, .kind = "renameat2"});
  EXPECT_EQ(files_->CreateIfAbsent("/offsets/2", "v1").ValueOrDie(), CreateOutcome::kCreated);
  EXPECT_EQ(files_->CreateIfAbsent("/offsets/1", "v1").ValueOrDie(), CreateOutcome::kTaken);
  Restart(Survival::kNothingUnsynced);
  EXPECT_THAT(disk_.Files(), ElementsAre(Pair("/offsets/0", "v1"), Pair("/offsets/1", "rival"), Pair("/offsets/2", "v1")));
}

TEST_F(LocalFileSystemTest, EverySyncOfACreateIsNeeded) {
  for (const auto& [kind, path] : std::vector<std::pair<std::string, std::string>>{
           {"fsync", "/a/offsets/.0."}, {"syncdir", "/a/offsets"}, {"syncdir", "/a"}, {"syncdir", "/"}}) {
    SimulatedDisk disk;
    disk.ignore_sync = [&](const Call& call) { return call.kind == kind && (call.path == path || (kind == "fsync" && call.path.starts_with(path))); };
    const auto files = MakeLocalFileSystem(disk);
    ASSERT_TRUE(files->CreateIfAbsent("/a/offsets/0", "v1").ok());
    ASSERT_EQ(disk.swallowed(), 1) << kind << path;
    disk.Reboot(Survival::kNothingUnsynced);
    EXPECT_NE(disk.Content("/a/offsets/0"), "v1") << kind << " of " << path << " is not needed";
  }
}

TEST_F(LocalFileSystemTest, ATakenFileIsDurableThoughItsWriterDiedBeforeSyncing) {
  disk_.Inject({.fault = Fault::kCrashAfter, .kind = "link"});
  EXPECT_FALSE(files_->CreateIfAbsent("/a/offsets/0", "v1").ok());
  Restart(Survival::kPageCache);
  EXPECT_EQ(files_->CreateIfAbsent("/a/offsets/0", "v1").ValueOrDie(), CreateOutcome::kTaken);
  Restart(Survival::kNothingUnsynced);
  EXPECT_EQ(disk_.Content("/a/offsets/0"), "v1");
}

TEST_F(LocalFileSystemTest, MakeDurableSavesWhatADeadProcessLeft) {
  disk_.Inject({.fault = Fault::kCrashAfter, .kind = "link"});
  EXPECT_FALSE(files_->CreateIfAbsent("/a/offsets/0", "v1").ok());
  Restart(Survival::kPageCache);
  const std::vector<std::string> paths = {"/a/offsets/0"};
  ASSERT_TRUE(files_->MakeDurable(paths).ok());
  Restart(Survival::kNothingUnsynced);
  EXPECT_EQ(disk_.Content("/a/offsets/0"), "v1");
}

TEST_F(LocalFileSystemTest, FoldersMadeByADeadProcessAreSettledBeforeTheyAreReliedOn) {
  disk_.Inject({.fault = Fault::kCrashAfter, .kind = "mkdir", .path = "/a/offsets"});
  EXPECT_FALSE(files_->CreateIfAbsent("/a/offsets/0", "v1").ok());
  Restart(Survival::kPageCache);
  ASSERT_TRUE(files_->CreateIfAbsent("/a/offsets/0", "v1").ok());
  Restart(Survival::kNothingUnsynced);
  EXPECT_EQ(disk_.Content("/a/offsets/0"), "v1");
}

TEST_F(LocalFileSystemTest, FoldersAboveOursMayBeClosedToUs) {
  disk_.Put("/home/user/x", "");
  disk_.Inject({.fault = Fault::kFailFrom, .error = EACCES, .kind = "syncdir", .path = "/home"});
  EXPECT_TRUE(files_->CreateIfAbsent("/home/user/offsets/0", "v1").ok());
}

TEST_F(LocalFileSystemTest, WithoutSyncNothingIsSynced) {
  files_ = MakeLocalFileSystem(disk_, {.sync = false});
  ASSERT_TRUE(files_->CreateIfAbsent("/offsets/0", "v1").ok());
  const std::vector<StagedFile> staged = {Stage("/1.delta", "d")};
  ASSERT_TRUE(files_->Publish(staged).ok());
  EXPECT_EQ(Count("fsync") + Count("syncdir") + Count("syncfs"), 0);
  EXPECT_EQ(files_->sync_counters().rounds, 0);
}

// ---- Publish

TEST_F(LocalFileSystemTest, StagedFilesAppearAtPublishAndLast) {
  const std::vector<StagedFile> staged = StageMany(3);
  EXPECT_FALSE(disk_.Content("/ck/state/0/1.delta").has_value());
  ASSERT_TRUE(files_->Publish(staged).ok());
  EXPECT_EQ(files_->sync_counters().rounds, 1);
  Restart(Survival::kNothingUnsynced);
  EXPECT_THAT(disk_.Files(), ElementsAre(Pair("/ck/state/0/1.delta", "delta"), Pair("/ck/state/1/1.delta", "delta"), Pair("/ck/state/2/1.delta", "delta")));
}

TEST_F(LocalFileSystemTest, ManyFilesTakeOneSyncAFileSystem) {
  const std::vector<StagedFile> staged = StageMany(40);
  disk_.Mount("/ck/state/7", 2);
  disk_.ResetCalls();
  ASSERT_TRUE(files_->Publish(staged).ok());
  EXPECT_EQ(Count("fsync"), 0);
  EXPECT_EQ(Count("syncfs"), 4) << "two file systems, once for the data and once for the names";
  Restart(Survival::kNothingUnsynced);
  EXPECT_EQ(disk_.Files().size(), 40u);
}

TEST_F(LocalFileSystemTest, PublishReplacesAndDropsStaleChecksums) {
  disk_.Put("/s/1.delta", "old");
  disk_.Put("/s/.1.delta.crc", "hadoop");
  disk_.Put("/s/1.delta.crc", "spark");
  const std::vector<StagedFile> staged = {Stage("/s/1.delta", "new")};
  ASSERT_TRUE(files_->Publish(staged).ok());
  Restart(Survival::kNothingUnsynced);
  EXPECT_THAT(disk_.Files(), ElementsAre(Pair("/s/1.delta", "new")));
}

TEST_F(LocalFileSystemTest, AStaleChecksumNeverOutlivesTheFileItJudged) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SimulatedDisk disk;
    disk.Put("/s/1.delta", "old");
    HadoopCrc crc;
    crc.Append("old");
    disk.Put("/s/.1.delta.crc", crc.Finish());
    const auto files = MakeLocalFileSystem(disk);
    auto writer = files->OpenStaged("/s/1.delta", false).ValueOrDie();
    ASSERT_TRUE(writer->Append("new").ok());
    const std::vector<StagedFile> staged = {writer->Finish().ValueOrDie()};
    disk.Inject({.fault = Fault::kCrashAfter, .kind = "rename"});
    EXPECT_FALSE(files->Publish(staged).ok());
    disk.Reboot(Survival::kSeededSubset, seed);
    EXPECT_TRUE(MakeLocalFileSystem(disk)->Read("/s/1.delta").ok()) << "seed " << seed;
  }
}

TEST_F(LocalFileSystemTest, AFailedSyncCondemnsTheStagedBytes) {
  const std::vector<StagedFile> staged = {Stage("/s/1.delta", "d")};
  disk_.Inject({.kind = "fsync"});
  EXPECT_TRUE(IsRetryable(files_->Publish(staged)));
  const Status again = files_->Publish(staged);
  EXPECT_THAT(again.message(), HasSubstr("written again"));
  files_->Discard(staged);
  const std::vector<StagedFile> fresh = {Stage("/s/1.delta", "d")};
  ASSERT_TRUE(files_->Publish(fresh).ok());
  Restart(Survival::kNothingUnsynced);
  EXPECT_THAT(disk_.Files(), ElementsAre(Pair("/s/1.delta", "d")));
}

TEST_F(LocalFileSystemTest, SizesAreCheckedAfterPublishing) {
  std::vector<StagedFile> staged = {Stage("/s/1.delta", "delta")};
  staged[0].size_bytes = 4;
  EXPECT_THAT(files_->Publish(staged).message(), HasSubstr("has 5 bytes, but 4 were written"));
}

TEST_F(LocalFileSystemTest, AnErrorOfCloseIsAnError) {
  auto writer = files_->OpenStaged("/s/1.delta", false).ValueOrDie();
  ASSERT_TRUE(writer->Append("delta").ok());
  disk_.Inject({.kind = "close"});
  EXPECT_TRUE(IsRetryable(writer->Finish().status()));
  EXPECT_THAT(disk_.Files(), IsEmpty());
}

TEST_F(LocalFileSystemTest, ShortWritesAreContinued) {
  disk_.Inject({.fault = Fault::kShortWrite});
  ASSERT_TRUE(files_->CreateIfAbsent("/offsets/0", "0123456789").ok());
  EXPECT_EQ(disk_.fired(), 1);
  EXPECT_EQ(disk_.Content("/offsets/0"), "0123456789");
}

TEST_F(LocalFileSystemTest, AFullDiskInTheMiddleOfAFileIsRetryableAndLeavesNothing) {
  disk_.LimitFreeBytes(3);
  auto writer = files_->OpenStaged("/s/1.delta", false).ValueOrDie();
  ASSERT_TRUE(writer->Append("delta").ok());
  const Status status = writer->Finish().status();
  EXPECT_EQ(ConditionOf(status), "TIDEMILL_DISK_FULL");
  EXPECT_TRUE(IsRetryable(status));
  EXPECT_THAT(disk_.Files(), IsEmpty());
}

TEST_F(LocalFileSystemTest, AnUnfinishedWriterLeavesNothing) {
  {
    auto writer = files_->OpenStaged("/s/1.delta", true).ValueOrDie();
    ASSERT_TRUE(writer->Append("delta").ok());
  }
  EXPECT_THAT(disk_.Files(), IsEmpty());
}

// ---- Hadoop's checksums

TEST_F(LocalFileSystemTest, ChecksumFilesAreWrittenOnRequest) {
  files_ = MakeLocalFileSystem(disk_, {.hadoop_crc = true});
  ASSERT_TRUE(files_->CreateIfAbsent("/offsets/0", "v1").ok());
  const std::vector<StagedFile> staged = {Stage("/s/1.delta", std::string(1000, 'd')), Stage("/s/part-0", "rows", /*unique=*/true)};
  ASSERT_TRUE(files_->Publish(staged).ok());
  Restart(Survival::kNothingUnsynced);
  for (const char* path : {"/offsets/0", "/s/1.delta", "/s/part-0"}) {
    ASSERT_TRUE(disk_.Content(HadoopCrcPath(path)).has_value()) << path;
    EXPECT_TRUE(HadoopCrcMatches(*disk_.Content(HadoopCrcPath(path)), *disk_.Content(path))) << path;
  }
  EXPECT_EQ(disk_.Files().size(), 6u);
}

TEST_F(LocalFileSystemTest, AWrongChecksumIsDamage) {
  files_ = MakeLocalFileSystem(disk_, {.hadoop_crc = true});
  ASSERT_TRUE(files_->CreateIfAbsent("/offsets/0", "v1").ok());
  EXPECT_EQ(files_->Read("/offsets/0").ValueOrDie(), "v1");
  disk_.Put("/offsets/0", "v2");
  const Status status = files_->Read("/offsets/0").status();
  EXPECT_EQ(ConditionOf(status), "TIDEMILL_CHECKSUM_MISMATCH");
  EXPECT_EQ(ErrorDetail::Of(status)->path, "/offsets/0");
}

// ---- The rest

TEST_F(LocalFileSystemTest, LookingAtFiles) {
  disk_.Put("/d/a", "one");
  disk_.Put("/d/.hidden", "");
  EXPECT_EQ(files_->Read("/d/a").ValueOrDie(), "one");
  EXPECT_TRUE(IsNotFound(files_->Read("/d/b").status()));
  EXPECT_EQ(files_->Stat("/d/a").ValueOrDie()->size_bytes, 3);
  EXPECT_TRUE(files_->Stat("/d").ValueOrDie()->is_directory);
  EXPECT_FALSE(files_->Stat("/d/b").ValueOrDie().has_value());
  EXPECT_EQ(files_->List("/d").ValueOrDie()->size(), 2u);
  EXPECT_FALSE(files_->List("/e").ValueOrDie().has_value());
  auto reader = files_->OpenReader("/d/a").ValueOrDie();
  std::array<char, 8> buffer{};
  EXPECT_EQ(reader->ReadAt(1, buffer).ValueOrDie(), 2);
  EXPECT_EQ(buffer[0], 'n');
  EXPECT_EQ(reader->ReadAt(3, buffer).ValueOrDie(), 0);
}

TEST_F(LocalFileSystemTest, RemovingTakesTheCompanionsAlong) {
  for (const char* path : {"/s/1.delta", "/s/.1.delta.crc", "/s/1.delta.crc", "/s/2.delta"}) disk_.Put(path, "x");
  ASSERT_TRUE(files_->Remove("/s/1.delta").ok());
  ASSERT_TRUE(files_->Remove("/s/1.delta").ok());
  EXPECT_THAT(disk_.Files(), ElementsAre(Pair("/s/2.delta", "x")));
  ASSERT_TRUE(files_->RemoveTree("/s").ok());
  EXPECT_FALSE(files_->Stat("/s").ValueOrDie().has_value());
}

TEST_F(LocalFileSystemTest, ErrorsSayWhatToDoAndWhetherToRetry) {
  const auto error = [&](int code) {
    disk_.Inject({.error = code, .kind = "create"});
    return files_->CreateIfAbsent("/offsets/0", "v1").status();
  };
  EXPECT_TRUE(IsRetryable(error(EIO)));
  EXPECT_TRUE(IsRetryable(error(ENOSPC)));
  EXPECT_FALSE(IsRetryable(error(EACCES)));
  EXPECT_THAT(error(EROFS).message(), HasSubstr("read-only"));
  EXPECT_THAT(error(EACCES).message(), HasSubstr("/offsets/.0."));
}

TEST_F(LocalFileSystemTest, RoundsAreCountedForTheThreadThatWaited) {
  std::thread([&] { EXPECT_TRUE(files_->CreateIfAbsent("/offsets/0", "v1").ok()); }).join();
  EXPECT_EQ(files_->sync_counters().rounds, 0);
}

TEST_F(LocalFileSystemTest, ALockIsRefusedWithItsHolderAndDiesWithIt) {
  auto lock = files_->Lock("/ck/_fence/lock", "host alpha, pid 7").ValueOrDie();
  const Status refused = MakeLocalFileSystem(disk_)->Lock("/ck/_fence/lock", "host beta, pid 8").status();
  EXPECT_EQ(ConditionOf(refused), "TIDEMILL_CHECKPOINT_LOCKED");
  EXPECT_THAT(refused.message(), HasSubstr("host alpha, pid 7"));
  EXPECT_THAT(refused.message(), HasSubstr("/ck is in use"));
  disk_.Crash();
  Restart(Survival::kPageCache);
  EXPECT_TRUE(files_->Lock("/ck/_fence/lock", "host beta, pid 8").ok());
}

// The same over the kernel's own calls, in a folder of the machine.
class PosixTest : public ::testing::Test {
 protected:
  PosixTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tidemill-fs-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~PosixTest() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
  std::unique_ptr<SystemCalls> calls_ = MakePosixCalls();
  std::unique_ptr<FileSystem> files_ = MakeLocalFileSystem(*calls_);
};

TEST_F(PosixTest, CreatesPublishesReadsAndRemoves) {
  const std::string offsets = folder_ + "/ck/offsets";
  ASSERT_EQ(files_->CreateIfAbsent(offsets + "/0", "v1").ValueOrDie(), CreateOutcome::kCreated);
  EXPECT_EQ(MakeLocalFileSystem(*calls_)->CreateIfAbsent(offsets + "/0", "v1").ValueOrDie(), CreateOutcome::kTaken);
  EXPECT_EQ(files_->Read(offsets + "/0").ValueOrDie(), "v1");
  std::vector<StagedFile> staged;
  for (int i = 0; i < 20; ++i) {
    auto writer = files_->OpenStaged(fmt::format("{}/state/{}/1.delta", folder_, i), false).ValueOrDie();
    ASSERT_TRUE(writer->Append(std::string(300'000, 'x')).ok());
    staged.push_back(writer->Finish().ValueOrDie());
  }
  ASSERT_TRUE(files_->Publish(staged).ok());
  EXPECT_EQ(files_->Read(folder_ + "/state/19/1.delta").ValueOrDie().size(), 300'000u);
  ASSERT_TRUE(files_->RemoveTree(folder_ + "/state").ok());
  EXPECT_FALSE(files_->List(folder_ + "/state").ValueOrDie().has_value());
  EXPECT_EQ(files_->List(offsets).ValueOrDie()->size(), 1u) << "temporary files are gone";
}

TEST_F(PosixTest, RemovingATreeDoesNotFollowLinks) {
  std::filesystem::create_directories(folder_ + "/kept");
  ASSERT_TRUE(files_->CreateIfAbsent(folder_ + "/kept/a", "x").ok());
  std::filesystem::create_directories(folder_ + "/tree");
  std::filesystem::create_directory_symlink(folder_ + "/kept", folder_ + "/tree/link");
  ASSERT_TRUE(files_->RemoveTree(folder_ + "/tree").ok());
  EXPECT_TRUE(std::filesystem::exists(folder_ + "/kept/a"));
}

TEST_F(PosixTest, LocksAreHeldAgainstOthersOfTheSameProcessToo) {
  auto lock = files_->Lock(folder_ + "/ck/_fence/lock", "me").ValueOrDie();
  EXPECT_THAT(files_->Lock(folder_ + "/ck/_fence/lock", "you").status().message(), HasSubstr("in use by me"));
  lock.reset();
  EXPECT_TRUE(files_->Lock(folder_ + "/ck/_fence/lock", "you").ok());
}

}  // namespace
}  // namespace tidemill::fs
