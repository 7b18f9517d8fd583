#include "exec/partial_aggregate.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>

#include "row/murmur3.h"

namespace tidemill::exec {

namespace {
/// Groups are handed over before they take more than this: row offsets are 32 bits, and a task's table should stay within its share of memory.
constexpr int64_t kFlushKeyBytes = int64_t{256} << 20;

/// What a partition is going to receive, counted first so that its memory is asked for once.
struct Share {
  int64_t rows = 0;
  size_t key_bytes = 0;
  size_t buffer_bytes = 0;
  PartialChunk* chunk = nullptr;
};

void Reserve(size_t bytes, int64_t rows, row::RowBatch* batch) {
  batch->bytes.reserve(bytes);
  batch->offsets.reserve(rows + 1);
  batch->offsets.push_back(0);
}

void AppendRow(std::string_view row, row::RowBatch* batch) {
  batch->bytes.insert(batch->bytes.end(), row.begin(), row.end());
  batch->offsets.push_back(static_cast<uint32_t>(batch->bytes.size()));
}
}  // namespace

Result<std::unique_ptr<PartialAggregate>> PartialAggregate::Make(const AggregateLayout& layout, std::vector<int> key_columns,
                                                                 std::vector<int> arguments, int partitions) {
  auto partial = std::unique_ptr<PartialAggregate>(new PartialAggregate(layout, std::move(key_columns), std::move(arguments), partitions));
  ARROW_ASSIGN_OR_RAISE(partial->key_encoder_, row::RowEncoder::Make(layout.keys, /*normalize_floats=*/true));
  ARROW_ASSIGN_OR_RAISE(partial->buffer_encoder_, row::RowEncoder::Make(layout.buffers, /*normalize_floats=*/false));
  for (const expr::AggregateFunction& function : layout.functions) {
    ARROW_ASSIGN_OR_RAISE(auto accumulator, Accumulator::Make(function));
    partial->accumulators_.push_back(std::move(accumulator));
  }
  partial->flushed_.resize(partitions);
  return partial;
}

Status PartialAggregate::Push(const arrow::RecordBatch& batch) {
  const int64_t rows = batch.num_rows();
  if (rows == 0) return Status::OK();
  if (key_columns_.empty()) {
    if (groups_.size() == 0) {
      row::RowBatch empty_key{{}, {0, 0}};
      std::vector<uint64_t> hash;
      HashRows(empty_key, &hash);
      uint32_t id;
      groups_.FindOrInsert(empty_key, hash, {&id, 1});
    }
    ids_.assign(rows, 0);
  } else {
    std::vector<ArrayPtr> columns;
    for (const int column : key_columns_) columns.push_back(batch.column(column));
    ARROW_RETURN_NOT_OK(key_encoder_->Encode(columns, rows, &keys_));
    HashRows(keys_, &hashes_);
    ids_.resize(rows);
    groups_.FindOrInsert(keys_, hashes_, ids_);
  }
  for (size_t i = 0; i < accumulators_.size(); ++i) {
    accumulators_[i]->Resize(groups_.size());
    const ArrayPtr argument = arguments_[i] < 0 ? nullptr : batch.column(arguments_[i]);
    ARROW_RETURN_NOT_OK(accumulators_[i]->Update(argument.get(), ids_));
  }
  if (groups_.key_bytes() > kFlushKeyBytes) return Flush();
  return Status::OK();
}

Status PartialAggregate::Flush() {
  const int64_t groups = groups_.size();
  if (groups == 0) return Status::OK();
  std::vector<ArrayPtr> columns;
  for (const auto& accumulator : accumulators_) {
    ARROW_ASSIGN_OR_RAISE(auto buffers, accumulator->Buffers());
    columns.insert(columns.end(), buffers.begin(), buffers.end());
  }
  row::RowBatch buffers;
  ARROW_RETURN_NOT_OK(buffer_encoder_->Encode(columns, groups, &buffers));
  std::vector<int32_t> partition_of(groups, 0);  // an aggregation without keys lives in partition 0
  std::vector<Share> shares(partitions_);
  for (int64_t group = 0; group < groups; ++group) {
    if (!key_columns_.empty()) {
      partition_of[group] = row::PartitionOf(row::HashRow(layout_.keys, groups_.key(group)), partitions_);
    }
    Share& share = shares[partition_of[group]];
    ++share.rows;
    share.key_bytes += groups_.key(group).size();
    share.buffer_bytes += buffers.row(group).size();
  }
  for (int partition = 0; partition < partitions_; ++partition) {
    Share& share = shares[partition];
    if (share.rows == 0) continue;
    share.chunk = &flushed_[partition].emplace_back();
    Reserve(share.key_bytes, share.rows, &share.chunk->keys);
    Reserve(share.buffer_bytes, share.rows, &share.chunk->buffers);
    share.chunk->hashes.reserve(share.rows);
  }
  for (int64_t group = 0; group < groups; ++group) {
    PartialChunk& chunk = *shares[partition_of[group]].chunk;
    AppendRow(groups_.key(group), &chunk.keys);
    AppendRow(buffers.row(group), &chunk.buffers);
    chunk.hashes.push_back(groups_.hash(group));
  }
  Clear();
  return Status::OK();
}

void PartialAggregate::Clear() {
  groups_.Clear();
  for (auto& accumulator : accumulators_) accumulator->Clear();
}

Result<PartialGroups> PartialAggregate::Finish() {
  ARROW_RETURN_NOT_OK(Flush());
  PartialGroups result(partitions_);
  result.swap(flushed_);
  return result;
}

}  // namespace tidemill::exec
