#include "connector/file/file_listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "fs/local_file_system.h"
#include "testing/fake_clock.h"
#include "testing/simulated_disk.h"

namespace tidemill::connector {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST(MatchesGlobTest, FollowsHadoop) {
  struct Case {
    std::string_view glob;
    std::string_view name;
    bool matches;
  };
  const std::vector<Case> cases = {
      {"a.json", "a.json", true},      {"a.json", "a_json", false},     {"", "", true},                {"*", "", true},
      {"*.json", "a.json", true},      {"*.json", "a.json.gz", false},  {"a*b*c", "aXbYbZc", true},    {"a*b*c", "aXbY", false},
      {"?.json", "a.json", true},      {"?.json", ".json", false},      {"[abc]x", "bx", true},        {"[abc]x", "dx", false},
      {"[a-c]x", "bx", true},          {"[^a-c]x", "bx", false},        {"[^a-c]x", "dx", true},       {"[!a]x", "bx", true},
      {"[abc", "[abc", false},         {"\\*", "*", true},              {"\\*", "a", false},           {"{a,b}.json", "b.json", true},
      {"{a,b}.json", "c.json", false}, {"x{,y}z", "xz", true},          {"{a*,b?}{1,2}", "bx2", true}, {"{a,{b,c}d}", "cd", true},
      {"{a,{b,c}d}", "a", true},       {"{a,{b,c}d}", "b", false},      {"\\{a,b\\}", "{a,b}", true},  {"\\{a,b\\}", "a", false},
      {"part-?\?\?\?\?-*", "part-00000-x", true},
  };
  for (const Case& c : cases) EXPECT_EQ(MatchesGlob(c.glob, c.name), c.matches) << c.glob << " and " << c.name;
}

class FileListingTest : public ::testing::Test {
 protected:
  FileListingTest() {
    disk_.SetTimeSource([this] { return clock_.NowMs(); });
  }

  void Add(const std::string& path, int64_t modified_ms, std::string_view content = "{}\n") {
    clock_.SetMs(modified_ms);
    disk_.Put(path, content);
  }

  /// Paths in order; a failure as the one element.
  std::vector<std::string> Paths(const std::string& path, ListingOptions options = {}) {
    options.path = path;
    const auto files = ListFiles(*files_, clock_, options);
    if (!files.ok()) return {files.status().ToString()};
    std::vector<std::string> paths;
    for (const ListedFile& file : *files) paths.push_back(file.path);
    return paths;
  }

  testing::FakeClock clock_;
  testing::SimulatedDisk disk_;
  std::unique_ptr<fs::FileSystem> files_ = fs::MakeLocalFileSystem(disk_);
};

TEST_F(FileListingTest, OrdersByTimeThenPath) {
  Add("/in/c.json", 1000, "12345");
  Add("/in/a.json", 3000);
  Add("/in/z.json", 2000);
  Add("/in/b.json", 2000);
  EXPECT_THAT(Paths("/in"), ElementsAre("/in/c.json", "/in/b.json", "/in/z.json", "/in/a.json"));
  const ListedFile first = ListFiles(*files_, clock_, {.path = "/in"}).ValueOrDie().front();
  EXPECT_EQ(first.size_bytes, 5);
  EXPECT_EQ(first.modified_ms, 1000);
}

TEST_F(FileListingTest, HiddenAndHalfCopiedFilesAreLeftOut) {
  for (const char* name : {"_SUCCESS", ".a.json.crc", "a.json._COPYING_", "a.json", "_day=1.json", "a_b.json", "a.b.json", "._x"}) {
    Add(fs::Join("/in", name), 1000);
  }
  EXPECT_THAT(Paths("/in"), ElementsAre("/in/_day=1.json", "/in/a.b.json", "/in/a.json", "/in/a_b.json"));
  EXPECT_THAT(Paths("/in/*"), ElementsAre("/in/_day=1.json", "/in/a.b.json", "/in/a.json", "/in/a_b.json"));
}

TEST_F(FileListingTest, PathGlobFilterLooksAtTheName) {
  Add("/json/a.json", 1000);
  Add("/json/b.csv", 1000);
  EXPECT_THAT(Paths("/json", {.path_glob_filter = "*.json"}), ElementsAre("/json/a.json"));
  EXPECT_THAT(Paths("/json", {.path_glob_filter = "{a,b}.*"}), ElementsAre("/json/a.json", "/json/b.csv"));
  EXPECT_THAT(Paths("/json/b.csv", {.path_glob_filter = "*.json"}), IsEmpty());
}

TEST_F(FileListingTest, AGlobNamesFilesAndFolders) {
  Add("/in/2024/a.json", 1000);
  Add("/in/2025/b.json", 2000);
  Add("/in/2026/deep/c.json", 3000);
  Add("/in/20.json", 4000);
  Add("/in/.2024/hidden.json", 5000);
  EXPECT_THAT(Paths("/in/20*"), ElementsAre("/in/2024/a.json", "/in/2025/b.json", "/in/20.json")) << "a folder that is matched is not entered further";
  EXPECT_THAT(Paths("/in/202[45]"), ElementsAre("/in/2024/a.json", "/in/2025/b.json"));
  EXPECT_THAT(Paths("/*/20?\?/*.json"), ElementsAre("/in/2024/a.json", "/in/2025/b.json"));
  EXPECT_THAT(Paths("/in/*/deep"), ElementsAre("/in/2026/deep/c.json"));
  EXPECT_THAT(Paths("/in/20*/a.json"), ElementsAre("/in/2024/a.json")) << "20.json is no folder";
  EXPECT_THAT(Paths("/in/30*"), IsEmpty());
  EXPECT_THAT(Paths("/out/*"), IsEmpty());
}

TEST_F(FileListingTest, BracesMayHoldSlashesAndOverlap) {
  Add("/in/2024/a.json", 1000);
  Add("/in/2026/deep/c.json", 3000);
  EXPECT_THAT(Paths("/in/{2024,2026/deep}"), ElementsAre("/in/2024/a.json", "/in/2026/deep/c.json"));
  EXPECT_THAT(Paths("/in/{2024,20*,2024/*.json}"), ElementsAre("/in/2024/a.json")) << "a file counts once";
  EXPECT_TRUE(SourcePathExists(*files_, {.path = "/in/{2024,2026/deep}"}).ValueOrDie());
}

TEST_F(FileListingTest, SubfoldersAreEnteredWhenAskedFor) {
  Add("/in/a.json", 1000);
  Add("/in/sub/b.json", 2000);
  Add("/in/sub/day=1/c.json", 3000);
  Add("/in/_temporary/d.json", 4000);
  Add("/in/.staging/e.json", 4000);
  EXPECT_THAT(Paths("/in"), ElementsAre("/in/a.json"));
  EXPECT_THAT(Paths("/in", {.recursive = true}), ElementsAre("/in/a.json", "/in/sub/b.json", "/in/sub/day=1/c.json"));
  EXPECT_THAT(Paths("/in", {.path_glob_filter = "c*", .recursive = true}), ElementsAre("/in/sub/day=1/c.json"));
}

TEST_F(FileListingTest, FoldersOfPartitionColumnsAreRefused) {
  Add("/in/day=1/a.json", 1000);
  const Status status = ListFiles(*files_, clock_, {.path = "/in"}).status();
  EXPECT_THAT(status.message(), HasSubstr("/in/day=1 looks like a partition column"));
  EXPECT_THAT(status.message(), HasSubstr("recursiveFileLookup"));
  EXPECT_EQ(ErrorDetail::Of(status)->fault, Fault::kUser);
}

TEST_F(FileListingTest, AFileOrNothingAtThePath) {
  Add("/in/a.json", 1000);
  EXPECT_THAT(Paths("/in/a.json"), ElementsAre("/in/a.json"));
  EXPECT_THAT(Paths("/in/b.json"), IsEmpty());
  EXPECT_THAT(Paths("/in/a.json/b"), IsEmpty());
}

TEST_F(FileListingTest, AnUnreadableFolderIsNamed) {
  Add("/in/a.json", 1000);
  Add("/in/sub/b.json", 1000);
  disk_.Inject({.error = EACCES, .kind = "list", .path = "/in"});
  Status status = ListFiles(*files_, clock_, {.path = "/in"}).status();
  EXPECT_THAT(status.message(), HasSubstr("Cannot list /in: permission denied"));
  EXPECT_EQ(ErrorDetail::Of(status)->condition, "TIDEMILL_PERMISSION_DENIED");
  EXPECT_EQ(ErrorDetail::Of(status)->path, "/in");

  disk_.Inject({.error = EACCES, .kind = "list", .path = "/in/sub"});
  status = ListFiles(*files_, clock_, {.path = "/in", .recursive = true}).status();
  EXPECT_EQ(ErrorDetail::Of(status)->path, "/in/sub") << "files below it would be skipped for good once newer ones were read";
  disk_.Inject({.error = EACCES, .kind = "list", .path = "/in/sub"});
  EXPECT_EQ(ErrorDetail::Of(ListFiles(*files_, clock_, {.path = "/in/s*"}).status())->path, "/in/sub");
  disk_.Inject({.error = EACCES, .kind = "stat", .path = "/in"});
  EXPECT_EQ(ErrorDetail::Of(ListFiles(*files_, clock_, {.path = "/in"}).status())->path, "/in");
  disk_.Inject({.error = EACCES, .kind = "list", .path = "/in"});
  EXPECT_EQ(ErrorDetail::Of(ListFiles(*files_, clock_, {.path = "/in/s*"}).status())->path, "/in");
  EXPECT_EQ(disk_.fired(), 5);
}

TEST_F(FileListingTest, AFolderThatVanishesWhileListingIsEmpty) {
  Add("/in/a.json", 1000);
  Add("/in/sub/b.json", 1000);
  disk_.Inject({.error = ENOENT, .kind = "list", .path = "/in/sub"});
  EXPECT_THAT(Paths("/in", {.recursive = true}), ElementsAre("/in/a.json"));
  disk_.Inject({.error = ENOENT, .kind = "list", .path = "/in/sub"});
  EXPECT_THAT(Paths("/in/{sub,a.json}"), ElementsAre("/in/a.json"));
  disk_.Inject({.error = ENOENT, .kind = "list", .path = "/in"});
  EXPECT_THAT(Paths("/in"), IsEmpty());
  disk_.Inject({.error = ENOENT, .kind = "list", .path = "/in"});
  EXPECT_THAT(Paths("/in/*"), IsEmpty());
  EXPECT_EQ(disk_.fired(), 4);
  EXPECT_THAT(Paths("/in", {.recursive = true}), ElementsAre("/in/a.json", "/in/sub/b.json")) << "and back again";
}

// The log decides: a file that it does not name belongs to an attempt that failed.
TEST_F(FileListingTest, ASinksFolderIsReadThroughItsLog) {
  Add("/out/part-0.json", 1000);
  Add("/out/part-failed.json", 1000);
  Add("/out/_spark_metadata/0",
      1000, "v1\n"
      R"({"path":"file:///out/part%200.json","size":7,"isDir":false,"modificationTime":3000,"blockReplication":1,"blockSize":33554432,"action":"add"})");
  Add("/out/_spark_metadata/1",
      1000, "v1\n"
      R"({"path":"file:///out/part-1.json","size":8,"isDir":false,"modificationTime":2000,"blockReplication":1,"blockSize":33554432,"action":"add"})"
      "\n"
      R"({"path":"file:///out/folder","size":0,"isDir":true,"modificationTime":2000,"blockReplication":1,"blockSize":33554432,"action":"add"})");
  const auto files = ListFiles(*files_, clock_, {.path = "/out"}).ValueOrDie();
  EXPECT_THAT(Paths("/out"), ElementsAre("/out/part-1.json", "/out/part 0.json"));
  EXPECT_EQ(files[0].size_bytes, 8);
  EXPECT_EQ(files[0].modified_ms, 2000);
  EXPECT_THAT(Paths("/out", {.path_glob_filter = "*-1.json"}), ElementsAre("/out/part-1.json"));
  EXPECT_THAT(Paths("/out*"), UnorderedElementsAre("/out/part-0.json", "/out/part-failed.json")) << "a glob looks at the folder, as in Spark";
}

TEST_F(FileListingTest, AFileThatASinksLogTakesBackIsGone) {
  const auto line = [](const char* name, const char* action) {
    return fmt::format(R"({{"path":"file:///out/{}","size":7,"isDir":false,"modificationTime":1000,"action":"{}"}})", name, action);
  };
  disk_.Put("/out/_spark_metadata/0", "v1\n" + line("a", "add") + "\n" + line("b", "add"));
  disk_.Put("/out/_spark_metadata/1", "v1\n" + line("a", "delete") + "\n" + line("c", "delete") + "\n" + line("c", "add"));
  EXPECT_THAT(Paths("/out"), ElementsAre("/out/b", "/out/c"));
}

TEST_F(FileListingTest, ADamagedSinkLogIsAnErrorWithItsRemedy) {
  for (const char* line : {"garbage", "5", "{}", R"({"path":7})", R"({"path":"file:///out/a","size":"x","isDir":false,"modificationTime":1,"action":"add"})",
                           R"({"path":"file:///out/a","size":1,"isDir":false,"modificationTime":null,"action":"add"})",
                           R"({"path":"file:///out/a","size":1,"isDir":"no","modificationTime":1,"action":5})"}) {
    disk_.Put("/out/_spark_metadata/0", fmt::format("v1\n{}", line));
    const Status status = ListFiles(*files_, clock_, {.path = "/out"}).status();
    ASSERT_FALSE(status.ok()) << line;
    EXPECT_THAT(status.message(), HasSubstr("/out/_spark_metadata")) << line;
    EXPECT_THAT(status.message(), HasSubstr("Restore the log")) << line;
    EXPECT_EQ(ErrorDetail::Of(status)->condition, "TIDEMILL_MALFORMED_LOG") << line;
  }
  disk_.Put("/out/_spark_metadata/0", "v1");
  EXPECT_THAT(Paths("/out"), IsEmpty()) << "a batch without output";
  disk_.Put("/out/_spark_metadata/2", "v1");
  EXPECT_THAT(ListFiles(*files_, clock_, {.path = "/out"}).status().message(), HasSubstr("/out/_spark_metadata/1 is missing"));
}

TEST_F(FileListingTest, ThePathExistsUpToItsGlob) {
  Add("/in/a.json", 1000);
  const auto exists = [&](const std::string& path) { return SourcePathExists(*files_, {.path = path}).ValueOrDie(); };
  EXPECT_TRUE(exists("/in"));
  EXPECT_TRUE(exists("/in/a.json"));
  EXPECT_TRUE(exists("/in/none*"));
  EXPECT_TRUE(exists("/*"));
  EXPECT_FALSE(exists("/none"));
  EXPECT_FALSE(exists("/none/*"));
}

}  // namespace
}  // namespace tidemill::connector
