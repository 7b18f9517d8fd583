#include "exec/final_aggregate.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <unordered_map>

#include "row/unsafe_row.h"

namespace tidemill::exec {

using plan::OutputMode;

namespace {

constexpr int64_t kEmitRows = 8192;

int64_t MillisSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start).count();
}

state::KeyBatch KeysOf(const PartialChunk& chunk) { return {chunk.keys.bytes.data(), chunk.keys.offsets, chunk.hashes}; }

}  // namespace

Result<std::unique_ptr<FinalAggregate>> FinalAggregate::Make(const AggregateLayout& layout, OutputMode mode, std::shared_ptr<arrow::Schema> output) {
  auto made = std::unique_ptr<FinalAggregate>(new FinalAggregate(layout, mode, std::move(output)));
  ARROW_ASSIGN_OR_RAISE(made->keys_, row::RowDecoder::Make(layout.keys, arrow::default_memory_pool()));
  ARROW_ASSIGN_OR_RAISE(made->values_, row::RowDecoder::Make(layout.state_value, arrow::default_memory_pool()));
  ARROW_ASSIGN_OR_RAISE(made->buffers_, row::RowDecoder::Make(layout.buffers, arrow::default_memory_pool()));
  ARROW_ASSIGN_OR_RAISE(made->value_encoder_, row::RowEncoder::Make(layout.state_value, /*normalize_floats=*/false));
  return made;
}

Result<int64_t> FinalAggregate::DropLate(int64_t watermark_us, PartialChunk* chunk) const {
  const EventTimeKey& time_of = *layout_.event_time;
  const int64_t rows = chunk->keys.size();
  std::vector<uint8_t> late(rows, 0);
  int64_t dropped = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const std::optional<int64_t> time = time_of(chunk->keys.row(i));
    late[i] = time.has_value() && *time <= watermark_us;
    dropped += late[i];
  }
  if (dropped == 0) return 0;
  PartialChunk kept;
  kept.keys.offsets.push_back(0);
  kept.buffers.offsets.push_back(0);
  const auto copy = [](std::string_view row, row::RowBatch* to) {
    to->bytes.insert(to->bytes.end(), row.begin(), row.end());
    to->offsets.push_back(static_cast<uint32_t>(to->bytes.size()));
  };
  for (int64_t i = 0; i < rows; ++i) {
    if (late[i]) continue;
    copy(chunk->keys.row(i), &kept.keys);
    copy(chunk->buffers.row(i), &kept.buffers);
    kept.hashes.push_back(chunk->hashes[i]);
  }
  *chunk = std::move(kept);
  return dropped;
}

Status FinalAggregate::MergeInPlace(const PartialChunk& chunk, state::StateStore& store) {
  const size_t rows = chunk.hashes.size();
  const size_t first = slots_.size();
  slots_.resize(first + rows);
  const std::span<state::RowSlot> slots(slots_.data() + first, rows);
  ARROW_RETURN_NOT_OK(store.Touch(KeysOf(chunk), layout_.initial_value, slots, {}));
  sources_.resize(rows);
  targets_.resize(rows);
  for (size_t i = 0; i < rows; ++i) {
    sources_[i] = chunk.buffers.bytes.data() + chunk.buffers.offsets[i];
    targets_[i] = store.Value(slots[i]);
  }
  return layout_.merge->Merge(sources_, targets_);
}

void FinalAggregate::UniqueSlots() {
  std::sort(slots_.begin(), slots_.end());
  slots_.erase(std::unique(slots_.begin(), slots_.end()), slots_.end());
}

Status FinalAggregate::MergeDecoded(std::span<PartialChunk* const> chunks, state::StateStore& store) {
  std::vector<std::vector<state::RowSlot>> slots_of_chunk;
  for (PartialChunk* chunk : chunks) {
    auto& slots = slots_of_chunk.emplace_back(chunk->hashes.size());
    ARROW_RETURN_NOT_OK(store.Touch(KeysOf(*chunk), layout_.initial_value, slots, {}));
    slots_.insert(slots_.end(), slots.begin(), slots.end());
  }
  UniqueSlots();
  if (slots_.empty()) return Status::OK();

  // Number the touched rows, start from what state holds, merge every chunk, write the rows back.
  std::unordered_map<state::RowSlot, uint32_t> number_of;
  std::vector<uint32_t> numbers(slots_.size());
  for (size_t i = 0; i < slots_.size(); ++i) {
    number_of[slots_[i]] = numbers[i] = static_cast<uint32_t>(i);
    Collect(store.Key(slots_[i]), store.ValueView(slots_[i]));
  }
  ARROW_ASSIGN_OR_RAISE(const auto held, values_->DecodeValid(collected_values_));
  ARROW_ASSIGN_OR_RAISE(const auto keys, keys_->DecodeValid(collected_keys_));
  ClearCollected();
  std::vector<std::pair<std::vector<ArrayPtr>, std::vector<uint32_t>>> partials;
  for (size_t c = 0; c < chunks.size(); ++c) {
    auto& [columns, ids] = partials.emplace_back();
    std::vector<std::string_view> rows;
    for (int64_t i = 0; i < chunks[c]->buffers.size(); ++i) {
      rows.push_back(chunks[c]->buffers.row(i));
      ids.push_back(number_of[slots_of_chunk[c][i]]);
    }
    ARROW_ASSIGN_OR_RAISE(columns, buffers_->DecodeValid(rows));
  }
  std::vector<ArrayPtr> merged;
  if (layout_.state_format == 1) merged = keys;
  size_t column = 0;
  for (const expr::AggregateFunction& function : layout_.functions) {
    const size_t width = function.buffer.size();
    ARROW_ASSIGN_OR_RAISE(auto accumulator, Accumulator::Make(function));
    accumulator->Resize(static_cast<int64_t>(slots_.size()));
    ARROW_RETURN_NOT_OK(accumulator->Merge(layout_.BufferColumns(held).subspan(column, width), numbers));
    for (const auto& [columns, ids] : partials) {
      ARROW_RETURN_NOT_OK(accumulator->Merge(std::span(columns).subspan(column, width), ids));
    }
    ARROW_ASSIGN_OR_RAISE(auto buffers, accumulator->Buffers());
    merged.insert(merged.end(), buffers.begin(), buffers.end());
    column += width;
  }
  row::RowBatch rows;
  ARROW_RETURN_NOT_OK(value_encoder_->Encode(merged, static_cast<int64_t>(slots_.size()), &rows));
  for (size_t i = 0; i < slots_.size(); ++i) ARROW_RETURN_NOT_OK(store.Replace(slots_[i], rows.row(static_cast<int64_t>(i))));
  return Status::OK();
}

// State rows were checked when they were read from files, and stay where they are until the batch ends.
void FinalAggregate::Collect(std::string_view key, std::string_view value) {
  collected_keys_.push_back(key);
  collected_values_.push_back(value);
}

void FinalAggregate::ClearCollected() {
  collected_keys_.clear();
  collected_values_.clear();
}

Status FinalAggregate::EmitCollected(const EmitRows& emit) {
  if (collected_keys_.empty()) return Status::OK();
  const auto rows = static_cast<int64_t>(collected_keys_.size());
  ARROW_ASSIGN_OR_RAISE(std::vector<ArrayPtr> columns, keys_->DecodeValid(collected_keys_));
  ARROW_ASSIGN_OR_RAISE(const std::vector<ArrayPtr> values, values_->DecodeValid(collected_values_));
  ClearCollected();
  const std::span<const ArrayPtr> buffers = layout_.BufferColumns(values);
  size_t column = 0;
  for (const expr::AggregateFunction& function : layout_.functions) {
    ARROW_ASSIGN_OR_RAISE(ArrayPtr result, FinishAggregate(function, buffers.subspan(column, function.buffer.size())));
    columns.push_back(std::move(result));
    column += function.buffer.size();
  }
  return emit(arrow::RecordBatch::Make(output_, rows, std::move(columns)));
}

Status FinalAggregate::RunPartition(std::span<PartialChunk* const> chunks, state::StateStore& store, int64_t late_watermark_ms,
                                    int64_t evict_watermark_ms, OperatorMetrics* metrics, const EmitRows& emit) {
  const bool timed = layout_.event_time.has_value() && mode_ != OutputMode::kComplete;
  slots_.clear();
  auto start = std::chrono::steady_clock::now();

  if (timed) {
    for (PartialChunk* chunk : chunks) {
      ARROW_ASSIGN_OR_RAISE(const int64_t dropped, DropLate(late_watermark_ms * 1000, chunk));
      metrics->rows_dropped_by_watermark += dropped;
    }
  }
  if (layout_.merge) {
    for (PartialChunk* chunk : chunks) {
      ARROW_RETURN_NOT_OK(MergeInPlace(*chunk, store));
      *chunk = {};  // its memory serves the rows to come
    }
    if (chunks.size() > 1) UniqueSlots();  // the groups of one chunk are distinct already
  } else {
    ARROW_RETURN_NOT_OK(MergeDecoded(chunks, store));
  }
  if (layout_.keys.fields.empty() && slots_.empty()) {
    // Without keys there is one row at all times, also before any input.
    row::RowBatch key{{}, {0, 0}};
    std::vector<uint64_t> hash;
    HashRows(key, &hash);
    slots_.resize(1);
    ARROW_RETURN_NOT_OK(store.Touch({key.bytes.data(), key.offsets, hash}, layout_.initial_value, slots_, {}));
  }
  metrics->rows_updated += static_cast<int64_t>(slots_.size());

  const auto emit_when_full = [&]() { return static_cast<int64_t>(collected_keys_.size()) >= kEmitRows ? EmitCollected(emit) : Status::OK(); };
  if (mode_ == OutputMode::kUpdate) {
    for (const state::RowSlot slot : slots_) {
      Collect(store.Key(slot), store.ValueView(slot));
      ARROW_RETURN_NOT_OK(emit_when_full());
    }
    ARROW_RETURN_NOT_OK(EmitCollected(emit));
  }
  metrics->updates_ms += MillisSince(start);

  start = std::chrono::steady_clock::now();
  const auto collect = [&](std::string_view key, std::string_view value) {
    Collect(key, value);
    return emit_when_full();
  };
  if (mode_ == OutputMode::kComplete) {
    ARROW_RETURN_NOT_OK(store.Scan(collect));
  } else if (timed) {
    const bool emits = mode_ == OutputMode::kAppend;
    ARROW_ASSIGN_OR_RAISE(const int64_t removed, emits ? store.EvictDue(evict_watermark_ms * 1000, collect)
                                                       : store.EvictDue(evict_watermark_ms * 1000, nullptr));
    metrics->rows_removed += removed;
  }
  ARROW_RETURN_NOT_OK(EmitCollected(emit));
  metrics->removals_ms += MillisSince(start);
  return Status::OK();
}

}  // namespace tidemill::exec
