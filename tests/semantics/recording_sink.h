#pragma once

// The sink of a case: takes the rows of every batch as a foreachBatch function of Spark would, and can be told to fail after one.

#include <arrow/type_fwd.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "connector/registry.h"

namespace tidemill::semantics {

/// What the sink of one run was given.
class Recording {
 public:
  explicit Recording(std::optional<int64_t> fail_on) : fail_on_(fail_on) {}

  /// A later attempt at a batch replaces an earlier one. Fails after taking the batch it was asked to fail on.
  Status Take(int64_t batch_id, std::vector<std::shared_ptr<arrow::RecordBatch>> rows);
  /// nullopt: the batch never got here.
  std::optional<std::vector<std::shared_ptr<arrow::RecordBatch>>> RowsOf(int64_t batch_id) const;

 private:
  const std::optional<int64_t> fail_on_;
  mutable std::mutex mutex_;
  std::map<int64_t, std::vector<std::shared_ptr<arrow::RecordBatch>>> batches_;  // guarded by mutex_
};

/// A format whose sinks write to `recording`.
connector::Format RecordingFormat(std::shared_ptr<Recording> recording);

}  // namespace tidemill::semantics
