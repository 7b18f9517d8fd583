#include "stream/running_query.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/uuid.h"

namespace tidemill::stream {

namespace {

// spark.sql.streaming.numRecentProgressUpdates is 100, and Spark's buffer keeps one fewer.
constexpr size_t kRecentProgress = 99;

}  // namespace

RunningQuery::RunningQuery(QueryOptions options, QueryServices services, QueryObserver observer)
    : options_(std::move(options)), services_(services), observer_(std::move(observer)), layout_{options_.checkpoint} {
  identity_.run_id = NewUuid();
  if (!options_.name.empty()) identity_.name = options_.name;
}

RunningQuery::~RunningQuery() {
  StopNow();
  if (driver_.joinable()) driver_.join();
}

void RunningQuery::Launch() {
  driver_ = std::thread([this] { Drive(); });
}

bool RunningQuery::is_active() const {
  std::lock_guard lock(mutex_);
  return !terminated_ && !abandon_.stop_requested();
}

void RunningQuery::StopAtBatchBorder() { end_soon_.request_stop(); }

void RunningQuery::StopNow() {
  abandon_.request_stop();
  end_soon_.request_stop();
}

Status RunningQuery::AwaitTermination() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return terminated_; });
  return result_;
}

Status RunningQuery::ProcessAllAvailable() {
  std::unique_lock lock(mutex_);
  // The trigger under way may have asked its sources before our caller's data were there; the next one that finds nothing counts.
  const int64_t wanted = triggers_begun_ + 1;
  changed_.wait(lock, [&] { return terminated_ || last_idle_trigger_ >= wanted; });
  return terminated_ ? result_ : Status::OK();
}

std::vector<Progress> RunningQuery::recent_progress() const {
  std::lock_guard lock(mutex_);
  return {recent_.begin(), recent_.end()};
}

void RunningQuery::Drive() {
  Status status = run_failure_.ok() ? RunTriggers() : run_failure_;
  // A batch that was abandoned on request is no failure.
  if (status.IsCancelled() && abandon_.stop_requested()) status = Status::OK();
  if (loop_ != nullptr) {
    // What has been committed becomes durable before anybody hears of the end.
    const Status flushed = loop_->Flush();
    if (status.ok()) status = flushed;
  }
  Finish(status.ok() ? status : Failure(status));
}

Status RunningQuery::RunTriggers() {
  if (options_.trigger.kind == TriggerKind::kAvailableNow) {
    for (auto& source : sources_) ARROW_RETURN_NOT_OK(source->PrepareForAvailableNow());
  }
  while (!end_soon_.stop_requested()) {
    int64_t sequence = 0;
    {
      std::lock_guard lock(mutex_);
      sequence = ++triggers_begun_;
    }
    const int64_t start_ms = services_.clock.NowMs();
    ARROW_ASSIGN_OR_RAISE(const TriggerOutcome outcome, loop_->RunTrigger(abandon_.get_token()));
    Report(outcome, sequence);
    switch (options_.trigger.kind) {
      case TriggerKind::kOnce:
        return Status::OK();
      case TriggerKind::kAvailableNow:
        if (!outcome.executed) return Status::OK();
        break;
      case TriggerKind::kProcessingTime:
        ARROW_RETURN_NOT_OK(WaitForNextTrigger(start_ms, outcome.executed));
        break;
    }
  }
  return Status::OK();
}

Status RunningQuery::WaitForNextTrigger(int64_t trigger_start_ms, bool executed) {
  const int64_t now_ms = services_.clock.NowMs();
  if (options_.trigger.interval_ms == 0) {
    if (!executed) services_.clock.WaitUntil(now_ms + pinned_.config.GetDurationMs(conf::kPollingDelay), end_soon_.get_token());
    return Status::OK();
  }
  const int64_t next_ms = NextTickMs(trigger_start_ms, options_.trigger.interval_ms);
  if (now_ms >= next_ms) {
    if (const int64_t took_ms = now_ms - trigger_start_ms; took_ms > options_.trigger.interval_ms) {
      log::Warning("The query {} falls behind: a trigger took {} ms, the interval is {} ms", options_.name, took_ms, options_.trigger.interval_ms);
    }
    return Status::OK();
  }
  ARROW_RETURN_NOT_OK(loop_->Flush());
  services_.clock.WaitUntil(next_ms, end_soon_.get_token());
  return Status::OK();
}

void RunningQuery::Report(const TriggerOutcome& outcome, int64_t sequence) {
  const int64_t now_ms = services_.clock.NowMs();
  // Idle triggers show now and then only; the very first report is kept and not announced.
  const bool first = !last_emission_ms_;
  const bool due = first || now_ms - *last_emission_ms_ >= pinned_.config.GetDurationMs(conf::kNoDataProgressInterval);
  if (outcome.executed || due) {
    last_emission_ms_ = now_ms;
    std::lock_guard lock(mutex_);
    recent_.push_back(outcome.progress);
    if (recent_.size() > kRecentProgress) recent_.pop_front();
  }
  // Before whoever waits for the data goes on, the progress of the batch has been shown.
  if (outcome.executed) {
    if (observer_.on_progress) observer_.on_progress(outcome.progress);
  } else {
    if (due && !first && observer_.on_idle) observer_.on_idle(outcome.progress);
    std::lock_guard lock(mutex_);
    last_idle_trigger_ = sequence;
  }
  changed_.notify_all();
}

// Spark's wrapper around every failure of a run; the inner condition and its parameters stay within reach.
Status RunningQuery::Failure(const Status& cause) const {
  const ErrorDetail* inner = ErrorDetail::Of(cause);
  const std::string condition = inner != nullptr ? inner->condition : "";
  const std::string message = condition.empty() || condition.starts_with("_LEGACY") ? cause.message() : fmt::format("[{}] {}", condition, cause.message());
  auto detail = std::make_shared<ErrorDetail>();
  if (inner != nullptr) *detail = *inner;
  detail->condition = "STREAM_FAILED";
  detail->retry = Retry::kNever;
  detail->parameters = {{"id", identity_.id}, {"runId", identity_.run_id}, {"message", message}, {"innerCondition", condition}};
  if (inner != nullptr) {
    for (const auto& [name, value] : inner->parameters) detail->parameters["inner." + name] = value;
  }
  if (loop_ != nullptr && loop_->failed_phase()) {
    detail->parameters["phase"] = std::string(PhaseName(*loop_->failed_phase()));
    detail->batch_id = loop_->batch_id();
  }
  return Status(cause.code(), fmt::format("Query [id = {}, runId = {}] terminated with exception: {}", identity_.id, identity_.run_id, message),
                std::move(detail));
}

void RunningQuery::Finish(Status status) {
  // The loop ends before its sources and the lock: its threads still use the checkpoint.
  std::unique_ptr<MicroBatchLoop> loop = std::move(loop_);
  loop.reset();
  if (options_.temporary_checkpoint && status.ok()) {
    const Status removed = services_.file_system.RemoveTree(layout_.root);
    if (!removed.ok()) log::Warning("The temporary checkpoint {} could not be removed: {}", layout_.root, removed.message());
  }
  lock_.reset();
  std::lock_guard lock(mutex_);
  terminated_ = true;
  result_ = std::move(status);
  changed_.notify_all();
}

}  // namespace tidemill::stream
