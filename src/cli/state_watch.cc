#include "cli/state_watch.h"

#include <fmt/format.h>

namespace tidemill::cli {

stream::QueryObserver StateWatch::Watch(const std::string& query_name, stream::QueryObserver observer) {
  auto inner = std::move(observer.on_progress);
  observer.on_progress = [this, query_name, inner = std::move(inner)](const stream::Progress& progress) {
    Note(query_name, progress);
    if (inner) inner(progress);
  };
  return observer;
}

void StateWatch::Note(const std::string& query_name, const stream::Progress& progress) {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < progress.operators.size(); ++i) {
    const exec::OperatorMetrics& metrics = progress.operators[i];
    const std::string name = fmt::format("operator {} ({})", i, metrics.name);
    const bool same = query_name == query_ && name == operator_;
    if (!same && metrics.memory_bytes <= bytes_) continue;
    query_ = query_name;
    operator_ = name;
    rows_ = metrics.rows_total;
    bytes_ = metrics.memory_bytes;
  }
}

std::string StateWatch::Largest() const {
  const std::lock_guard lock(mutex_);
  if (bytes_ == 0) return "";
  return fmt::format("query {}, {}: {} rows, {} MiB", query_, operator_, rows_, bytes_ >> 20);
}

}  // namespace tidemill::cli
