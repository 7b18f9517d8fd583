#pragma once

// The physical plan of a streaming query and the run of one batch of it.
//
// MakeQueryPlan cuts the optimised logical plan at exchanges and numbers the stateful operators as Spark does. RunBatch reads the splits of a batch on the task pool,
// loads state N, stages state N+1 and the sink's output; nothing is durable until the caller's barrier.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/config.h"
#include "base/thread_pool.h"
#include "connector/sink.h"
#include "connector/source.h"
#include "plan/analyzer.h"
#include "state/operator_metadata.h"
#include "state/state_store.h"

namespace tidemill::exec {

/// Identity of a stateful operator, for metadata, schema check and restart rules.
struct StatefulOperatorInfo {
  state::OperatorMetadata metadata;
  state::StateSchema schema;
};

/// Event-time statistics of one watermark operator in one batch, in ms.
struct EventTimeStats {
  int64_t count = 0;
  int64_t max_ms = 0;
  int64_t min_ms = 0;
  double sum_ms = 0;
};

/// What one stateful operator did in a batch; sums over its partitions.
struct OperatorMetrics {
  std::string name;
  int64_t rows_total = 0, rows_updated = 0, rows_removed = 0, rows_dropped_by_watermark = 0;
  int64_t updates_ms = 0, removals_ms = 0, commit_ms = 0, memory_bytes = 0;
  int64_t partitions = 0, stores = 0;
  int64_t cache_hits = 0, cache_misses = 0;
};

struct BatchMetrics {
  std::vector<int64_t> source_rows;            ///< by source index: rows the scan delivered
  std::vector<EventTimeStats> event_time;      ///< by watermark operator, in plan order
  std::vector<OperatorMetrics> operators;      ///< top-most first
  int64_t output_rows = 0;
};

/// A batch to run.
struct BatchInput {
  int64_t batch_id = 0;
  int64_t state_version = 0;      ///< == batch_id
  int64_t batch_timestamp_ms = 0;
  int64_t late_watermark_ms = 0;  ///< watermark of offsets[N-1]: late rows
  int64_t evict_watermark_ms = 0; ///< watermark of offsets[N]: eviction
  /// By source index; empty vector: the source has no new data.
  std::vector<std::vector<std::shared_ptr<connector::InputPartition>>> partitions;
};

/// What is staged after RunBatch, to be published by the barrier.
struct BatchOutput {
  BatchMetrics metrics;
  std::vector<fs::StagedFile> state_files;
  std::vector<connector::WriterResult> sink_results;
};

class QueryPlan {
 public:
  virtual ~QueryPlan() = default;

  /// Streaming relations in first-visit order: source k reads table k.
  virtual const std::vector<std::shared_ptr<const plan::TableDescription>>& sources() const = 0;
  /// Tables that joins read as a whole, once: static source k reads table k.
  virtual std::vector<std::shared_ptr<const plan::TableDescription>> static_sources() const { return {}; }
  /// `sources` in that order; before the first batch.
  virtual void UseStaticSources(std::vector<std::unique_ptr<connector::Source>> sources) {}
  virtual const std::vector<StatefulOperatorInfo>& stateful_operators() const = 0;
  virtual bool has_watermark() const = 0;
  /// Delay of each watermark operator, in plan order, ms.
  virtual const std::vector<int64_t>& watermark_delays_ms() const = 0;
  /// Would some stateful operator do something in a batch without data, given the watermark moved from `old_ms` to `new_ms`?
  virtual bool WantsNoDataBatch(int64_t old_watermark_ms, int64_t new_watermark_ms) const = 0;

  /// What can be judged only when a batch's watermark is known. Errors: _LEGACY_ERROR_TEMP_3076, a watermark over another one, once the watermark moves.
  virtual Status CheckWatermark(int64_t evict_watermark_ms) const { return Status::OK(); }
  /// Read, compute, stage. On failure everything staged is discarded and state is back at version N. `sources` and `sink` outlive the call.
  virtual Result<BatchOutput> RunBatch(const BatchInput& input, const std::vector<connector::Source*>& sources, connector::Sink& sink,
                                       ThreadPool& pool, std::stop_token stop) = 0;
  /// The staged files are durable and the batch is the sink's: state is version N+1 now.
  virtual void CommitDone() = 0;
  /// The barrier or the sink failed after RunBatch: state goes back to version N.
  virtual void Abort() = 0;
  virtual std::string Explain() const = 0;
};

/// `optimized` from plan::Optimize; `config` with the pinned keys applied (shuffle partitions, state formats, codec). `provider` outlives the plan.
Result<std::unique_ptr<QueryPlan>> MakeQueryPlan(const plan::PlanPtr& optimized, plan::OutputMode mode, const Config& config, state::StateProvider& provider);

}  // namespace tidemill::exec
