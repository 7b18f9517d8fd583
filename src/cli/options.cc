#include "cli/options.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <thread>

#include "cli/exit_code.h"
#include "cli/memory_budget.h"

namespace tidemill::cli {

namespace {

constexpr char kRunExamples[] = R"(
Examples:
  tidemill run job.sql
      Process what is there and end. A second run goes on where this one stopped.
  tidemill run job.sql --trigger "10 seconds" --progress plain
      Keep running and look for new input every ten seconds.
  tidemill run job.sql --checkpoint /var/lib/jobs --set spark.sql.shuffle.partitions=4
      Keep the state of table t in /var/lib/jobs/t/t.
  tidemill run -e "CREATE TEMPORARY VIEW e (k STRING, v INT) USING json OPTIONS (path '/data'); SELECT k, count(*) FROM STREAM e GROUP BY k"
      Show the rows that each batch changes.

Exit codes: 0 done, or stopped by the first SIGINT or SIGTERM; 1 a query failed; 2 wrong flags; 3 the SQL is wrong; 4 another process has the
checkpoint; 130, 143 stopped at once by a second SIGINT, SIGTERM.)";

constexpr char kRowsExamples[] = R"(
Examples:
  tidemill checkpoint rows job.checkpoint/t/t --json
  tidemill checkpoint rows /data/ckpt --option operatorId=1 --option batchId=41 --json)";

/// The flags as they were typed, before they are checked.
struct RawRun {
  std::string trigger;
  std::vector<std::string> settings;
  std::string progress = "auto";
  std::string log_level = "warn";
  std::string memory;
};

Result<std::pair<std::string, std::string>> SplitSetting(const std::string& flag, const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return UserError("TIDEMILL_USAGE", "{} wants KEY=VALUE, not '{}'", flag, text);
  }
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

/// What reads well by itself: lines on a terminal, nothing in a pipe or a service's log.
ProgressMode ModeOf(const std::string& name) {
  if (name == "json") return ProgressMode::kJson;
  if (name == "plain") return ProgressMode::kPlain;
  if (name == "auto" && isatty(STDERR_FILENO) == 1) return ProgressMode::kPlain;
  return ProgressMode::kNone;
}

Status Check(const RawRun& raw, RunOptions* run) {
  if (run->job.empty() == run->sql.empty()) {
    return UserError("TIDEMILL_USAGE", "tidemill run wants either a job file (- for standard input) or -e with SQL");
  }
  if (!raw.trigger.empty()) {
    ARROW_ASSIGN_OR_RAISE(run->trigger, stream::ParseTrigger(raw.trigger));
  }
  for (const std::string& text : raw.settings) {
    ARROW_ASSIGN_OR_RAISE(const auto setting, SplitSetting("--set", text));
    ARROW_ASSIGN_OR_RAISE(run->config, run->config.With(setting.first, setting.second));
  }
  run->progress = ModeOf(raw.progress);
  ARROW_ASSIGN_OR_RAISE(run->log_level, log::ParseLevel(raw.log_level));
  if (raw.memory.empty()) {
    run->memory_bytes = DefaultMemoryBudget();
  } else {
    ARROW_ASSIGN_OR_RAISE(run->memory_bytes, ParseMemoryBudget(raw.memory));
  }
  return Status::OK();
}

void AddRun(CLI::App& app, RunOptions* run, RawRun* raw) {
  app.add_option("job", run->job, "SQL file; - reads standard input");
  app.add_option("-e,--execute", run->sql, "SQL text instead of a file");
  app.add_option("--checkpoint", run->checkpoint, "Folder of checkpoints: DIR/<table>/<flow>, or DIR itself if it is the checkpoint of the only query");
  app.add_option("--trigger", raw->trigger, "available-now (default), once, or an interval such as \"10 seconds\"; goes before the job's own");
  app.add_option("--set", raw->settings, "KEY=VALUE of the configuration; goes before SET in the job")->allow_extra_args(false);
  app.add_option("--progress", raw->progress, "auto, plain, json (Spark's progress objects) or none; on stderr")
      ->check(CLI::IsMember({"auto", "plain", "json", "none"}));
  app.add_option("--log-level", raw->log_level, "debug, info, warn, error or off");
  run->threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  app.add_option("--threads", run->threads, "Task threads; default: one a core")->check(CLI::Range(1, 1024));
  app.add_option("--memory", raw->memory, "Memory budget such as 512m or 4g; default: 70 % of what the control group or the machine has");
  app.footer(kRunExamples);
}

}  // namespace

CommandLine ParseCommandLine(int argc, const char* const* argv, const std::string& version) {
  CLI::App app("Exactly-once micro-batch streaming, interchangeable with Spark Structured Streaming", "tidemill");
  app.set_version_flag("--version", "tidemill " + version);
  app.require_subcommand(1);

  RunOptions run;
  RawRun raw_run;
  CLI::App* run_command = app.add_subcommand("run", "Run a SQL job");
  AddRun(*run_command, &run, &raw_run);

  RowsOptions rows;
  std::vector<std::string> raw_options;
  bool json = false;
  CLI::App* checkpoint_command = app.add_subcommand("checkpoint", "Look into a checkpoint, written by Spark or by Tidemill");
  checkpoint_command->require_subcommand(1);
  CLI::App* rows_command = checkpoint_command->add_subcommand("rows", "Print the rows of a state store, one object a line");
  rows_command->add_option("directory", rows.directory, "The checkpoint")->required();
  rows_command->add_option("--option", raw_options, "NAME=VALUE of Spark's state reader: operatorId, batchId, storeName, …")->allow_extra_args(false);
  rows_command->add_flag("--json", json, "One JSON object a row: the only form there is, and the default");
  rows_command->footer(kRowsExamples);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool asked_for = app.exit(error) == 0;
    return Finished{static_cast<int>(asked_for ? ExitCode::kOk : ExitCode::kUsage)};
  }

  Status checked;
  if (run_command->parsed()) checked = Check(raw_run, &run);
  for (const std::string& text : raw_options) {
    Result<std::pair<std::string, std::string>> option = SplitSetting("--option", text);
    if (!option.ok()) {
      checked = option.status();
      break;
    }
    rows.options.push_back(*std::move(option));
  }
  if (!checked.ok()) {
    std::cerr << "tidemill: " << checked.message() << "\nRun with --help for more information.\n";
    return Finished{static_cast<int>(ExitCode::kUsage)};
  }
  if (run_command->parsed()) return run;
  return rows;
}

}  // namespace tidemill::cli
