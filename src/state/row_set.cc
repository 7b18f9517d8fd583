#include "state/row_set.h"

#include <xxhash.h>

#include <cstring>
#include <limits>

namespace tidemill::state {
namespace {

constexpr size_t kFirstSlots = 64;
// Linear probing stays short below five eighths.
constexpr int64_t kLoadNumerator = 5;
constexpr int64_t kLoadDenominator = 8;

uint32_t RoundUp8(size_t bytes) { return static_cast<uint32_t>((bytes + 7) & ~size_t{7}); }

/// memcpy that takes a null source when there is nothing to copy: the key of a store without key columns.
void Copy(uint8_t* to, std::string_view from) {
  if (!from.empty()) std::memcpy(to, from.data(), from.size());
}

Status CheckLength(std::string_view key, std::string_view value) {
  // Lengths are 32 bits wide in files and headers; half of that leaves room for slack.
  constexpr size_t kLimit = std::numeric_limits<int32_t>::max() / 2;
  if (key.size() <= kLimit && value.size() <= kLimit) return Status::OK();
  return ExternalError("TIDEMILL_STATE_ROW_TOO_LARGE", "A state row has a key of {} and a value of {} bytes; the limit is 1 GiB each.",
                       key.size(), value.size());
}

}  // namespace

uint32_t TableHash(std::string_view key) { return TableHash(XXH3_64bits(key.data(), key.size())); }

RowSet::RowSet() : table_(kFirstSlots, Slot{0, 0}), mask_(kFirstSlots - 1) {}

void RowSet::Place(uint32_t hash, RowRef ref) {
  uint64_t at = hash & mask_;
  while (table_[at].ref != 0) at = (at + 1) & mask_;
  table_[at] = {hash, ref};
}

void RowSet::Grow() {
  std::vector<Slot> old(table_.size() * 2, Slot{0, 0});
  old.swap(table_);
  mask_ = table_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.ref != 0) Place(slot.hash, slot.ref);
  }
}

void RowSet::Attach(RowRef ref) {
  if ((size_ + 1) * kLoadDenominator > static_cast<int64_t>(table_.size()) * kLoadNumerator) Grow();
  Place(arena_.row(ref)->hash, ref);
  ++size_;
}

uint64_t RowSet::SlotOf(RowRef ref) const {
  uint64_t at = arena_.row(ref)->hash & mask_;
  while (table_[at].ref != ref) {
    TIDEMILL_CHECK(table_[at].ref != 0);
    at = (at + 1) & mask_;
  }
  return at;
}

void RowSet::Detach(RowRef ref) {
  uint64_t hole = SlotOf(ref);
  // Close the gap instead of leaving a mark: entries that could not sit at their own place move up, so a probe still ends at the first
  // empty slot.
  for (uint64_t at = (hole + 1) & mask_; table_[at].ref != 0; at = (at + 1) & mask_) {
    const uint64_t home = table_[at].hash & mask_;
    if (((at - home) & mask_) < ((at - hole) & mask_)) continue;
    table_[hole] = table_[at];
    hole = at;
  }
  table_[hole] = {0, 0};
  --size_;
}

Result<RowRef> RowSet::Insert(std::string_view key, uint32_t hash, std::string_view value) {
  ARROW_RETURN_NOT_OK(CheckLength(key, value));
  ARROW_ASSIGN_OR_RAISE(const RowRef ref,
                        arena_.Allocate(static_cast<uint32_t>(key.size()), static_cast<uint32_t>(value.size()), RoundUp8(value.size())));
  RowHeader* header = arena_.row(ref);
  header->hash = hash;
  Copy(header->key_data(), key);
  Copy(header->value_data(), value);
  Attach(ref);
  return ref;
}

Result<RowRef> RowSet::Move(RowRef ref, uint32_t value_capacity) {
  RowHeader* from = arena_.row(ref);
  ARROW_ASSIGN_OR_RAISE(const RowRef moved, arena_.Allocate(from->key_bytes, from->value_bytes, value_capacity));
  RowHeader* to = arena_.row(moved);
  to->hash = from->hash;
  to->slot = from->slot;
  to->batch = from->batch;
  to->next = from->next;
  to->previous = from->previous;
  std::memcpy(to->key_data(), from->key_data(), from->key_bytes);
  std::memcpy(to->value_data(), from->value_data(), from->value_bytes);
  table_[SlotOf(ref)].ref = moved;
  arena_.Free(ref);
  return moved;
}

Result<RowRef> RowSet::SetValue(RowRef ref, std::string_view value) {
  RowHeader* header = arena_.row(ref);
  if (value.size() > header->value_capacity) {
    ARROW_RETURN_NOT_OK(CheckLength({}, value));
    // Half as much again, so that a value that keeps growing is copied a logarithmic number of times.
    ARROW_ASSIGN_OR_RAISE(ref, Move(ref, RoundUp8(value.size() + value.size() / 2)));
    header = arena_.row(ref);
  }
  Copy(header->value_data(), value);
  header->value_bytes = static_cast<uint32_t>(value.size());
  return ref;
}

Status RowSet::Visit(const std::function<Status(std::string_view, std::string_view)>& visit) {
  for (const Slot& slot : table_) {
    if (slot.ref == 0) continue;
    RowHeader* header = arena_.row(slot.ref);
    ARROW_RETURN_NOT_OK(visit(header->key(), header->value()));
  }
  return Status::OK();
}

void RowSet::Clear() {
  arena_.Clear();
  table_.assign(kFirstSlots, Slot{0, 0});
  mask_ = kFirstSlots - 1;
  size_ = 0;
}

Status RowSet::Put(std::string_view key, std::string_view value) {
  const uint32_t hash = TableHash(key);
  if (const RowRef ref = Find(key, hash)) return SetValue(ref, value).status();
  return Insert(key, hash, value).status();
}

Status RowSet::Delete(std::string_view key) {
  if (const RowRef ref = Find(key, TableHash(key))) {
    Detach(ref);
    FreeRow(ref);
  }
  return Status::OK();
}

}  // namespace tidemill::state
