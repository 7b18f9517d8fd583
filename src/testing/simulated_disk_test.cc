#include "testing/simulated_disk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <set>

namespace tidemill::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

/// Create and write a file, syncing nothing. Returns the open descriptor.
int Write(SimulatedDisk& disk, const std::string& path, std::string_view bytes) {
  const int fd = disk.CreateExclusive(path);
  EXPECT_GE(fd, 0);
  EXPECT_EQ(disk.Write(fd, bytes), static_cast<int64_t>(bytes.size()));
  return fd;
}

TEST(SimulatedDiskTest, BytesAndNamesAreSyncedApart) {
  SimulatedDisk disk;
  const int both = Write(disk, "/both", "abc");
  disk.Fsync(both);
  Write(disk, "/name", "abc");
  disk.SyncDirectory("/");
  const int data = Write(disk, "/data", "abc");
  disk.Fsync(data);
  disk.Reboot(Survival::kNothingUnsynced);
  EXPECT_THAT(disk.Files(), ElementsAre(Pair("/both", "abc"), Pair("/name", "")));
}

TEST(SimulatedDiskTest, AFolderWithoutASyncedNameGoesWithAllItHolds) {
  SimulatedDisk disk;
  disk.MakeDirectory("/a");
  disk.Fsync(Write(disk, "/a/f", "abc"));
  disk.SyncDirectory("/a");
  disk.Reboot(Survival::kNothingUnsynced);
  EXPECT_THAT(disk.Files(), IsEmpty());
}

TEST(SimulatedDiskTest, RenamesAndUnlinksAreUndoneWithoutASync) {
  SimulatedDisk disk;
  disk.Put("/a", "new");
  disk.Put("/b", "old");
  EXPECT_EQ(disk.Rename("/a", "/b"), 0);
  EXPECT_EQ(disk.Unlink("/b"), 0);
  EXPECT_THAT(disk.Files(), IsEmpty());
  disk.Reboot(Survival::kNothingUnsynced);
  EXPECT_THAT(disk.Files(), ElementsAre(Pair("/a", "new"), Pair("/b", "old")));
}

TEST(SimulatedDiskTest, SubsetsReachBetweenNothingAndEverything) {
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SimulatedDisk disk;
    Write(disk, "/f", "abcd");
    disk.Reboot(Survival::kSeededSubset, seed);
    seen.insert(disk.Content("/f").value_or("no name"));
  }
  EXPECT_THAT(seen, ElementsAre("", "a", "ab", "abc", "abcd", "no name"));
}

TEST(SimulatedDiskTest, ASeedIsReproducible) {
  const auto outcome = [](uint64_t seed) {
    SimulatedDisk disk;
    for (int i = 0; i < 20; ++i) Write(disk, "/f" + std::to_string(i), "abcdefgh");
    disk.Reboot(Survival::kSeededSubset, seed);
    return disk.Files();
  };
  EXPECT_EQ(outcome(7), outcome(7));
  EXPECT_NE(outcome(7), outcome(8));
}

TEST(SimulatedDiskTest, APageCacheOutlivesItsProcessButNotThePower) {
  SimulatedDisk disk;
  Write(disk, "/f", "abc");
  disk.Crash();
  EXPECT_EQ(disk.SyncDirectory("/"), -EIO);
  disk.Reboot(Survival::kPageCache);
  EXPECT_EQ(disk.Content("/f"), "abc");
  disk.Reboot(Survival::kNothingUnsynced);
  EXPECT_THAT(disk.Files(), IsEmpty());
}

TEST(SimulatedDiskTest, AFailedSyncLosesTheBytesForGood) {
  for (const bool file_system : {false, true}) {
    SimulatedDisk disk;
    const int fd = Write(disk, "/f", "abc");
    disk.Inject({.kind = file_system ? "syncfs" : "fsync"});
    EXPECT_EQ(file_system ? disk.SyncFileSystem("/f") : disk.Fsync(fd), -EIO);
    EXPECT_EQ(disk.Fsync(fd), 0) << "the kernel has forgotten";
    EXPECT_EQ(disk.SyncDirectory("/"), 0);
    EXPECT_EQ(disk.Content("/f"), "abc");
    disk.Reboot(Survival::kEverything);
    EXPECT_EQ(disk.Content("/f"), "");
  }
}

TEST(SimulatedDiskTest, FaultsAreSelectedByNumber) {
  SimulatedDisk disk;
  disk.Inject(Fault::kFailOnce, 1);
  EXPECT_EQ(disk.MakeDirectory("/a"), 0);
  EXPECT_EQ(disk.MakeDirectory("/b"), -EIO);
  EXPECT_EQ(disk.MakeDirectory("/b"), 0);
  EXPECT_EQ(disk.fired(), 1);
  EXPECT_EQ(disk.log().at(1).ToString(), "#1 mkdir /b = -5");
}

TEST(SimulatedDiskTest, FaultsAreSelectedByKindPathAndOccurrence) {
  SimulatedDisk disk;
  disk.Inject({.error = ENOSPC, .kind = "mkdir", .path = "/s/*", .skip = 1});
  disk.MakeDirectory("/s");
  EXPECT_EQ(disk.MakeDirectory("/s/0"), 0);
  EXPECT_EQ(disk.MakeDirectory("/s/1"), -ENOSPC);
  EXPECT_EQ(disk.MakeDirectory("/s/2"), 0);
}

TEST(SimulatedDiskTest, AFaultMayLastOrComeAfterTheDeed) {
  SimulatedDisk disk;
  disk.Inject(Fault::kFailFrom, 1);
  EXPECT_EQ(disk.MakeDirectory("/a"), 0);
  EXPECT_EQ(disk.MakeDirectory("/b"), -EIO);
  EXPECT_EQ(disk.MakeDirectory("/c"), -EIO);
  disk.ClearFaults();
  disk.Inject({.fault = Fault::kFailAfter, .kind = "mkdir"});
  EXPECT_EQ(disk.MakeDirectory("/d"), -EIO);
  EXPECT_EQ(disk.MakeDirectory("/d"), -EEXIST);
}

TEST(SimulatedDiskTest, CrashesComeBeforeOrAfterTheCall) {
  for (const Fault fault : {Fault::kCrashBefore, Fault::kCrashAfter}) {
    SimulatedDisk disk;
    disk.Inject(fault, 0);
    EXPECT_EQ(disk.MakeDirectory("/a"), -EIO);
    EXPECT_TRUE(disk.crashed());
    EXPECT_EQ(disk.MakeDirectory("/b"), -EIO);
    EXPECT_EQ(disk.call_count(), 1) << "the dead make no calls";
    disk.Reboot(Survival::kEverything);
    fs::FileInfo info;
    EXPECT_EQ(disk.Stat("/a", &info), fault == Fault::kCrashAfter ? 0 : -ENOENT);
  }
}

TEST(SimulatedDiskTest, ShortWritesTakeHalf) {
  SimulatedDisk disk;
  disk.Inject({.fault = Fault::kShortWrite});
  const int fd = disk.CreateExclusive("/f");
  EXPECT_EQ(disk.Write(fd, "abcd"), 2);
  EXPECT_EQ(disk.Write(fd, "cd"), 2);
  EXPECT_EQ(disk.Content("/f"), "abcd");
}

TEST(SimulatedDiskTest, AFullDiskTakesWhatFits) {
  SimulatedDisk disk;
  disk.LimitFreeBytes(3);
  const int fd = disk.CreateExclusive("/f");
  EXPECT_EQ(disk.Write(fd, "abcd"), 3);
  EXPECT_EQ(disk.Write(fd, "d"), -ENOSPC);
  disk.LimitFreeBytes(std::nullopt);
  EXPECT_EQ(disk.Write(fd, "d"), 1);
}

TEST(SimulatedDiskTest, IgnoredSyncsSayOkAndDoNothing) {
  SimulatedDisk disk;
  disk.ignore_sync = [](const Call& call) { return call.kind == "syncdir"; };
  disk.Fsync(Write(disk, "/f", "abc"));
  EXPECT_EQ(disk.SyncDirectory("/"), 0);
  EXPECT_EQ(disk.swallowed(), 1);
  disk.Reboot(Survival::kNothingUnsynced);
  EXPECT_THAT(disk.Files(), IsEmpty());
}

TEST(SimulatedDiskTest, FileSystemsAreSyncedApart) {
  SimulatedDisk disk;
  disk.Put("/m/x", "");
  disk.Mount("/m", 2);
  Write(disk, "/f", "abc");
  Write(disk, "/m/f", "abc");
  EXPECT_NE(disk.Device("/f"), disk.Device("/m/f"));
  EXPECT_EQ(disk.Rename("/f", "/m/g"), -EXDEV);
  EXPECT_EQ(disk.SyncFileSystem("/m"), 0);
  disk.Reboot(Survival::kNothingUnsynced);
  EXPECT_THAT(disk.Files(), ElementsAre(Pair("/m/f", "abc"), Pair("/m/x", "")));
}

TEST(SimulatedDiskTest, ADeadProcessesDescriptorsAndLocksAreVoid) {
  SimulatedDisk disk;
  const int lock = disk.OpenLocked("/lock");
  EXPECT_EQ(disk.OpenLocked("/lock"), -EAGAIN);
  disk.Reboot(Survival::kPageCache);
  const int next = disk.OpenLocked("/lock");
  EXPECT_GE(next, 0);
  EXPECT_NE(next, lock);
  EXPECT_EQ(disk.Close(lock), -EBADF);
  EXPECT_EQ(disk.OpenLocked("/lock"), -EAGAIN) << "the late close did not free the new lock";
}

}  // namespace
}  // namespace tidemill::testing
