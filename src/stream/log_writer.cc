#include "stream/log_writer.h"

#include <algorithm>
#include <utility>

namespace tidemill::stream {

namespace {

// One for commits/N-1, one for the source logs beside it: there are never more steps without an order between them.
constexpr int kThreads = 2;

enum class StepState { kWaiting, kRunning, kSucceeded, kFailed };

}  // namespace

struct LogWriter::Step {
  std::string name;
  std::function<Status()> work;
  std::vector<Ticket> after;  // cleared on success, so that a long run keeps no chain of old steps
  StepState state = StepState::kWaiting;
  Status status;
  int64_t depth = 0;  // before the run: where it may start; after it: where it ended
};

LogWriter::LogWriter(LogSchedule schedule, std::function<int64_t()> sync_rounds)
    : schedule_(schedule), sync_rounds_(std::move(sync_rounds)) {
  if (schedule_ != LogSchedule::kThreads) return;
  for (int i = 0; i < kThreads; ++i) threads_.emplace_back([this] { Work(); });
}

LogWriter::~LogWriter() {
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

LogWriter::Ticket LogWriter::Submit(std::string name, std::function<Status()> work, std::vector<Ticket> after) {
  auto step = std::make_shared<Step>();
  step->name = std::move(name);
  step->work = std::move(work);
  std::erase(after, nullptr);
  step->after = std::move(after);
  std::unique_lock lock(mutex_);
  step->depth = driver_depth_;
  queue_.push_back(step);
  if (schedule_ == LogSchedule::kEager) RunNeeded(step, lock);
  lock.unlock();
  changed_.notify_all();
  return step;
}

Status LogWriter::Wait(const Ticket& ticket) {
  if (ticket == nullptr) return Status::OK();
  std::unique_lock lock(mutex_);
  if (schedule_ != LogSchedule::kThreads) RunNeeded(ticket, lock);
  Status blocked;
  changed_.wait(lock, [&] {
    blocked = BlockedBy(*ticket);
    return ticket->state == StepState::kSucceeded || !blocked.ok();
  });
  if (!blocked.ok()) return blocked;
  driver_depth_ = std::max(driver_depth_, ticket->depth);
  return Status::OK();
}

void LogWriter::RetryFailed() {
  std::unique_lock lock(mutex_);
  for (const Ticket& step : queue_) {
    if (step->state == StepState::kFailed) step->state = StepState::kWaiting;
  }
  if (schedule_ == LogSchedule::kEager) {
    const std::deque<Ticket> again = queue_;
    for (const Ticket& step : again) RunNeeded(step, lock);
  }
  lock.unlock();
  changed_.notify_all();
}

int64_t LogWriter::depth() const {
  std::lock_guard lock(mutex_);
  return driver_depth_;
}

void LogWriter::AddDriverRounds(int64_t rounds) {
  std::lock_guard lock(mutex_);
  driver_depth_ += rounds;
}

// The error of `step` or of the first failed step that it depends on.
Status LogWriter::BlockedBy(const Step& step) {
  if (step.state == StepState::kFailed) return step.status;
  for (const Ticket& before : step.after) ARROW_RETURN_NOT_OK(BlockedBy(*before));
  return Status::OK();
}

LogWriter::Ticket LogWriter::TakeRunnable() {
  for (const Ticket& step : queue_) {
    if (step->state != StepState::kWaiting) continue;
    const bool ready = std::all_of(step->after.begin(), step->after.end(),
                                   [](const Ticket& before) { return before->state == StepState::kSucceeded; });
    if (ready) return step;
  }
  return nullptr;
}

void LogWriter::Run(Step& step, std::unique_lock<std::mutex>& lock) {
  for (const Ticket& before : step.after) step.depth = std::max(step.depth, before->depth);
  step.state = StepState::kRunning;
  lock.unlock();
  const int64_t rounds_before = sync_rounds_();
  Status status = step.work();
  const int64_t rounds = sync_rounds_() - rounds_before;
  lock.lock();
  step.depth += rounds;
  step.state = status.ok() ? StepState::kSucceeded : StepState::kFailed;
  step.status = std::move(status);
  if (step.status.ok()) {
    step.after.clear();
    step.work = nullptr;
    std::erase_if(queue_, [&](const Ticket& queued) { return queued.get() == &step; });
  }
  changed_.notify_all();
}

// Without threads: run `ticket` and what it depends on, in order, on the calling thread.
void LogWriter::RunNeeded(const Ticket& ticket, std::unique_lock<std::mutex>& lock) {
  const std::vector<Ticket> after = ticket->after;
  for (const Ticket& before : after) RunNeeded(before, lock);
  if (ticket->state == StepState::kWaiting && BlockedBy(*ticket).ok()) Run(*ticket, lock);
}

void LogWriter::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    Ticket step;
    changed_.wait(lock, [&] { return closing_ || (step = TakeRunnable()) != nullptr; });
    if (closing_) return;
    Run(*step, lock);
  }
}

}  // namespace tidemill::stream
