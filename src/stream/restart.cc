#include "stream/restart.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "base/log.h"
#include "checkpoint/recovery.h"

namespace tidemill::stream {

namespace {

Status CheckNewQuery(fs::FileSystem& file_system, const checkpoint::Layout& layout, const std::vector<int64_t>& commit_ids) {
  if (!commit_ids.empty()) {
    return ExternalError("", "assertion failed: {} has no entries although {} ends with batch {}; restore the offset log or use a new checkpoint location",
                         layout.offsets(), layout.commits(), commit_ids.back())
        .Path(layout.offsets());
  }
  ARROW_ASSIGN_OR_RAISE(const auto state, file_system.List(layout.state()));
  if (!state || state->empty()) return Status::OK();
  return UserError("STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY",
                   "The checkpoint location {} should be empty on batch 0. Please either use a new checkpoint location, or delete the existing data in the "
                   "checkpoint location.",
                   layout.state())
      .Param("checkpointLocation", layout.state())
      .Path(layout.state());
}

// Every source keeps JSON; what is none was cut off or damaged.
Result<checkpoint::OffsetEntry> ReadOffsets(checkpoint::OffsetLog& log, const checkpoint::Layout& layout, int64_t id) {
  ARROW_ASSIGN_OR_RAISE(checkpoint::OffsetEntry entry, log.Get(id));
  for (const auto& offset : entry.offsets) {
    if (!offset || nlohmann::json::accept(*offset)) continue;
    return ExternalError("TIDEMILL_MALFORMED_LOG",
                         "Failed to read log file {}/{}. The offset \"{}\" is cut off or damaged. Restore the file from a copy of the checkpoint; if "
                         "there is none, start "
                         "with a new checkpoint folder",
                         layout.offsets(), id, offset->substr(0, 80))
        .Path(fmt::format("{}/{}", layout.offsets(), id));
  }
  return entry;
}

}  // namespace

Result<RestartPoint> ReadRestartPoint(fs::FileSystem& file_system, const checkpoint::Layout& layout) {
  checkpoint::OffsetLog offset_log(file_system, layout.offsets());
  checkpoint::CommitLog commit_log(file_system, layout.commits());
  checkpoint::RecoveryFacts facts;
  ARROW_ASSIGN_OR_RAISE(facts.offset_ids, offset_log.ListIds());
  ARROW_ASSIGN_OR_RAISE(facts.commit_ids, commit_log.ListIds());
  RestartPoint point;
  if (facts.offset_ids.empty()) {
    ARROW_RETURN_NOT_OK(CheckNewQuery(file_system, layout, facts.commit_ids));
    return point;
  }
  ARROW_ASSIGN_OR_RAISE(const checkpoint::RecoveryPlan plan, checkpoint::PlanRecovery(facts));
  if (plan.commits_behind) {
    log::Warning("{} ends with batch {}, {} with batch {}: batch {} is run again, the batches between are not", layout.offsets(), facts.offset_ids.back(),
                 layout.commits(), facts.commit_ids.empty() ? -1 : facts.commit_ids.back(), plan.next_batch_id);
  }
  ARROW_RETURN_NOT_OK(checkpoint::MakeRecoveryDurable(file_system, layout));

  const int64_t latest_id = facts.offset_ids.back();
  ARROW_ASSIGN_OR_RAISE(point.latest, ReadOffsets(offset_log, layout, latest_id));
  point.next_batch_id = plan.next_batch_id;
  point.rerun = plan.rerun;
  point.watermark_ms = point.latest->batch_watermark_ms;
  point.batch_timestamp_ms = point.latest->batch_timestamp_ms;
  if (!facts.commit_ids.empty()) {
    ARROW_ASSIGN_OR_RAISE(const checkpoint::CommitEntry commit, commit_log.Get(facts.commit_ids.back()));
    point.commit_version = commit.version;
    point.has_state_ids = commit.version >= 2 && !commit.state_unique_ids_json.empty();
    if (!plan.rerun) point.watermark_ms = std::max(point.watermark_ms, commit.next_batch_watermark_ms);
  }
  if (!plan.rerun) {
    point.start = point.latest->offsets;
    point.late_watermark_ms = point.latest->batch_watermark_ms;
    return point;
  }
  point.end = point.latest->offsets;
  if (plan.start_offsets_of) {
    ARROW_ASSIGN_OR_RAISE(const checkpoint::OffsetEntry before, ReadOffsets(offset_log, layout, *plan.start_offsets_of));
    point.start = before.offsets;
    point.late_watermark_ms = before.batch_watermark_ms;
  }
  return point;
}

}  // namespace tidemill::stream
