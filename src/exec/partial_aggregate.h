#pragma once

// Map-side aggregation: the rows of one task become one buffer row a key, dealt out to state partitions as Spark would.

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "exec/accumulator.h"
#include "exec/aggregate_layout.h"
#include "exec/group_table.h"
#include "row/unsafe_row.h"

namespace tidemill::exec {

/// Groups of one task that belong to one state partition: row i is (keys[i], buffers[i]), keys distinct within the chunk.
struct PartialChunk {
  row::RowBatch keys;
  std::vector<uint64_t> hashes;
  row::RowBatch buffers;
};

/// What one task hands to the exchange: by partition, chunks in the order they were flushed.
using PartialGroups = std::vector<std::vector<PartialChunk>>;

class PartialAggregate {
 public:
  /// `key_columns` and `arguments` are columns of the input batches; an argument of -1 is none. `layout` outlives this.
  static Result<std::unique_ptr<PartialAggregate>> Make(const AggregateLayout& layout, std::vector<int> key_columns, std::vector<int> arguments,
                                                        int partitions);
  Status Push(const arrow::RecordBatch& batch);
  /// The groups seen since the last call; the object is empty afterwards.
  Result<PartialGroups> Finish();

 private:
  PartialAggregate(const AggregateLayout& layout, std::vector<int> key_columns, std::vector<int> arguments, int partitions)
      : layout_(layout), key_columns_(std::move(key_columns)), arguments_(std::move(arguments)), partitions_(partitions) {}
  Status Flush();
  void Clear();

  const AggregateLayout& layout_;
  const std::vector<int> key_columns_;
  const std::vector<int> arguments_;
  const int partitions_;
  std::unique_ptr<row::RowEncoder> key_encoder_;
  std::unique_ptr<row::RowEncoder> buffer_encoder_;
  std::vector<std::unique_ptr<Accumulator>> accumulators_;
  GroupTable groups_;
  row::RowBatch keys_;            // of the batch at hand
  std::vector<uint64_t> hashes_;  // of the batch at hand
  std::vector<uint32_t> ids_;     // of the batch at hand
  PartialGroups flushed_;
};

}  // namespace tidemill::exec
