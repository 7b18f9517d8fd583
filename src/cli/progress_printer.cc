#include "cli/progress_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace tidemill::cli {

namespace {

int64_t InputRows(const stream::Progress& progress) {
  int64_t rows = 0;
  for (const stream::SourceProgress& source : progress.sources) rows += source.input_rows;
  return rows;
}

int64_t RowsPerSecond(int64_t rows, int64_t elapsed_ms) { return rows * 1000 / std::max<int64_t>(elapsed_ms, 1); }

}  // namespace

std::string ProgressLine(const std::string& query_name, const stream::Progress& progress) {
  const int64_t rows = InputRows(progress);
  std::string line = fmt::format("{}  batch {}: {} rows in {} ms, {} rows/s", query_name, progress.batch_id, rows, progress.batch_duration_ms,
                                 RowsPerSecond(rows, progress.batch_duration_ms));
  if (const auto watermark = progress.event_time.find("watermark"); watermark != progress.event_time.end()) {
    line += ", watermark " + watermark->second;
  }
  int64_t keys = 0, dropped = 0;
  for (const exec::OperatorMetrics& metrics : progress.operators) {
    keys += metrics.rows_total;
    dropped += metrics.rows_dropped_by_watermark;
  }
  if (!progress.operators.empty()) line += fmt::format(", {} keys in state", keys);
  if (dropped > 0) line += fmt::format(", {} late rows dropped", dropped);
  return line;
}

ProgressPrinter::ProgressPrinter(ProgressMode mode, std::ostream& out) : mode_(mode), out_(out) {}

stream::QueryObserver ProgressPrinter::Observe(const std::string& query_name) {
  stream::QueryObserver observer;
  if (mode_ == ProgressMode::kNone) return observer;
  observer.on_progress = [this, query_name](const stream::Progress& progress) { Print(query_name, progress); };
  // An idle query has nothing to tell a person; a program that reads Spark's objects gets them all.
  if (mode_ == ProgressMode::kJson) observer.on_idle = observer.on_progress;
  return observer;
}

void ProgressPrinter::Print(const std::string& query_name, const stream::Progress& progress) {
  const std::string line = mode_ == ProgressMode::kJson ? progress.ToJson() : ProgressLine(query_name, progress);
  std::lock_guard lock(mutex_);
  if (progress.executed) ++batches_;
  input_rows_ += InputRows(progress);
  out_ << line << std::endl;
}

void ProgressPrinter::PrintSummary(int64_t elapsed_ms) {
  if (mode_ != ProgressMode::kPlain) return;
  std::lock_guard lock(mutex_);
  out_ << fmt::format("{} batches, {} rows in {:.1f} s, {} rows/s", batches_, input_rows_, static_cast<double>(elapsed_ms) / 1000,
                      RowsPerSecond(input_rows_, elapsed_ms))
       << std::endl;
}

}  // namespace tidemill::cli
