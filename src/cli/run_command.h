#pragma once

// `tidemill run`: reads a job, plans it, runs it.

#include "base/clock.h"
#include "cli/options.h"
#include "connector/registry.h"
#include "fs/system_calls.h"

namespace tidemill::cli {

/// Run the job to its end; returns the exit code. Rows go to standard output, all else to standard error.
/// Effect: SIGINT and SIGTERM stay blocked in this thread. Call it before the first thread of the process is made.
int RunJob(const RunOptions& options, const connector::Registry& registry, fs::SystemCalls& system_calls, Clock& clock);

}  // namespace tidemill::cli
