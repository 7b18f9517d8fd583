#pragma once

// "Given these files, what is the state?": the restart rules as a pure function over facts. Source: Spark MicroBatchExecution.populateStartOffsets.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/status.h"
#include "checkpoint/query_metadata.h"
#include "fs/file_system.h"

namespace tidemill::checkpoint {

struct RecoveryFacts {
  std::vector<int64_t> offset_ids;  ///< ascending
  std::vector<int64_t> commit_ids;  ///< ascending
};

struct RecoveryPlan {
  int64_t next_batch_id = 0;                ///< the batch to run first
  bool rerun = false;                       ///< it is in the offset log already: same offsets, time and watermark
  std::optional<int64_t> end_offsets_of;    ///< entry whose offsets are the end of `next_batch_id` (rerun), else its start
  std::optional<int64_t> start_offsets_of;  ///< entry whose offsets are the start; nullopt: from the beginning
  bool commits_behind = false;              ///< commit log more than one behind: Spark warns and goes on, so do we
};

/// Make durable what the recovery relies on: the query id, the last two offset entries and the last commit entry. A process that was killed may have left
/// them visible and yet not on disk; a commit that outlived its offsets in a power cut could not be recovered from. Where Spark was the last writer,
/// which syncs nothing, that is the whole checkpoint. Call it under the lock, before the plan is acted on.
Status MakeRecoveryDurable(fs::FileSystem& file_system, const Layout& layout);

/// Errors: a last offset entry whose predecessor is missing ("batch N-1 doesn't exist"), a commit above the last offset (CONCURRENT_STREAM_LOG_UPDATE),
/// with what to do about it.
Result<RecoveryPlan> PlanRecovery(const RecoveryFacts& facts);

}  // namespace tidemill::checkpoint
