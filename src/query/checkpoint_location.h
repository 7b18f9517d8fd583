#pragma once

// Where a query keeps its checkpoint. The first rule that applies wins:
//
//   1. --checkpoint DIR      DIR/<table>/<flow>, or DIR itself when it is a checkpoint and the job has one query
//   2. checkpointLocation    the property of the table, as it is
//   3. spark.sql.streaming.checkpointLocation    that folder + /<flow>
//   4. a sink that must survive a restart    <job>.checkpoint/<table>/<flow> beside the job file
//   5. any other sink        a temporary folder, removed at the end unless the query failed

#include <optional>
#include <string>

#include "base/status.h"
#include "fs/file_system.h"

namespace tidemill::query {

struct CheckpointRequest {
  std::optional<std::string> flag;      ///< --checkpoint DIR, absolute
  std::optional<std::string> property;  ///< checkpointLocation, absolute
  std::optional<std::string> setting;   ///< spark.sql.streaming.checkpointLocation, absolute
  std::string job_path;                 ///< the job file, absolute; empty: the text came from elsewhere
  std::string temporary_directory;      ///< where temporary folders go
  std::string table;
  std::string flow;
  bool only_query = false;              ///< the job has this query alone
  bool needs_checkpoint = true;         ///< the sink's format asks for one that stays
};

struct CheckpointLocation {
  std::string path;
  bool temporary = false;
};

/// Apply the rules above. Looks for `offsets` in the folder of the flag, writes nothing.
/// Errors: user errors TIDEMILL_CHECKPOINT_AMBIGUOUS (a checkpoint given to a job of several queries), TIDEMILL_CHECKPOINT_REQUIRED (nowhere to keep it),
/// TIDEMILL_INVALID_NAME (a table name that is no folder name).
Result<CheckpointLocation> LocateCheckpoint(const CheckpointRequest& request, fs::FileSystem& file_system);

}  // namespace tidemill::query
