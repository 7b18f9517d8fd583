#include "query/job_runner.h"

#include <thread>
#include <utility>

namespace tidemill::query {

JobRunner::JobRunner(stream::QueryServices services) : services_(services) {}
JobRunner::~JobRunner() = default;

Result<stream::StreamingQuery*> JobRunner::Start(stream::QueryOptions options, stream::QueryObserver observer) {
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return nullptr;
  }
  // Without the lock: starting opens a checkpoint, and a signal must not wait for that.
  ARROW_ASSIGN_OR_RAISE(std::unique_ptr<stream::StreamingQuery> query,
                        stream::StreamingQuery::Start(std::move(options), services_, std::move(observer)));
  std::lock_guard lock(mutex_);
  queries_.push_back(std::move(query));
  if (stopping_) queries_.back()->StopAtBatchBorder();
  return queries_.back().get();
}

Status JobRunner::Run(std::vector<Flow> flows, const std::function<stream::QueryObserver(const std::string&)>& observe) {
  std::mutex outcome_mutex;
  Status outcome;  // guarded by outcome_mutex: the first failure
  const auto fail = [&](const Status& status) {
    {
      std::lock_guard lock(outcome_mutex);
      if (outcome.ok()) outcome = status;
    }
    StopAtBatchBorder();
  };

  std::vector<std::thread> waiting;
  for (Flow& flow : flows) {
    const bool ends_by_itself = flow.query.trigger.kind != stream::TriggerKind::kProcessingTime;
    stream::QueryObserver observer = observe(flow.query.name);
    Result<stream::StreamingQuery*> started = Start(std::move(flow.query), std::move(observer));
    if (!started.ok()) {
      fail(started.status());
      break;
    }
    stream::StreamingQuery* query = *started;
    if (query == nullptr) break;
    const auto await = [query, fail] {
      if (Status status = query->AwaitTermination(); !status.ok()) fail(status);
    };
    if (ends_by_itself) {
      await();
    } else {
      waiting.emplace_back(await);
    }
  }
  for (std::thread& thread : waiting) thread.join();
  {
    std::lock_guard lock(mutex_);
    queries_.clear();
  }
  return outcome;
}

void JobRunner::StopAtBatchBorder() {
  std::lock_guard lock(mutex_);
  stopping_ = true;
  for (const auto& query : queries_) query->StopAtBatchBorder();
}

void JobRunner::StopNow() {
  std::lock_guard lock(mutex_);
  stopping_ = true;
  for (const auto& query : queries_) query->StopNow();
}

}  // namespace tidemill::query
