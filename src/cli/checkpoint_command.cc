#include "cli/checkpoint_command.h"

#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "cli/error_report.h"
#include "cli/exit_code.h"
#include "connector/state/state_reader.h"
#include "fs/local_file_system.h"

namespace tidemill::cli {

namespace {

Status PrintRows(const RowsOptions& options, fs::FileSystem& file_system) {
  ARROW_ASSIGN_OR_RAISE(const std::string directory, fs::LocalPath(options.directory, std::filesystem::current_path().string()));
  const std::map<std::string, std::string> reader_options(options.options.begin(), options.options.end());
  ARROW_ASSIGN_OR_RAISE(const connector::state::StateTable table, connector::state::ReadState(file_system, directory, reader_options));
  ARROW_ASSIGN_OR_RAISE(const std::vector<std::string> lines, connector::state::RowsToJson(table));
  for (const std::string& line : lines) std::cout << line << '\n';
  std::cout.flush();
  if (!std::cout) return ExternalError("TIDEMILL_OUTPUT_FAILED", "Writing to standard output failed");
  return Status::OK();
}

}  // namespace

int PrintStateRows(const RowsOptions& options, fs::SystemCalls& system_calls) {
  const auto file_system = fs::MakeLocalFileSystem(system_calls);
  const Status printed = PrintRows(options, *file_system);
  if (printed.ok()) return static_cast<int>(ExitCode::kOk);
  std::cerr << ReportError(printed, options.directory, "") << std::flush;
  return static_cast<int>(ExitCode::kFailed);
}

}  // namespace tidemill::cli
