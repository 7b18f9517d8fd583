#include "state/row_arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "base/check.h"

namespace tidemill::state {
namespace {

/// Rewriting pays when this much memory can come back …
constexpr uint64_t kDeadBytesWorthIt = uint64_t{4} << 20;
/// … from chunks at most half alive.
constexpr uint64_t kLiveShare = 2;
/// Empty chunks whose memory is kept in any case.
constexpr size_t kChunksKeptWarm = 2;

}  // namespace

RowArena::RowArena() = default;

void RowArena::FreeMemory::operator()(uint8_t* memory) const { std::free(memory); }

uint8_t* RowArena::NewMemory(uint64_t bytes, bool huge_pages) {
  void* memory = std::aligned_alloc(kChunkBytes, bytes);
  if (memory == nullptr) throw std::bad_alloc();
  // Rows are found in random order: with small pages every one of them would also miss the TLB. A refusal costs only that.
  if (huge_pages) madvise(memory, bytes, MADV_HUGEPAGE);
  return static_cast<uint8_t*>(memory);
}

Status RowArena::OpenChunk(uint64_t bytes) {
  const auto span = static_cast<uint32_t>((bytes + kChunkBytes - 1) >> kChunkBits);
  if (span == 1 && !free_chunks_.empty()) {
    current_ = free_chunks_.back();
    free_chunks_.pop_back();
  } else {
    if (chunks_.size() + span > kMaxChunks) {
      return ExternalError(
          "TIDEMILL_STATE_PARTITION_TOO_LARGE",
          "One partition of the state has reached 32 GiB in memory. Start the query with more spark.sql.shuffle.partitions.");
    }
    current_ = static_cast<int64_t>(chunks_.size());
    chunks_.resize(chunks_.size() + span);
    bases_.resize(chunks_.size(), nullptr);
  }
  ++opened_;
  Chunk& chunk = chunks_[current_];
  // The first chunk of a store may stay nearly empty, and a query has hundreds of stores: it gets pages only as it fills.
  if (chunk.memory == nullptr) chunk.memory.reset(NewMemory(span * kChunkBytes, current_ > 0));
  for (uint32_t i = 0; i < span; ++i) {
    bases_[current_ + i] = chunk.memory.get() + i * kChunkBytes;
    chunks_[current_ + i].span = 0;
    chunks_[current_ + i].idle = false;
  }
  chunk.span = span;
  // Reference 0 means "no row": the first chunk begins one unit later.
  chunk.begin = current_ == 0 ? 8 : 0;
  chunk.used = chunk.begin;
  chunk.live = 0;
  return Status::OK();
}

Result<RowRef> RowArena::Allocate(uint32_t key_bytes, uint32_t value_bytes, uint32_t value_capacity) {
  TIDEMILL_DCHECK(value_capacity % 8 == 0 && value_bytes <= value_capacity);
  RowHeader shape{key_bytes, value_bytes, value_capacity, 0, 0, 0, 0, 0};
  const uint64_t bytes = shape.total_bytes();
  if (current_ < 0 || chunks_[current_].used + bytes > chunks_[current_].span * kChunkBytes) {
    ARROW_RETURN_NOT_OK(OpenChunk(bytes + 8));
  }
  Chunk& chunk = chunks_[current_];
  const auto ref = static_cast<RowRef>((static_cast<uint64_t>(current_) << kUnitBits) + (chunk.used >> 3));
  *row(ref) = shape;
  chunk.used += bytes;
  chunk.live += bytes;
  used_bytes_ += bytes;
  live_bytes_ += bytes;
  return ref;
}

void RowArena::Free(RowRef ref) {
  RowHeader* header = row(ref);
  TIDEMILL_CHECK(header->batch != RowHeader::kDead);
  header->batch = RowHeader::kDead;
  int64_t chunk = ref >> kUnitBits;
  while (chunks_[chunk].span == 0) --chunk;
  chunks_[chunk].live -= header->total_bytes();
  live_bytes_ -= header->total_bytes();
}

void RowArena::Recycle() {
  for (size_t i = 0; i < chunks_.size(); ++i) {
    Chunk& chunk = chunks_[i];
    if (chunk.span == 0 || chunk.idle || chunk.live > 0 || static_cast<int64_t>(i) == current_) continue;
    used_bytes_ -= chunk.used - chunk.begin;
    chunk.used = chunk.begin;
    const uint32_t span = chunk.span;
    if (span > 1) chunk.memory.reset();
    for (uint32_t part = 0; part < span; ++part) {
      chunks_[i + part].span = 1;
      chunks_[i + part].idle = true;
      free_chunks_.push_back(static_cast<uint32_t>(i + part));
    }
  }
  FreeIdleMemory();
}

void RowArena::FreeIdleMemory() {
  size_t kept = 0;
  const size_t limit = std::max(kChunksKeptWarm, std::exchange(opened_, 0));
  // Those with memory come last, where OpenChunk() takes them first.
  std::stable_partition(free_chunks_.begin(), free_chunks_.end(), [&](uint32_t i) { return chunks_[i].memory == nullptr; });
  for (auto i = free_chunks_.rbegin(); i != free_chunks_.rend() && chunks_[*i].memory != nullptr; ++i) {
    if (++kept > limit) chunks_[*i].memory.reset();
  }
}

int64_t RowArena::MostlyDeadChunk() const {
  if (dead_bytes() < kDeadBytesWorthIt) return -1;
  for (size_t i = 0; i < chunks_.size(); ++i) {
    const Chunk& chunk = chunks_[i];
    if (chunk.span != 1 || chunk.idle || static_cast<int64_t>(i) == current_ || chunk.live == 0) continue;
    if (chunk.live * kLiveShare <= chunk.used - chunk.begin) return static_cast<int64_t>(i);
  }
  return -1;
}

void RowArena::Clear() {
  bases_.clear();
  chunks_.clear();
  free_chunks_.clear();
  current_ = -1;
  used_bytes_ = 0;
  live_bytes_ = 0;
}

}  // namespace tidemill::state
