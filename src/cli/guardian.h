#pragma once

// Watches over a run from a thread of its own: the signals that stop it and the memory that it may have.
//
// The first SIGINT or SIGTERM stops at a batch border. A second one abandons the batch, as does memory above the budget: a batch that is cut
// off is run again next time, so ending the process is always safe, even where a task does not listen.

#include <signal.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>

#include "base/status.h"

namespace tidemill::cli {

class Guardian {
 public:
  struct Actions {
    std::function<void()> stop_at_batch_border;
    std::function<void()> stop_now;
    std::function<std::string()> largest_state;  ///< for the error about memory; may be empty text
  };

  /// Block the signals in the calling thread and so in all that it starts later; call this before any thread is made.
  static void BlockSignals();

  Guardian(Actions actions, int64_t memory_bytes);
  /// Ends the watch.
  ~Guardian();
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  /// The exit code of what cut the run off, if anything did: 128 + the second signal, or that of a failure.
  std::optional<int> exit_code() const;

 private:
  void Watch();
  void OnSignal(int number);
  void CheckMemory();
  /// Abandon the batches under way; should that take long, end the process.
  void CutOff(int exit_code);

  const Actions actions_;
  const int64_t memory_bytes_;
  int signals_seen_ = 0;           // the watching thread's
  std::atomic<int> cut_off_{-1};   // exit code; -1: not cut off
  std::atomic<bool> done_{false};
  std::thread thread_;
};

}  // namespace tidemill::cli
