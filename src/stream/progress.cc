#include "stream/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

namespace tidemill::stream {

namespace {

using Json = nlohmann::ordered_json;

// spark.sql.streaming.stateStore.numStateStoreInstanceMetricsToReport: how many stores are named one by one.
constexpr int64_t kStoresNamed = 5;

// Release 4.3 rounds rates to one decimal; a rate over no time at all has no JSON form and is left out.
void AddRate(const char* name, double rate, Json* to) {
  if (std::isfinite(rate)) (*to)[name] = std::round(rate * 10) / 10;
}

// Offsets are shown as the JSON they are, or as text when they are none.
Json OffsetJson(const std::optional<std::string>& offset) {
  if (!offset) return nullptr;
  Json parsed = Json::parse(*offset, nullptr, /*allow_exceptions=*/false);
  return parsed.is_discarded() ? Json(*offset) : parsed;
}

// Counters of Spark's HDFS-backed provider. Snapshots are neither forced nor repaired here, and like Spark's they are not reported as uploaded.
Json CustomMetrics(const exec::OperatorMetrics& metrics) {
  Json json = Json::object();
  for (int64_t partition = 0; partition < std::min(metrics.stores, kStoresNamed); ++partition) {
    json[fmt::format("SnapshotLastUploaded.partition_{}_default", partition)] = -1;
  }
  json["forceSnapshotCount"] = 0;
  json["loadedMapCacheHitCount"] = metrics.cache_hits;
  json["loadedMapCacheMissCount"] = metrics.cache_misses;
  json["numSnapshotsAutoRepaired"] = 0;
  json["stateOnCurrentVersionSizeBytes"] = metrics.memory_bytes;
  return json;
}

Json OperatorJson(const exec::OperatorMetrics& metrics) {
  return Json{{"operatorName", metrics.name},
              {"numRowsTotal", metrics.rows_total},
              {"numRowsUpdated", metrics.rows_updated},
              {"allUpdatesTimeMs", metrics.updates_ms},
              {"numRowsRemoved", metrics.rows_removed},
              {"allRemovalsTimeMs", metrics.removals_ms},
              {"commitTimeMs", metrics.commit_ms},
              {"memoryUsedBytes", metrics.memory_bytes},
              {"numRowsDroppedByWatermark", metrics.rows_dropped_by_watermark},
              {"numShufflePartitions", metrics.partitions},
              {"numStateStoreInstances", metrics.stores},
              {"customMetrics", CustomMetrics(metrics)}};
}

Json SourceJson(const SourceProgress& source) {
  Json json{{"description", source.description},
            {"startOffset", OffsetJson(source.start_offset)},
            {"endOffset", OffsetJson(source.end_offset)},
            {"latestOffset", OffsetJson(source.latest_offset)},
            {"numInputRows", source.input_rows}};
  AddRate("inputRowsPerSecond", source.input_rows_per_second, &json);
  AddRate("processedRowsPerSecond", source.processed_rows_per_second, &json);
  return json;
}

}  // namespace

std::string FormatProgressTime(int64_t ms) {
  using std::chrono::milliseconds;
  const std::chrono::sys_time<milliseconds> time{milliseconds(ms)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()), clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

std::string Progress::ToJson() const {
  int64_t rows = 0;
  double input_rate = 0, processed_rate = 0;
  for (const SourceProgress& source : sources) {
    rows += source.input_rows;
    input_rate += source.input_rows_per_second;
    processed_rate += source.processed_rows_per_second;
  }
  Json json{{"id", id},
            {"runId", run_id},
            {"name", name ? Json(*name) : Json(nullptr)},
            {"timestamp", FormatProgressTime(timestamp_ms)},
            {"batchId", batch_id},
            {"batchDuration", batch_duration_ms},
            {"numInputRows", rows}};
  AddRate("inputRowsPerSecond", input_rate, &json);
  AddRate("processedRowsPerSecond", processed_rate, &json);
  json["durationMs"] = duration_ms;
  if (!event_time.empty()) json["eventTime"] = event_time;
  json["stateOperators"] = Json::array();
  for (const exec::OperatorMetrics& one : operators) json["stateOperators"].push_back(OperatorJson(one));
  json["sources"] = Json::array();
  for (const SourceProgress& source : sources) json["sources"].push_back(SourceJson(source));
  json["sink"] = Json{{"description", sink_description}, {"numOutputRows", sink_output_rows}};
  // Text of users may hold bytes that are not UTF-8; a report must not fail for them.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace tidemill::stream
