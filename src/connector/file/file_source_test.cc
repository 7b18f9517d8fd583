#include "connector/file/file_source.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <latch>
#include <thread>

#include "connector/file/json_partition_reader.h"
#include "fs/local_file_system.h"
#include "testing/fake_clock.h"
#include "testing/simulated_disk.h"

namespace tidemill::connector {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing::Survival;

constexpr int64_t kDayMs = int64_t{24} * 3600 * 1000;

class FileSourceTest : public ::testing::Test {
 protected:
  FileSourceTest() {
    disk_.SetTimeSource([this] { return clock_.NowMs(); });
    Add("/in/_started", 0, "");
  }

  /// A file of one row, whose value is its path.
  void Add(const std::string& path, int64_t modified_ms) { Add(path, modified_ms, fmt::format("{{\"v\":\"{}\"}}\n", path)); }
  void Add(const std::string& path, int64_t modified_ms, std::string_view content) {
    clock_.SetMs(modified_ms);
    disk_.Put(path, content);
  }

  void Configure(std::string_view key, std::string_view value) { config_ = config_.With(key, value).ValueOrDie(); }

  Result<std::unique_ptr<Source>> Make(std::map<std::string, std::string> options = {}) {
    options.emplace("path", "/in");
    return MakeJsonFileSource({*files_, clock_, config_, "/checkpoint/sources/0", schema_, std::move(options), "/base"});
  }
  std::unique_ptr<Source> Open(std::map<std::string, std::string> options = {}) { return Make(std::move(options)).ValueOrDie(); }

  static Offset At(int64_t entry) { return fmt::format("{{\"logOffset\":{}}}", entry); }
  static std::optional<Offset> Start(int64_t entry) { return entry < 0 ? std::nullopt : std::optional(At(entry)); }

  /// Paths of the splits of (start, end]; a failure as the one element.
  static std::vector<std::string> Planned(Source& source, int64_t start, int64_t end) {
    const auto partitions = source.PlanPartitions(Start(start), At(end));
    if (!partitions.ok()) return {partitions.status().ToString()};
    std::vector<std::string> paths;
    for (const auto& partition : *partitions) {
      for (const FileSplit& split : static_cast<const FilePartition&>(*partition).splits()) paths.push_back(split.path);
    }
    return paths;
  }

  /// One batch from `start` on as the loop runs it: the files it takes, in order. Nothing when there is no new file.
  static std::vector<std::string> Take(Source& source, int64_t start, bool ignore_limits = false) {
    const auto end = source.LatestOffset(Start(start), ignore_limits);
    if (!end.ok()) return {end.status().ToString()};
    if (*end == Start(start)) return {};
    EXPECT_EQ(*end, At(start + 1));
    if (const Status logged = source.LogUpTo(**end); !logged.ok()) return {logged.ToString()};
    return Planned(source, start, start + 1);
  }

  /// The values of all rows of (start, end], through the readers.
  static std::vector<std::string> Read(Source& source, int64_t start, int64_t end) {
    std::vector<std::string> values;
    const auto partitions = source.PlanPartitions(Start(start), At(end)).ValueOrDie();
    for (const auto& partition : partitions) {
      auto reader = source.OpenReader(*partition, {0}, {}).ValueOrDie();
      for (;;) {
        const auto batch = reader->Next();
        if (!batch.ok()) return {batch.status().ToString()};
        if (*batch == nullptr) break;
        const auto& column = static_cast<const arrow::StringArray&>(*(*batch)->column(0));
        for (int64_t row = 0; row < column.length(); ++row) values.push_back(column.GetString(row));
      }
    }
    return values;
  }

  std::string LogEntry(const std::string& name) { return disk_.Content("/checkpoint/sources/0/" + name).value_or("missing"); }

  testing::FakeClock clock_;
  testing::SimulatedDisk disk_;
  std::unique_ptr<fs::FileSystem> files_ = fs::MakeLocalFileSystem(disk_);
  Config config_;
  type::Schema schema_ = type::ParseDdl("v STRING").ValueOrDie();
};

TEST_F(FileSourceTest, OffsetsCountTheEntriesOfTheLog) {
  auto source = Open();
  EXPECT_EQ(source->Description(), "FileStreamSource[file:/in]");
  EXPECT_EQ(source->schema().size(), 1);
  EXPECT_EQ(source->LatestOffset(std::nullopt, false).ValueOrDie(), std::nullopt) << "nothing there yet";
  Add("/in/b c%.json", 2000);
  Add("/in/a+\u00e9.json", 1000);
  EXPECT_EQ(source->LatestOffset(std::nullopt, false).ValueOrDie(), At(0));
  EXPECT_EQ(LogEntry("0"), "missing") << "choosing writes nothing";
  ASSERT_TRUE(source->LogUpTo(At(0)).ok());
  EXPECT_EQ(LogEntry("0"),
            "v1\n{\"path\":\"file:///in/a+\u00e9.json\",\"timestamp\":1000,\"batchId\":0}\n"
            "{\"path\":\"file:///in/b%20c%25.json\",\"timestamp\":2000,\"batchId\":0}");
  EXPECT_EQ(source->LatestOffset(At(0), false).ValueOrDie(), At(0)) << "nothing new";
  Add("/in/c.json", 3000);
  EXPECT_EQ(source->LatestOffset(At(0), false).ValueOrDie(), At(1));
  ASSERT_TRUE(source->LogUpTo(At(1)).ok());
  EXPECT_EQ(LogEntry("1"), "v1\n{\"path\":\"file:///in/c.json\",\"timestamp\":3000,\"batchId\":1}");
  EXPECT_THAT(Planned(*source, -1, 0), ElementsAre("/in/a+\u00e9.json", "/in/b c%.json"));
  EXPECT_THAT(Planned(*source, 0, 1), ElementsAre("/in/c.json"));
  EXPECT_THAT(Planned(*source, -1, 1), SizeIs(3));
}

TEST_F(FileSourceTest, ALoggedEntryLasts) {
  auto source = Open();
  Add("/in/a.json", 1000);
  ASSERT_THAT(Take(*source, -1), SizeIs(1));
  disk_.Reboot(Survival::kNothingUnsynced);
  EXPECT_NE(LogEntry("0"), "missing");
}

TEST_F(FileSourceTest, RowsAreReadInTheOrderOfTheirFiles) {
  Add("/in/a.json", 2000, "{\"v\":\"a1\"}\n{\"v\":\"a2\"}\n");
  Add("/in/b.json", 1000, "{\"v\":\"b1\"}");
  Add("/in/empty.json", 1500, "");
  auto source = Open();
  ASSERT_THAT(Take(*source, -1), SizeIs(3));
  EXPECT_THAT(Read(*source, -1, 0), ElementsAre("b1", "a1", "a2"));
}

TEST_F(FileSourceTest, AFileIsReadOnceEvenWhenItIsWrittenAgain) {
  Add("/in/a.json", 1000);
  auto source = Open();
  ASSERT_THAT(Take(*source, -1), SizeIs(1));
  Add("/in/a.json", 9000, "{}\n");
  EXPECT_THAT(Take(*source, 0), IsEmpty());
}

TEST_F(FileSourceTest, MaxFilesPerTrigger) {
  for (const char* name : {"a", "b", "c"}) Add(fmt::format("/in/{}", name), 1000);
  auto source = Open({{"maxfilespertrigger", "2"}});
  EXPECT_THAT(Take(*source, -1), ElementsAre("/in/a", "/in/b"));
  EXPECT_THAT(Take(*source, 0), ElementsAre("/in/c"));
  EXPECT_THAT(Take(*source, 1), IsEmpty());
}

TEST_F(FileSourceTest, MaxBytesPerTriggerTakesOneFileAtLeast) {
  Add("/in/a", 1000, std::string(60, ' '));
  Add("/in/b", 2000, std::string(40, ' '));
  Add("/in/c", 3000, std::string(500, ' '));
  Add("/in/d", 4000, std::string(1, ' '));
  auto source = Open({{"maxbytespertrigger", "100"}});
  EXPECT_THAT(Take(*source, -1), ElementsAre("/in/a", "/in/b")) << "up to the limit";
  EXPECT_THAT(Take(*source, 0), ElementsAre("/in/c"));
  EXPECT_THAT(Take(*source, 1), ElementsAre("/in/d"));
}

TEST_F(FileSourceTest, LatestFirstListsAnewEachTime) {
  for (int i = 1; i <= 3; ++i) Add(fmt::format("/in/{}", i), i * 1000);
  auto source = Open({{"latestfirst", "true"}, {"maxfilespertrigger", "1"}});
  EXPECT_THAT(Take(*source, -1), ElementsAre("/in/3"));
  Add("/in/4", 4000);
  EXPECT_THAT(Take(*source, 0), ElementsAre("/in/4"));
  EXPECT_THAT(Take(*source, 1), ElementsAre("/in/2"));
  EXPECT_THAT(Take(*Open({{"latestfirst", "true"}}), 2), ElementsAre("/in/1")) << "a restart knows what was taken";
}

TEST_F(FileSourceTest, LatestFirstWithALimitHasNoAge) {
  Add("/in/old", 1000);
  Add("/in/new", 100 * kDayMs);
  auto source = Open({{"latestfirst", "true"}, {"maxfilespertrigger", "1"}, {"maxfileage", "1d"}});
  EXPECT_THAT(Take(*source, -1), ElementsAre("/in/new"));
  EXPECT_THAT(Take(*source, 0), ElementsAre("/in/old"));
}

TEST_F(FileSourceTest, UnreadFilesAreUsedUpBeforeTheFolderIsListedAgain) {
  for (const char* name : {"b", "c", "d"}) Add(fmt::format("/in/{}", name), 1000);
  auto source = Open({{"maxfilespertrigger", "1"}});
  EXPECT_THAT(Take(*source, -1), ElementsAre("/in/b"));
  Add("/in/a", 1000);
  EXPECT_THAT(Take(*source, 0), ElementsAre("/in/c"));
  EXPECT_THAT(Take(*source, 1), ElementsAre("/in/d"));
  EXPECT_THAT(Take(*source, 2), ElementsAre("/in/a"));
}

TEST_F(FileSourceTest, WithoutACacheEachBatchLists) {
  for (const char* name : {"b", "c"}) Add(fmt::format("/in/{}", name), 1000);
  auto source = Open({{"maxfilespertrigger", "1"}, {"maxcachedfiles", "0"}});
  EXPECT_THAT(Take(*source, -1), ElementsAre("/in/b"));
  Add("/in/a", 1000);
  EXPECT_THAT(Take(*source, 0), ElementsAre("/in/a"));
}

TEST_F(FileSourceTest, FileNameOnlyTakesOneFileOfAName) {
  Add("/in/x/a.json", 1000);
  Add("/in/y/a.json", 2000);
  Add("/in/y/b.json", 3000);
  const std::map<std::string, std::string> options = {{"filenameonly", "true"}, {"recursivefilelookup", "true"}};
  auto source = Open(options);
  EXPECT_THAT(Take(*source, -1), ElementsAre("/in/x/a.json", "/in/y/b.json"));
  Add("/in/z/b.json", 4000);
  EXPECT_THAT(Take(*source, 0), IsEmpty());
  EXPECT_THAT(Take(*Open(options), 0), IsEmpty()) << "a restart knows the names";
  EXPECT_THAT(Take(*Open({{"recursivefilelookup", "true"}}), 0), ElementsAre("/in/y/a.json", "/in/z/b.json"));
}

TEST_F(FileSourceTest, MaxFileAgeCountsFromTheNewestFile) {
  Add("/in/a", 10 * kDayMs);
  Add("/in/old", 1000);
  const std::map<std::string, std::string> options = {{"maxfileage", "2d"}};
  auto source = Open(options);
  EXPECT_THAT(Take(*source, -1), ElementsAre("/in/old", "/in/a")) << "not in the first batch";
  Add("/in/late", 8 * kDayMs - 1);
  Add("/in/in-time", 8 * kDayMs);
  EXPECT_THAT(Take(*source, 0), ElementsAre("/in/in-time"));
  EXPECT_THAT(Take(*source, 1), IsEmpty());
  EXPECT_THAT(Take(*Open(options), 1), IsEmpty()) << "nor after a restart";
}

TEST_F(FileSourceTest, PathGlobFilterAndRecursion) {
  Add("/in/a.json", 1000);
  Add("/in/a.csv", 1000);
  Add("/in/sub/b.json", 1000);
  EXPECT_THAT(Take(*Open({{"pathglobfilter", "*.json"}}), -1), ElementsAre("/in/a.json"));
  EXPECT_THAT(Take(*Open({{"pathglobfilter", "*.json"}, {"recursivefilelookup", "true"}}), 0), ElementsAre("/in/sub/b.json"));
}

TEST_F(FileSourceTest, ARestartGoesOnWithTheSameFiles) {
  for (const char* name : {"a", "b", "c"}) Add(fmt::format("/in/{}", name), 1000);
  const std::map<std::string, std::string> options = {{"maxfilespertrigger", "2"}};
  EXPECT_THAT(Take(*Open(options), -1), ElementsAre("/in/a", "/in/b"));
  auto source = Open(options);
  EXPECT_THAT(Planned(*source, -1, 0), ElementsAre("/in/a", "/in/b")) << "the batch that was cut off";
  EXPECT_THAT(Take(*source, 0), ElementsAre("/in/c"));
}

// The process died between the source's log and the batch's offsets.
TEST_F(FileSourceTest, AnEntryThatNoBatchNamesYetIsTakenFirst) {
  Add("/in/a", 1000);
  EXPECT_THAT(Take(*Open(), -1), ElementsAre("/in/a"));
  auto source = Open();
  EXPECT_EQ(source->LatestOffset(std::nullopt, false).ValueOrDie(), At(0));
  EXPECT_THAT(Planned(*source, -1, 0), ElementsAre("/in/a"));
}

TEST_F(FileSourceTest, CompactedEntriesAreFound) {
  Configure(conf::kFileSourceCompactInterval, "2");
  auto source = Open();
  for (int i = 0; i < 5; ++i) {
    Add(fmt::format("/in/{}", i), 1000 + i);
    ASSERT_THAT(Take(*source, i - 1), ElementsAre(fmt::format("/in/{}", i)));
  }
  EXPECT_EQ(LogEntry("3"), "missing");
  EXPECT_THAT(LogEntry("3.compact"), HasSubstr("\"file:///in/0\",\"timestamp\":1000,\"batchId\":0}\n"));
  auto restarted = Open();
  EXPECT_THAT(Take(*restarted, 4), IsEmpty());
  EXPECT_THAT(Planned(*restarted, 2, 3), ElementsAre("/in/3")) << "a compact file holds earlier entries too";
  EXPECT_THAT(Planned(*restarted, 0, 4), ElementsAre("/in/1", "/in/2", "/in/3", "/in/4"));
}

TEST_F(FileSourceTest, AMissingEntryIsNamedWithItsRemedy) {
  Add("/in/a", 1000);
  EXPECT_THAT(Take(*Open(), -1), SizeIs(1));
  auto source = Open();
  Add("/in/b", 2000);
  ASSERT_THAT(Take(*source, 0), SizeIs(1));
  ASSERT_TRUE(files_->Remove("/checkpoint/sources/0/0").ok());
  const Status hole = Open()->LatestOffset(At(1), false).status();
  EXPECT_EQ(ErrorDetail::Of(hole)->condition, "TIDEMILL_LOG_ENTRY_MISSING");
  EXPECT_EQ(ErrorDetail::Of(hole)->path, "/checkpoint/sources/0/0");
  EXPECT_THAT(hole.message(), HasSubstr("Restore the file from a copy"));

  const Status unread = source->PlanPartitions(std::nullopt, At(0)).status();
  EXPECT_EQ(ErrorDetail::Of(unread)->condition, "TIDEMILL_LOG_ENTRY_MISSING");
  EXPECT_EQ(ErrorDetail::Of(unread)->path, "/checkpoint/sources/0/0");
  EXPECT_THAT(unread.message(), HasSubstr("Restore it from a copy of the checkpoint"));
}

TEST_F(FileSourceTest, AMalformedEntryIsNamedWithItsRemedy) {
  for (const char* line : {"garbage", "{}", R"({"path":"file:///in/a","timestamp":1000})", R"({"path":"file:///in/a","timestamp":"x","batchId":0})",
                           R"({"path":5,"timestamp":1000,"batchId":0})"}) {
    disk_.Put("/checkpoint/sources/0/0", fmt::format("v1\n{}", line));
    const Status status = Open()->LatestOffset(std::nullopt, false).status();
    ASSERT_FALSE(status.ok()) << line;
    EXPECT_EQ(ErrorDetail::Of(status)->condition, "TIDEMILL_MALFORMED_LOG") << line;
    EXPECT_THAT(status.message(), HasSubstr("/checkpoint/sources/0")) << line;
    EXPECT_THAT(status.message(), HasSubstr("Restore the log from a copy of the checkpoint")) << line;
  }
  for (const char* text : {"", "v2", "x1\n"}) {
    disk_.Put("/checkpoint/sources/0/0", text);
    const Status status = Open()->LatestOffset(std::nullopt, false).status();
    ASSERT_FALSE(status.ok()) << text;
    EXPECT_EQ(ErrorDetail::Of(status)->path, "/checkpoint/sources/0/0") << text;
  }
}

TEST_F(FileSourceTest, OffsetsAheadOfTheLogAreRefused) {
  Add("/in/a", 1000);
  EXPECT_THAT(Take(*Open(), -1), SizeIs(1));
  const Status status = Open()->LatestOffset(At(5), false).status();
  EXPECT_EQ(ErrorDetail::Of(status)->condition, "TIDEMILL_LOG_ENTRY_MISSING");
  EXPECT_THAT(status.message(), HasSubstr("batch 5 doesn't exist"));
  EXPECT_THAT(status.message(), HasSubstr("its last one is 0"));
  EXPECT_THAT(status.message(), HasSubstr("Restore the log from a copy"));
  EXPECT_EQ(ErrorDetail::Of(Open()->PlanPartitions(At(0), At(2)).status())->condition, "TIDEMILL_LOG_ENTRY_MISSING");
}

TEST_F(FileSourceTest, OffsetsOfOtherSourcesAreRefused) {
  auto source = Open();
  for (const char* offset : {"", "garbage", R"({"topic":{"0":5}})", R"({"logOffset":"5"})"}) {
    const Status status = source->LatestOffset(offset, false).status();
    ASSERT_FALSE(status.ok()) << offset;
    EXPECT_THAT(status.message(), HasSubstr("is no offset of a file source")) << offset;
  }
  Add("/in/a", 1000);
  ASSERT_THAT(Take(*source, -1), SizeIs(1));
  EXPECT_EQ(source->LatestOffset("0", false).ValueOrDie(), At(0)) << "a bare number is Spark 2.1's";
}

TEST_F(FileSourceTest, AnotherQueryOnTheCheckpointIsNoticed) {
  Add("/in/a", 1000);
  auto source = Open();
  ASSERT_EQ(source->LatestOffset(std::nullopt, false).ValueOrDie(), At(0));
  disk_.Put("/checkpoint/sources/0/0", "v1");
  const Status status = source->LogUpTo(At(0));
  EXPECT_EQ(ErrorDetail::Of(status)->condition, "CONCURRENT_STREAM_LOG_UPDATE");
  EXPECT_EQ(LogEntry("0"), "v1");
}

TEST_F(FileSourceTest, CleanSourceDeletesWhatIsCommitted) {
  Add("/in/a", 1000);
  Add("/in/b", 2000);
  auto source = Open({{"cleansource", "delete"}, {"maxfilespertrigger", "1"}});
  ASSERT_THAT(Take(*source, -1), ElementsAre("/in/a"));
  ASSERT_THAT(Read(*source, -1, 0), ElementsAre("/in/a"));
  EXPECT_TRUE(disk_.Content("/in/a").has_value()) << "a restart would read it again";
  ASSERT_THAT(Take(*source, 0), ElementsAre("/in/b"));
  ASSERT_TRUE(source->Commit(At(0)).ok());
  EXPECT_FALSE(disk_.Content("/in/a").has_value());
  EXPECT_TRUE(disk_.Content("/in/b").has_value());
}

TEST_F(FileSourceTest, CleanSourceGoesOnWhereAFileCannotBeDeleted) {
  Add("/in/a", 1000);
  Add("/in/b", 2000);
  auto source = Open({{"cleansource", "DELETE"}});
  ASSERT_THAT(Take(*source, -1), SizeIs(2));
  disk_.Inject({.error = EACCES, .kind = "unlink", .path = "/in/a"});
  ASSERT_TRUE(source->Commit(At(0)).ok());
  EXPECT_TRUE(disk_.Content("/in/a").has_value());
  EXPECT_FALSE(disk_.Content("/in/b").has_value());
}

TEST_F(FileSourceTest, FilesStayByDefault) {
  Add("/in/a", 1000);
  auto source = Open();
  ASSERT_THAT(Take(*source, -1), SizeIs(1));
  ASSERT_TRUE(source->Commit(At(0)).ok());
  EXPECT_TRUE(disk_.Content("/in/a").has_value());
}

TEST_F(FileSourceTest, ASinksFolderIsNotCleaned) {
  disk_.Put("/in/_spark_metadata/0", "v1");
  const Status status = Open({{"cleansource", "delete"}})->LatestOffset(std::nullopt, false).status();
  EXPECT_THAT(status.message(), HasSubstr("not supported when reading from the output directory of FileStreamSink"));
}

TEST_F(FileSourceTest, AvailableNowFreezesTheSet) {
  for (int i = 1; i <= 3; ++i) Add(fmt::format("/in/{}", i), i * 1000);
  auto source = Open({{"maxfilespertrigger", "2"}});
  ASSERT_TRUE(source->PrepareForAvailableNow().ok());
  Add("/in/later", 0);
  EXPECT_THAT(Take(*source, -1), ElementsAre("/in/1", "/in/2"));
  EXPECT_THAT(Take(*source, 0), ElementsAre("/in/3"));
  EXPECT_THAT(Take(*source, 1), IsEmpty());
  EXPECT_THAT(Take(*source, 1), IsEmpty());
  EXPECT_THAT(Take(*Open(), 1), ElementsAre("/in/later"));
}

TEST_F(FileSourceTest, OnceIgnoresLimits) {
  for (int i = 1; i <= 3; ++i) Add(fmt::format("/in/{}", i), i * 1000);
  EXPECT_THAT(Take(*Open({{"maxfilespertrigger", "1"}}), -1, /*ignore_limits=*/true), SizeIs(3));
}

TEST_F(FileSourceTest, LargeFilesAreCutAndSmallOnesShare) {
  constexpr int64_t kMegabyte = 1 << 20;
  Add("/in/large", 1000, std::string(10 * kMegabyte, ' '));
  for (int i = 0; i < 3; ++i) Add(fmt::format("/in/small{}", i), 2000, "{}\n");
  auto source = Open();
  ASSERT_THAT(Take(*source, -1), SizeIs(6));
  std::vector<std::string> shown;
  for (const auto& partition : source->PlanPartitions(std::nullopt, At(0)).ValueOrDie()) {
    std::string one;
    for (const FileSplit& split : static_cast<const FilePartition&>(*partition).splits()) {
      one += fmt::format("{}[{},{}) ", fs::BaseName(split.path), split.begin, split.end);
    }
    shown.push_back(one);
  }
  // At most 4 MB a partition here, and opening a file counts as 4 MB.
  EXPECT_THAT(shown, ElementsAre("large[0,4194304) ", "large[4194304,8388608) ", "large[8388608,10485760) ", "small0[0,3) ", "small1[0,3) ", "small2[0,3) "));
}

TEST_F(FileSourceTest, ManySmallFilesShareAPartition) {
  for (int i = 0; i < 64; ++i) Add(fmt::format("/in/{:02}", i), 1000);
  auto source = Open();
  ASSERT_THAT(Take(*source, -1), SizeIs(64));
  const auto partitions = source->PlanPartitions(std::nullopt, At(0)).ValueOrDie();
  EXPECT_THAT(partitions, SizeIs(16));
  for (const auto& partition : partitions) EXPECT_THAT(static_cast<const FilePartition&>(*partition).splits(), SizeIs(4));
  EXPECT_THAT(Read(*source, -1, 0), SizeIs(64));
}

TEST_F(FileSourceTest, AVanishedFileFailsTheBatch) {
  Add("/in/a", 1000);
  Add("/in/b", 2000);
  auto source = Open();
  ASSERT_THAT(Take(*source, -1), SizeIs(2));
  ASSERT_TRUE(files_->Remove("/in/a").ok());
  const auto partitions = source->PlanPartitions(std::nullopt, At(0)).ValueOrDie();
  const Status status = source->OpenReader(*partitions[0], {0}, {}).ValueOrDie()->Next().status();
  EXPECT_EQ(ErrorDetail::Of(status)->condition, "FAILED_READ_FILE.FILE_NOT_EXIST");
  EXPECT_EQ(ErrorDetail::Of(status)->path, "/in/a");
  EXPECT_THAT(status.message(), HasSubstr("ignoreMissingFiles"));
}

TEST_F(FileSourceTest, AVanishedFileIsLeftOutWhenThatIsAskedFor) {
  Add("/in/a", 1000);
  Add("/in/b", 2000);
  auto source = Open({{"ignoremissingfiles", "true"}});
  ASSERT_THAT(Take(*source, -1), SizeIs(2));
  ASSERT_TRUE(files_->Remove("/in/a").ok());
  EXPECT_THAT(Read(*source, -1, 0), ElementsAre("/in/b"));

  Configure(conf::kIgnoreMissingFiles, "true");
  EXPECT_THAT(Read(*Open(), -1, 0), ElementsAre("/in/b")) << "by configuration, and after a restart";
}

TEST_F(FileSourceTest, AnUnreadableFolderFailsTheBatchAndNotTheNext) {
  Add("/in/a", 1000);
  auto source = Open();
  disk_.Inject({.error = EACCES, .kind = "list", .path = "/in"});
  EXPECT_THAT(source->LatestOffset(std::nullopt, false).status().message(), HasSubstr("Cannot list /in: permission denied"));
  EXPECT_THAT(Take(*source, -1), ElementsAre("/in/a"));
}

TEST_F(FileSourceTest, CompressedFilesAreRefusedByName) {
  Add("/in/a.json.gz", 1000);
  auto source = Open();
  ASSERT_EQ(source->LatestOffset(std::nullopt, false).ValueOrDie(), At(0));
  const Status status = source->PlanPartitions(std::nullopt, At(0)).status();
  EXPECT_THAT(status.message(), HasSubstr("/in/a.json.gz is compressed"));
}

TEST_F(FileSourceTest, WhatCannotBeASourceIsRefusedAtOnce) {
  const auto condition = [](const Status& status) { return ErrorDetail::Of(status)->condition; };
  Status status = Make({{"path", "/none"}}).status();
  EXPECT_EQ(condition(status), "PATH_NOT_FOUND");
  EXPECT_EQ(ErrorDetail::Of(status)->parameters.at("path"), "/none");
  EXPECT_EQ(condition(Make({{"path", "/none/*.json"}}).status()), "PATH_NOT_FOUND");
  EXPECT_TRUE(Make({{"path", "/in/*.json"}}).ok()) << "files may come later";
  EXPECT_EQ(condition(Make({{"path", ""}}).status()), "_LEGACY_ERROR_TEMP_2047");
  schema_.fields.clear();
  EXPECT_EQ(condition(Make().status()), "_LEGACY_ERROR_TEMP_2048");
}

TEST_F(FileSourceTest, AvailableNowReadsAllOfTheSetWhateverIsRemembered) {
  for (int i = 0; i < 50; ++i) Add(fmt::format("/in/{:02}.json", i), i);
  auto source = Open({{"maxfilespertrigger", "2"}, {"maxcachedfiles", "10"}});
  ASSERT_TRUE(source->PrepareForAvailableNow().ok());
  for (int64_t batch = 0; batch < 25; ++batch) EXPECT_THAT(Take(*source, batch - 1), SizeIs(2));
  EXPECT_THAT(Take(*source, 24), IsEmpty());
}

TEST_F(FileSourceTest, CleanSourceAlsoCleansWhatAnEarlierProcessRead) {
  Add("/in/a.json", 1);
  EXPECT_THAT(Take(*Open({{"cleansource", "delete"}}), -1), ElementsAre("/in/a.json"));
  auto again = Open({{"cleansource", "delete"}});
  EXPECT_EQ(again->LatestOffset(At(0), false).ValueOrDie(), At(0));
  ASSERT_TRUE(again->Commit(At(0)).ok());
  EXPECT_EQ(disk_.Content("/in/a.json"), std::nullopt);
}

TEST_F(FileSourceTest, ANameThatIsNoUtf8IsRefusedBeforeItIsLogged) {
  Add("/in/\xff.json", 1);
  EXPECT_THAT(Take(*Open(), -1), ElementsAre(HasSubstr("UTF-8")));
  EXPECT_EQ(LogEntry("0"), "missing");
}

TEST_F(FileSourceTest, LoggingWhatWasNeverChosenIsAnError) {
  auto source = Open();
  EXPECT_FALSE(source->LogUpTo(At(3)).ok());
}

// The log thread writes entries while the query's thread adds, reads and forgets others. ThreadSanitizer looks on.
TEST_F(FileSourceTest, EntriesAreLoggedWhileOthersAreReadAndForgotten) {
  constexpr int64_t kFiles = 60;
  for (int64_t i = 0; i < kFiles; ++i) Add(fmt::format("/in/{:02}.json", i), i);
  auto source = Open({{"maxfilespertrigger", "1"}});
  std::vector<std::string> read;
  for (int64_t batch = 0; batch < kFiles; ++batch) {
    EXPECT_EQ(source->LatestOffset(Start(batch - 1), false).ValueOrDie(), At(batch));
    std::jthread log_thread([&] { EXPECT_TRUE(source->LogUpTo(At(batch)).ok()); });
    const auto paths = Planned(*source, batch - 1, batch);
    read.insert(read.end(), paths.begin(), paths.end());
    if (batch > 0) {
      EXPECT_TRUE(source->Commit(At(batch - 1)).ok());
    }
  }
  EXPECT_THAT(read, SizeIs(kFiles));
  EXPECT_TRUE(std::is_sorted(read.begin(), read.end()));
}

// As above, with additions alone: ThreadSanitizer sees what they write, while what forgets an entry lies in the library, where the preset has it look away.
TEST_F(FileSourceTest, EntriesAreLoggedWhileOthersAreAdded) {
  constexpr int64_t kFiles = 200;
  for (int64_t i = 0; i < kFiles; ++i) Add(fmt::format("/in/{:03}.json", i), i);
  auto source = Open({{"maxfilespertrigger", "1"}});
  const auto add = [&](int64_t entry) { EXPECT_EQ(source->LatestOffset(Start(entry - 1), false).ValueOrDie(), At(entry)); };
  for (int64_t entry = 0; entry < kFiles / 2; ++entry) add(entry);
  {
    std::latch started(1);
    std::jthread log_thread([&] {
      started.count_down();
      EXPECT_TRUE(source->LogUpTo(At(kFiles / 2 - 1)).ok());
    });
    started.wait();
    for (int64_t entry = kFiles / 2; entry < kFiles; ++entry) add(entry);
  }
  EXPECT_TRUE(source->LogUpTo(At(kFiles - 1)).ok());
  EXPECT_THAT(Planned(*source, -1, kFiles - 1), SizeIs(kFiles));
}

}  // namespace
}  // namespace tidemill::connector
