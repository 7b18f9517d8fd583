#include "stream/progress.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tidemill::stream {
namespace {

Progress Example() {
  Progress progress;
  progress.id = "70ac00e6-2a9d-4a22-9a16-858bbab77ed7";
  progress.run_id = "bd37a4d1-a5ab-40c3-88c4-4fbd3e3db25b";
  progress.name = "prog";
  progress.timestamp_ms = 1'796'074'823'203;
  progress.batch_id = 2;
  progress.batch_duration_ms = 718;
  progress.duration_ms = {{"addBatch", 397}, {"triggerExecution", 718}, {"latestOffset", 41}};
  progress.event_time = {{"watermark", FormatProgressTime(1'704'067'207'000)}};
  progress.operators.push_back({.name = "stateStoreSave",
                                .rows_total = 3,
                                .rows_updated = 1,
                                .rows_removed = 2,
                                .rows_dropped_by_watermark = 4,
                                .updates_ms = 35,
                                .removals_ms = 3,
                                .commit_ms = 173,
                                .memory_bytes = 1728,
                                .partitions = 2,
                                .stores = 2,
                                .cache_hits = 8,
                                .cache_misses = 1});
  progress.sources.push_back({.description = "FileStreamSource[file:/a]",
                              .start_offset = R"({"logOffset":0})",
                              .end_offset = R"({"logOffset":1})",
                              .latest_offset = std::nullopt,
                              .input_rows = 1,
                              .input_rows_per_second = 40.04,
                              .processed_rows_per_second = 1.3927});
  progress.sink_description = "FileSink[file:/out]";
  return progress;
}

TEST(ProgressTest, JsonHasSparksKeysInItsOrder) {
  EXPECT_EQ(Example().ToJson(),
            R"({"id":"70ac00e6-2a9d-4a22-9a16-858bbab77ed7","runId":"bd37a4d1-a5ab-40c3-88c4-4fbd3e3db25b","name":"prog",)"
            R"("timestamp":"2026-11-30T21:40:23.203Z","batchId":2,"batchDuration":718,"numInputRows":1,"inputRowsPerSecond":40.0,)"
            R"("processedRowsPerSecond":1.4,"durationMs":{"addBatch":397,"latestOffset":41,"triggerExecution":718},)"
            R"("eventTime":{"watermark":"2024-01-01T00:00:07.000Z"},"stateOperators":[{"operatorName":"stateStoreSave","numRowsTotal":3,)"
            R"("numRowsUpdated":1,"allUpdatesTimeMs":35,"numRowsRemoved":2,"allRemovalsTimeMs":3,"commitTimeMs":173,"memoryUsedBytes":1728,)"
            R"("numRowsDroppedByWatermark":4,"numShufflePartitions":2,"numStateStoreInstances":2,"customMetrics":{)"
            R"("SnapshotLastUploaded.partition_0_default":-1,"SnapshotLastUploaded.partition_1_default":-1,"forceSnapshotCount":0,)"
            R"("loadedMapCacheHitCount":8,"loadedMapCacheMissCount":1,"numSnapshotsAutoRepaired":0,"stateOnCurrentVersionSizeBytes":1728}}],)"
            R"("sources":[{"description":"FileStreamSource[file:/a]","startOffset":{"logOffset":0},"endOffset":{"logOffset":1},)"
            R"("latestOffset":null,"numInputRows":1,"inputRowsPerSecond":40.0,"processedRowsPerSecond":1.4}],)"
            R"("sink":{"description":"FileSink[file:/out]","numOutputRows":-1}})");
}

TEST(ProgressTest, RatesOverNoTimeAreLeftOutAndNoNameIsNull) {
  Progress progress = Example();
  progress.name.reset();
  progress.sources[0].input_rows_per_second = INFINITY;
  const std::string json = progress.ToJson();
  EXPECT_EQ(json.find("inputRowsPerSecond"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("name":null)"), std::string::npos) << json;
}

TEST(ProgressTest, AnOffsetThatIsNoJsonIsShownAsText) {
  Progress progress = Example();
  progress.sources[0].end_offset = "{oops";
  EXPECT_NE(progress.ToJson().find(R"("endOffset":"{oops")"), std::string::npos);
}

TEST(ProgressTest, TimesBeforeTheEpoch) {
  EXPECT_EQ(FormatProgressTime(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(FormatProgressTime(-1), "1969-12-31T23:59:59.999Z");
}

}  // namespace
}  // namespace tidemill::stream
