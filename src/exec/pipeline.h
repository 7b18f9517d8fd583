#pragma once

// A pipeline: row operators in a row, owned by one task, that end in an exchange or in the sink. Batches are pushed through it.
//
// A PipelineSpec is immutable and shared; a Pipeline is compiled from it (expressions bound to columns) and reused from batch to batch.

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "exec/partial_aggregate.h"
#include "exec/query_plan.h"
#include "expr/expression.h"

namespace tidemill::exec {

enum class RowOperatorKind {
  kFilter,     // condition
  kProject,    // projections[0]
  kExpand,     // each of projections, one after another
  kWatermark,  // watermark: number of the watermark operator; column
  kHashJoin,   // static_table, join, stream_is_left, keys (of the stream), condition (what is not an equality of keys; may be null)
};

/// How a stream is joined with a static table; an outer join keeps every row of the stream.
enum class JoinKind { kInner, kOuter, kSemi, kAnti };

class StaticTable;

struct RowOperatorSpec {
  RowOperatorKind kind = RowOperatorKind::kFilter;
  std::vector<expr::ExprPtr> input;   ///< attributes of the batches that come in
  std::vector<expr::ExprPtr> output;  ///< attributes of those that go out
  expr::ExprPtr condition;
  std::vector<std::vector<expr::ExprPtr>> projections;
  int watermark = -1;
  int column = -1;
  const StaticTable* static_table = nullptr;
  JoinKind join = JoinKind::kInner;
  bool stream_is_left = true;
  std::vector<expr::ExprPtr> keys;
};

/// Where a pipeline ends.
struct AggregateTarget {
  int stateful_operator = -1;  ///< index in QueryPlan::stateful_operators()
  std::vector<int> key_columns;
  std::vector<int> arguments;
};

struct PipelineSpec {
  std::vector<RowOperatorSpec> operators;  ///< in the order rows flow
  std::vector<expr::ExprPtr> output;       ///< of the last operator
  bool to_sink = true;
  int static_table = -1;                   ///< >= 0: the rows are those of PhysicalPlan::static_tables
  AggregateTarget target;                  ///< !to_sink
};

class RowOperator;

/// One task's instance. Not thread-safe.
class Pipeline {
 public:
  /// `layout` and `partitions` belong to the target of an exchange pipeline, else nullptr and 0.
  static Result<std::unique_ptr<Pipeline>> Make(const PipelineSpec& spec, const AggregateLayout* layout, int partitions, int watermarks,
                                                int64_t batch_timestamp_ms);
  ~Pipeline();

  /// What the pipeline writes to in this batch; only for a pipeline that ends in the sink. The writer is opened with the first row.
  void OpenSink(connector::Sink* sink, int64_t batch_id, int32_t partition);
  Status Push(const std::shared_ptr<arrow::RecordBatch>& batch);
  Result<PartialGroups> FinishGroups() { return partial_->Finish(); }
  /// nullopt when no row came.
  Result<std::optional<connector::WriterResult>> FinishSink();
  /// Statistics by watermark operator since the last call.
  std::vector<EventTimeStats> TakeEventTime();
  int64_t TakeOutputRows() { return std::exchange(output_rows_, 0); }
  /// Compiled for one batch only, because some expression holds that batch's time.
  bool single_use() const { return single_use_; }

 private:
  Pipeline() = default;
  Status Deliver(const std::shared_ptr<arrow::RecordBatch>& batch);
  Status PushFrom(size_t index, const std::shared_ptr<arrow::RecordBatch>& batch);

  std::vector<std::unique_ptr<RowOperator>> operators_;
  std::vector<EventTimeStats> event_time_;
  std::unique_ptr<PartialAggregate> partial_;
  connector::Sink* sink_ = nullptr;
  int64_t batch_id_ = 0;
  int32_t partition_ = 0;
  std::unique_ptr<connector::SinkWriter> writer_;
  int64_t output_rows_ = 0;
  bool single_use_ = false;
};

/// Compiled pipelines of one spec between batches.
class PipelinePool {
 public:
  PipelinePool(PipelineSpec spec, const AggregateLayout* layout, int partitions, int watermarks)
      : spec_(std::move(spec)), layout_(layout), partitions_(partitions), watermarks_(watermarks) {}
  Result<std::unique_ptr<Pipeline>> Take(int64_t batch_timestamp_ms);
  /// Give back after success; a pipeline whose task failed is simply destroyed.
  void Return(std::unique_ptr<Pipeline> pipeline);
  const PipelineSpec& spec() const { return spec_; }

 private:
  const PipelineSpec spec_;
  const AggregateLayout* const layout_;
  const int partitions_;
  const int watermarks_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Pipeline>> idle_;  // guarded by mutex_
};

/// `to` with the statistics of `from` added.
void MergeEventTime(const EventTimeStats& from, EventTimeStats* to);

}  // namespace tidemill::exec
