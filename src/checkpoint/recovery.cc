#include "checkpoint/recovery.h"

#include <algorithm>

namespace tidemill::checkpoint {

Result<RecoveryPlan> PlanRecovery(const RecoveryFacts& facts) {
  RecoveryPlan plan;
  if (facts.offset_ids.empty()) {
    if (facts.commit_ids.empty()) return plan;
    return ExternalError("CONCURRENT_STREAM_LOG_UPDATE",
                         "The offset log is empty, but the commit log has batch {}: offset files were lost. Restore them from a copy of the checkpoint, or "
                         "start with a new checkpoint folder.",
                         facts.commit_ids.back())
        .Param("batchId", std::to_string(facts.commit_ids.back()));
  }
  const int64_t last = facts.offset_ids.back();
  const std::optional<int64_t> committed = facts.commit_ids.empty() ? std::nullopt : std::optional(facts.commit_ids.back());
  if (last > 0 && !std::binary_search(facts.offset_ids.begin(), facts.offset_ids.end(), last - 1)) {
    return ExternalError("TIDEMILL_LOG_ENTRY_MISSING",
                         "batch {} doesn't exist: the offset log has batch {}, but not the one before it, from which it starts. Restore the file from a copy "
                         "of the checkpoint, or start with a new checkpoint folder.",
                         last - 1, last);
  }
  if (committed && *committed > last) {
    return ExternalError("CONCURRENT_STREAM_LOG_UPDATE",
                         "The commit log has batch {}, but the offset log ends with batch {}: an offset file was lost, or another query uses this "
                         "checkpoint. Stop the other one, or restore the file from a copy of the checkpoint.",
                         *committed, last)
        .Param("batchId", std::to_string(*committed));
  }
  if (committed && *committed == last) {
    plan.next_batch_id = last + 1;
    plan.start_offsets_of = last;
    return plan;
  }
  plan.next_batch_id = last;
  plan.rerun = true;
  plan.end_offsets_of = last;
  if (last > 0) plan.start_offsets_of = last - 1;
  plan.commits_behind = committed.value_or(-1) < last - 1 && last > 0;
  return plan;
}

}  // namespace tidemill::checkpoint
