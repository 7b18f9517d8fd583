#include "stream/log_writer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>

namespace tidemill::stream {
namespace {

Status Broken() { return RetryableError("", "the disk is full"); }

// One round of syncing a step, counted for the thread that ran it as a file system does.
thread_local int64_t rounds_here = 0;
int64_t RoundsHere() { return rounds_here; }
Status OneRound() {
  ++rounds_here;
  return Status::OK();
}

class LogWriterTest : public testing::TestWithParam<LogSchedule> {};

TEST_P(LogWriterTest, AStepRunsAfterThoseItDependsOn) {
  LogWriter writer(GetParam(), RoundsHere);
  std::mutex mutex;
  std::string order;
  auto step = [&](char name) {
    return [&, name] {
      std::lock_guard lock(mutex);
      order += name;
      return Status::OK();
    };
  };
  auto commit = writer.Submit("commit", step('c'));
  auto source = writer.Submit("source", step('s'));
  auto offsets = writer.Submit("offsets", step('o'), {commit, nullptr, source});
  ASSERT_TRUE(writer.Wait(offsets).ok());
  EXPECT_EQ(order.back(), 'o');
  EXPECT_EQ(order.size(), 3u);
}

TEST_P(LogWriterTest, AFailureBlocksWhatDependsOnItUntilItIsRetried) {
  LogWriter writer(GetParam(), RoundsHere);
  std::atomic<int> tries = 0;
  std::atomic<int> followers = 0;
  auto first = writer.Submit("first", [&] { return ++tries == 1 ? Broken() : Status::OK(); });
  auto second = writer.Submit("second", [&] {
    ++followers;
    return Status::OK();
  }, {first});
  const Status blocked = writer.Wait(second);
  EXPECT_EQ(blocked.message(), "the disk is full");
  EXPECT_EQ(followers, 0);
  writer.RetryFailed();
  EXPECT_TRUE(writer.Wait(second).ok());
  EXPECT_EQ(tries, 2);
  EXPECT_EQ(followers, 1);
}

TEST_P(LogWriterTest, StepsWithoutOrderShareARoundAndOthersAddUp) {
  LogWriter writer(GetParam(), RoundsHere);
  auto commit = writer.Submit("commit", OneRound);
  auto source = writer.Submit("source", OneRound);
  auto offsets = writer.Submit("offsets", OneRound, {commit, source});
  ASSERT_TRUE(writer.Wait(offsets).ok());
  EXPECT_EQ(writer.depth(), 2);
  writer.AddDriverRounds(1);
  ASSERT_TRUE(writer.Wait(writer.Submit("next", OneRound)).ok());
  EXPECT_EQ(writer.depth(), 4);
}

INSTANTIATE_TEST_SUITE_P(Schedules, LogWriterTest, testing::Values(LogSchedule::kThreads, LogSchedule::kEager, LogSchedule::kLazy));

TEST(LogWriterThreadsTest, TwoStepsWithoutOrderRunAtTheSameTime) {
  LogWriter writer(LogSchedule::kThreads, RoundsHere);
  std::latch both(2);
  auto meet = [&] {
    both.arrive_and_wait();  // hangs unless the other is under way too
    return Status::OK();
  };
  auto a = writer.Submit("a", meet);
  auto b = writer.Submit("b", meet);
  EXPECT_TRUE(writer.Wait(a).ok());
  EXPECT_TRUE(writer.Wait(b).ok());
}

TEST(LogWriterLazyTest, NothingRunsBeforeSomebodyWaits) {
  LogWriter writer(LogSchedule::kLazy, RoundsHere);
  bool ran = false;
  auto ticket = writer.Submit("step", [&] {
    ran = true;
    return Status::OK();
  });
  EXPECT_FALSE(ran);
  EXPECT_TRUE(writer.Wait(ticket).ok());
  EXPECT_TRUE(ran);
}

}  // namespace
}  // namespace tidemill::stream
