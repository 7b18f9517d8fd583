#pragma once

// The log of finished batches, R/commits/<N>, versions 1 (written) to 3 (read). Layout: docs/formats/logs.md. Source: Spark CommitLog.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "fs/file_system.h"

namespace tidemill::checkpoint {

struct CommitEntry {
  int version = 1;
  int64_t next_batch_watermark_ms = 0;
  std::string state_unique_ids_json;  ///< As found; empty when absent.
};

Result<CommitEntry> ParseCommitEntry(std::string_view text);
std::string PrintCommitEntry(const CommitEntry& entry);

class CommitLog {
 public:
  CommitLog(fs::FileSystem& file_system, std::string directory);
  Status Add(int64_t batch_id, const CommitEntry& entry);
  Result<CommitEntry> Get(int64_t batch_id);
  Result<std::vector<int64_t>> ListIds();
  Status Purge(int64_t threshold);

 private:
  fs::FileSystem& file_system_;
  std::string directory_;
};

}  // namespace tidemill::checkpoint
