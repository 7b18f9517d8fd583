#include "cli/run_command.h"

#include <arrow/compute/initialize.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "base/thread_pool.h"
#include "cli/error_report.h"
#include "cli/exit_code.h"
#include "cli/guardian.h"
#include "cli/progress_printer.h"
#include "cli/state_watch.h"
#include "fs/local_file_system.h"
#include "query/job_runner.h"
#include "query/session.h"

namespace tidemill::cli {

namespace {

/// The text of a job and where it came from.
struct Job {
  std::string text;
  std::string shown_name;      ///< in error messages
  std::string path;            ///< absolute; empty: not a file
  std::string base_directory;  ///< relative paths of the job start here
};

Result<Job> ReadJob(const RunOptions& options) {
  Job job;
  job.base_directory = std::filesystem::current_path().string();
  if (options.job.empty()) {
    job.text = options.sql;
    job.shown_name = "<command line>";
  } else if (options.job == "-") {
    job.text.assign(std::istreambuf_iterator<char>(std::cin), {});
    job.shown_name = "<stdin>";
  } else {
    job.shown_name = options.job;
    job.path = std::filesystem::absolute(options.job).lexically_normal().string();
    job.base_directory = fs::Parent(job.path);
    if (std::filesystem::is_directory(job.path)) return UserError("TIDEMILL_JOB_NOT_READABLE", "{} is a folder; a job is a file of SQL", options.job);
    std::ifstream file(job.path);
    if (!file) return UserError("TIDEMILL_JOB_NOT_READABLE", "Cannot read the job file ({}): {}", std::strerror(errno), options.job);
    job.text.assign(std::istreambuf_iterator<char>(file), {});
    if (file.bad()) return UserError("TIDEMILL_JOB_NOT_READABLE", "Cannot read the job file to its end: {}", options.job);
  }
  return job;
}

Result<query::SessionOptions> SessionOptionsOf(const RunOptions& options, const Job& job) {
  query::SessionOptions session;
  session.config = options.config;
  session.base_directory = job.base_directory;
  session.job_path = job.path;
  session.trigger = options.trigger;
  if (const char* folder = std::getenv("TMPDIR"); folder != nullptr && *folder == '/') session.temporary_directory = folder;
  if (options.checkpoint) {
    // Typed at a prompt, so relative to where the prompt is, unlike the paths inside the job.
    ARROW_ASSIGN_OR_RAISE(session.checkpoint, fs::LocalPath(*options.checkpoint, std::filesystem::current_path().string()));
  }
  return session;
}

int Fail(const Status& error, const Job& job, ExitCode code) {
  std::cout.flush();
  std::cerr << ReportError(error, job.shown_name, job.text) << std::flush;
  return static_cast<int>(code);
}

/// Run what was planned, under a guardian.
int RunFlows(const RunOptions& options, const Job& job, const Config& config, std::vector<query::Flow> flows, const connector::Registry& registry,
             fs::SystemCalls& system_calls, Clock& clock) {
  const auto file_system =
      fs::MakeLocalFileSystem(system_calls, {.sync = config.GetBool(conf::kSync), .hadoop_crc = config.GetBool(conf::kHadoopCrc)});
  ThreadPool pool(options.threads);
  ProgressPrinter printer(options.progress, std::cerr);
  query::JobRunner runner({*file_system, clock, pool, registry, std::cout});
  const int64_t started_ns = clock.MonotonicNs();

  Status outcome;
  std::optional<int> cut_off;
  {
    StateWatch state;
    Guardian guardian({[&] { runner.StopAtBatchBorder(); }, [&] { runner.StopNow(); }, [&] { return state.Largest(); }}, options.memory_bytes);
    outcome = runner.Run(std::move(flows), [&](const std::string& name) { return state.Watch(name, printer.Observe(name)); });
    cut_off = guardian.exit_code();
  }
  printer.PrintSummary((clock.MonotonicNs() - started_ns) / 1'000'000);
  if (cut_off) return *cut_off;
  if (!outcome.ok()) return Fail(outcome, job, CodeOfRunError(outcome));
  // A full disk or a closed pipe behind standard output must not look like success.
  std::cout.flush();
  if (!std::cout) return Fail(ExternalError("TIDEMILL_OUTPUT_FAILED", "Writing to standard output failed"), job, ExitCode::kFailed);
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

int RunJob(const RunOptions& options, const connector::Registry& registry, fs::SystemCalls& system_calls, Clock& clock) {
  log::SetLevel(options.log_level);
  const Result<Job> job = ReadJob(options);
  if (!job.ok()) return Fail(job.status(), {}, ExitCode::kUsage);
  Result<query::SessionOptions> session_options = SessionOptionsOf(options, *job);
  if (!session_options.ok()) return Fail(session_options.status(), *job, ExitCode::kUsage);
  // Before any thread: one that did not block them would take the signals that should stop the run in order.
  Guardian::BlockSignals();
  if (const Status initialized = arrow::compute::Initialize(); !initialized.ok()) return Fail(initialized, *job, ExitCode::kFailed);

  const auto planning_files = fs::MakeLocalFileSystem(system_calls);
  query::Session session(*std::move(session_options), registry, *planning_files, std::cout);
  Result<std::vector<query::Flow>> flows = session.Plan(job->text);
  for (const std::string& line : session.warnings()) log::Warning("{}", line);
  if (!flows.ok()) return Fail(flows.status(), *job, CodeOfPlanError(flows.status()));
  return RunFlows(options, *job, session.config(), *std::move(flows), registry, system_calls, clock);
}

}  // namespace tidemill::cli
