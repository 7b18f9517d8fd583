#include "testing/fake_clock.h"

#include <gtest/gtest.h>

#include <thread>

namespace tidemill::testing {
namespace {

TEST(FakeClockTest, StandsStillUntilItIsMoved) {
  FakeClock clock(1000);
  EXPECT_EQ(clock.NowMs(), 1000);
  clock.AdvanceMs(5);
  EXPECT_EQ(clock.NowMs(), 1005);
  EXPECT_EQ(clock.MonotonicNs(), 5'000'000);
  clock.SetMs(10);
  EXPECT_EQ(clock.NowMs(), 10);
  EXPECT_EQ(clock.MonotonicNs(), 5'000'000);
}

TEST(FakeClockTest, WaitingJumps) {
  FakeClock clock(1000);
  EXPECT_TRUE(clock.WaitUntil(5000, {}));
  EXPECT_EQ(clock.NowMs(), 5000);
  EXPECT_TRUE(clock.WaitUntil(2000, {}));
  EXPECT_EQ(clock.NowMs(), 5000);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(clock.WaitUntil(9000, stop.get_token()));
}

TEST(FakeClockTest, OrBlocksUntilAnotherThreadMovesIt) {
  FakeClock clock(1000, WaitMode::kBlock);
  std::jthread mover([&] { clock.AdvanceMs(500); });
  EXPECT_TRUE(clock.WaitUntil(1500, {}));
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_FALSE(clock.WaitUntil(9000, stop.get_token()));
}

}  // namespace
}  // namespace tidemill::testing
