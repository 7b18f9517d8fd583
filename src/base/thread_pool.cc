#include "base/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "base/check.h"

namespace tidemill {

namespace {

/// One ParallelFor call, shared by the caller and the workers that help it. Helpers may come when all is done: they find nothing left.
struct Sweep {
  std::function<Status(int)> task;
  std::stop_token stop;
  int count = 0;

  std::mutex mutex;
  std::condition_variable done;
  int next = 0;         // guarded by mutex
  int running = 0;      // guarded by mutex
  int failed_at = -1;   // guarded by mutex; the lowest index that failed
  Status failure;       // guarded by mutex

  /// Take tasks until none may be started any more.
  void Help() {
    std::unique_lock lock(mutex);
    while (next < count && failed_at < 0 && !stop.stop_requested()) {
      const int index = next++;
      ++running;
      lock.unlock();
      Status status = task(index);
      lock.lock();
      --running;
      if (!status.ok() && (failed_at < 0 || index < failed_at)) {
        failed_at = index;
        failure = std::move(status);
      }
    }
    if (running == 0) done.notify_all();
  }
};

}  // namespace

ThreadPool::ThreadPool(int threads) {
  TIDEMILL_CHECK(threads >= 1);
  workers_.reserve(static_cast<size_t>(threads));
  for (int i = 0; i < threads; ++i) workers_.emplace_back([this] { Work(); });
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
    queue_.clear();
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

Status ThreadPool::ParallelFor(int count, std::stop_token stop, const std::function<Status(int)>& task) {
  if (count <= 0) return Status::OK();
  auto sweep = std::make_shared<Sweep>();
  sweep->task = task;
  sweep->stop = std::move(stop);
  sweep->count = count;
  const int helpers = std::min(count, threads()) - 1;
  for (int i = 0; i < helpers; ++i) Submit([sweep] { sweep->Help(); });
  sweep->Help();
  std::unique_lock lock(sweep->mutex);
  sweep->done.wait(lock, [&] { return sweep->running == 0; });
  return sweep->failure;
}

void ThreadPool::Submit(std::function<void()> task) {
  {
    std::lock_guard lock(mutex_);
    if (closing_) return;
    queue_.push_back(std::move(task));
  }
  wake_.notify_one();
}

void ThreadPool::Work() {
  for (;;) {
    std::function<void()> task;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return closing_ || !queue_.empty(); });
      if (closing_) return;
      task = std::move(queue_.front());
      queue_.pop_front();
    }
    task();
  }
}

}  // namespace tidemill
