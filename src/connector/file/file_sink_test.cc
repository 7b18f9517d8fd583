#include "connector/file/file_sink.h"

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/json/from_string.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <sstream>

#include "connector/file/file_listing.h"
#include "fs/local_file_system.h"
#include "testing/fake_clock.h"
#include "testing/simulated_disk.h"

namespace tidemill::connector {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;
using DiskFault = testing::Fault;
using testing::Survival;

class FileSinkTest : public ::testing::Test {
 protected:
  FileSinkTest() {
    disk_.SetTimeSource([this] { return clock_.NowMs(); });
    Configure(conf::kSessionTimeZone, "UTC");
  }

  void Configure(std::string_view key, std::string_view value) { config_ = config_.With(key, value).ValueOrDie(); }

  Result<std::unique_ptr<Sink>> Make(std::map<std::string, std::string> options = {}) {
    options.emplace("path", "/out");
    return MakeJsonFileSink({*files_, clock_, config_, schema_, std::move(options), "/base", ignored_});
  }
  std::unique_ptr<Sink> Open(std::map<std::string, std::string> options = {}) { return Make(std::move(options)).ValueOrDie(); }

  std::shared_ptr<arrow::RecordBatch> Batch(const std::string& json) {
    const auto array = arrow::json::ArrayFromJSONString(arrow::int32(), json).ValueOrDie();
    return arrow::RecordBatch::Make(schema_.ToArrow(), array->length(), {array});
  }

  /// What one task of a batch stages.
  Result<WriterResult> Stage(Sink& sink, int64_t batch_id, int32_t partition, const std::string& json) {
    ARROW_ASSIGN_OR_RAISE(auto writer, sink.OpenWriter(batch_id, partition));
    ARROW_RETURN_NOT_OK(writer->Write(*Batch(json)));
    return writer->Finish();
  }

  /// One batch of one task as the loop runs it: staged, made durable, committed.
  Status Run(Sink& sink, int64_t batch_id, const std::string& json) {
    ARROW_ASSIGN_OR_RAISE(WriterResult result, Stage(sink, batch_id, 0, json));
    ARROW_RETURN_NOT_OK(files_->Publish(result.files));
    std::vector<WriterResult> results;
    results.push_back(std::move(result));
    return sink.Commit(batch_id, std::move(results));
  }

  /// The content of all files that readers see, in path order of the log.
  std::vector<std::string> Visible() {
    const auto listed = ListFiles(*files_, clock_, {.path = "/out"});
    if (!listed.ok()) return {listed.status().ToString()};
    std::vector<std::string> contents;
    for (const ListedFile& file : *listed) contents.push_back(disk_.Content(file.path).value_or("missing: " + file.path));
    return contents;
  }

  /// Names below /out that start with `prefix`.
  std::vector<std::string> Names(const std::string& prefix) {
    std::vector<std::string> names;
    for (const auto& [path, content] : disk_.Files()) {
      if (path.starts_with("/out/" + prefix)) names.push_back(path.substr(5));
    }
    return names;
  }

  testing::FakeClock clock_;
  testing::SimulatedDisk disk_;
  std::unique_ptr<fs::FileSystem> files_ = fs::MakeLocalFileSystem(disk_);
  Config config_;
  type::Schema schema_ = type::ParseDdl("v INT").ValueOrDie();
  std::ostringstream ignored_;
};

TEST_F(FileSinkTest, RowsAreVisibleFromTheCommitOn) {
  auto sink = Open();
  EXPECT_EQ(sink->Description(), "FileSink[file:/out]");
  EXPECT_FALSE(sink->ReportsOutputRows());
  // Another batch's entry is what readers go by.
  ASSERT_TRUE(Run(*sink, 0, "[0]").ok());
  auto first = Stage(*sink, 1, 0, "[1, 2]").ValueOrDie();
  auto second = Stage(*sink, 1, 1, "[3]").ValueOrDie();
  EXPECT_EQ(first.row_count, 2);
  ASSERT_TRUE(files_->Publish(first.files).ok());
  ASSERT_TRUE(files_->Publish(second.files).ok());
  EXPECT_THAT(Visible(), ElementsAre("{\"v\":0}\n"));
  EXPECT_FALSE(sink->HasBatch(1).ValueOrDie());
  ASSERT_TRUE(sink->Commit(1, {first, second}).ok());
  EXPECT_THAT(Visible(), UnorderedElementsAre("{\"v\":0}\n", "{\"v\":1}\n{\"v\":2}\n", "{\"v\":3}\n"));
  EXPECT_TRUE(sink->HasBatch(1).ValueOrDie());
  EXPECT_FALSE(sink->HasBatch(2).ValueOrDie());
}

TEST_F(FileSinkTest, EachCommitIsOneEntryAsSparkWritesIt) {
  auto sink = Open();
  auto result = Stage(*sink, 0, 7, "[1]").ValueOrDie();
  ASSERT_THAT(result.files, SizeIs(1));
  const std::string path = result.files[0].path;
  EXPECT_THAT(path, MatchesRegex("/out/part-00007-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}-c000\\.json"));
  EXPECT_EQ(result.files[0].temporary_path, path);
  ASSERT_TRUE(files_->Publish(result.files).ok());
  ASSERT_TRUE(sink->Commit(0, {result}).ok());
  EXPECT_THAT(Names("_spark_metadata"), ElementsAre("_spark_metadata/0"));
  EXPECT_EQ(disk_.Content("/out/_spark_metadata/0"),
            "v1\n{\"path\":\"file://" + path + "\",\"size\":8,\"isDir\":false,\"modificationTime\":1700000000000,\"blockReplication\":1,"
            "\"blockSize\":33554432,\"action\":\"add\"}");
}

TEST_F(FileSinkTest, PathsInTheLogAreUris) {
  auto sink = Open({{"path", "file:/out/a%20b\u00e9"}});
  ASSERT_TRUE(Run(*sink, 0, "[1]").ok());
  EXPECT_THAT(*disk_.Content("/out/a b\u00e9/_spark_metadata/0"), HasSubstr("\"path\":\"file:///out/a%20b\u00e9/part-00000-"));
  EXPECT_THAT(ListFiles(*files_, clock_, {.path = "/out/a b\u00e9"}).ValueOrDie(), SizeIs(1));
}

TEST_F(FileSinkTest, ARelativePathStartsAtTheBaseDirectory) {
  EXPECT_EQ(Open({{"path", "out"}})->Description(), "FileSink[file:/base/out]");
}

TEST_F(FileSinkTest, ABatchWithoutOutputHasAnEntry) {
  auto sink = Open();
  ASSERT_TRUE(sink->Commit(0, {}).ok());
  EXPECT_EQ(disk_.Content("/out/_spark_metadata/0"), "v1");
  ASSERT_TRUE(Run(*sink, 1, "[]").ok());
  EXPECT_THAT(*disk_.Content("/out/_spark_metadata/1"), HasSubstr("\"size\":0,")) << "a task without rows leaves an empty file, as in Spark";
  EXPECT_THAT(Visible(), ElementsAre(""));
}

TEST_F(FileSinkTest, ARepeatedBatchIsTakenOnce) {
  auto sink = Open();
  ASSERT_TRUE(Run(*sink, 0, "[1]").ok());
  ASSERT_TRUE(Run(*sink, 0, "[1]").ok());
  EXPECT_THAT(Visible(), ElementsAre("{\"v\":1}\n"));
  auto restarted = Open();
  EXPECT_TRUE(restarted->HasBatch(0).ValueOrDie());
  ASSERT_TRUE(Run(*restarted, 0, "[1]").ok());
  EXPECT_THAT(Visible(), ElementsAre("{\"v\":1}\n"));
}

TEST_F(FileSinkTest, ANewCheckpointDoesNotWriteOldIdsAgain) {
  disk_.Put("/out/_spark_metadata/5", "v1");
  auto sink = Open();
  EXPECT_TRUE(sink->HasBatch(3).ValueOrDie()) << "as in Spark: below the latest id is taken";
  EXPECT_FALSE(sink->HasBatch(6).ValueOrDie());
}

TEST_F(FileSinkTest, DiscardRemovesWhatWasStaged) {
  auto sink = Open();
  const std::vector<WriterResult> results = {Stage(*sink, 0, 0, "[1]").ValueOrDie(), Stage(*sink, 0, 1, "[2]").ValueOrDie()};
  EXPECT_THAT(Names(""), SizeIs(2));
  sink->Discard(results);
  EXPECT_THAT(Names(""), IsEmpty());
}

TEST_F(FileSinkTest, AWriterThatIsDroppedLeavesNothing) {
  auto sink = Open();
  auto writer = sink->OpenWriter(0, 0).ValueOrDie();
  ASSERT_TRUE(writer->Write(*Batch("[1]")).ok());
  EXPECT_THAT(Names(""), SizeIs(1));
  writer.reset();
  EXPECT_THAT(Names(""), IsEmpty());
}

TEST_F(FileSinkTest, AttemptsOfOneTaskDoNotShareAName) {
  auto sink = Open();
  const auto first = Stage(*sink, 0, 0, "[1]").ValueOrDie();
  const auto second = Stage(*sink, 0, 0, "[1]").ValueOrDie();
  EXPECT_NE(first.files[0].path, second.files[0].path);
}

TEST_F(FileSinkTest, AnotherQueryInTheFolderIsNoticed) {
  auto sink = Open();
  ASSERT_FALSE(sink->HasBatch(0).ValueOrDie());
  disk_.Put("/out/_spark_metadata/0", "v1");
  const Status status = Run(*sink, 0, "[1]");
  EXPECT_EQ(ErrorDetail::Of(status)->condition, "CONCURRENT_STREAM_LOG_UPDATE");
  EXPECT_THAT(status.message(), HasSubstr("/out/_spark_metadata"));
  EXPECT_EQ(disk_.Content("/out/_spark_metadata/0"), "v1");
}

TEST_F(FileSinkTest, TheLogIsCompactedAtItsInterval) {
  Configure(conf::kFileSinkCompactInterval, "3");
  auto sink = Open();
  for (int64_t id = 0; id < 7; ++id) ASSERT_TRUE(Run(*sink, id, fmt::format("[{}]", id)).ok());
  EXPECT_THAT(Names("_spark_metadata"), ElementsAre("_spark_metadata/0", "_spark_metadata/1", "_spark_metadata/2.compact", "_spark_metadata/3",
                                                    "_spark_metadata/4", "_spark_metadata/5.compact", "_spark_metadata/6"));
  std::vector<std::string> before;
  for (const char* id : {"2.compact", "3", "4"}) before.push_back(disk_.Content(fmt::format("/out/_spark_metadata/{}", id))->substr(2));
  EXPECT_THAT(*disk_.Content("/out/_spark_metadata/5.compact"), StartsWith("v1" + before[0] + before[1] + before[2] + "\n{\"path\":"));
  EXPECT_THAT(Visible(), SizeIs(7));
  EXPECT_TRUE(Open()->HasBatch(6).ValueOrDie());
}

TEST_F(FileSinkTest, SupersededLogFilesAreDeletedInMaintenance) {
  Configure(conf::kFileSinkCompactInterval, "2");
  Configure(conf::kFileSinkCleanupDelay, "1s");
  Configure(conf::kMinBatchesToRetain, "2");
  auto sink = Open();
  ASSERT_TRUE(sink->Maintain().ok());
  for (int64_t id = 0; id < 6; ++id) ASSERT_TRUE(Run(*sink, id, "[1]").ok());
  ASSERT_TRUE(sink->Maintain().ok());
  EXPECT_THAT(Names("_spark_metadata"), SizeIs(6)) << "not old enough";
  clock_.AdvanceMs(1000);
  ASSERT_TRUE(sink->Maintain().ok());
  EXPECT_THAT(Names("_spark_metadata"), ElementsAre("_spark_metadata/3.compact", "_spark_metadata/4", "_spark_metadata/5.compact"));
  EXPECT_THAT(Visible(), SizeIs(6));
}

TEST_F(FileSinkTest, RetentionDropsOldFilesWhenCompacting) {
  Configure(conf::kFileSinkCompactInterval, "3");
  auto sink = Open({{"retention", "1 hour"}});
  ASSERT_TRUE(Run(*sink, 0, "[0]").ok());
  clock_.AdvanceMs(1);
  ASSERT_TRUE(Run(*sink, 1, "[1]").ok());
  clock_.AdvanceMs(3'600'000);
  EXPECT_THAT(Visible(), SizeIs(2)) << "until the next compaction";
  ASSERT_TRUE(Run(*sink, 2, "[2]").ok());
  EXPECT_THAT(Visible(), ElementsAre("{\"v\":1}\n", "{\"v\":2}\n")) << "a file of just that age stays";
  EXPECT_THAT(Names("part"), SizeIs(3)) << "the log forgets the file; deleting it is the user's";
}

TEST_F(FileSinkTest, AFullDiskIsAClearErrorAndLeavesNothing) {
  auto sink = Open();
  ASSERT_TRUE(Run(*sink, 0, "[0]").ok());
  disk_.LimitFreeBytes(5);
  const Status status = Stage(*sink, 1, 0, "[1, 2, 3]").status();
  EXPECT_EQ(ErrorDetail::Of(status)->condition, "TIDEMILL_DISK_FULL");
  EXPECT_TRUE(IsRetryable(status));
  EXPECT_THAT(status.message(), HasSubstr("disk full"));
  EXPECT_THAT(status.message(), HasSubstr("/out/part-00000-"));
  EXPECT_THAT(Names("part"), SizeIs(1)) << "the half-written file is gone";
  EXPECT_THAT(Visible(), ElementsAre("{\"v\":0}\n"));
  disk_.LimitFreeBytes(std::nullopt);
  ASSERT_TRUE(Run(*sink, 1, "[1]").ok());
  EXPECT_THAT(Visible(), SizeIs(2));
}

TEST_F(FileSinkTest, ADiskThatIsFullInTheMiddleOfATaskFailsTheWrite) {
  auto sink = Open();
  disk_.LimitFreeBytes(1 << 20);
  auto writer = sink->OpenWriter(0, 0).ValueOrDie();
  const std::shared_ptr<arrow::RecordBatch> batch =
      arrow::RecordBatch::Make(schema_.ToArrow(), 100'000, {arrow::MakeArrayFromScalar(arrow::Int32Scalar(123456789), 100'000).ValueOrDie()});
  const Status status = writer->Write(*batch);  // 1.7 MB
  EXPECT_EQ(ErrorDetail::Of(status)->condition, "TIDEMILL_DISK_FULL");
  EXPECT_FALSE(writer->Finish().ok()) << "half a file is no result";
  EXPECT_THAT(Names(""), IsEmpty());
}

TEST_F(FileSinkTest, ADiskThatIsFullAtTheCommitLeavesTheBatchToTheNextAttempt) {
  auto sink = Open();
  const auto result = Stage(*sink, 0, 0, "[1]").ValueOrDie();
  ASSERT_TRUE(files_->Publish(result.files).ok());
  disk_.LimitFreeBytes(10);
  const Status status = sink->Commit(0, {result});
  EXPECT_EQ(ErrorDetail::Of(status)->condition, "TIDEMILL_DISK_FULL");
  EXPECT_THAT(status.message(), HasSubstr("/out/_spark_metadata/"));
  EXPECT_FALSE(sink->HasBatch(0).ValueOrDie());
  EXPECT_THAT(Names("_spark_metadata"), IsEmpty());
  disk_.LimitFreeBytes(std::nullopt);
  ASSERT_TRUE(sink->Commit(0, {result}).ok());
  EXPECT_THAT(Visible(), ElementsAre("{\"v\":1}\n"));
}

// The answer to a commit was lost; the attempt after it stages other files.
TEST_F(FileSinkTest, ACommitThatWasCarriedOutAllTheSameIsReplaced) {
  auto sink = Open();
  disk_.Inject({.kind = "syncdir", .path = "/out/_spark_metadata"});
  EXPECT_FALSE(Run(*sink, 0, "[1]").ok());
  ASSERT_TRUE(Run(*sink, 0, "[1]").ok());
  EXPECT_EQ(disk_.fired(), 1);
  EXPECT_THAT(Visible(), ElementsAre("{\"v\":1}\n"));
}

TEST_F(FileSinkTest, ACommitLasts) {
  ASSERT_TRUE(Run(*Open(), 0, "[1]").ok());
  disk_.Reboot(Survival::kNothingUnsynced);
  files_ = fs::MakeLocalFileSystem(disk_);
  EXPECT_TRUE(Open()->HasBatch(0).ValueOrDie());
  EXPECT_THAT(Visible(), ElementsAre("{\"v\":1}\n"));
}

// A batch is skipped on the strength of its entry, so the entry must not go with the power afterwards.
TEST_F(FileSinkTest, ABatchThatIsThereIsThereForGood) {
  disk_.Inject({.fault = DiskFault::kCrashAfter, .kind = "link"});
  EXPECT_FALSE(Run(*Open(), 0, "[1]").ok());
  disk_.Reboot(Survival::kPageCache);
  files_ = fs::MakeLocalFileSystem(disk_);
  EXPECT_TRUE(Open()->HasBatch(0).ValueOrDie());
  disk_.Reboot(Survival::kNothingUnsynced);
  EXPECT_THAT(Visible(), ElementsAre("{\"v\":1}\n"));
}

TEST_F(FileSinkTest, AStagedFileThatVanishedIsNamed) {
  auto sink = Open();
  const auto result = Stage(*sink, 0, 0, "[1]").ValueOrDie();
  ASSERT_TRUE(files_->Publish(result.files).ok());
  ASSERT_TRUE(files_->Remove(result.files[0].path).ok());
  const Status status = sink->Commit(0, {result});
  EXPECT_THAT(status.message(), HasSubstr(result.files[0].path));
  EXPECT_THAT(Names("_spark_metadata"), IsEmpty());
}

TEST_F(FileSinkTest, Options) {
  const auto written = [&](std::map<std::string, std::string> options) {
    schema_ = type::ParseDdl("t TIMESTAMP, n INT").ValueOrDie();
    auto sink = Open(std::move(options));
    auto writer = sink->OpenWriter(0, 0).ValueOrDie();
    const arrow::ArrayVector columns = {arrow::json::ArrayFromJSONString(schema_.ToArrow()->field(0)->type(), "[0]").ValueOrDie(),
                                        arrow::json::ArrayFromJSONString(arrow::int32(), "[null]").ValueOrDie()};
    EXPECT_TRUE(writer->Write(*arrow::RecordBatch::Make(schema_.ToArrow(), 1, columns)).ok());
    return *disk_.Content(writer->Finish().ValueOrDie().files[0].path);
  };
  EXPECT_EQ(written({}), "{\"t\":\"1970-01-01T00:00:00.000Z\"}\n");
  Configure(conf::kSessionTimeZone, "Asia/Tokyo");
  EXPECT_EQ(written({}), "{\"t\":\"1970-01-01T09:00:00.000+09:00\"}\n");
  EXPECT_EQ(written({{"timezone", "+01:00"}}), "{\"t\":\"1970-01-01T01:00:00.000+01:00\"}\n");
  EXPECT_EQ(written({{"timezone", "UTC"}, {"ignorenullfields", "false"}}), "{\"t\":\"1970-01-01T00:00:00.000Z\",\"n\":null}\n");
  EXPECT_EQ(written({{"timezone", "UTC"}, {"ignorenullfields", "FALSE"}}), "{\"t\":\"1970-01-01T00:00:00.000Z\",\"n\":null}\n");
  EXPECT_EQ(written({{"timezone", "UTC"}, {"ignorenullfields", "True"}}), "{\"t\":\"1970-01-01T00:00:00.000Z\"}\n");
}

TEST_F(FileSinkTest, WrongOptionsAreRefusedByName) {
  disk_.Put("/file", "");
  struct Case {
    std::map<std::string, std::string> options;
    std::string condition;
    std::string message;
  };
  const std::vector<Case> cases = {
      {{{"path", ""}}, "_LEGACY_ERROR_TEMP_2047", "'path' is not specified"},
      {{{"path", "/file"}}, "TIDEMILL_INVALID_OPTION", "/file is a file"},
      {{{"path", "/out\xff"}}, "TIDEMILL_INVALID_OPTION", "not UTF-8"},
      {{{"path", "s3://bucket/x"}}, "TIDEMILL_UNSUPPORTED_PATH", "s3"},
      {{{"ignorenullfields", "no"}}, "TIDEMILL_INVALID_OPTION", "'no' for option 'ignoreNullFields'"},
      {{{"timezone", "Nowhere/City"}}, "INVALID_TIMEZONE", "Nowhere/City"},
      {{{"retention", "0 seconds"}}, "TIDEMILL_INVALID_OPTION", "'0 seconds' for option 'retention'"},
      {{{"retention", "soon"}}, "CANNOT_PARSE_INTERVAL", "soon"},
  };
  for (const Case& c : cases) {
    const Status status = Make(c.options).status();
    ASSERT_NE(ErrorDetail::Of(status), nullptr) << c.message << ": " << status;
    EXPECT_EQ(ErrorDetail::Of(status)->condition, c.condition);
    EXPECT_THAT(status.message(), HasSubstr(c.message));
  }
  schema_ = type::ParseDdl("odd MAP<BINARY, INT>").ValueOrDie();
  EXPECT_THAT(Make().status().message(), HasSubstr("Column odd cannot be written as JSON"));
}

}  // namespace
}  // namespace tidemill::connector
