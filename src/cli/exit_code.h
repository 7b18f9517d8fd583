#pragma once

// What the shell gets. Listed for users in docs/cli.md; the numbers are for life.

namespace tidemill::cli {

enum class ExitCode : int {
  kOk = 0,           ///< done, or stopped at a batch border
  kFailed = 1,       ///< a query failed
  kUsage = 2,        ///< flags, or a job file that cannot be read
  kInvalidJob = 3,   ///< the SQL does not parse, or Spark's rules refuse it
  kLocked = 4,       ///< another process has the checkpoint
  kSignalBase = 128  ///< + signal number: stopped at once, by a second signal
};

}  // namespace tidemill::cli
