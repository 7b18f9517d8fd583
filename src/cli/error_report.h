#pragma once

// Errors as a terminal shows them, and the exit code that goes with them.

#include <string>
#include <string_view>

#include "base/status.h"
#include "cli/exit_code.h"

namespace tidemill::cli {

/// "error: [CONDITION] message", with file, line, column, source line and caret when the error points into `text`. Ends with a newline.
std::string ReportError(const Status& error, std::string_view file_name, std::string_view text);

/// Of an error before any query started: the SQL's own, or the world's.
ExitCode CodeOfPlanError(const Status& error);
/// Of an error of a query that was started.
ExitCode CodeOfRunError(const Status& error);

}  // namespace tidemill::cli
