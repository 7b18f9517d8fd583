#pragma once

// A log of JSON lines with compaction: the file source's sources/<S>/ and the file sink's _spark_metadata/. Layout and rules: docs/formats/logs.md.
// Source: Spark CompactibleFileStreamLog.

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
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
/// The JSON lines of one file of the log.
Result<std::vector<std::string>> ParseLogLines(std::string_view text);
std::string PrintLogLines(const std::vector<std::string>& lines);

class CompactibleLog {
 public:
  CompactibleLog(fs::FileSystem& file_system, Clock& clock, std::string directory, CompactionOptions options);
  /// Add entry `id` with its JSON lines; at a compaction id the file holds the lines of all earlier entries for which `keep(line)` holds (without `keep`: all)
  /// and then these. Durable on return. False when the id exists.
  /// After an error the entry may be there or not, also after a crash: what it speaks of (data files) must stay until a later Add of `id` or LatestId()
  /// has succeeded. Repeating the call is safe, with other lines too.
  Result<bool> Add(int64_t id, const std::vector<std::string>& lines, const std::function<bool(const std::string&)>& keep = {});
  /// Lines of one entry that is not (or no longer) compacted away; of a compact file: all it holds. nullopt when the file is missing.
  Result<std::optional<std::vector<std::string>>> Get(int64_t id);
  /// Everything up to the latest id, in order.
  Result<std::vector<std::string>> AllLines();
  /// The highest id. Whoever asks relies on the answer, so the first call, and the first after an Add that failed, makes the entries in force durable.
  Result<std::optional<int64_t>> LatestId();
  /// Delete files that a compact file and the batches to retain have made superfluous; called off the path.
  Status DeleteExpired(int64_t latest_id);

 private:
  struct Contents;
  Result<Contents> ListContents();
  Result<int> Interval();
  std::string PathOf(int64_t id, int interval) const;
  Result<std::vector<std::string>> ReadRange(int64_t first, int64_t last, int interval);
  Result<std::vector<std::string>> LinesToCompact(int64_t id, int interval, const std::function<bool(const std::string&)>& keep);
  Status MakeDurable(int64_t latest_id);

  fs::FileSystem& file_system_;
  Clock& clock_;
  std::string directory_;
  CompactionOptions options_;
  std::mutex mutex_;
  std::optional<int> interval_;  // settled at first use, as it holds for the life of the log; guarded by mutex_
  bool durable_ = false;         // what is there is known to be; guarded by mutex_
};

}  // namespace tidemill::checkpoint
