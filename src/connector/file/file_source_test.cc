#include "connector/file/file_source.h"

#include <arrow/record_batch.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>

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

using Options = std::map<std::string, std::string>;
using Names = std::vector<std::string>;

class FileSourceTest : public ::testing::Test {
 protected:
  FileSourceTest() {
    disk_.SetTimeSource([this] { return now_ms_; });
  }

  Result<std::unique_ptr<Source>> Make(Options options = {}) {
    options.emplace("path", "/in");
    return MakeJsonFileSource(
        {*files_, clock_, config_, "/ckpt/sources/0", type::Schema{type::ParseDdl("i INT").ValueOrDie().fields}, std::move(options), "/"});
  }
  /// A file that is `seconds` old in the world's time.
  void Put(const std::string& name, int64_t seconds, std::string_view content = "{\"i\":1}\n") {
    now_ms_ = 1'700'000'000'000 + seconds * 1000;
    disk_.Put("/in/" + name, content);
  }
  /// One batch from `start` on: its files, logged. Moves `start`.
  Names Take(Source& source, std::optional<Offset>* start, bool ignore_limits = false) {
    const auto end = source.LatestOffset(*start, ignore_limits);
    if (!end.ok()) return {end.status().ToString()};
    if (!*end || *end == *start) return {};
    EXPECT_TRUE(source.LogUpTo(**end).ok());
    Names names = Files(source, *start, **end);
    *start = **end;
    return names;
  }
  Names Files(Source& source, const std::optional<Offset>& start, const Offset& end) {
    const auto partitions = source.PlanPartitions(start, end);
    if (!partitions.ok()) return {partitions.status().ToString()};
    Names names;
    for (const auto& partition : *partitions) {
      for (const FileSplit& split : static_cast<const FilePartition&>(*partition).splits()) names.push_back(fs::BaseName(split.path));
    }
    return names;
  }
  /// All batches until there is nothing new.
  std::vector<Names> TakeAll(Source& source) {
    std::vector<Names> batches;
    std::optional<Offset> start;
    for (Names names = Take(source, &start); !names.empty(); names = Take(source, &start)) batches.push_back(std::move(names));
    return batches;
  }

  int64_t now_ms_ = 1'700'000'000'000;
  testing::SimulatedDisk disk_;
  std::unique_ptr<fs::FileSystem> files_ = fs::MakeLocalFileSystem(disk_);
  testing::FakeClock clock_;
  Config config_;
};

TEST_F(FileSourceTest, ReadsFilesByTimeWithinTheLimit) {
  Put("b.json", 1);
  Put("a.json", 2);
  Put("c.json", 2);
  Put("_hidden.json", 0);
  auto source = Make({{"maxfilespertrigger", "2"}}).ValueOrDie();
  EXPECT_THAT(TakeAll(*source), ElementsAre(Names{"b.json", "a.json"}, Names{"c.json"}));
  EXPECT_EQ(disk_.Content("/ckpt/sources/0/0").value_or(""),
            "v1\n{\"path\":\"file:///in/b.json\",\"timestamp\":1700000001000,\"batchId\":0}\n"
            "{\"path\":\"file:///in/a.json\",\"timestamp\":1700000002000,\"batchId\":0}");
}

TEST_F(FileSourceTest, TheByteLimitTakesOneFileAtLeast) {
  for (int i = 0; i < 4; ++i) Put(fmt::format("{}.json", i), i, std::string(10, '\n'));
  EXPECT_THAT(TakeAll(*Make({{"maxbytespertrigger", "25"}}).ValueOrDie()), ElementsAre(SizeIs(2), SizeIs(2)));
}

TEST_F(FileSourceTest, OneByteIsLessThanAFile) {
  for (int i = 0; i < 3; ++i) Put(fmt::format("{}.json", i), i);
  EXPECT_THAT(TakeAll(*Make({{"maxbytespertrigger", "1"}}).ValueOrDie()), ElementsAre(SizeIs(1), SizeIs(1), SizeIs(1)));
}

TEST_F(FileSourceTest, TheNewestComesFirstWhereThatIsWanted) {
  for (int i = 0; i < 3; ++i) Put(fmt::format("{}.json", i), i);
  auto source = Make({{"maxfilespertrigger", "1"}, {"latestfirst", "true"}}).ValueOrDie();
  std::optional<Offset> start;
  EXPECT_THAT(Take(*source, &start), ElementsAre("2.json"));
  Put("9.json", 9);
  EXPECT_THAT(Take(*source, &start), ElementsAre("9.json"));
  EXPECT_THAT(Take(*source, &start), ElementsAre("1.json"));
}

TEST_F(FileSourceTest, OldFilesAreLeftOutOnceNewerOnesWereSeen) {
  Put("old.json", 0);
  Put("new.json", 100);
  auto source = Make({{"maxfileage", "10s"}}).ValueOrDie();
  std::optional<Offset> start;
  EXPECT_THAT(Take(*source, &start), ElementsAre("old.json", "new.json"));
  Put("late.json", 89);
  Put("in-time.json", 95);
  EXPECT_THAT(Take(*source, &start), ElementsAre("in-time.json"));
}

TEST_F(FileSourceTest, NamesAloneCanCount) {
  Put("x/a.json", 0);
  Put("y/a.json", 1);
  auto source = Make({{"recursivefilelookup", "true"}, {"filenameonly", "true"}}).ValueOrDie();
  EXPECT_THAT(TakeAll(*source), ElementsAre(Names{"a.json"}));
}

TEST_F(FileSourceTest, WhatWasReadBeforeARestartIsNotReadAgain) {
  Put("a.json", 0);
  std::optional<Offset> start;
  EXPECT_THAT(Take(*Make().ValueOrDie(), &start), ElementsAre("a.json"));
  Put("b.json", 1);
  auto again = Make().ValueOrDie();
  EXPECT_THAT(Take(*again, &start), ElementsAre("b.json"));
  EXPECT_THAT(Files(*again, std::nullopt, "{\"logOffset\":0}"), ElementsAre("a.json"));
}

TEST_F(FileSourceTest, FilesOfAnEntryThatNoBatchHasYetComeFirst) {
  Put("a.json", 0);
  std::optional<Offset> first;
  EXPECT_THAT(Take(*Make().ValueOrDie(), &first), ElementsAre("a.json"));
  Put("b.json", 1);
  // The process died after the log entry and before the batch's offsets: the next batch reads both entries.
  std::optional<Offset> start;
  EXPECT_THAT(Take(*Make().ValueOrDie(), &start), ElementsAre("a.json", "b.json"));
}

TEST_F(FileSourceTest, OffsetsBeyondTheLogAreRefused) {
  Put("a.json", 0);
  std::optional<Offset> start = "{\"logOffset\":7}";
  EXPECT_THAT(Take(*Make().ValueOrDie(), &start), ElementsAre(HasSubstr("TIDEMILL_LOG_ENTRY_MISSING")));
}

TEST_F(FileSourceTest, AMissingOrDamagedEntryIsNamed) {
  Put("a.json", 0);
  std::optional<Offset> start;
  Take(*Make({{"maxfilespertrigger", "1"}}).ValueOrDie(), &start);
  Put("b.json", 1);
  Take(*Make({{"maxfilespertrigger", "1"}}).ValueOrDie(), &start);
  ASSERT_TRUE(files_->Remove("/ckpt/sources/0/0").ok());
  EXPECT_THAT(Files(*Make().ValueOrDie(), std::nullopt, *start).at(0), HasSubstr("/ckpt/sources/0"));
  disk_.Put("/ckpt/sources/0/0", "v1\n{\"path\":1}");
  EXPECT_THAT(Files(*Make().ValueOrDie(), std::nullopt, *start).at(0), HasSubstr("TIDEMILL_MALFORMED_LOG"));
}

TEST_F(FileSourceTest, AvailableNowReadsAllThatWasThereAndNothingElse) {
  constexpr int kFiles = 50;
  for (int i = 0; i < kFiles; ++i) Put(fmt::format("{:02}.json", i), i);
  // More files than are remembered between batches otherwise.
  auto source = Make({{"maxfilespertrigger", "2"}, {"maxcachedfiles", "10"}}).ValueOrDie();
  ASSERT_TRUE(source->PrepareForAvailableNow().ok());
  Put("too-late.json", kFiles);
  size_t files = 0;
  const std::vector<Names> batches = TakeAll(*source);
  for (const Names& names : batches) {
    files += names.size();
    EXPECT_THAT(names, ::testing::Not(::testing::Contains("too-late.json")));
  }
  EXPECT_EQ(files, size_t{kFiles});
  EXPECT_THAT(batches, SizeIs(25));
}

TEST_F(FileSourceTest, OnceReadsPastTheLimit) {
  for (int i = 0; i < 5; ++i) Put(fmt::format("{}.json", i), i);
  auto source = Make({{"maxfilespertrigger", "1"}}).ValueOrDie();
  std::optional<Offset> start;
  EXPECT_THAT(Take(*source, &start, /*ignore_limits=*/true), SizeIs(5));
}

TEST_F(FileSourceTest, LargeFilesAreCutAndSmallOnesPutTogether) {
  Put("large.json", 0, std::string(40 << 20, '\n'));
  auto source = Make().ValueOrDie();
  std::optional<Offset> start;
  const Names pieces = Take(*source, &start);
  EXPECT_GT(pieces.size(), 5u);
  for (int i = 0; i < 20; ++i) Put(fmt::format("{}.json", i), 1 + i);
  const Offset end = source->LatestOffset(start, false).ValueOrDie().value();
  EXPECT_LT(source->PlanPartitions(start, end).ValueOrDie().size(), 20u);
}

TEST_F(FileSourceTest, CleaningWaitsForTheCommit) {
  Put("a.json", 0);
  auto source = Make({{"cleansource", "delete"}}).ValueOrDie();
  std::optional<Offset> start;
  EXPECT_THAT(Take(*source, &start), ElementsAre("a.json"));
  EXPECT_TRUE(disk_.Content("/in/a.json").has_value());
  ASSERT_TRUE(source->Commit(*start).ok());
  EXPECT_FALSE(disk_.Content("/in/a.json").has_value());
}

TEST_F(FileSourceTest, OptionsThatMakeNoSenseAreRefusedWithTheirNames) {
  Put("a.json", 0);
  const std::vector<std::pair<std::string, std::string>> wrong = {{"maxFilesPerTrigger", "0"},
                                                                  {"maxBytesPerTrigger", "10k"},
                                                                  {"maxFileAge", "1 hour"},
                                                                  {"latestFirst", "yes"},
                                                                  {"cleanSource", "burn"}};
  for (const auto& [name, value] : wrong) {
    std::string key = name;
    std::transform(key.begin(), key.end(), key.begin(), [](unsigned char c) { return std::tolower(c); });
    std::optional<Offset> start;
    EXPECT_THAT(Take(*Make({{key, value}}).ValueOrDie(), &start), ElementsAre(HasSubstr(value))) << name;
  }
}

TEST_F(FileSourceTest, AFolderThatMayNotBeListedIsAnErrorThatNamesIt) {
  Put("a.json", 0);
  auto source = Make().ValueOrDie();
  disk_.Inject({.fault = testing::Fault::kFailOnce, .error = EACCES, .kind = "list", .path = "/in"});
  std::optional<Offset> start;
  EXPECT_THAT(Take(*source, &start), ElementsAre(HasSubstr("/in")));
  EXPECT_THAT(Take(*source, &start), ElementsAre("a.json"));
}

// The log thread writes entries while the query's thread adds, reads and forgets others. ThreadSanitizer looks on.
TEST_F(FileSourceTest, EntriesAreLoggedWhileOthersAreReadAndForgotten) {
  constexpr int kFiles = 60;
  for (int i = 0; i < kFiles; ++i) Put(fmt::format("{:02}.json", i), i);
  auto source = Make({{"maxfilespertrigger", "1"}}).ValueOrDie();
  std::optional<Offset> start;
  Names read;
  for (int i = 0; i < kFiles; ++i) {
    const Offset end = source->LatestOffset(start, false).ValueOrDie().value();
    std::jthread log_thread([&] { EXPECT_TRUE(source->LogUpTo(end).ok()); });
    const Names names = Files(*source, start, end);
    read.insert(read.end(), names.begin(), names.end());
    if (start) {
      EXPECT_TRUE(source->Commit(*start).ok());
    }
    log_thread.join();
    start = end;
  }
  EXPECT_THAT(read, SizeIs(kFiles));
  EXPECT_TRUE(std::is_sorted(read.begin(), read.end()));
}

TEST(FileSourceOptionsTest, APathThatIsNotThereIsRepeatedAsItWasWritten) {
  testing::SimulatedDisk disk;
  const auto files = fs::MakeLocalFileSystem(disk);
  testing::FakeClock clock;
  const Config config;
  const type::Schema schema{type::ParseDdl("i INT").ValueOrDie().fields};
  const auto refused = [&](Options options) {
    return ErrorDetail::Of(MakeJsonFileSource({*files, clock, config, "/ckpt", schema, std::move(options), "/base"}).status())->condition;
  };
  EXPECT_EQ(refused({{"path", "none/"}}), "PATH_NOT_FOUND");
  EXPECT_EQ(refused({}), "_LEGACY_ERROR_TEMP_2047");
  const Status status = MakeJsonFileSource({*files, clock, config, "/ckpt", schema, {{"path", "none/"}}, "/base"}).status();
  EXPECT_EQ(ErrorDetail::Of(status)->parameters.at("path"), "none/");
}

}  // namespace
}  // namespace tidemill::connector
