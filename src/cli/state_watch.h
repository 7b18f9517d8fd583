#pragma once

// Which query keeps the most state: what an error about memory has to name.

#include <cstdint>
#include <mutex>
#include <string>

#include "stream/streaming_query.h"

namespace tidemill::cli {

/// Safe to use from several threads.
class StateWatch {
 public:
  /// `observer`, which also tells this object what the query reports. This object outlives the query.
  stream::QueryObserver Watch(const std::string& query_name, stream::QueryObserver observer);
  /// "query visits, operator 0 (stateStoreSave): 1200000 rows, 96 MiB"; empty before the first batch with state.
  std::string Largest() const;

 private:
  void Note(const std::string& query_name, const stream::Progress& progress);

  mutable std::mutex mutex_;
  std::string query_;        // guarded by mutex_, as are the rest: where the largest state was seen last
  std::string operator_;
  int64_t rows_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace tidemill::cli
