#pragma once

// The write-ahead log of offset ranges, R/offsets/<N>, versions 1 and 2. Layout: docs/formats/logs.md.
//
// Parsing and printing are pure functions over text; OffsetLog adds the folder. Source: Spark OffsetSeqLog (3.4 to 4.3).

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "fs/file_system.h"

namespace tidemill::checkpoint {

/// One entry: what batch N reads and under which watermark, time and pinned configuration.
struct OffsetEntry {
  int version = 1;  ///< 1 or 2: continued in the version it was found in.
  int64_t batch_watermark_ms = 0;
  int64_t batch_timestamp_ms = 0;
  std::map<std::string, std::string> conf;  ///< Recorded keys; unknown ones are kept.
  /// Offset JSON text per source, in source order; nullopt is `-`.
  std::vector<std::optional<std::string>> offsets;
  std::vector<std::string> source_ids;   ///< Version 2: the id before each `:`; version 1: empty.
  std::string source_metadata_json = "{}";  ///< Version 2: sourceMetadataInfo as it was found.
};

/// Errors: user-visible, naming nothing but the text's fault (the log adds the file). "unsupported log version", "malformed log version", "Incomplete log file".
Result<OffsetEntry> ParseOffsetEntry(std::string_view text);
std::string PrintOffsetEntry(const OffsetEntry& entry);

class OffsetLog {
 public:
  /// `directory` is R/offsets.
  OffsetLog(fs::FileSystem& file_system, std::string directory);
  /// Add entry N, durable on return. An existing N is CONCURRENT_STREAM_LOG_UPDATE.
  Status Add(int64_t batch_id, const OffsetEntry& entry);
  Result<OffsetEntry> Get(int64_t batch_id);
  /// Ids on disk, ascending; other names are ignored.
  Result<std::vector<int64_t>> ListIds();
  /// Remove ids < threshold.
  Status Purge(int64_t threshold);

 private:
  fs::FileSystem& file_system_;
  std::string directory_;
};

}  // namespace tidemill::checkpoint
