#pragma once

// A fixed set of worker threads. One pool of task threads a process; the loop hands it one task a partition and waits for all.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "base/status.h"

namespace tidemill {

class ThreadPool {
 public:
  /// `threads` >= 1.
  explicit ThreadPool(int threads);
  /// Waits for the tasks under way; queued ones are dropped.
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()); }
  /// Run `task(i)` for i in [0, count), on at most threads() workers at a time, and wait for all that were started. After the first failure (or
  /// when `stop` is requested) no further task is started; the first failure by index is returned. The calling thread takes part in the work.
  Status ParallelFor(int count, std::stop_token stop, const std::function<Status(int)>& task);
  /// Run `task` some time on a worker.
  void Submit(std::function<void()> task);

 private:
  void Work();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;  // guarded by mutex_
  bool closing_ = false;                     // guarded by mutex_
  std::vector<std::thread> workers_;
};

}  // namespace tidemill
