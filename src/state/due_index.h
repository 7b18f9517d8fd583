#pragma once

// Rows by the second in which they fall due: lists threaded through the row headers, so that expiry costs what expires, not what is kept.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "state/row_set.h"

namespace tidemill::state {

class DueIndex {
 public:
  using DueOf = std::function<std::optional<int64_t>(std::string_view key)>;

  /// `due_us` may be empty: then nothing ever falls due. `rows` outlives the index.
  DueIndex(RowSet& rows, DueOf due_us) : rows_(rows), due_us_(std::move(due_us)) {}

  void Link(RowRef ref);
  void Unlink(RowRef ref);
  /// The row moved; its header was copied.
  void Moved(RowRef from, RowRef to);
  /// Rows due at or before `watermark_us`, by second, the oldest first: unlinked in this order, none but the last of a second has to look for its head.
  std::vector<RowRef> Due(int64_t watermark_us) const;

 private:
  std::optional<int64_t> SecondOf(RowRef ref) const;

  RowSet& rows_;
  const DueOf due_us_;
  std::map<int64_t, RowRef> heads_;
};

}  // namespace tidemill::state
