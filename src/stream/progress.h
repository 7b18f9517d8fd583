#pragma once

// What a batch reports: Spark's StreamingQueryProgress, field for field, and its JSON text.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "exec/query_plan.h"

namespace tidemill::stream {

struct SourceProgress {
  std::string description;
  std::optional<std::string> start_offset, end_offset, latest_offset;  ///< JSON text
  int64_t input_rows = 0;
  double input_rows_per_second = 0;
  double processed_rows_per_second = 0;
};

struct Progress {
  std::string id, run_id;
  std::optional<std::string> name;
  int64_t timestamp_ms = 0;  ///< trigger start
  int64_t batch_id = 0;
  int64_t batch_duration_ms = 0;
  std::map<std::string, int64_t> duration_ms;  ///< triggerExecution, latestOffset, walCommit, getBatch, queryPlanning, addBatch, commitOffsets
  std::map<std::string, std::string> event_time;  ///< max, min, avg, watermark, formatted
  std::vector<exec::OperatorMetrics> operators;
  std::vector<SourceProgress> sources;
  std::string sink_description;
  int64_t sink_output_rows = -1;
  int64_t sync_rounds = 0;  ///< ours, not in Spark's JSON: dependent rounds of syncing of this batch
  bool executed = true;     ///< false: an idle trigger

  /// Spark 4.3's JSON, compact, keys in its order.
  std::string ToJson() const;
};

/// `ms` since the epoch as progress shows times: "2024-01-01T00:00:00.000Z".
std::string FormatProgressTime(int64_t ms);

}  // namespace tidemill::stream
