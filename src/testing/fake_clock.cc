#include "testing/fake_clock.h"

#include <algorithm>

namespace tidemill::testing {

FakeClock::FakeClock(int64_t now_ms, WaitMode mode) : mode_(mode), now_ms_(now_ms) {}

int64_t FakeClock::NowMs() {
  std::lock_guard lock(mutex_);
  return now_ms_;
}

int64_t FakeClock::MonotonicNs() {
  std::lock_guard lock(mutex_);
  return monotonic_ns_;
}

bool FakeClock::WaitUntil(int64_t wall_ms, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  if (stop.stop_requested()) return false;
  if (mode_ == WaitMode::kJump) {
    SetLocked(std::max(now_ms_, wall_ms));
    return true;
  }
  return moved_.wait(lock, stop, [&] { return now_ms_ >= wall_ms; });
}

void FakeClock::AdvanceMs(int64_t milliseconds) {
  std::lock_guard lock(mutex_);
  SetLocked(now_ms_ + milliseconds);
}

void FakeClock::SetMs(int64_t now_ms) {
  std::lock_guard lock(mutex_);
  SetLocked(now_ms);
}

void FakeClock::SetLocked(int64_t now_ms) {
  monotonic_ns_ += std::max<int64_t>(0, now_ms - now_ms_) * 1'000'000;
  now_ms_ = now_ms;
  moved_.notify_all();
}

}  // namespace tidemill::testing
