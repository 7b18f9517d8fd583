#pragma once

// One run of a streaming query: its driver thread, and what other threads see of it. See StreamingQuery for the calls.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "stream/micro_batch.h"
#include "stream/streaming_query.h"

namespace tidemill::stream {

class RunningQuery final : public StreamingQuery {
 public:
  RunningQuery(QueryOptions options, QueryServices services, QueryObserver observer);
  ~RunningQuery() override;

  /// Everything up to the first trigger. Errors that Spark's start() raises are returned; those that it raises in the query's thread are kept and end the run.
  Status Open();
  /// Start the driver thread.
  void Launch();

  const std::string& id() const override { return identity_.id; }
  const std::string& run_id() const override { return identity_.run_id; }
  bool is_active() const override;
  void StopAtBatchBorder() override;
  void StopNow() override;
  Status AwaitTermination() override;
  Status ProcessAllAvailable() override;
  std::vector<Progress> recent_progress() const override;

 private:
  Status CheckSink(const connector::Format& format) const;
  Status OpenCheckpoint();
  Status MakeSink(const connector::Format& format);
  Status MakePlan();
  Status MakeSources();
  Result<std::unique_ptr<connector::Source>> MakeSource(const plan::TableDescription& table, const std::string& metadata_path);
  Status CheckSinkIsNotAhead() const;
  Status CheckRestart() const;
  void MakeLoop();

  void Drive();
  Status RunTriggers();
  Status WaitForNextTrigger(int64_t trigger_start_ms, bool executed);
  void Report(const TriggerOutcome& outcome, int64_t sequence);
  Status Failure(const Status& cause) const;
  void Finish(Status status);

  const QueryOptions options_;
  const QueryServices services_;
  const QueryObserver observer_;
  const checkpoint::Layout layout_;
  QueryIdentity identity_;

  // Made by Open(), then the driver thread's.
  std::unique_ptr<fs::FileLock> lock_;
  bool write_query_id_ = false;
  PinnedConfig pinned_;
  RestartPoint restart_;
  Status run_failure_;  // what ends the run before its first trigger
  std::unique_ptr<state::StateProvider> provider_;
  std::unique_ptr<exec::QueryPlan> plan_;
  std::vector<std::unique_ptr<connector::Source>> sources_;
  std::unique_ptr<connector::Sink> sink_;
  std::unique_ptr<MicroBatchLoop> loop_;
  std::optional<int64_t> last_emission_ms_;  // of a progress or idle report

  std::stop_source end_soon_;  // at the batch border; interrupts waiting
  std::stop_source abandon_;   // now

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool terminated_ = false;            // guarded by mutex_
  Status result_;                      // guarded by mutex_
  int64_t triggers_begun_ = 0;         // guarded by mutex_
  int64_t last_idle_trigger_ = 0;      // number of the last trigger that found nothing to do; guarded by mutex_
  std::deque<Progress> recent_;        // guarded by mutex_

  std::thread driver_;
};

}  // namespace tidemill::stream
