#pragma once

// Upkeep of a checkpoint off the path of the batches: old log entries, the sink's expired files, state snapshots. An error here is logged and tried again after
// the next batch; it never fails the query.

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

#include "checkpoint/query_metadata.h"
#include "connector/sink.h"
#include "fs/file_system.h"
#include "state/state_store.h"

namespace tidemill::stream {

class Maintenance {
 public:
  struct Parts {
    fs::FileSystem& file_system;
    checkpoint::Layout layout;
    connector::Sink& sink;
    state::StateProvider* provider;
    int min_batches_to_retain;
    bool own_thread;  ///< false: inside AfterBatch(), so that a test sees one order of storage calls
  };

  explicit Maintenance(Parts parts);
  /// Waits for the work under way, state maintenance included.
  ~Maintenance();
  Maintenance(const Maintenance&) = delete;
  Maintenance& operator=(const Maintenance&) = delete;

  /// Batch `batch_id` was executed: offsets/N and commits/N-1 are durable. Entries with an id below N - min_batches_to_retain go, as Spark has it; a batch that is
  /// executed while the work for an older one goes on replaces what waits.
  void AfterBatch(int64_t batch_id, int64_t now_ms);
  /// Keeps Sink::Maintain() out while the driver uses what it works on: the sink's log.
  [[nodiscard]] std::unique_lock<std::mutex> HoldSink() { return std::unique_lock(sink_mutex_); }

 private:
  void Maintain(int64_t batch_id);
  void Work();

  const Parts parts_;
  std::mutex sink_mutex_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<int64_t> waiting_;  // batch id; guarded by mutex_
  bool closing_ = false;            // guarded by mutex_
  std::thread thread_;
};

}  // namespace tidemill::stream
