#include "exec/group_table.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>

namespace tidemill::exec {

namespace {
constexpr uint64_t kInitialSlots = 1024;
constexpr uint64_t kTagMask = 0xffffffff00000000ULL;
constexpr int64_t kPrefetchDistance = 8;
}  // namespace

void HashRows(const row::RowBatch& rows, std::vector<uint64_t>* hashes) {
  const int64_t count = rows.size();
  hashes->resize(count);
  for (int64_t i = 0; i < count; ++i) {
    const std::string_view bytes = rows.row(i);
    (*hashes)[i] = XXH3_64bits(bytes.data(), bytes.size());
  }
}

GroupTable::GroupTable() : slots_(kInitialSlots, 0), mask_(kInitialSlots - 1) { keys_.offsets.push_back(0); }

void GroupTable::Clear() {
  keys_.bytes.clear();
  keys_.offsets.assign(1, 0);
  hashes_.clear();
  std::fill(slots_.begin(), slots_.end(), 0);
}

void GroupTable::Place(uint64_t hash, uint32_t group) {
  uint64_t position = hash & mask_;
  while (slots_[position] != 0) position = (position + 1) & mask_;
  slots_[position] = (hash & kTagMask) | (group + 1);
}

void GroupTable::Grow() {
  slots_.assign(slots_.size() * 2, 0);
  mask_ = slots_.size() - 1;
  for (size_t group = 0; group < hashes_.size(); ++group) Place(hashes_[group], static_cast<uint32_t>(group));
}

void GroupTable::FindOrInsert(const row::RowBatch& keys, std::span<const uint64_t> hashes, std::span<uint32_t> ids) {
  const int64_t count = keys.size();
  for (int64_t i = 0; i < count; ++i) {
    if (i + kPrefetchDistance < count) __builtin_prefetch(&slots_[hashes[i + kPrefetchDistance] & mask_]);
    const uint64_t hash = hashes[i];
    const std::string_view key = keys.row(i);
    uint64_t position = hash & mask_;
    for (;; position = (position + 1) & mask_) {
      const uint64_t slot = slots_[position];
      if (slot == 0) {
        const auto group = static_cast<uint32_t>(hashes_.size());
        hashes_.push_back(hash);
        keys_.bytes.insert(keys_.bytes.end(), key.begin(), key.end());
        keys_.offsets.push_back(static_cast<uint32_t>(keys_.bytes.size()));
        slots_[position] = (hash & kTagMask) | (group + 1);
        ids[i] = group;
        if (hashes_.size() * 2 > slots_.size()) Grow();
        break;
      }
      if ((slot & kTagMask) != (hash & kTagMask)) continue;
      const auto group = static_cast<uint32_t>(slot) - 1;
      const std::string_view candidate = keys_.row(group);
      if (candidate.size() == key.size() && std::memcmp(candidate.data(), key.data(), key.size()) == 0) {
        ids[i] = group;
        break;
      }
    }
  }
}

int64_t GroupTable::Find(std::string_view key, uint64_t hash) const {
  for (uint64_t position = hash & mask_; slots_[position] != 0; position = (position + 1) & mask_) {
    const uint64_t slot = slots_[position];
    if ((slot & kTagMask) != (hash & kTagMask)) continue;
    const int64_t group = static_cast<uint32_t>(slot) - 1;
    if (keys_.row(group) == key) return group;
  }
  return -1;
}

}  // namespace tidemill::exec
