#include "checkpoint/recovery.h"

#include <algorithm>
#include <string>

#include "checkpoint/log_text_internal.h"

namespace tidemill::checkpoint {

namespace {

/// Add every file below `directory` to `paths`.
Status CollectFiles(fs::FileSystem& file_system, const std::string& directory, std::vector<std::string>* paths) {
  ARROW_ASSIGN_OR_RAISE(const auto entries, file_system.List(directory));
  if (!entries) return Status::OK();
  for (const fs::FileInfo& entry : *entries) {
    const std::string path = fs::Join(directory, entry.name);
    if (entry.is_directory) {
      ARROW_RETURN_NOT_OK(CollectFiles(file_system, path, paths));
    } else if (entry.name[0] != '.') {
      paths->push_back(path);
    }
  }
  return Status::OK();
}

/// Spark writes Hadoop's checksum beside each of its files on a local disk; a query of ours does so when it is told to, and then syncs it all the same.
Result<bool> HasHadoopCrc(fs::FileSystem& file_system, const std::string& directory, int64_t id) {
  ARROW_ASSIGN_OR_RAISE(const auto info, file_system.Stat(fs::Join(directory, fmt::format(".{}.crc", id))));
  return info.has_value();
}

}  // namespace

Status MakeRecoveryDurable(fs::FileSystem& file_system, const Layout& layout) {
  ARROW_ASSIGN_OR_RAISE(const std::vector<int64_t> offset_ids, internal::ListIds(file_system, layout.offsets()));
  ARROW_ASSIGN_OR_RAISE(const std::vector<int64_t> commit_ids, internal::ListIds(file_system, layout.commits()));
  std::vector<std::string> paths;
  ARROW_ASSIGN_OR_RAISE(const auto metadata, file_system.Stat(layout.metadata()));
  if (metadata) paths.push_back(layout.metadata());
  bool by_spark = false;
  if (!offset_ids.empty()) {
    ARROW_ASSIGN_OR_RAISE(by_spark, HasHadoopCrc(file_system, layout.offsets(), offset_ids.back()));
    for (size_t i = offset_ids.size() - std::min<size_t>(offset_ids.size(), 2); i < offset_ids.size(); ++i) {
      paths.push_back(fs::Join(layout.offsets(), std::to_string(offset_ids[i])));
    }
  }
  if (!commit_ids.empty()) {
    ARROW_ASSIGN_OR_RAISE(const bool crc, HasHadoopCrc(file_system, layout.commits(), commit_ids.back()));
    by_spark = by_spark || crc;
    paths.push_back(fs::Join(layout.commits(), std::to_string(commit_ids.back())));
  }
  if (by_spark) {
    paths.clear();
    ARROW_RETURN_NOT_OK(CollectFiles(file_system, layout.root, &paths));
  }
  return file_system.MakeDurable(paths);
}

Result<RecoveryPlan> PlanRecovery(const RecoveryFacts& facts) {
  // -1: none.
  const int64_t last = facts.offset_ids.empty() ? -1 : facts.offset_ids.back();
  const int64_t last_commit = facts.commit_ids.empty() ? -1 : facts.commit_ids.back();
  if (last_commit > last) {
    return ExternalError("CONCURRENT_STREAM_LOG_UPDATE",
                         "batch {} is in the commit log and not in the offset log, whose last entry is {}: an offset file was lost, or another query used "
                         "this checkpoint at the same time. Restore offsets/{} from a copy of the checkpoint, or start with a new checkpoint folder",
                         last_commit, last < 0 ? "none" : std::to_string(last), last_commit)
        .Param("batchId", std::to_string(last_commit));
  }
  RecoveryPlan plan;
  if (last < 0) return plan;
  plan.end_offsets_of = last;
  // Spark wants the entry before the last one even where it has nothing to run again; a checkpoint without it has lost more than that file.
  if (last > 0 && !std::binary_search(facts.offset_ids.begin(), facts.offset_ids.end(), last - 1)) {
    return ExternalError("TIDEMILL_LOG_ENTRY_MISSING",
                         "batch {} doesn't exist: offsets/{} is missing, and offsets/{} needs it for its start. Restore the file from a copy of the "
                         "checkpoint, or start with a new checkpoint folder",
                         last - 1, last - 1, last);
  }
  if (last_commit == last) {
    plan.next_batch_id = last + 1;
    plan.start_offsets_of = last;
    return plan;
  }
  plan.next_batch_id = last;
  plan.rerun = true;
  if (last > 0) plan.start_offsets_of = last - 1;
  plan.commits_behind = last_commit < last - 1;
  return plan;
}

}  // namespace tidemill::checkpoint
