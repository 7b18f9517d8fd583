#pragma once

// The stateful half of a streaming aggregation: partial rows of a batch meet the state of their partition.
//
// Per partition and batch (Spark's StateStoreRestore, merge, StateStoreSave): late groups are dropped and counted; the others are merged into state version N; then
//   append   groups due at the eviction watermark leave state and are emitted
//   update   groups touched are emitted; groups due leave state silently
//   complete all groups are emitted; nothing is late and nothing leaves

#include <arrow/type_fwd.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "exec/aggregate_layout.h"
#include "exec/partial_aggregate.h"
#include "exec/query_plan.h"
#include "plan/analyzer.h"
#include "state/state_store.h"

namespace tidemill::exec {

/// Takes result rows: key columns, then one column an aggregate.
using EmitRows = std::function<Status(const std::shared_ptr<arrow::RecordBatch>&)>;

/// Works through partitions one after another; one object serves one thread.
class FinalAggregate {
 public:
  /// `output` is the schema of the emitted batches. `layout` outlives this.
  static Result<std::unique_ptr<FinalAggregate>> Make(const AggregateLayout& layout, plan::OutputMode mode, std::shared_ptr<arrow::Schema> output);

  /// Merge `chunks` (of all tasks, in task order) into `store`, which stands at version N, and emit what the mode wants. Does not commit.
  Status RunPartition(std::span<PartialChunk* const> chunks, state::StateStore& store, int64_t late_watermark_ms, int64_t evict_watermark_ms,
                      OperatorMetrics* metrics, const EmitRows& emit);

 private:
  FinalAggregate(const AggregateLayout& layout, plan::OutputMode mode, std::shared_ptr<arrow::Schema> output)
      : layout_(layout), mode_(mode), output_(std::move(output)) {}

  /// `chunk` without its late groups.
  Result<int64_t> DropLate(int64_t watermark_us, PartialChunk* chunk) const;
  Status MergeInPlace(const PartialChunk& chunk, state::StateStore& store);
  Status MergeDecoded(std::span<PartialChunk* const> chunks, state::StateStore& store);
  /// Slots touched in this partition, each once.
  void UniqueSlots();
  void Collect(std::string_view key, std::string_view value);
  void ClearCollected();
  Status EmitCollected(const EmitRows& emit);

  const AggregateLayout& layout_;
  const plan::OutputMode mode_;
  const std::shared_ptr<arrow::Schema> output_;
  std::unique_ptr<row::RowDecoder> keys_;
  std::unique_ptr<row::RowDecoder> values_;
  std::unique_ptr<row::RowDecoder> buffers_;       // partial rows
  std::unique_ptr<row::RowEncoder> value_encoder_;
  std::vector<std::string_view> collected_keys_;  // views into the store
  std::vector<std::string_view> collected_values_;
  std::vector<state::RowSlot> slots_;
  std::vector<const uint8_t*> sources_;
  std::vector<uint8_t*> targets_;
};

}  // namespace tidemill::exec
