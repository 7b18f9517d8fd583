#include "state/due_index.h"

#include <algorithm>

namespace tidemill::state {
namespace {

constexpr int64_t kMicrosPerSecond = 1'000'000;

int64_t FloorSecond(int64_t micros) { return micros / kMicrosPerSecond - (micros % kMicrosPerSecond < 0); }

}  // namespace

std::optional<int64_t> DueIndex::SecondOf(RowRef ref) const {
  if (!due_us_) return std::nullopt;
  const std::optional<int64_t> due = due_us_(rows_.row(ref)->key());
  if (!due) return std::nullopt;
  return FloorSecond(*due);
}

void DueIndex::Link(RowRef ref) {
  const std::optional<int64_t> second = SecondOf(ref);
  if (!second) return;
  RowRef& head = heads_[*second];
  RowHeader* row = rows_.row(ref);
  row->previous = 0;
  row->next = head;
  if (head != 0) rows_.row(head)->previous = ref;
  head = ref;
}

void DueIndex::Unlink(RowRef ref) {
  RowHeader* row = rows_.row(ref);
  if (row->next != 0) rows_.row(row->next)->previous = row->previous;
  if (row->previous != 0) {
    rows_.row(row->previous)->next = row->next;
  } else if (const std::optional<int64_t> second = SecondOf(ref)) {
    if (row->next != 0) {
      heads_[*second] = row->next;
    } else {
      heads_.erase(*second);
    }
  }
  row->next = 0;
  row->previous = 0;
}

void DueIndex::Moved(RowRef from, RowRef to) {
  RowHeader* row = rows_.row(to);
  if (row->next != 0) rows_.row(row->next)->previous = to;
  if (row->previous != 0) {
    rows_.row(row->previous)->next = to;
  } else if (const std::optional<int64_t> second = SecondOf(to)) {
    const auto head = heads_.find(*second);
    if (head != heads_.end() && head->second == from) head->second = to;
  }
}

std::vector<RowRef> DueIndex::Due(int64_t watermark_us) const {
  std::vector<RowRef> due;
  const int64_t last = FloorSecond(watermark_us);
  for (auto it = heads_.begin(); it != heads_.end() && it->first <= last; ++it) {
    const auto begin = static_cast<std::ptrdiff_t>(due.size());
    for (RowRef ref = it->second; ref != 0; ref = rows_.row(ref)->next) {
      // Only in the watermark's own second are there rows on both sides of it.
      if (it->first < last || *due_us_(rows_.row(ref)->key()) <= watermark_us) due.push_back(ref);
    }
    std::reverse(due.begin() + begin, due.end());
  }
  return due;
}

}  // namespace tidemill::state
