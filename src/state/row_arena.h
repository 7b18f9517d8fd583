#pragma once

// Memory of a store's rows: chunks of 2 MiB that never move, rows one after another inside.
//
//   row = [RowHeader][key, padded to 8][value, with slack up to its capacity]
//
// A freed row stays as dead bytes until its chunk is empty or rewritten; so a chunk can always be walked from its begin.

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tidemill::state {

/// Place of a row in units of 8 bytes over all chunks: half the size of a pointer. 0 is no row.
using RowRef = uint32_t;

struct RowHeader {
  uint32_t key_bytes;
  uint32_t value_bytes;
  uint32_t value_capacity;
  uint32_t hash;
  uint32_t slot;  // in the batch that is named below
  RowRef next;    // neighbours in the list of rows that fall due in the same second
  RowRef previous;
  uint32_t batch;  // the last one that touched the row: a number of the store's own; kDead

  static constexpr uint32_t kDead = ~uint32_t{0};

  uint8_t* key_data() { return reinterpret_cast<uint8_t*>(this + 1); }
  uint8_t* value_data() { return key_data() + ((key_bytes + 7) & ~7u); }
  std::string_view key() { return {reinterpret_cast<const char*>(key_data()), key_bytes}; }
  std::string_view value() { return {reinterpret_cast<const char*>(value_data()), value_bytes}; }
  uint64_t total_bytes() const { return sizeof(RowHeader) + ((uint64_t{key_bytes} + 7) & ~uint64_t{7}) + value_capacity; }
};
static_assert(sizeof(RowHeader) == 32, "rows are 8-byte aligned and half a cache line of overhead");

class RowArena {
 public:
  RowArena();
  RowArena(const RowArena&) = delete;
  RowArena& operator=(const RowArena&) = delete;

  RowHeader* row(RowRef ref) const {
    return reinterpret_cast<RowHeader*>(bases_[ref >> kUnitBits] + (static_cast<size_t>(ref & kUnitMask) << 3));
  }
  /// A row with its lengths set, links 0, content not initialised. Errors: the arena's 32 GiB are used up.
  Result<RowRef> Allocate(uint32_t key_bytes, uint32_t value_bytes, uint32_t value_capacity);
  /// Declare the bytes of a row dead. They stay readable until the next Recycle().
  void Free(RowRef ref);
  /// Take back chunks without a live row. Only between batches: nothing may point into them. As many as the batch began stay for the next one, because
  /// memory that the kernel hands out again is cleared first; the rest is freed.
  void Recycle();
  /// A chunk that is mostly dead, as long as such chunks are worth the work; -1: none. The chunk being filled is never one.
  int64_t MostlyDeadChunk() const;
  void Clear();

  int64_t chunks() const { return static_cast<int64_t>(chunks_.size()); }
  uint64_t used_bytes() const { return used_bytes_; }
  uint64_t dead_bytes() const { return used_bytes_ - live_bytes_; }

  /// Show every live row of a chunk. `visit(ref, header)` may free rows and allocate others; it stops at the first error.
  template <typename Visit>
  Status VisitChunk(int64_t chunk, Visit visit) {
    uint64_t end = chunks_[chunk].used;
    for (uint64_t at = chunks_[chunk].begin; at < end;) {
      const auto ref = static_cast<RowRef>((static_cast<uint64_t>(chunk) << kUnitBits) + (at >> 3));
      RowHeader* header = row(ref);
      at += header->total_bytes();
      if (header->batch != RowHeader::kDead) ARROW_RETURN_NOT_OK(visit(ref, header));
    }
    return Status::OK();
  }

 private:
  static constexpr int kChunkBits = 21;  // a huge page
  static constexpr int kUnitBits = kChunkBits - 3;
  static constexpr RowRef kUnitMask = (RowRef{1} << kUnitBits) - 1;
  static constexpr uint64_t kChunkBytes = uint64_t{1} << kChunkBits;
  static constexpr uint64_t kMaxChunks = uint64_t{1} << (32 - kUnitBits);

  struct FreeMemory {
    void operator()(uint8_t* memory) const;
  };
  struct Chunk {
    std::unique_ptr<uint8_t[], FreeMemory> memory;  // null: given back, or the tail of a larger one before it
    uint64_t begin = 0;
    uint64_t used = 0;
    uint64_t live = 0;
    uint32_t span = 1;  // places that it takes in `bases_`; 0 for such a tail
    bool idle = false;  // in free_chunks_
  };

  Status OpenChunk(uint64_t bytes);
  void FreeIdleMemory();
  static uint8_t* NewMemory(uint64_t bytes, bool huge_pages);

  std::vector<uint8_t*> bases_;
  std::vector<Chunk> chunks_;
  std::vector<uint32_t> free_chunks_;
  size_t opened_ = 0;  // chunks begun since the last Recycle(): what the next batch will probably ask for
  int64_t current_ = -1;
  uint64_t used_bytes_ = 0;
  uint64_t live_bytes_ = 0;
};

}  // namespace tidemill::state
