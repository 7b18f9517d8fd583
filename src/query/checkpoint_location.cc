#include "query/checkpoint_location.h"

#include "base/uuid.h"

namespace tidemill::query {

namespace {

Status CheckFolderName(const std::string& name) {
  if (!name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos && name.find('\0') == std::string::npos) {
    return Status::OK();
  }
  return UserError("TIDEMILL_INVALID_NAME", "A query's checkpoint folder bears its table's name, and this one cannot be a folder name: '{}'", name);
}

/// "/a/job.sql" → "/a/job.checkpoint".
std::string BesideJob(const std::string& job_path) {
  std::string name = fs::BaseName(job_path);
  const size_t dot = name.rfind('.');
  if (dot != std::string::npos && dot > 0) name.resize(dot);
  return fs::Join(fs::Parent(job_path), name + ".checkpoint");
}

}  // namespace

Result<CheckpointLocation> LocateCheckpoint(const CheckpointRequest& request, fs::FileSystem& file_system) {
  ARROW_RETURN_NOT_OK(CheckFolderName(request.table));
  ARROW_RETURN_NOT_OK(CheckFolderName(request.flow));
  const std::string own_folder = request.table + "/" + request.flow;

  if (request.flag) {
    ARROW_ASSIGN_OR_RAISE(const std::optional<fs::FileInfo> offsets, file_system.Stat(fs::Join(*request.flag, "offsets")));
    if (!offsets || !offsets->is_directory) return CheckpointLocation{fs::Join(*request.flag, own_folder), false};
    if (request.only_query) return CheckpointLocation{*request.flag, false};
    return UserError("TIDEMILL_CHECKPOINT_AMBIGUOUS",
                     "The folder given with --checkpoint is the checkpoint of one query, but the job has several; name the folder above it, or put "
                     "checkpointLocation into the properties of the table that it belongs to: {}",
                     *request.flag)
        .Path(*request.flag);
  }
  if (request.property) return CheckpointLocation{*request.property, false};
  if (request.setting) return CheckpointLocation{fs::Join(*request.setting, request.flow), false};
  if (!request.needs_checkpoint) {
    return CheckpointLocation{fs::Join(request.temporary_directory, "tidemill-" + NewUuid()), true};
  }
  if (!request.job_path.empty()) return CheckpointLocation{fs::Join(BesideJob(request.job_path), own_folder), false};
  return UserError("TIDEMILL_CHECKPOINT_REQUIRED",
                   "A query that writes files needs a checkpoint, and this job is not a file that one could lie beside; give --checkpoint DIR, or the "
                   "property checkpointLocation, for table {}",
                   request.table);
}

}  // namespace tidemill::query
