#include "base/clock.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace tidemill {

int64_t SystemClock::NowMs() {
  using std::chrono::system_clock;
  return std::chrono::duration_cast<std::chrono::milliseconds>(system_clock::now().time_since_epoch()).count();
}

int64_t SystemClock::MonotonicNs() {
  using std::chrono::steady_clock;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

bool SystemClock::WaitUntil(int64_t wall_ms, std::stop_token stop) {
  // The wall clock may be set while we wait, so we look at it again at least once a second.
  constexpr int64_t kLongestNapMs = 1000;
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  while (!stop.stop_requested()) {
    const int64_t left_ms = wall_ms - NowMs();
    if (left_ms <= 0) return true;
    stopped.wait_for(lock, stop, std::chrono::milliseconds(std::min(left_ms, kLongestNapMs)), [] { return false; });
  }
  return false;
}

}  // namespace tidemill
