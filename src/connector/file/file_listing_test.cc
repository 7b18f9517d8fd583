#include "connector/file/file_listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fs/local_file_system.h"
#include "testing/fake_clock.h"
#include "testing/simulated_disk.h"

namespace tidemill::connector {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FileListingTest : public ::testing::Test {
 protected:
  void Put(const std::string& path, int64_t modified_ms = 0) {
    now_ms_ = modified_ms;
    disk_.SetTimeSource([this] { return now_ms_; });
    disk_.Put(path, "x");
  }
  std::vector<std::string> Paths(ListingOptions options) {
    const auto listed = ListFiles(*files_, clock_, options);
    if (!listed.ok()) return {listed.status().ToString()};
    std::vector<std::string> paths;
    for (const ListedFile& file : *listed) paths.push_back(file.path);
    return paths;
  }

  int64_t now_ms_ = 0;
  testing::SimulatedDisk disk_;
  std::unique_ptr<fs::FileSystem> files_ = fs::MakeLocalFileSystem(disk_);
  testing::FakeClock clock_;
};

TEST_F(FileListingTest, OrdersByTimeThenPath) {
  Put("/in/c", 1000);
  Put("/in/b", 2000);
  Put("/in/a", 2000);
  EXPECT_THAT(Paths({.path = "/in"}), ElementsAre("/in/c", "/in/a", "/in/b"));
}

TEST_F(FileListingTest, LeavesOutWhatIsHiddenOrHalfCopied) {
  for (const char* name : {"_x", ".y", "z._COPYING_", "_a=1", "seen"}) Put(std::string("/in/") + name);
  EXPECT_THAT(Paths({.path = "/in"}), ElementsAre("/in/_a=1", "/in/seen"));
}

TEST_F(FileListingTest, GlobsNameFoldersAndFiles) {
  for (const char* path : {"/in/a1/x.json", "/in/a2/x.json", "/in/b1/x.json", "/in/a1/y.txt"}) Put(path);
  EXPECT_THAT(Paths({.path = "/in/a*"}), ElementsAre("/in/a1/x.json", "/in/a1/y.txt", "/in/a2/x.json"));
  EXPECT_THAT(Paths({.path = "/in/{a1,b1}/*.json"}), ElementsAre("/in/a1/x.json", "/in/b1/x.json"));
  EXPECT_THAT(Paths({.path = "/in/a[^1]/x.json"}), ElementsAre("/in/a2/x.json"));
  EXPECT_THAT(Paths({.path = "/in/a1", .path_glob_filter = "*.txt"}), ElementsAre("/in/a1/y.txt"));
  EXPECT_THAT(Paths({.path = "/in/z*"}), IsEmpty());
  EXPECT_THAT(Paths({.path = "/in/a1/y.txt"}), ElementsAre("/in/a1/y.txt"));
}

TEST_F(FileListingTest, MatchesGlobsAsHadoopDoes) {
  for (const auto& [glob, name] : std::vector<std::pair<const char*, const char*>>{
           {"*", ""}, {"a?c", "abc"}, {"[a-c]x", "bx"}, {"[!a]x", "bx"}, {"\\*x", "*x"}, {"*.{json,txt}", "a.txt"}, {"a*b*c", "a--b--c"}}) {
    EXPECT_TRUE(MatchesGlob(glob, name)) << glob << " " << name;
  }
  for (const auto& [glob, name] : std::vector<std::pair<const char*, const char*>>{
           {"a?c", "ac"}, {"[a-c]x", "dx"}, {"\\*x", "ax"}, {"*.{json,txt}", "a.csv"}, {"a*b", "abc"}, {"", "a"}}) {
    EXPECT_FALSE(MatchesGlob(glob, name)) << glob << " " << name;
  }
}

TEST_F(FileListingTest, FoldersBelowAreReadWhereThatIsWanted) {
  Put("/in/a");
  Put("/in/sub/b");
  EXPECT_THAT(Paths({.path = "/in"}), ElementsAre("/in/a"));
  EXPECT_THAT(Paths({.path = "/in", .recursive = true}), ElementsAre("/in/a", "/in/sub/b"));
  Put("/in/day=1/c");
  EXPECT_THAT(Paths({.path = "/in"}), ElementsAre(HasSubstr("/in/day=1")));
}

TEST_F(FileListingTest, AFileSinksFolderIsReadThroughItsLog) {
  Put("/out/part-0.json");
  Put("/out/part-of-a-failed-attempt.json");
  disk_.Put("/out/_spark_metadata/0",
            "v1\n{\"path\":\"file:///out/"
            "part-0.json\",\"size\":1,\"isDir\":false,\"modificationTime\":5,\"blockReplication\":1,\"blockSize\":1,\"action\":\"add\"}");
  EXPECT_THAT(Paths({.path = "/out"}), ElementsAre("/out/part-0.json"));
}

TEST_F(FileListingTest, AFolderThatMayNotBeReadIsAnErrorAndOneThatVanishedIsNot) {
  Put("/in/sub/a");
  disk_.Inject({.fault = testing::Fault::kFailOnce, .error = EACCES, .kind = "list", .path = "/in/sub"});
  EXPECT_THAT(Paths({.path = "/in", .recursive = true}), ElementsAre(HasSubstr("/in/sub")));
  disk_.ClearFaults();
  disk_.Inject({.fault = testing::Fault::kFailOnce, .error = ENOENT, .kind = "list", .path = "/in/sub"});
  EXPECT_THAT(Paths({.path = "/in", .recursive = true}), IsEmpty());
}

}  // namespace
}  // namespace tidemill::connector
