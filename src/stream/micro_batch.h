#pragma once

// The micro-batch loop: one batch of a query from the question "how far?" to its commit entry. The order of RunBatch() is the exactly-once protocol; the
// invariants behind it are in docs/architecture.md. Source: Spark MicroBatchExecution.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/config.h"
#include "base/thread_pool.h"
#include "checkpoint/commit_log.h"
#include "checkpoint/offset_log.h"
#include "checkpoint/query_metadata.h"
#include "exec/query_plan.h"
#include "fs/file_system.h"
#include "stream/log_writer.h"
#include "stream/maintenance.h"
#include "stream/pinned_config.h"
#include "stream/progress_reporter.h"
#include "stream/restart.h"
#include "stream/trigger.h"
#include "stream/watermark.h"

namespace tidemill::stream {

/// The stages of a batch, in order, under the keys that Spark's progress gives them.
enum class BatchPhase {
  kLatestOffset,   ///< every source says how far the batch may read; waits for the outside system, leaves nothing on disk
  kWalCommit,      ///< commits/N-1, the source logs of N and offsets/N go to the log thread, in that order; waits for nothing
  kGetBatch,       ///< start and end offsets become input partitions
  kQueryPlanning,  ///< in the first batch of a run the plan is compared with the checkpoint's operators; waits for that
  kAddBatch,       ///< tasks read, compute and stage; then the barrier waits for offsets/N and every file; then the sink commits
  kCommitOffsets,  ///< the watermark moves on, commits/N goes to the log thread; waits for nothing
};

/// "latestOffset", "walCommit", …
std::string_view PhaseName(BatchPhase phase);

/// One batch while it is being made.
struct MicroBatch {
  int64_t id = 0;
  bool rerun = false;         ///< offsets/N is there from an earlier run: its range, time and watermark are taken
  bool has_new_data = false;
  bool constructed = false;   ///< there is something to run: new data, or state that the watermark has passed
  SourceOffsets start, end;   ///< by source
  int64_t timestamp_ms = 0;
  int64_t late_watermark_ms = 0;
  int64_t evict_watermark_ms = 0;
  std::vector<std::vector<std::shared_ptr<connector::InputPartition>>> partitions;  ///< by source

  BatchPhase phase = BatchPhase::kLatestOffset;
  std::map<std::string, int64_t> duration_ms;  ///< by phase name, of the attempt that succeeded
  LogWriter::Ticket offsets_logged;            ///< offsets/N; null when it was there before
  bool logs_submitted = false;
  bool sources_told = false;                   ///< Source::Commit of batch N-1 is done
  std::optional<exec::BatchOutput> output;     ///< staged and not yet given to the sink
  bool sink_has_it = false;                    ///< the sink knows the batch from an earlier attempt
  bool sink_asked = false;                     ///< Sink::Commit was called, in whatever attempt
  exec::BatchMetrics metrics;                  ///< of the attempt that succeeded

  bool has_work() const { return constructed; }
};

/// What one trigger did.
struct TriggerOutcome {
  bool executed = false;
  Progress progress;
};

class MicroBatchLoop {
 public:
  /// What the loop works with; everything referred to outlives it.
  struct Parts {
    QueryIdentity identity;
    exec::QueryPlan& plan;
    std::vector<connector::Source*> sources;  ///< in the order of plan.sources()
    connector::Sink& sink;
    state::StateProvider* provider;  ///< maintained off the path; null: none
    fs::FileSystem& file_system;
    Clock& clock;
    ThreadPool& pool;
    checkpoint::Layout layout;
    const Config& config;  ///< pinned
    RecordedConf recorded;
    RestartPoint restart;
    bool write_query_id;  ///< R/metadata is not there yet
    TriggerKind trigger;
    LogSchedule log_schedule;
  };

  explicit MicroBatchLoop(Parts parts);

  /// Run one batch if there is something to run. A failed batch is repeated, with the same offsets and state, while its error is one that may pass
  /// (IsRetryable) and spark.task.maxFailures allows. Not safe to call concurrently. When OK and not executed, all earlier batches are durable.
  ///
  /// Errors: the batch's own, with the batch id in the detail; Cancelled when `abandon` was requested.
  Result<TriggerOutcome> RunTrigger(std::stop_token abandon);
  /// Wait until the commit entry of the last batch is durable. Called when the query goes idle and before it ends.
  Status Flush();

  /// Where the last batch stood, for whoever reports an error.
  int64_t batch_id() const { return next_batch_id_; }
  std::optional<BatchPhase> failed_phase() const { return failed_phase_; }

 private:
  Status RunBatch(MicroBatch& batch);
  Status RunWithRetries(MicroBatch& batch);
  Status InPhase(MicroBatch& batch, BatchPhase phase, const std::function<Status()>& work);

  Status ChooseEndOffsets(MicroBatch& batch);
  Status LogOffsets(MicroBatch& batch);
  Status PlanPartitions(MicroBatch& batch);
  Status CheckPlan(const MicroBatch& batch);
  Result<bool> CanBeSkipped(int64_t batch_id);
  Status Compute(MicroBatch& batch);
  Status Barrier(MicroBatch& batch);
  Status CommitSink(MicroBatch& batch);
  Status LogCommit(MicroBatch& batch);
  Status FlushCommits();

  LogWriter::Ticket SubmitOperatorCheck(const MicroBatch& batch, LogWriter::Ticket after);
  std::vector<LogWriter::Ticket> SubmitSourceLogs(const MicroBatch& batch, const std::vector<LogWriter::Ticket>& after);
  checkpoint::OffsetEntry EntryOf(const MicroBatch& batch) const;
  Status TellSources(MicroBatch& batch);
  void Abandon(MicroBatch& batch);
  void MoveOn(const MicroBatch& batch);
  Status CountingRounds(const std::function<Status()>& work);

  Parts parts_;
  checkpoint::OffsetLog offset_log_;
  checkpoint::CommitLog commit_log_;
  WatermarkPolicy watermark_policy_;
  ProgressReporter reporter_;

  // Position of the run; the driver thread's own.
  int64_t next_batch_id_;
  bool next_is_rerun_;
  SourceOffsets start_;
  SourceOffsets rerun_end_;
  Watermarks watermarks_;
  int64_t late_watermark_ms_;       // of offsets/N-1
  int64_t last_timestamp_ms_;
  std::optional<int64_t> last_evict_watermark_ms_;  // of the batch executed before in this run; nullopt right after a start
  bool operators_checked_ = false;
  LogWriter::Ticket operators_check_;  // first batch of the run
  LogWriter::Ticket commit_logged_;    // commits/N-1
  std::optional<BatchPhase> failed_phase_;
  std::stop_token abandon_;

  // Last, so that they stop before what they use goes away.
  LogWriter log_;
  Maintenance maintenance_;
};

}  // namespace tidemill::stream
