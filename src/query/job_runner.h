#pragma once

// Runs the flows of a job. Flows that end by themselves run one after another, so that a later one reads all that an earlier one wrote; the
// others run side by side.

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "query/session.h"
#include "stream/streaming_query.h"

namespace tidemill::query {

class JobRunner {
 public:
  /// `services` and what they refer to outlive the runner.
  explicit JobRunner(stream::QueryServices services);
  ~JobRunner();

  /// Start the flows and wait until all have ended. When one fails the others stop at a batch border; the first failure is returned.
  /// `observe` makes the observer of a flow, called with its name.
  Status Run(std::vector<Flow> flows, const std::function<stream::QueryObserver(const std::string&)>& observe);

  /// Let every query end after its batch, and start no further one. Safe to call from another thread, before and after Run() too.
  void StopAtBatchBorder();
  /// Abandon the batches under way. As StopAtBatchBorder() otherwise.
  void StopNow();

 private:
  /// Start one flow and keep it; nullptr when the job is stopping.
  Result<stream::StreamingQuery*> Start(stream::QueryOptions options, stream::QueryObserver observer);

  stream::QueryServices services_;
  std::mutex mutex_;
  bool stopping_ = false;                                          // guarded by mutex_
  std::vector<std::unique_ptr<stream::StreamingQuery>> queries_;   // guarded by mutex_; only Start() adds, nothing is taken away before the end
};

}  // namespace tidemill::query
