#pragma once

// Time as a parameter. Engine code asks a Clock; tests give it testing::FakeClock, so no test sleeps.

#include <cstdint>
#include <stop_token>

namespace tidemill {

class Clock {
 public:
  virtual ~Clock() = default;
  /// Wall clock, milliseconds since the epoch, UTC. May step in either direction.
  virtual int64_t NowMs() = 0;
  /// Monotonic clock, nanoseconds since some fixed point.
  virtual int64_t MonotonicNs() = 0;
  /// Block until `NowMs() >= wall_ms` or `stop` is requested. Returns false when stopped.
  virtual bool WaitUntil(int64_t wall_ms, std::stop_token stop) = 0;
};

/// The machine's clocks.
class SystemClock final : public Clock {
 public:
  int64_t NowMs() override;
  int64_t MonotonicNs() override;
  bool WaitUntil(int64_t wall_ms, std::stop_token stop) override;
};

}  // namespace tidemill
