#pragma once

// The distinct keys of a task's input, numbered 0, 1, 2 … in order of first appearance.
//
// Open addressing with linear probing over 8-byte slots (upper half of the hash, number of the group + 1), so a probe that misses costs one cache line. Keys are
// canonical UnsafeRow bytes: equal bytes are equal keys.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "row/unsafe_row.h"

namespace tidemill::exec {

/// XXH3 of each row; replaces the content of `hashes`.
void HashRows(const row::RowBatch& rows, std::vector<uint64_t>* hashes);

class GroupTable {
 public:
  GroupTable();
  /// Forget all groups; memory is kept.
  void Clear();
  /// Number each row's key; `ids` has keys.size() entries.
  void FindOrInsert(const row::RowBatch& keys, std::span<const uint64_t> hashes, std::span<uint32_t> ids);
  /// The group of a key, or −1.
  int64_t Find(std::string_view key, uint64_t hash) const;
  int64_t size() const { return static_cast<int64_t>(hashes_.size()); }
  std::string_view key(int64_t group) const { return keys_.row(group); }
  uint64_t hash(int64_t group) const { return hashes_[group]; }
  /// Bytes of all keys; a task flushes its groups before this reaches 4 GiB.
  int64_t key_bytes() const { return static_cast<int64_t>(keys_.bytes.size()); }

 private:
  void Grow();
  void Place(uint64_t hash, uint32_t group);

  row::RowBatch keys_;
  std::vector<uint64_t> hashes_;
  std::vector<uint64_t> slots_;  // 0: free
  uint64_t mask_ = 0;
};

}  // namespace tidemill::exec
