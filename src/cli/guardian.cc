#include "cli/guardian.h"

#include <time.h>
#include <unistd.h>

#include <iostream>
#include <utility>

#include "base/log.h"
#include "cli/error_report.h"
#include "cli/exit_code.h"
#include "cli/memory_budget.h"

namespace tidemill::cli {

namespace {

/// How often memory is looked at. At 2 GB/s a process grows by 100 MB in that time, which the 30 % beside the budget hold.
constexpr timespec kLook = {0, 50'000'000};
/// How long an abandoned batch may take to end by itself: 40 looks, two seconds.
constexpr int kPatience = 40;

sigset_t StopSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

void Guardian::BlockSignals() {
  const sigset_t set = StopSignals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

Guardian::Guardian(Actions actions, int64_t memory_bytes)
    : actions_(std::move(actions)), memory_bytes_(memory_bytes), thread_([this] { Watch(); }) {}

Guardian::~Guardian() {
  done_ = true;
  thread_.join();
}

std::optional<int> Guardian::exit_code() const {
  const int code = cut_off_;
  return code < 0 ? std::nullopt : std::optional(code);
}

void Guardian::Watch() {
  const sigset_t set = StopSignals();
  while (!done_) {
    const int number = sigtimedwait(&set, nullptr, &kLook);
    if (number > 0) {
      OnSignal(number);
    } else {
      CheckMemory();
    }
  }
}

void Guardian::OnSignal(int number) {
  if (++signals_seen_ == 1) {
    log::Info("Stopping at the next batch border; another signal stops at once");
    actions_.stop_at_batch_border();
    return;
  }
  CutOff(static_cast<int>(ExitCode::kSignalBase) + number);
}

void Guardian::CheckMemory() {
  if (cut_off_ >= 0 || OwnResidentBytes() <= memory_bytes_) return;
  const std::string state = actions_.largest_state();
  // Whatever the log level: it is why the run ends.
  const Error error = ExternalError(
      "TIDEMILL_MEMORY_EXCEEDED", "The process needs more memory than its budget of {} MiB. {}Nothing is lost: the batch will run again. Give more "
      "with --memory; {}",
      memory_bytes_ >> 20, state.empty() ? "" : "The largest state is that of " + state + ". ",
      state.empty() ? "or let a batch read less with maxFilesPerTrigger, maxBytesPerTrigger or smaller files"
                    : "if it is the state that grows, let a watermark drop old rows; if it is the batch, let it read less (maxFilesPerTrigger)");
  std::cerr << ReportError(error, "", "") << std::flush;
  CutOff(static_cast<int>(ExitCode::kFailed));
}

void Guardian::CutOff(int exit_code) {
  if (cut_off_ >= 0) _exit(exit_code);  // asked for a third time
  cut_off_ = exit_code;
  // stop_now may wait for a task that does not listen, so somebody else must be able to end the wait.
  std::thread patience([this, exit_code] {
    for (int look = 0; look < kPatience && !done_; ++look) nanosleep(&kLook, nullptr);
    if (!done_) _exit(exit_code);
  });
  actions_.stop_now();
  patience.join();
}

}  // namespace tidemill::cli
