#include "exec/query_plan.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "exec/physical_plan.h"
#include "exec/row_operator.h"
#include "expr/function/evaluator.h"
#include "expr/function/resolve.h"
#include "row/murmur3.h"

namespace tidemill::exec {

namespace {

constexpr char kAggregationName[] = "stateStoreSave";
constexpr char kAllowMultiple[] = "spark.sql.streaming.statefulOperator.allowMultiple";

int64_t MillisSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start).count();
}

void Add(const OperatorMetrics& from, OperatorMetrics* to) {
  to->rows_total += from.rows_total;
  to->rows_updated += from.rows_updated;
  to->rows_removed += from.rows_removed;
  to->rows_dropped_by_watermark += from.rows_dropped_by_watermark;
  to->updates_ms += from.updates_ms;
  to->removals_ms += from.removals_ms;
  to->commit_ms += from.commit_ms;
  to->memory_bytes += from.memory_bytes;
  to->stores += from.stores;
  to->cache_hits += from.cache_hits;
  to->cache_misses += from.cache_misses;
}

/// What one task leaves behind.
struct TaskResult {
  int64_t source_rows = 0;
  int64_t output_rows = 0;
  std::vector<EventTimeStats> event_time;
  PartialGroups groups;
  std::optional<connector::WriterResult> sink;
  OperatorMetrics metrics;
  std::vector<fs::StagedFile> state_files;
};

/// The partitions first, first + tasks, … of an aggregation, whose results are one partition of the sink.
struct AggregateTask {
  int first = 0;
  int tasks = 1;
  int partitions = 1;
  int32_t sink_partition = 0;
};

/// Keeps what the scans of a static side hand on.
class CollectingSink final : public connector::Sink {
 public:
  std::string Description() const override { return "rows of a join"; }
  Result<bool> HasBatch(int64_t) override { return false; }
  Result<std::unique_ptr<connector::SinkWriter>> OpenWriter(int64_t, int32_t) override { return std::make_unique<Writer>(); }
  Status Commit(int64_t, std::vector<connector::WriterResult>) override { return Status::OK(); }

 private:
  class Writer final : public connector::SinkWriter {
   public:
    Status Write(const arrow::RecordBatch& batch) override {
      result_.rows.push_back(batch.Slice(0));
      return Status::OK();
    }
    Result<connector::WriterResult> Finish() override { return std::move(result_); }

   private:
    connector::WriterResult result_;
  };
};

class QueryPlanImpl final : public QueryPlan {
 public:
  QueryPlanImpl(PhysicalPlan physical, const Config& config, state::StateProvider& provider) : physical_(std::move(physical)), provider_(provider) {
    allow_multiple_ = config.GetBool(kAllowMultiple);
    codec_ = config.Get(conf::kCompressionCodec);
    row_checksum_ = config.GetBool(conf::kRowChecksum);
    min_deltas_for_snapshot_ = static_cast<int>(config.GetInt(conf::kMinDeltasForSnapshot));
    min_batches_to_retain_ = static_cast<int>(config.GetInt(conf::kMinBatchesToRetain));
    for (const StatefulAggregate& aggregate : physical_.aggregates) {
      StatefulOperatorInfo info;
      info.metadata.operator_id = aggregate.operator_id;
      info.metadata.operator_name = kAggregationName;
      info.metadata.stores.push_back({"default", 0, physical_.partitions});
      info.schema = aggregate.layout->schema();
      operators_.push_back(std::move(info));
    }
  }

  const std::vector<std::shared_ptr<const plan::TableDescription>>& sources() const override { return physical_.sources; }
  std::vector<std::shared_ptr<const plan::TableDescription>> static_sources() const override { return physical_.static_sources; }
  void UseStaticSources(std::vector<std::unique_ptr<connector::Source>> sources) override { static_sources_ = std::move(sources); }
  const std::vector<StatefulOperatorInfo>& stateful_operators() const override { return operators_; }
  bool has_watermark() const override { return !physical_.watermark_delays_ms.empty(); }
  const std::vector<int64_t>& watermark_delays_ms() const override { return physical_.watermark_delays_ms; }
  std::string Explain() const override { return physical_.explained; }

  bool WantsNoDataBatch(int64_t old_watermark_ms, int64_t new_watermark_ms) const override {
    return !physical_.aggregates.empty() && physical_.mode != plan::OutputMode::kComplete && new_watermark_ms > old_watermark_ms;
  }

  Status CheckWatermark(int64_t evict_watermark_ms) const override {
    if (!physical_.redefines_watermark || !allow_multiple_ || evict_watermark_ms == 0) return Status::OK();
    return UserError("_LEGACY_ERROR_TEMP_3076",
                     "Redefining watermark is disallowed. You can set the config '{}' to 'false' to restore the previous behavior. Note that multiple "
                     "stateful operators will be disallowed.",
                     kAllowMultiple);
  }

  Result<BatchOutput> RunBatch(const BatchInput& input, const std::vector<connector::Source*>& sources, connector::Sink& sink, ThreadPool& pool,
                               std::stop_token stop) override {
    opened_.clear();
    BatchOutput output;
    output.metrics.source_rows.resize(physical_.sources.size());
    output.metrics.event_time.resize(physical_.watermark_delays_ms.size());
    output.metrics.operators.resize(physical_.aggregates.size());
    Status status = RunStages(input, sources, sink, pool, stop, &output);
    if (status.ok() && stop.stop_requested()) status = Status::Cancelled("the query was stopped");
    if (status.ok()) return output;
    Abort();
    sink.Discard(output.sink_results);
    return status;
  }

  void CommitDone() override {
    for (state::StateStore* store : opened_) store->CommitDone();
    opened_.clear();
  }

  void Abort() override {
    for (state::StateStore* store : opened_) store->Abort();
    opened_.clear();
  }

 private:
  Status RunStages(const BatchInput& input, const std::vector<connector::Source*>& sources, connector::Sink& sink, ThreadPool& pool,
                   std::stop_token stop, BatchOutput* output) {
    ARROW_RETURN_NOT_OK(LoadStaticSides(input, pool, stop));
    // What each aggregation received, by partition; filled in from the sources towards the sink.
    std::vector<std::vector<std::vector<PartialChunk>>> exchanges(physical_.aggregates.size());
    for (auto& exchange : exchanges) exchange.resize(physical_.partitions);
    int32_t sink_partitions = 0;  // numbers of the sink's partitions go on from one side of a union to the next
    for (const Leaf& leaf : physical_.leaves) {
      const auto& partitions = input.partitions[leaf.source];
      std::vector<TaskResult> results(partitions.size());
      const Status status = pool.ParallelFor(static_cast<int>(partitions.size()), stop, [&](int i) {
        return RunScan(leaf, input, *sources[leaf.source], *partitions[i], sink_partitions + i, sink, stop, &results[i]);
      });
      if (leaf.pipeline->spec().to_sink) sink_partitions += static_cast<int32_t>(partitions.size());
      Gather(leaf.pipeline->spec(), &results, &exchanges, output);
      for (const TaskResult& result : results) output->metrics.source_rows[leaf.source] += result.source_rows;
      ARROW_RETURN_NOT_OK(status);
    }
    for (int number = static_cast<int>(physical_.aggregates.size()) - 1; number >= 0; --number) {
      const StatefulAggregate& aggregate = physical_.aggregates[number];
      const int partitions = aggregate.single_partition ? 1 : physical_.partitions;
      // A task owns several partitions and writes their results as one.
      const int tasks = std::min(partitions, pool.threads());
      std::vector<TaskResult> results(tasks);
      const Status status = pool.ParallelFor(tasks, stop, [&](int task) {
        return RunAggregate(aggregate, input, exchanges[number], {task, tasks, partitions, sink_partitions + task}, sink, stop, &results[task]);
      });
      if (aggregate.after->spec().to_sink) sink_partitions += tasks;
      Gather(aggregate.after->spec(), &results, &exchanges, output);
      OperatorMetrics& metrics = output->metrics.operators[number];
      metrics.name = kAggregationName;
      metrics.partitions = physical_.partitions;
      for (TaskResult& result : results) {
        Add(result.metrics, &metrics);
        std::move(result.state_files.begin(), result.state_files.end(), std::back_inserter(output->state_files));
      }
      ARROW_RETURN_NOT_OK(status);
      exchanges[number].clear();
    }
    return Status::OK();
  }

  /// The last first: a table's own rows may come through joins with later ones.
  Status LoadStaticSides(const BatchInput& input, ThreadPool& pool, std::stop_token stop) {
    for (auto side = physical_.static_sides.rbegin(); side != physical_.static_sides.rend(); ++side) {
      if (side->table->is_loaded()) continue;
      CollectingSink rows;
      std::vector<std::shared_ptr<arrow::RecordBatch>> batches;
      for (const Leaf& leaf : side->leaves) {
        connector::Source& source = *static_sources_.at(leaf.source);
        ARROW_ASSIGN_OR_RAISE(const auto end, source.LatestOffset(std::nullopt, /*ignore_limits=*/true));
        if (!end) continue;
        ARROW_ASSIGN_OR_RAISE(const auto partitions, source.PlanPartitions(std::nullopt, *end));
        std::vector<TaskResult> results(partitions.size());
        ARROW_RETURN_NOT_OK(pool.ParallelFor(static_cast<int>(partitions.size()), stop, [&](int i) {
          return RunScan(leaf, input, source, *partitions[i], i, rows, stop, &results[i]);
        }));
        for (TaskResult& result : results) {
          if (result.sink) std::move(result.sink->rows.begin(), result.sink->rows.end(), std::back_inserter(batches));
        }
      }
      ARROW_RETURN_NOT_OK(side->table->Load(batches));
    }
    return Status::OK();
  }

  Status RunScan(const Leaf& leaf, const BatchInput& input, connector::Source& source, const connector::InputPartition& partition, int32_t number,
                 connector::Sink& sink, std::stop_token stop, TaskResult* result) {
    ARROW_ASSIGN_OR_RAISE(auto pipeline, leaf.pipeline->Take(input.batch_timestamp_ms));
    if (leaf.pipeline->spec().to_sink) pipeline->OpenSink(&sink, input.batch_id, number);
    std::unique_ptr<expr::Evaluator> filter;
    if (leaf.scan_filter != nullptr) {
      ARROW_ASSIGN_OR_RAISE(filter, expr::Evaluator::Make(expr::ReplaceCurrentTime(leaf.scan_filter, input.batch_timestamp_ms), leaf.output));
    }
    ARROW_ASSIGN_OR_RAISE(auto reader, source.OpenReader(partition, leaf.columns, stop));
    for (;;) {
      if (stop.stop_requested()) return Status::Cancelled("the query was stopped");
      ARROW_ASSIGN_OR_RAISE(std::shared_ptr<arrow::RecordBatch> batch, reader->Next());
      if (batch == nullptr) break;
      if (filter != nullptr) {
        ARROW_ASSIGN_OR_RAISE(const auto keep, filter->Evaluate(*batch));
        ARROW_ASSIGN_OR_RAISE(batch, expr::FilterBatch(batch, *keep));
      }
      result->source_rows += batch->num_rows();
      if (batch->num_rows() > 0) ARROW_RETURN_NOT_OK(pipeline->Push(batch));
    }
    return Close(*leaf.pipeline, std::move(pipeline), result);
  }

  Status RunAggregate(const StatefulAggregate& aggregate, const BatchInput& input, std::vector<std::vector<PartialChunk>>& exchange,
                      const AggregateTask& task, connector::Sink& sink, std::stop_token stop, TaskResult* result) {
    ARROW_ASSIGN_OR_RAISE(auto pipeline, aggregate.after->Take(input.batch_timestamp_ms));
    if (aggregate.after->spec().to_sink) pipeline->OpenSink(&sink, input.batch_id, task.sink_partition);
    ARROW_ASSIGN_OR_RAISE(auto merger, FinalAggregate::Make(*aggregate.layout, physical_.mode, ArrowSchemaOf(aggregate.output)));
    const EmitRows emit = [&](const std::shared_ptr<arrow::RecordBatch>& batch) { return pipeline->Push(batch); };
    for (int partition = task.first; partition < task.partitions; partition += task.tasks) {
      if (stop.stop_requested()) return Status::Cancelled("the query was stopped");
      const Status status = RunPartition(aggregate, input, exchange[partition], partition, *merger, emit, result);
      if (!status.ok()) return WithContext(status, fmt::format("operator {}, partition {}", aggregate.operator_id, partition));
    }
    return Close(*aggregate.after, std::move(pipeline), result);
  }

  Status RunPartition(const StatefulAggregate& aggregate, const BatchInput& input, std::vector<PartialChunk>& arrived, int partition,
                      FinalAggregate& merger, const EmitRows& emit, TaskResult* result) {
    ARROW_ASSIGN_OR_RAISE(state::StateStore * store, OpenStore(aggregate, partition, input.state_version));
    std::vector<PartialChunk*> chunks;
    for (PartialChunk& chunk : arrived) chunks.push_back(&chunk);
    // With a single stateful operator, as before Spark 3.4, one watermark serves both ends.
    const int64_t late_watermark_ms = allow_multiple_ ? input.late_watermark_ms : input.evict_watermark_ms;
    ARROW_RETURN_NOT_OK(merger.RunPartition(chunks, *store, late_watermark_ms, input.evict_watermark_ms, &result->metrics, emit));
    arrived.clear();
    const auto start = std::chrono::steady_clock::now();
    ARROW_ASSIGN_OR_RAISE(auto files, store->StageCommit());
    std::move(files.begin(), files.end(), std::back_inserter(result->state_files));
    const state::StoreMetrics metrics = store->metrics();
    OperatorMetrics sums;
    sums.commit_ms = MillisSince(start);
    sums.rows_total = metrics.rows_total;
    sums.memory_bytes = metrics.memory_bytes;
    sums.cache_hits = metrics.cache_hits;
    sums.cache_misses = metrics.cache_misses;
    sums.stores = 1;
    Add(sums, &result->metrics);
    return Status::OK();
  }

  Result<state::StateStore*> OpenStore(const StatefulAggregate& aggregate, int partition, int64_t version) {
    state::StoreOptions options;
    options.key_schema = aggregate.layout->keys;
    options.value_schema = aggregate.layout->state_value;
    if (aggregate.layout->event_time && physical_.mode != plan::OutputMode::kComplete) options.due_us = *aggregate.layout->event_time;
    if (!aggregate.single_partition) {
      options.belongs = [&keys = aggregate.layout->keys, partition, partitions = physical_.partitions](std::string_view key) {
        return row::PartitionOf(row::HashRow(keys, key), partitions) == partition;
      };
    }
    options.codec = codec_;
    options.row_checksum = row_checksum_;
    options.min_deltas_for_snapshot = min_deltas_for_snapshot_;
    options.min_batches_to_retain = min_batches_to_retain_;
    ARROW_ASSIGN_OR_RAISE(state::StateStore * store, provider_.Open({aggregate.operator_id, partition, "default"}, options, version));
    const std::lock_guard lock(opened_mutex_);
    opened_.push_back(store);
    return store;
  }

  Status Close(PipelinePool& pool, std::unique_ptr<Pipeline> pipeline, TaskResult* result) {
    if (pool.spec().to_sink) {
      ARROW_ASSIGN_OR_RAISE(result->sink, pipeline->FinishSink());
    } else {
      ARROW_ASSIGN_OR_RAISE(result->groups, pipeline->FinishGroups());
    }
    result->event_time = pipeline->TakeEventTime();
    result->output_rows = pipeline->TakeOutputRows();
    pool.Return(std::move(pipeline));
    return Status::OK();
  }

  /// Move what tasks left into the batch's output and the exchange that their pipeline ends in. Also after a failure: what was staged must be known to be dropped.
  static void Gather(const PipelineSpec& spec, std::vector<TaskResult>* results, std::vector<std::vector<std::vector<PartialChunk>>>* exchanges,
                     BatchOutput* output) {
    for (TaskResult& result : *results) {
      if (result.sink) output->sink_results.push_back(std::move(*result.sink));
      output->metrics.output_rows += result.output_rows;
      for (size_t i = 0; i < result.event_time.size(); ++i) MergeEventTime(result.event_time[i], &output->metrics.event_time[i]);
      for (size_t partition = 0; partition < result.groups.size(); ++partition) {
        auto& target = (*exchanges)[spec.target.stateful_operator][partition];
        std::move(result.groups[partition].begin(), result.groups[partition].end(), std::back_inserter(target));
      }
    }
  }

  PhysicalPlan physical_;
  state::StateProvider& provider_;
  std::vector<std::unique_ptr<connector::Source>> static_sources_;
  std::vector<StatefulOperatorInfo> operators_;
  bool allow_multiple_ = true;
  std::string codec_;
  bool row_checksum_ = false;
  int min_deltas_for_snapshot_ = 10;
  int min_batches_to_retain_ = 100;
  std::mutex opened_mutex_;
  std::vector<state::StateStore*> opened_;  // guarded by opened_mutex_ while tasks run
};

}  // namespace

Result<std::unique_ptr<QueryPlan>> MakeQueryPlan(const plan::PlanPtr& optimized, plan::OutputMode mode, const Config& config,
                                                 state::StateProvider& provider) {
  ARROW_ASSIGN_OR_RAISE(PhysicalPlan physical, MakePhysicalPlan(optimized, mode, config));
  return std::make_unique<QueryPlanImpl>(std::move(physical), config, provider);
}

}  // namespace tidemill::exec
