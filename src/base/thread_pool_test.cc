#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <set>

namespace tidemill {
namespace {

TEST(ThreadPoolTest, RunsEveryIndexOnce) {
  ThreadPool pool(4);
  std::vector<std::atomic<int>> runs(1000);
  ASSERT_TRUE(pool.ParallelFor(1000, {}, [&](int i) {
                    ++runs[static_cast<size_t>(i)];
                    return Status::OK();
                  }).ok());
  for (const auto& count : runs) EXPECT_EQ(count, 1);
}

TEST(ThreadPoolTest, FailureStopsTheRest) {
  ThreadPool pool(1);
  int runs = 0;
  const Status status = pool.ParallelFor(100, {}, [&](int i) -> Status {
    ++runs;
    if (i == 3) return InternalError("task {}", i);
    return Status::OK();
  });
  EXPECT_EQ(status.message(), "task 3");
  EXPECT_EQ(runs, 4);
}

TEST(ThreadPoolTest, ReturnsTheFirstFailureByIndex) {
  ThreadPool pool(2);
  // Task 0 fails only after task 1 has, so both have failed when the call returns.
  std::promise<void> one_failed;
  const Status status = pool.ParallelFor(2, {}, [&](int i) -> Status {
    if (i == 0) one_failed.get_future().wait();
    if (i == 1) one_failed.set_value();
    return InternalError("task {}", i);
  });
  EXPECT_EQ(status.message(), "task 0");
}

TEST(ThreadPoolTest, StopPreventsFurtherTasks) {
  ThreadPool pool(1);
  std::stop_source stop;
  int runs = 0;
  const Status status = pool.ParallelFor(100, stop.get_token(), [&](int i) {
    ++runs;
    if (i == 4) stop.request_stop();
    return Status::OK();
  });
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(runs, 5);
}

TEST(ThreadPoolTest, NestedCallsFinishOnASmallPool) {
  ThreadPool pool(2);
  std::atomic<int> runs = 0;
  ASSERT_TRUE(pool.ParallelFor(4, {}, [&](int) {
                    return pool.ParallelFor(4, {}, [&](int) {
                      ++runs;
                      return Status::OK();
                    });
                  }).ok());
  EXPECT_EQ(runs, 16);
}

TEST(ThreadPoolTest, SubmitRunsOnAWorker) {
  ThreadPool pool(1);
  std::promise<std::thread::id> where;
  pool.Submit([&] { where.set_value(std::this_thread::get_id()); });
  EXPECT_NE(where.get_future().get(), std::this_thread::get_id());
}

}  // namespace
}  // namespace tidemill
