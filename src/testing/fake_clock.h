#pragma once

// A clock that stands still until a test moves it.

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>

#include "base/clock.h"

namespace tidemill::testing {

/// What FakeClock::WaitUntil does when the time has not come yet.
enum class WaitMode {
  kJump,   ///< moves the clock there and returns: a single thread lives through hours in no time
  kBlock,  ///< blocks until another thread moves the clock
};

/// Safe to use from several threads.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(int64_t now_ms = 1'700'000'000'000, WaitMode mode = WaitMode::kJump);

  int64_t NowMs() override;
  /// Moves with the wall clock, but never back.
  int64_t MonotonicNs() override;
  bool WaitUntil(int64_t wall_ms, std::stop_token stop) override;

  void AdvanceMs(int64_t milliseconds);
  /// Set the wall clock; it may go back.
  void SetMs(int64_t now_ms);

 private:
  void SetLocked(int64_t now_ms);

  const WaitMode mode_;
  std::mutex mutex_;
  std::condition_variable_any moved_;
  int64_t now_ms_;             // guarded by mutex_
  int64_t monotonic_ns_ = 0;   // guarded by mutex_
};

}  // namespace tidemill::testing
