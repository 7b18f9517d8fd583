#pragma once

// The command line: flags to values, checked. Help texts and their examples live here.

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/config.h"
#include "base/log.h"
#include "stream/streaming_query.h"

namespace tidemill::cli {

enum class ProgressMode { kNone, kPlain, kJson };

/// `tidemill run`.
struct RunOptions {
  std::string job;                 ///< a path; "-" is standard input; empty: `sql`
  std::string sql;                 ///< -e
  std::optional<std::string> checkpoint;
  std::optional<stream::Trigger> trigger;
  Config config;                   ///< --set
  ProgressMode progress = ProgressMode::kNone;
  log::Level log_level = log::Level::kWarning;
  int threads = 1;
  int64_t memory_bytes = 0;
};

/// `tidemill checkpoint rows`.
struct RowsOptions {
  std::string directory;
  std::vector<std::pair<std::string, std::string>> options;
};

/// Nothing left to do: help or version was printed, or the flags were wrong and the user was told.
struct Finished {
  int exit_code = 0;
};

using CommandLine = std::variant<Finished, RunOptions, RowsOptions>;

/// Parse the arguments. Prints help to stdout and complaints to stderr.
CommandLine ParseCommandLine(int argc, const char* const* argv, const std::string& version);

}  // namespace tidemill::cli
