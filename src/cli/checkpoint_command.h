#pragma once

// `tidemill checkpoint rows`: the state of a checkpoint as JSON lines.

#include "cli/options.h"
#include "fs/system_calls.h"

namespace tidemill::cli {

/// Print the rows of one state store; returns the exit code. Reads only, so the query may run meanwhile.
int PrintStateRows(const RowsOptions& options, fs::SystemCalls& system_calls);

}  // namespace tidemill::cli
