#include "stream/operator_check.h"

#include <map>
#include <string>

#include "base/log.h"

namespace tidemill::stream {

namespace {

using Names = std::map<int64_t, std::string>;  // operator id to name

std::string Listed(const Names& names) {
  std::string text;
  for (const auto& [id, name] : names) {
    if (!text.empty()) text += ", ";
    text += fmt::format("(OperatorId: {} -> OperatorName: {})", id, name);
  }
  return text;
}

Status CheckStateDirectory(fs::FileSystem& file_system, const checkpoint::Layout& layout, const Names& in_plan) {
  if (in_plan.empty()) return Status::OK();
  ARROW_ASSIGN_OR_RAISE(const auto state, file_system.List(layout.state()));
  if (state && !state->empty()) return Status::OK();
  return UserError("STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY",
                   "Cannot restart streaming query with stateful operators because the state directory is empty or missing.\n"
                   "Stateful operators in current batch: [{}].\n"
                   "Either the state files were deleted, or earlier runs of the query had no stateful operator. Restore {}, take the stateful operators out, or use a "
                   "new checkpoint location.",
                   Listed(in_plan), layout.state())
      .Param("OpsInCurBatchSeq", Listed(in_plan))
      .Path(layout.state());
}

Status CheckNames(const Names& on_disk, const Names& in_plan, const std::string& state_root) {
  if (on_disk == in_plan) return Status::OK();
  return UserError("STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA",
                   "Streaming stateful operator name does not match with the operator in state metadata. A stateful operator of the query was added, removed or "
                   "changed since the last run; that needs a new checkpoint location.\n"
                   "Stateful operators in the metadata: [{}]; Stateful operators in current batch: [{}].",
                   Listed(on_disk), Listed(in_plan))
      .Param("OpsInMetadataSeq", Listed(on_disk))
      .Param("OpsInCurBatchSeq", Listed(in_plan))
      .Path(state_root);
}

}  // namespace

Status CheckOrWriteOperators(fs::FileSystem& file_system, const checkpoint::Layout& layout, int64_t first_batch_id,
                             const std::vector<exec::StatefulOperatorInfo>& operators, const Config& config) {
  Names in_plan;
  std::vector<state::OperatorMetadata> metadata;
  for (const exec::StatefulOperatorInfo& info : operators) {
    in_plan[info.metadata.operator_id] = info.metadata.operator_name;
    metadata.push_back(info.metadata);
  }
  if (first_batch_id > 0) {
    ARROW_RETURN_NOT_OK(CheckStateDirectory(file_system, layout, in_plan));
    ARROW_ASSIGN_OR_RAISE(const std::vector<state::OperatorMetadata> stored, state::ReadOperatorMetadata(file_system, layout.state()));
    Names on_disk;
    for (const state::OperatorMetadata& found : stored) on_disk[found.operator_id] = found.operator_name;
    if (!on_disk.empty()) {
      ARROW_RETURN_NOT_OK(CheckNames(on_disk, in_plan, layout.state()));
    } else if (!in_plan.empty()) {
      log::Warning("{} has no operator metadata, so Spark 3 wrote it: ANSI mode was off there and is {} here ({})", layout.state(),
                   config.GetBool(conf::kAnsiEnabled) ? "on" : "off", conf::kAnsiEnabled);
    }
  }
  for (const exec::StatefulOperatorInfo& info : operators) {
    if (!config.GetBool(conf::kStateSchemaCheck)) break;
    for (const state::StoreInfo& store : info.metadata.stores) {
      ARROW_RETURN_NOT_OK(
          state::CheckOrWriteStateSchema(file_system, layout.state(), info.metadata.operator_id, store.store_name, info.schema));
    }
  }
  return state::WriteOperatorMetadata(file_system, layout.state(), metadata);
}

}  // namespace tidemill::stream
