// The tidemill program. What it is made of is spelled out here: clock, system calls, formats.

#include <cstdlib>
#include <memory>
#include <variant>

#include "base/clock.h"
#include "cli/checkpoint_command.h"
#include "cli/options.h"
#include "cli/run_command.h"
#include "connector/console/console_sink.h"
#include "connector/file/file_format.h"
#include "connector/rate/rate_formats.h"
#include "connector/registry.h"
#include "fs/local_file_system.h"

int main(int argc, char** argv) {
  using namespace tidemill;
  // Arrow's other allocators keep freed pages of each thread: for batches that come and go they take a third more memory and no less time. A user's choice
  // stands.
  setenv("ARROW_DEFAULT_MEMORY_POOL", "system", /*overwrite=*/0);
  const cli::CommandLine command_line = cli::ParseCommandLine(argc, argv, TIDEMILL_VERSION);
  if (const auto* finished = std::get_if<cli::Finished>(&command_line)) return finished->exit_code;

  SystemClock clock;
  const std::unique_ptr<fs::SystemCalls> system_calls = fs::MakePosixCalls();
  if (const auto* rows = std::get_if<cli::RowsOptions>(&command_line)) return cli::PrintStateRows(*rows, *system_calls);

  connector::Registry registry;
  connector::RegisterFileFormats(registry);
  connector::RegisterConsoleFormats(registry);
  connector::RegisterRateFormats(registry);
  return cli::RunJob(std::get<cli::RunOptions>(command_line), registry, *system_calls, clock);
}
