#include "stream/progress_reporter.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tidemill::stream {

ProgressReporter::ProgressReporter(QueryIdentity identity, const exec::QueryPlan& plan, const std::vector<connector::Source*>& sources, const connector::Sink& sink)
    : identity_(std::move(identity)), plan_(plan), sources_(sources), sink_(sink) {}

Progress ProgressReporter::Report(const BatchReport& report) {
  Progress progress;
  progress.id = identity_.id;
  progress.run_id = identity_.run_id;
  progress.name = identity_.name;
  progress.timestamp_ms = report.trigger_start_ms;
  progress.batch_id = report.batch_id;
  progress.batch_duration_ms = report.trigger_ms;
  progress.duration_ms = report.duration_ms;
  progress.duration_ms["triggerExecution"] = report.trigger_ms;
  progress.executed = report.executed;
  progress.sync_rounds = report.sync_rounds;
  progress.sink_description = sink_.Description();
  AddSources(report, &progress);
  AddEventTime(report, &progress);
  if (report.executed) last_operators_ = report.metrics.operators;
  progress.operators = report.executed ? report.metrics.operators : IdleOperators();
  // Sinks that do not count say -1, and so does everyone before the first batch.
  if (sink_.ReportsOutputRows() && last_operators_) progress.sink_output_rows = report.executed ? report.metrics.output_rows : 0;
  last_trigger_start_ms_ = report.trigger_start_ms;
  return progress;
}

void ProgressReporter::AddSources(const BatchReport& report, Progress* progress) const {
  // The first trigger has none before it: its rate is measured against an infinite time.
  const double since_last_s =
      last_trigger_start_ms_ ? static_cast<double>(report.trigger_start_ms - *last_trigger_start_ms_) / 1000 : INFINITY;
  const double took_s = static_cast<double>(std::max<int64_t>(report.trigger_ms, 1)) / 1000;
  for (size_t i = 0; i < sources_.size(); ++i) {
    SourceProgress source;
    source.description = sources_[i]->Description();
    if (i < report.start.size()) source.start_offset = report.start[i];
    if (i < report.end.size()) source.end_offset = report.end[i];
    if (report.has_new_data && i < report.metrics.source_rows.size()) source.input_rows = report.metrics.source_rows[i];
    source.input_rows_per_second = static_cast<double>(source.input_rows) / since_last_s;
    source.processed_rows_per_second = static_cast<double>(source.input_rows) / took_s;
    progress->sources.push_back(std::move(source));
  }
}

void ProgressReporter::AddEventTime(const BatchReport& report, Progress* progress) const {
  if (!plan_.has_watermark()) return;
  progress->event_time["watermark"] = FormatProgressTime(report.watermark_ms);
  if (!report.executed || !report.has_new_data) return;
  const auto& stats = report.metrics.event_time;
  const auto seen = std::find_if(stats.begin(), stats.end(), [](const exec::EventTimeStats& one) { return one.count > 0; });
  if (seen == stats.end()) return;
  progress->event_time["max"] = FormatProgressTime(seen->max_ms);
  progress->event_time["min"] = FormatProgressTime(seen->min_ms);
  progress->event_time["avg"] = FormatProgressTime(static_cast<int64_t>(seen->sum_ms / static_cast<double>(seen->count)));
}

// What the state holds is still true; what the last batch did to it is not.
std::vector<exec::OperatorMetrics> ProgressReporter::IdleOperators() const {
  std::vector<exec::OperatorMetrics> operators = last_operators_.value_or(std::vector<exec::OperatorMetrics>{});
  for (exec::OperatorMetrics& one : operators) {
    one.rows_updated = 0;
    one.rows_dropped_by_watermark = 0;
  }
  return operators;
}

}  // namespace tidemill::stream
