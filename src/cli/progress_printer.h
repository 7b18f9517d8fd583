#pragma once

// Progress on stderr: a line a batch, for people or as Spark's JSON.

#include <cstdint>
#include <iosfwd>
#include <mutex>
#include <string>

#include "cli/options.h"
#include "stream/streaming_query.h"

namespace tidemill::cli {

class ProgressPrinter {
 public:
  /// `out` outlives the printer.
  ProgressPrinter(ProgressMode mode, std::ostream& out);

  /// An observer for one query; the printer outlives the query. Queries may report at the same time.
  stream::QueryObserver Observe(const std::string& query_name);
  /// What all queries did together; prints nothing unless progress is for people.
  void PrintSummary(int64_t elapsed_ms);

 private:
  void Print(const std::string& query_name, const stream::Progress& progress);

  const ProgressMode mode_;
  std::mutex mutex_;
  std::ostream& out_;      // guarded by mutex_
  int64_t batches_ = 0;    // guarded by mutex_
  int64_t input_rows_ = 0; // guarded by mutex_
};

/// "flights  batch 3: 12345 rows in 85 ms, 145235 rows/s, watermark 2013-01-02T00:00:00.000Z, 7 keys in state".
std::string ProgressLine(const std::string& query_name, const stream::Progress& progress);

}  // namespace tidemill::cli
