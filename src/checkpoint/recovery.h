#pragma once

// "Given these files, what is the state?": the restart rules as a pure function over facts. Source: Spark MicroBatchExecution.populateStartOffsets.

#include <cstdint>
#include <optional>
#include <vector>

#include "base/status.h"

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

/// Errors: a last offset entry whose predecessor is missing ("batch N-1 doesn't exist"), a commit above the last offset (CONCURRENT_STREAM_LOG_UPDATE),
/// with what to do about it.
Result<RecoveryPlan> PlanRecovery(const RecoveryFacts& facts);

}  // namespace tidemill::checkpoint
