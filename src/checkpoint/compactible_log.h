#pragma once

// A log of JSON lines with compaction: the file source's sources/<S>/ and the file sink's _spark_metadata/. Layout and rules: docs/formats/logs.md.
// Source: Spark CompactibleFileStreamLog.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "base/clock.h"
#include "fs/file_system.h"

namespace tidemill::checkpoint {

struct CompactionOptions {
  int compact_interval = 10;
  int64_t cleanup_delay_ms = 600'000;
  bool deletion = true;
  int min_batches_to_retain = 100;
};

/// The interval in force, given the ids that have a `.compact` file (ascending) and the configured one.
int CompactInterval(const std::vector<int64_t>& compact_ids, int configured);
bool IsCompactionId(int64_t id, int interval);

class CompactibleLog {
 public:
  CompactibleLog(fs::FileSystem& file_system, Clock& clock, std::string directory, CompactionOptions options);
  /// Add entry `id` with its JSON lines; at a compaction id the file holds `keep(line)` of all earlier entries and then these. Durable on return. False when
  /// the id exists.
  Result<bool> Add(int64_t id, const std::vector<std::string>& lines, const std::function<bool(const std::string&)>& keep = {});
  /// Lines of one entry that is not (or no longer) compacted away; of a compact file: all it holds. nullopt when the file is missing.
  Result<std::optional<std::vector<std::string>>> Get(int64_t id);
  /// Everything up to the latest id, in order.
  Result<std::vector<std::string>> AllLines();
  Result<std::optional<int64_t>> LatestId();
  /// Delete expired files; called off the path.
  Status DeleteExpired(int64_t latest_id);

 private:
  fs::FileSystem& file_system_;
  Clock& clock_;
  std::string directory_;
  CompactionOptions options_;
};

}  // namespace tidemill::checkpoint
