#pragma once

// Rows found by key: an open-addressing table of (hash, row) over a RowArena. What a store holds, and what reading one builds up.

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/status.h"
#include "state/row_arena.h"
#include "state/store_files.h"

namespace tidemill::state {

/// The table's hash of a key: half of its XXH3.
uint32_t TableHash(std::string_view key);
inline uint32_t TableHash(uint64_t xxh3) { return static_cast<uint32_t>(xxh3 >> 32); }

class RowSet final : public RowReceiver {
 public:
  RowSet();

  int64_t size() const { return size_; }
  RowArena& arena() { return arena_; }
  RowHeader* row(RowRef ref) const { return arena_.row(ref); }
  int64_t memory_bytes() const { return static_cast<int64_t>(arena_.used_bytes() + table_.size() * sizeof(Slot)); }

  /// The row of `key`, or 0.
  RowRef Find(std::string_view key, uint32_t hash) const {
    for (uint64_t at = hash & mask_; table_[at].ref != 0; at = (at + 1) & mask_) {
      if (table_[at].hash != hash) continue;
      RowHeader* header = arena_.row(table_[at].ref);
      if (header->key() == key) return table_[at].ref;
    }
    return 0;
  }
  /// Bring the table's line for `hash` into the cache; then the row that is probably meant.
  void PrefetchSlot(uint32_t hash) const { __builtin_prefetch(&table_[hash & mask_]); }
  void PrefetchRow(uint32_t hash) const {
    const Slot& slot = table_[hash & mask_];
    if (slot.hash != hash || slot.ref == 0) return;
    const auto* bytes = reinterpret_cast<const uint8_t*>(arena_.row(slot.ref));
    __builtin_prefetch(bytes);
    __builtin_prefetch(bytes + 64);
  }

  /// Add a row whose key is not there yet.
  Result<RowRef> Insert(std::string_view key, uint32_t hash, std::string_view value);
  /// Take a row out of the table; its bytes stay. Attach() undoes it, FreeRow() ends it.
  void Detach(RowRef ref);
  void Attach(RowRef ref);
  void FreeRow(RowRef ref) { arena_.Free(ref); }
  /// Give a row another value; returns where the row is now (it moves when it outgrows its capacity; the old place is freed).
  Result<RowRef> SetValue(RowRef ref, std::string_view value);
  /// Copy a row to a new place and free the old one; the table follows.
  Result<RowRef> Move(RowRef ref, uint32_t value_capacity);

  /// Every row in the table, in no order.
  Status Visit(const std::function<Status(std::string_view key, std::string_view value)>& visit);

  void Clear() override;
  Status Put(std::string_view key, std::string_view value) override;
  Status Delete(std::string_view key) override;

 private:
  struct Slot {
    uint32_t hash;
    RowRef ref;  // 0: empty
  };

  void Place(uint32_t hash, RowRef ref);
  uint64_t SlotOf(RowRef ref) const;
  void Grow();

  RowArena arena_;
  std::vector<Slot> table_;
  uint64_t mask_ = 0;
  int64_t size_ = 0;
};

}  // namespace tidemill::state
