#pragma once

// The machine's clock, with a gate: while a script changes the input, a query that waits for its next trigger goes on waiting. So what is added in one step is
// seen in one trigger, as with Spark's memory stream.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>

#include "base/clock.h"

namespace tidemill::semantics {

/// Safe to use from several threads.
class GatedClock final : public Clock {
 public:
  int64_t NowMs() override { return clock_.NowMs(); }
  int64_t MonotonicNs() override { return clock_.MonotonicNs(); }
  bool WaitUntil(int64_t wall_ms, std::stop_token stop) override {
    {
      const std::lock_guard lock(mutex_);
      ++waiting_;
    }
    changed_.notify_all();
    const bool reached = clock_.WaitUntil(wall_ms, stop);
    const std::lock_guard lock(mutex_);  // held while the gate is shut
    --waiting_;
    return reached;
  }

  /// Run `act` while somebody waits for a time that has not come, or when `is_active` says that nobody will.
  template <typename Act>
  auto WhileWaiting(const std::function<bool()>& is_active, Act act) {
    std::unique_lock lock(mutex_);
    while (waiting_ == 0 && is_active()) changed_.wait_for(lock, std::chrono::milliseconds(5));
    return act();
  }

 private:
  SystemClock clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;  // guarded by mutex_
};

}  // namespace tidemill::semantics
