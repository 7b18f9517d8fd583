#include "checkpoint/offset_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fs/local_file_system.h"
#include "testing/simulated_disk.h"

namespace tidemill::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

Status ErrorOf(std::string_view text) { return ParseOffsetEntry(text).status(); }

TEST(OffsetLogTest, ReadsVersionOne) {
  const OffsetEntry entry = ParseOffsetEntry(
                                "v1\n{\"batchWatermarkMs\":10,\"batchTimestampMs\":1760948082021,\"conf\":{\"spark.sql.shuffle.partitions\":\"5\","
                                "\"not.known\":\"x\"}}\n{\"logOffset\":4}\n-")
                                .ValueOrDie();
  EXPECT_EQ(entry.version, 1);
  EXPECT_EQ(entry.batch_watermark_ms, 10);
  EXPECT_EQ(entry.batch_timestamp_ms, 1760948082021);
  EXPECT_EQ(entry.conf.at("not.known"), "x");
  EXPECT_THAT(entry.offsets, ElementsAre(Optional(std::string("{\"logOffset\":4}")), std::nullopt));
}

TEST(OffsetLogTest, ReadsWhatOldSparksWrote) {
  const OffsetEntry no_conf =
      ParseOffsetEntry("v1\n{\"batchWatermarkMs\":0,\"batchTimestampMs\":1480981499528}\n{\"logOffset\":345}\n{\"topic-0\":{\"0\":1}}").ValueOrDie();
  EXPECT_TRUE(no_conf.conf.empty());
  EXPECT_EQ(no_conf.offsets.size(), 2u);
  const OffsetEntry no_metadata = ParseOffsetEntry("v1\n\n345").ValueOrDie();
  EXPECT_EQ(no_metadata.batch_timestamp_ms, 0);
  EXPECT_THAT(no_metadata.offsets, ElementsAre(Optional(std::string("345"))));
}

TEST(OffsetLogTest, ToleratesWhatSparkTolerates) {
  const OffsetEntry entry = ParseOffsetEntry("v1\r\n{ \"x\" : null, \"batchTimestampMs\" : 5 }\r\n-\n").ValueOrDie();
  EXPECT_EQ(entry.batch_timestamp_ms, 5);
  EXPECT_THAT(entry.offsets, ElementsAre(std::nullopt));
}

TEST(OffsetLogTest, PrintsBytesAsSparkDoes) {
  OffsetEntry entry;
  entry.batch_watermark_ms = 10;
  entry.batch_timestamp_ms = 20;
  entry.conf = {{"b", "/x\"\xc3\xa9"}, {"a", "1"}};
  entry.offsets = {"{\"logOffset\":0}", std::nullopt};
  EXPECT_EQ(PrintOffsetEntry(entry),
            "v1\n{\"batchWatermarkMs\":10,\"batchTimestampMs\":20,\"conf\":{\"a\":\"1\",\"b\":\"/x\\\"\xc3\xa9\"}}\n{\"logOffset\":0}\n-");
}

TEST(OffsetLogTest, VersionTwoGoesByIdsAndKeepsItsMetadata) {
  const std::string metadata = "{\"batchWatermarkMs\":0,\"batchTimestampMs\":1,\"conf\":{},\"sourceMetadataInfo\":{\"0\":{\"sourceId\":\"0\"}}}";
  const OffsetEntry entry = ParseOffsetEntry("v2\n" + metadata + "\n10:{\"a\":1}\n0:{\"logOffset\":2}\n2:-").ValueOrDie();
  EXPECT_THAT(entry.source_ids, ElementsAre("0", "2", "10"));
  EXPECT_THAT(entry.offsets, ElementsAre(Optional(std::string("{\"logOffset\":2}")), std::nullopt, Optional(std::string("{\"a\":1}"))));
  EXPECT_EQ(PrintOffsetEntry(entry), "v2\n" + metadata + "\n0:{\"logOffset\":2}\n2:-\n10:{\"a\":1}");
}

TEST(OffsetLogTest, RefusesWhatItCannotRead) {
  EXPECT_THAT(ErrorOf("v3\n{}").message(), HasSubstr("unsupported log version"));
  EXPECT_THAT(ErrorOf("v99999999999999999999\n{}").message(), HasSubstr("unsupported log version"));
  for (const char* text : {"1\n{}", "v0\n{}", "v-1\n{}", "vx\n{}", "v1x\n{}", "\n{}", "v\n{}"}) {
    EXPECT_THAT(ErrorOf(text).message(), HasSubstr("malformed log version")) << text;
  }
  EXPECT_THAT(ErrorOf("").message(), HasSubstr("Incomplete log file"));
  EXPECT_THAT(ErrorOf("v1").message(), HasSubstr("Incomplete log file"));
  for (const char* text : {"v1\n[", "v1\n[]", "v1\n{\"batchWatermarkMs\":\"1\"}", "v1\n{\"batchWatermarkMs\":1e300}", "v1\n{\"conf\":1}",
                           "v1\n{\"conf\":{\"a\":1}}", "v1\n{}\n\n-", "v1\n{}\n\r", "v2\n{}\nno colon", "v2\n{}\n0:1\n0:2", "v2\n{\"controlBatchInfo\":{}}"}) {
    EXPECT_FALSE(ErrorOf(text).ok()) << text;
  }
}

class OffsetLogFilesTest : public ::testing::Test {
 protected:
  testing::SimulatedDisk disk_;
  std::unique_ptr<fs::FileSystem> files_ = fs::MakeLocalFileSystem(disk_);
  OffsetLog log_{*files_, "/ck/offsets"};
};

TEST_F(OffsetLogFilesTest, AddsListsAndPurges) {
  for (int64_t id = 0; id < 12; ++id) ASSERT_TRUE(log_.Add(id, OffsetEntry{.batch_timestamp_ms = id}).ok());
  disk_.Put("/ck/offsets/notes.txt", "");
  disk_.Put("/ck/offsets/007", "");
  disk_.Put("/ck/offsets/.12.x.tmp", "");
  EXPECT_EQ(log_.ListIds().ValueOrDie().back(), 11);
  EXPECT_EQ(log_.Get(11).ValueOrDie().batch_timestamp_ms, 11);
  ASSERT_TRUE(log_.Purge(10).ok());
  EXPECT_THAT(log_.ListIds().ValueOrDie(), ElementsAre(10, 11));
}

TEST_F(OffsetLogFilesTest, AnEntryOfAnotherQueryIsAConcurrentUpdate) {
  disk_.Put("/ck/offsets/0", "v1\n{}");
  const Status status = log_.Add(0, OffsetEntry{});
  ASSERT_NE(ErrorDetail::Of(status), nullptr);
  EXPECT_EQ(ErrorDetail::Of(status)->condition, "CONCURRENT_STREAM_LOG_UPDATE");
  EXPECT_EQ(ErrorDetail::Of(status)->parameters.at("batchId"), "0");
}

TEST_F(OffsetLogFilesTest, ABatchRepeatedAfterAFailedSyncIsNotConcurrent) {
  disk_.Inject({.kind = "syncdir", .path = "/ck/offsets"});
  EXPECT_TRUE(IsRetryable(log_.Add(0, OffsetEntry{})));
  EXPECT_TRUE(log_.Add(0, OffsetEntry{}).ok());
}

TEST_F(OffsetLogFilesTest, ErrorsNameTheFileAndTheRemedy) {
  EXPECT_THAT(log_.Get(3).status().message(), HasSubstr("batch 3 doesn't exist: /ck/offsets/3"));
  disk_.Put("/ck/offsets/4", "garbage");
  const Status status = log_.Get(4).status();
  EXPECT_THAT(status.message(), HasSubstr("Failed to read log file /ck/offsets/4"));
  EXPECT_THAT(status.message(), HasSubstr("Restore"));
  EXPECT_EQ(ErrorDetail::Of(status)->path, "/ck/offsets/4");
}

TEST(OffsetLogTest, RefusesAnOffsetLineThatWouldNotSurviveWriting) {
  for (const char* line : {"", "{}\r\r", "{\"logOffset\":\r1}", "{}\t"}) {
    EXPECT_FALSE(ParseOffsetEntry(std::string("v1\n{}\n") + line + "\n7").ok()) << line;
    EXPECT_FALSE(ParseOffsetEntry(std::string("v2\n{}\n0:") + line + "\n1:7").ok()) << line;
  }
  EXPECT_TRUE(ParseOffsetEntry("v1\n{}\n{}\r\n7").ok());  // a line end of two characters is one
}

}  // namespace
}  // namespace tidemill::checkpoint
