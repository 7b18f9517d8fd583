#include "stream/maintenance.h"

#include <utility>

#include "base/log.h"
#include "checkpoint/commit_log.h"
#include "checkpoint/offset_log.h"

namespace tidemill::stream {

namespace {

void WarnOf(const Status& status, const char* what) {
  if (!status.ok()) log::Warning("{} failed and will be tried again: {}", what, status.message());
}

}  // namespace

Maintenance::Maintenance(Parts parts) : parts_(std::move(parts)) {
  if (parts_.own_thread) thread_ = std::thread([this] { Work(); });
}

Maintenance::~Maintenance() {
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  if (parts_.provider != nullptr) parts_.provider->Drain();
}

void Maintenance::AfterBatch(int64_t batch_id, int64_t now_ms) {
  if (parts_.provider != nullptr) parts_.provider->Maintain(now_ms);
  if (!parts_.own_thread) return Maintain(batch_id);
  {
    std::lock_guard lock(mutex_);
    waiting_ = batch_id;
  }
  changed_.notify_all();
}

void Maintenance::Maintain(int64_t batch_id) {
  const int64_t threshold = batch_id - parts_.min_batches_to_retain;
  if (threshold > 0) {
    // Commits first: they stay a part of what the offset log has, at every instant.
    const Status commits = checkpoint::CommitLog(parts_.file_system, parts_.layout.commits()).Purge(threshold);
    WarnOf(commits, "Purging the commit log");
    if (commits.ok()) WarnOf(checkpoint::OffsetLog(parts_.file_system, parts_.layout.offsets()).Purge(threshold), "Purging the offset log");
  }
  const auto hold = HoldSink();
  WarnOf(parts_.sink.Maintain(), "Maintenance of the sink");
}

void Maintenance::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return closing_ || waiting_; });
    if (closing_) return;
    const int64_t batch_id = *std::exchange(waiting_, std::nullopt);
    lock.unlock();
    Maintain(batch_id);
    lock.lock();
  }
}

}  // namespace tidemill::stream
