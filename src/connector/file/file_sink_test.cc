#include "connector/file/file_sink.h"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "fs/local_file_system.h"
#include "testing/fake_clock.h"
#include "testing/simulated_disk.h"

namespace tidemill::connector {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class FileSinkTest : public ::testing::Test {
 protected:
  std::unique_ptr<Sink> Make(std::map<std::string, std::string> options = {}) {
    options.emplace("path", "/out");
    return MakeJsonFileSink({*files_, clock_, config_, schema_, std::move(options), "/", std::cerr}).ValueOrDie();
  }
  std::shared_ptr<arrow::RecordBatch> Rows(std::vector<int32_t> values) {
    arrow::Int32Builder builder;
    EXPECT_TRUE(builder.AppendValues(values).ok());
    return arrow::RecordBatch::Make(schema_.ToArrow(), static_cast<int64_t>(values.size()), {builder.Finish().ValueOrDie()});
  }
  /// One task's share of a batch, staged.
  Result<WriterResult> Stage(Sink& sink, int64_t batch_id, std::vector<int32_t> values) {
    ARROW_ASSIGN_OR_RAISE(auto writer, sink.OpenWriter(batch_id, 0));
    ARROW_RETURN_NOT_OK(writer->Write(*Rows(std::move(values))));
    return writer->Finish();
  }
  Status Run(Sink& sink, int64_t batch_id, std::vector<int32_t> values) {
    ARROW_ASSIGN_OR_RAISE(WriterResult result, Stage(sink, batch_id, std::move(values)));
    ARROW_RETURN_NOT_OK(files_->Publish(result.files));
    std::vector<WriterResult> results;
    results.push_back(std::move(result));
    return sink.Commit(batch_id, std::move(results));
  }
  /// Names in the log's folder.
  std::vector<std::string> LogFiles() {
    std::vector<std::string> names;
    for (const auto& [path, content] : disk_.Files()) {
      if (path.starts_with("/out/_spark_metadata/")) names.push_back(fs::BaseName(path));
    }
    return names;
  }
  size_t DataFiles() {
    size_t count = 0;
    for (const auto& [path, content] : disk_.Files()) count += path.starts_with("/out/part-") ? 1 : 0;
    return count;
  }

  testing::SimulatedDisk disk_;
  std::unique_ptr<fs::FileSystem> files_ = fs::MakeLocalFileSystem(disk_);
  testing::FakeClock clock_;
  Config config_ = Config().With(conf::kFileSinkCompactInterval, "3").ValueOrDie();
  type::Schema schema_{type::ParseDdl("i INT").ValueOrDie().fields};
};

TEST_F(FileSinkTest, RowsCountFromTheCommitOn) {
  auto sink = Make();
  const WriterResult result = Stage(*sink, 0, {1, 2}).ValueOrDie();
  EXPECT_EQ(result.row_count, 2);
  EXPECT_THAT(LogFiles(), IsEmpty());
  ASSERT_TRUE(files_->Publish(result.files).ok());
  ASSERT_TRUE(sink->Commit(0, {result}).ok());
  ASSERT_THAT(LogFiles(), SizeIs(1));
  const std::string entry = disk_.Content("/out/_spark_metadata/0").value_or("");
  EXPECT_THAT(entry, HasSubstr("v1\n{\"path\":\"file:///out/part-00000-"));
  EXPECT_THAT(entry, HasSubstr("\"size\":16,\"isDir\":false,\"modificationTime\":"));
  EXPECT_THAT(entry, HasSubstr("\"blockReplication\":1,\"blockSize\":33554432,\"action\":\"add\"}"));
  EXPECT_EQ(disk_.Content(result.files[0].path).value_or(""), "{\"i\":1}\n{\"i\":2}\n");
}

TEST_F(FileSinkTest, ABatchIsTakenOnce) {
  ASSERT_TRUE(Run(*Make(), 0, {1}).ok());
  const auto before = disk_.Content("/out/_spark_metadata/0");
  auto again = Make();
  EXPECT_TRUE(again->HasBatch(0).ValueOrDie());
  EXPECT_FALSE(again->HasBatch(1).ValueOrDie());
  ASSERT_TRUE(Run(*again, 0, {1}).ok());
  EXPECT_EQ(disk_.Content("/out/_spark_metadata/0"), before);
}

TEST_F(FileSinkTest, WhatAFailedAttemptStagedIsRemoved) {
  auto sink = Make();
  const WriterResult result = Stage(*sink, 0, {1}).ValueOrDie();
  sink->Discard({result});
  EXPECT_EQ(DataFiles(), 0u);
}

TEST_F(FileSinkTest, EveryThirdEntryHoldsTheOnesBefore) {
  auto sink = Make();
  for (int batch = 0; batch < 4; ++batch) ASSERT_TRUE(Run(*sink, batch, {batch}).ok());
  EXPECT_THAT(LogFiles(), ::testing::UnorderedElementsAre("0", "1", "2.compact", "3"));
  const std::string compact = disk_.Content("/out/_spark_metadata/2.compact").value_or("");
  EXPECT_EQ(std::count(compact.begin(), compact.end(), '\n'), 3);
  // A restart counts from the compact file on.
  EXPECT_TRUE(Make()->HasBatch(3).ValueOrDie());
}

TEST_F(FileSinkTest, RetentionForgetsOldFilesWhenTheLogIsCompacted) {
  int64_t now_ms = clock_.NowMs();
  disk_.SetTimeSource([&] { return now_ms; });
  auto sink = Make({{"retention", "1 hour"}});
  ASSERT_TRUE(Run(*sink, 0, {0}).ok());
  clock_.AdvanceMs(2 * 3600 * 1000);
  now_ms = clock_.NowMs();
  ASSERT_TRUE(Run(*sink, 1, {1}).ok());
  ASSERT_TRUE(Run(*sink, 2, {2}).ok());
  const std::string compact = disk_.Content("/out/_spark_metadata/2.compact").value_or("");
  EXPECT_EQ(std::count(compact.begin(), compact.end(), '\n'), 2);
}

TEST_F(FileSinkTest, AFullDiskIsAnErrorThatNamesTheFileAndNothingIsTaken) {
  auto sink = Make();
  ASSERT_TRUE(Run(*sink, 0, {1}).ok());
  disk_.LimitFreeBytes(10);
  const Status status = Run(*sink, 1, std::vector<int32_t>(100, 7));
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.ToString(), HasSubstr("/out/part-"));
  disk_.LimitFreeBytes(std::nullopt);
  EXPECT_FALSE(Make()->HasBatch(1).ValueOrDie());
  EXPECT_TRUE(Run(*sink, 1, {2}).ok());
}

TEST_F(FileSinkTest, TwoQueriesMayNotShareAFolder) {
  auto one = Make();
  auto other = Make();
  EXPECT_FALSE(other->HasBatch(0).ValueOrDie());
  ASSERT_TRUE(Run(*one, 0, {1}).ok());
  const Status status = Run(*other, 0, {2});
  EXPECT_EQ(ErrorDetail::Of(status)->condition, "CONCURRENT_STREAM_LOG_UPDATE");
}

TEST_F(FileSinkTest, WrongOptionsAreRefused) {
  const auto refused = [&](std::map<std::string, std::string> options) {
    const auto made = MakeJsonFileSink({*files_, clock_, config_, schema_, std::move(options), "/", std::cerr});
    return made.ok() ? std::string() : ErrorDetail::Of(made.status())->condition;
  };
  disk_.Put("/file", "x");
  EXPECT_EQ(refused({}), "_LEGACY_ERROR_TEMP_2047");
  EXPECT_EQ(refused({{"path", "/file"}}), "TIDEMILL_INVALID_OPTION");
  EXPECT_EQ(refused({{"path", "/out"}, {"ignorenullfields", "perhaps"}}), "TIDEMILL_INVALID_OPTION");
  EXPECT_EQ(refused({{"path", "/out"}, {"retention", "0 seconds"}}), "TIDEMILL_INVALID_OPTION");
}

}  // namespace
}  // namespace tidemill::connector
