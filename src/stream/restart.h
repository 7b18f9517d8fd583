#pragma once

// Where a run of a query begins, read from its checkpoint. The rules are checkpoint::PlanRecovery's; here are the reads and the numbers that follow.

#include <cstdint>
#include <optional>
#include <vector>

#include "checkpoint/commit_log.h"
#include "checkpoint/offset_log.h"
#include "checkpoint/query_metadata.h"
#include "connector/source.h"
#include "fs/file_system.h"

namespace tidemill::stream {

using SourceOffsets = std::vector<std::optional<connector::Offset>>;  ///< by source; nullopt: nothing read yet

struct RestartPoint {
  int64_t next_batch_id = 0;
  bool rerun = false;              ///< the batch is in the offset log: `end`, its time and its watermark are given
  SourceOffsets start;             ///< empty: from the beginning
  SourceOffsets end;               ///< of a batch that is run again
  int64_t watermark_ms = 0;        ///< of the next batch: eviction
  int64_t late_watermark_ms = 0;   ///< of the batch before it: late rows
  int64_t batch_timestamp_ms = 0;  ///< of the batch that is run again, else of the last one: time never goes back behind it
  /// The newest entry: its configuration, version and source ids are continued. nullopt: a new query.
  std::optional<checkpoint::OffsetEntry> latest;
  int commit_version = 1;          ///< continued as found
  bool has_state_ids = false;      ///< state checkpoint format 2
};

/// Read the logs of `layout` and decide. What is found is made durable first: a process that died may have left names that only the page cache knows, and the
/// batches to come rely on them.
///
/// Errors: as checkpoint::PlanRecovery; "assertion failed" when the offset log is gone but commits are there; STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY when
/// a query without offsets has state.
Result<RestartPoint> ReadRestartPoint(fs::FileSystem& file_system, const checkpoint::Layout& layout);

}  // namespace tidemill::stream
