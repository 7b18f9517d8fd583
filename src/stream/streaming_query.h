#pragma once

// A streaming query: one driver thread over the micro-batch loop, from start to its end.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/config.h"
#include "base/thread_pool.h"
#include "connector/registry.h"
#include "plan/analyzer.h"
#include "stream/log_writer.h"
#include "stream/progress.h"
#include "stream/trigger.h"

namespace tidemill::stream {

/// What the loop shows while it works; called on the driver thread.
struct QueryObserver {
  std::function<void(const Progress&)> on_progress;  ///< executed batches
  std::function<void(const Progress&)> on_idle;      ///< at most every noDataProgressEventInterval
};

struct QueryOptions {
  std::string name;                     ///< empty: none
  std::string checkpoint;               ///< R, an absolute local path
  bool temporary_checkpoint = false;    ///< delete R at the end when the query did not fail
  plan::PlanPtr analyzed;               ///< from plan::Analyze
  plan::OutputMode output_mode = plan::OutputMode::kAppend;
  Trigger trigger;
  std::string sink_format;
  std::map<std::string, std::string> sink_options;  ///< keys in lower case
  std::string base_directory;
  Config config;
  LogSchedule log_schedule = LogSchedule::kThreads;  ///< tests ask for one order of storage calls
};

/// What a query works with; all outlive it.
struct QueryServices {
  fs::FileSystem& file_system;
  Clock& clock;
  ThreadPool& pool;
  const connector::Registry& registry;
  std::ostream& out;
};

class StreamingQuery {
 public:
  /// Check legality, lock and open the checkpoint, make sources and sink, and start the driver thread. Errors: as Spark's start() raises them.
  static Result<std::unique_ptr<StreamingQuery>> Start(QueryOptions options, QueryServices services, QueryObserver observer = {});
  virtual ~StreamingQuery() = default;  // stops at once

  virtual const std::string& id() const = 0;
  virtual const std::string& run_id() const = 0;
  virtual bool is_active() const = 0;
  /// End after the batch under way has committed.
  virtual void StopAtBatchBorder() = 0;
  /// Abandon the batch under way; it is run again next time.
  virtual void StopNow() = 0;
  /// Block until the query ends; its failure (STREAM_FAILED wrapping the cause) or OK.
  virtual Status AwaitTermination() = 0;
  /// Block until all data available at the time of the call is processed, no-data batches included.
  virtual Status ProcessAllAvailable() = 0;
  virtual std::vector<Progress> recent_progress() const = 0;
};

}  // namespace tidemill::stream
