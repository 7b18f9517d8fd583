#pragma once

// Turns what a trigger did into the Progress that users see. Keeps what carries over: the last executed batch and the time of the trigger before.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "connector/sink.h"
#include "connector/source.h"
#include "exec/query_plan.h"
#include "stream/progress.h"
#include "stream/restart.h"

namespace tidemill::stream {

struct QueryIdentity {
  std::string id, run_id;
  std::optional<std::string> name;
};

/// The facts of one trigger.
struct BatchReport {
  int64_t batch_id = 0;
  bool executed = false;
  bool has_new_data = false;
  const SourceOffsets& start;
  const SourceOffsets& end;
  int64_t watermark_ms = 0;
  int64_t trigger_start_ms = 0;
  int64_t trigger_ms = 0;
  const std::map<std::string, int64_t>& duration_ms;
  const exec::BatchMetrics& metrics;
  int64_t sync_rounds = 0;
};

class ProgressReporter {
 public:
  /// Everything referred to outlives the reporter.
  ProgressReporter(QueryIdentity identity, const exec::QueryPlan& plan, const std::vector<connector::Source*>& sources, const connector::Sink& sink);

  /// The progress of one trigger, executed or idle. Call once a trigger, in order: rates are measured against the trigger before.
  Progress Report(const BatchReport& report);

 private:
  void AddSources(const BatchReport& report, Progress* progress) const;
  void AddEventTime(const BatchReport& report, Progress* progress) const;
  std::vector<exec::OperatorMetrics> IdleOperators() const;

  const QueryIdentity identity_;
  const exec::QueryPlan& plan_;
  const std::vector<connector::Source*>& sources_;
  const connector::Sink& sink_;
  std::optional<int64_t> last_trigger_start_ms_;
  std::optional<std::vector<exec::OperatorMetrics>> last_operators_;  // of the last executed batch
};

}  // namespace tidemill::stream
