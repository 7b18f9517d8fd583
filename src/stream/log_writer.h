#pragma once

// The log thread of a query: durable steps that run beside the batch, each after the steps that it depends on.
//
// The loop hands over commits/N-1, the source logs of N and offsets/N, goes on with the batch, and waits for a ticket where the protocol says so. Steps
// without an order between them (commits/N-1 and the source logs) share one round of syncing. A step that fails blocks those that depend on it until
// RetryFailed(); steps must therefore be safe to repeat.
//
//   auto commit = writer.Submit("commits/6", …);
//   auto offsets = writer.Submit("offsets/7", …, {commit, source_logs});
//   … tasks …
//   ARROW_RETURN_NOT_OK(writer.Wait(offsets));

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/status.h"

namespace tidemill::stream {

/// When the steps run.
enum class LogSchedule {
  kThreads,  ///< as soon as they may, on threads of the writer
  kEager,    ///< inside Submit(): a test sees one order of storage calls
  kLazy,     ///< inside the Wait() that needs them, the slowest log thread there can be: a wait that is missing shows
};

class LogWriter {
 public:
  struct Step;
  using Ticket = std::shared_ptr<Step>;

  /// `sync_rounds` says how many rounds of syncing the calling thread has waited for so far; see depth().
  LogWriter(LogSchedule schedule, std::function<int64_t()> sync_rounds);
  /// Waits for the steps under way; the others are dropped.
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  /// Hand over a step; it runs once all of `after` have succeeded. Null tickets in `after` are skipped.
  Ticket Submit(std::string name, std::function<Status()> work, std::vector<Ticket> after = {});
  /// Block until the step has succeeded, or failed, or is blocked by one that failed: then that one's error.
  Status Wait(const Ticket& ticket);
  /// Give the failed steps another chance. Called between attempts of a batch.
  void RetryFailed();

  /// Rounds of syncing that the driver has waited for, one after the other, counting a step's rounds from where its last dependency ended: the length of the
  /// critical path and not the number of syncs.
  int64_t depth() const;
  /// The driver itself waited for `rounds` more.
  void AddDriverRounds(int64_t rounds);

 private:
  static Status BlockedBy(const Step& step);
  Ticket TakeRunnable();
  void Run(Step& step, std::unique_lock<std::mutex>& lock);
  void RunNeeded(const Ticket& ticket, std::unique_lock<std::mutex>& lock);
  void Work();

  const LogSchedule schedule_;
  const std::function<int64_t()> sync_rounds_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Ticket> queue_;    // not yet succeeded, in order of arrival; guarded by mutex_
  int64_t driver_depth_ = 0;    // guarded by mutex_
  bool closing_ = false;        // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace tidemill::stream
