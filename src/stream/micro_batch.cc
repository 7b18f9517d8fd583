#include "stream/micro_batch.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/log.h"
#include "stream/operator_check.h"

namespace tidemill::stream {

namespace {

/// Before a failed batch is run again for the first time.
constexpr int64_t kFirstPauseMs = 100;


// Offsets are JSON: another engine may have written the same one with other blanks or another order of keys.
bool SameOffset(const std::optional<connector::Offset>& a, const std::optional<connector::Offset>& b) {
  if (a == b) return true;
  if (!a || !b) return false;
  const auto parsed_a = nlohmann::json::parse(*a, nullptr, /*allow_exceptions=*/false);
  const auto parsed_b = nlohmann::json::parse(*b, nullptr, /*allow_exceptions=*/false);
  return !parsed_a.is_discarded() && parsed_a == parsed_b;
}

std::vector<fs::StagedFile> StagedFiles(const exec::BatchOutput& output) {
  std::vector<fs::StagedFile> files = output.state_files;
  for (const connector::WriterResult& result : output.sink_results) files.insert(files.end(), result.files.begin(), result.files.end());
  return files;
}

WatermarkPolicy PolicyOf(const Config& config) {
  Result<WatermarkPolicy> policy = ParseWatermarkPolicy(config.Get(conf::kMultipleWatermarkPolicy));
  TIDEMILL_CHECK(policy.ok());  // the configuration takes no other value
  return *policy;
}

}  // namespace

std::string_view PhaseName(BatchPhase phase) {
  switch (phase) {
    case BatchPhase::kLatestOffset:
      return "latestOffset";
    case BatchPhase::kWalCommit:
      return "walCommit";
    case BatchPhase::kGetBatch:
      return "getBatch";
    case BatchPhase::kQueryPlanning:
      return "queryPlanning";
    case BatchPhase::kAddBatch:
      return "addBatch";
    case BatchPhase::kCommitOffsets:
      return "commitOffsets";
  }
  return "";
}

MicroBatchLoop::MicroBatchLoop(Parts parts)
    : parts_(std::move(parts)),
      offset_log_(parts_.file_system, parts_.layout.offsets()),
      commit_log_(parts_.file_system, parts_.layout.commits()),
      watermark_policy_(PolicyOf(parts_.config)),
      reporter_(parts_.identity, parts_.plan, parts_.sources, parts_.sink),
      next_batch_id_(parts_.restart.next_batch_id),
      next_is_rerun_(parts_.restart.rerun),
      start_(parts_.restart.start),
      rerun_end_(parts_.restart.end),
      watermarks_{parts_.restart.watermark_ms, {}},
      late_watermark_ms_(parts_.restart.late_watermark_ms),
      last_timestamp_ms_(parts_.restart.batch_timestamp_ms),
      log_(parts_.log_schedule, [this] { return parts_.file_system.sync_counters().rounds; }),
      maintenance_({parts_.file_system, parts_.layout, parts_.sink, parts_.provider,
                    static_cast<int>(parts_.config.GetInt(conf::kMinBatchesToRetain)), parts_.log_schedule == LogSchedule::kThreads}) {
  start_.resize(parts_.sources.size());
}

// The whole protocol of batch N. ● durable before the next line, ○ under way beside it.
Status MicroBatchLoop::RunBatch(MicroBatch& batch) {
  // How far may this batch read? Asks the outside systems; nothing durable.
  ARROW_RETURN_NOT_OK(InPhase(batch, BatchPhase::kLatestOffset, [&] { return ChooseEndOffsets(batch); }));
  // Idle: commits/N-1 ● now, whoever waits for the data to be processed may go on.
  if (!batch.has_work()) return FlushCommits();
  // commits/N-1 ● and the source logs of N ●, then offsets/N ○: in that order, beside everything up to the barrier.
  ARROW_RETURN_NOT_OK(InPhase(batch, BatchPhase::kWalCommit, [&] { return LogOffsets(batch); }));
  // Which files, which ranges? From here on a repetition of the batch reads the same.
  ARROW_RETURN_NOT_OK(InPhase(batch, BatchPhase::kGetBatch, [&] { return PlanPartitions(batch); }));
  // First batch of a run: does the plan fit the state? Before any state is read, and in batch 0 after offsets/0 ●: state without offsets would
  // look like somebody else's checkpoint.
  ARROW_RETURN_NOT_OK(InPhase(batch, BatchPhase::kQueryPlanning, [&] { return CheckPlan(batch); }));
  // Tasks read, compute and stage: state N+1 ○ under temporary names, output ○ under names of this attempt alone.
  ARROW_RETURN_NOT_OK(InPhase(batch, BatchPhase::kAddBatch, [&] { return Compute(batch); }));
  // offsets/N ●, then every state file under its final name and all staged output ●.
  ARROW_RETURN_NOT_OK(InPhase(batch, BatchPhase::kAddBatch, [&] { return Barrier(batch); }));
  // The sink takes batch N ●, once: its id makes a repetition harmless.
  ARROW_RETURN_NOT_OK(InPhase(batch, BatchPhase::kAddBatch, [&] { return CommitSink(batch); }));
  // commits/N ○: durable before offsets/N+1, or at once when idle. From its durability on a restart begins with N+1.
  return InPhase(batch, BatchPhase::kCommitOffsets, [&] { return LogCommit(batch); });
}

Result<TriggerOutcome> MicroBatchLoop::RunTrigger(std::stop_token abandon) {
  abandon_ = std::move(abandon);
  const int64_t began_ms = parts_.clock.NowMs();
  const int64_t began_ns = parts_.clock.MonotonicNs();
  const int64_t depth_before = log_.depth();
  MicroBatch batch;
  batch.id = next_batch_id_;
  batch.rerun = next_is_rerun_;
  const Status status = RunWithRetries(batch);
  if (!status.ok()) return WithBatch(status, batch.id);
  const int64_t took_ms = (parts_.clock.MonotonicNs() - began_ns) / 1'000'000;
  const BatchReport report{.batch_id = batch.id,
                           .executed = batch.constructed,
                           .has_new_data = batch.has_new_data,
                           .start = batch.start,
                           .end = batch.end,
                           .watermark_ms = batch.evict_watermark_ms,
                           .trigger_start_ms = began_ms,
                           .trigger_ms = took_ms,
                           .duration_ms = batch.duration_ms,
                           .metrics = batch.metrics,
                           .sync_rounds = log_.depth() - depth_before};
  if (batch.constructed) maintenance_.AfterBatch(batch.id, parts_.clock.NowMs());
  return TriggerOutcome{batch.constructed, reporter_.Report(report)};
}

Status MicroBatchLoop::RunWithRetries(MicroBatch& batch) {
  const int64_t attempts = parts_.config.GetInt(conf::kTaskMaxFailures);
  for (int64_t attempt = 1;; ++attempt) {
    batch.duration_ms.clear();
    const Status status = RunBatch(batch);
    if (status.ok()) return status;
    Abandon(batch);
    if (!IsRetryable(status) || attempt == attempts || abandon_.stop_requested()) return status;
    // Each pause is four times the one before: room is freed, a network comes back.
    const int64_t pause_ms = kFirstPauseMs << (2 * std::min<int64_t>(attempt - 1, 5));
    log::Warning("Batch {} failed in {} (attempt {} of {}) and is run again in {} ms: {}", batch.id, PhaseName(batch.phase), attempt, attempts, pause_ms,
                 status.message());
    parts_.clock.WaitUntil(parts_.clock.NowMs() + pause_ms, abandon_);
    log_.RetryFailed();
  }
}

// Times the phase under Spark's name and remembers it for whoever reports an error.
Status MicroBatchLoop::InPhase(MicroBatch& batch, BatchPhase phase, const std::function<Status()>& work) {
  batch.phase = phase;
  failed_phase_ = phase;
  // Past the sink's commit there is nothing left to abandon.
  if (phase != BatchPhase::kCommitOffsets && abandon_.stop_requested()) return Status::Cancelled("the query was stopped");
  const int64_t began_ns = parts_.clock.MonotonicNs();
  const Status status = work();
  batch.duration_ms[std::string(PhaseName(phase))] += (parts_.clock.MonotonicNs() - began_ns) / 1'000'000;
  if (status.ok()) failed_phase_.reset();
  return status;
}

Status MicroBatchLoop::ChooseEndOffsets(MicroBatch& batch) {
  if (batch.constructed) return Status::OK();  // a repetition: same offsets, time and watermark
  batch.start = start_;
  batch.evict_watermark_ms = watermarks_.global_ms;
  batch.late_watermark_ms = late_watermark_ms_;
  if (batch.rerun) {
    batch.end = rerun_end_;
    batch.timestamp_ms = last_timestamp_ms_;
  } else {
    batch.timestamp_ms = std::max(last_timestamp_ms_, parts_.clock.NowMs());
    batch.end = start_;
    for (size_t i = 0; i < parts_.sources.size(); ++i) {
      ARROW_ASSIGN_OR_RAISE(auto latest, parts_.sources[i]->LatestOffset(start_[i], parts_.trigger == TriggerKind::kOnce));
      if (latest) batch.end[i] = std::move(latest);
    }
  }
  batch.has_new_data = !std::equal(batch.start.begin(), batch.start.end(), batch.end.begin(), SameOffset);
  // Without a batch before it in this run nobody knows what the state has seen, so a restart waits for data first, as Spark does.
  const bool wants_no_data = last_evict_watermark_ms_ && parts_.config.GetBool(conf::kNoDataBatches) &&
                             parts_.plan.WantsNoDataBatch(*last_evict_watermark_ms_, batch.evict_watermark_ms);
  batch.constructed = batch.rerun || batch.has_new_data || wants_no_data;
  return Status::OK();
}

Status MicroBatchLoop::LogOffsets(MicroBatch& batch) {
  if (batch.logs_submitted) return Status::OK();  // a repetition: RetryFailed() has seen to the steps that failed
  batch.logs_submitted = true;
  const bool first = !std::exchange(operators_checked_, true);
  LogWriter::Ticket before;
  if (std::exchange(parts_.write_query_id, false)) {
    before = log_.Submit("metadata", [this] { return checkpoint::WriteQueryId(parts_.file_system, parts_.layout, parts_.identity.id); });
  }
  if (first && batch.id > 0) before = operators_check_ = SubmitOperatorCheck(batch, before);
  if (!batch.rerun) {
    std::vector<LogWriter::Ticket> after = SubmitSourceLogs(batch, {before});
    after.push_back(before);
    after.push_back(commit_logged_);
    batch.offsets_logged = log_.Submit(fmt::format("offsets/{}", batch.id),
                                       [this, id = batch.id, entry = EntryOf(batch)] { return offset_log_.Add(id, entry); }, std::move(after));
  }
  if (first && batch.id == 0) operators_check_ = SubmitOperatorCheck(batch, batch.offsets_logged);
  return Status::OK();
}

Status MicroBatchLoop::PlanPartitions(MicroBatch& batch) {
  batch.partitions.assign(parts_.sources.size(), {});
  for (size_t i = 0; i < parts_.sources.size(); ++i) {
    if (SameOffset(batch.start[i], batch.end[i])) continue;
    ARROW_ASSIGN_OR_RAISE(batch.partitions[i], parts_.sources[i]->PlanPartitions(batch.start[i], *batch.end[i]));
  }
  return Status::OK();
}

Status MicroBatchLoop::CheckPlan(const MicroBatch& batch) {
  ARROW_RETURN_NOT_OK(parts_.plan.CheckWatermark(batch.evict_watermark_ms));
  if (operators_check_ == nullptr) return Status::OK();
  ARROW_RETURN_NOT_OK(log_.Wait(operators_check_));
  operators_check_.reset();
  return Status::OK();
}

// Nothing but the sink would learn from a batch without state and watermark: once the sink has it, it need not be read again.
Result<bool> MicroBatchLoop::CanBeSkipped(int64_t batch_id) {
  if (!parts_.plan.stateful_operators().empty() || parts_.plan.has_watermark()) return false;
  const auto hold = maintenance_.HoldSink();
  return parts_.sink.HasBatch(batch_id);
}

Status MicroBatchLoop::Compute(MicroBatch& batch) {
  ARROW_ASSIGN_OR_RAISE(const bool skipped, CanBeSkipped(batch.id));
  if (skipped) {
    batch.output.emplace().metrics.source_rows.resize(parts_.sources.size());
    return Status::OK();
  }
  const exec::BatchInput input{.batch_id = batch.id,
                               .state_version = batch.id,
                               .batch_timestamp_ms = batch.timestamp_ms,
                               .late_watermark_ms = batch.late_watermark_ms,
                               .evict_watermark_ms = batch.evict_watermark_ms,
                               .partitions = batch.partitions};
  ARROW_ASSIGN_OR_RAISE(batch.output, parts_.plan.RunBatch(input, parts_.sources, parts_.sink, parts_.pool, abandon_));
  return Status::OK();
}

Status MicroBatchLoop::Barrier(MicroBatch& batch) {
  ARROW_RETURN_NOT_OK(log_.Wait(batch.offsets_logged));
  ARROW_RETURN_NOT_OK(TellSources(batch));
  {
    const auto hold = maintenance_.HoldSink();
    ARROW_ASSIGN_OR_RAISE(batch.sink_has_it, parts_.sink.HasBatch(batch.id));
  }
  if (batch.sink_has_it) {
    // An earlier attempt got as far as the sink. Its output counts; ours only served to make the state again.
    parts_.sink.Discard(batch.output->sink_results);
    batch.output->sink_results.clear();
  }
  return CountingRounds([&] { return parts_.file_system.Publish(StagedFiles(*batch.output)); });
}

Status MicroBatchLoop::CommitSink(MicroBatch& batch) {
  if (!batch.sink_has_it) {
    batch.sink_asked = true;
    const auto hold = maintenance_.HoldSink();
    ARROW_RETURN_NOT_OK(CountingRounds([&] { return parts_.sink.Commit(batch.id, std::move(batch.output->sink_results)); }));
  }
  batch.metrics = std::move(batch.output->metrics);
  parts_.plan.CommitDone();
  batch.output.reset();
  return Status::OK();
}

Status MicroBatchLoop::LogCommit(MicroBatch& batch) {
  watermarks_ = AdvanceWatermarks(std::move(watermarks_), batch.metrics.event_time, parts_.plan.watermark_delays_ms(), watermark_policy_);
  checkpoint::CommitEntry entry;
  entry.version = parts_.restart.commit_version;
  entry.next_batch_watermark_ms = watermarks_.global_ms;
  commit_logged_ = log_.Submit(fmt::format("commits/{}", batch.id), [this, id = batch.id, entry] { return commit_log_.Add(id, entry); });
  MoveOn(batch);
  return Status::OK();
}

Status MicroBatchLoop::FlushCommits() { return log_.Wait(commit_logged_); }

Status MicroBatchLoop::Flush() {
  const int64_t attempts = parts_.config.GetInt(conf::kTaskMaxFailures);
  for (int64_t attempt = 1;; ++attempt) {
    const Status status = FlushCommits();
    if (status.ok() || !IsRetryable(status) || attempt == attempts) return status;
    log_.RetryFailed();
  }
}

LogWriter::Ticket MicroBatchLoop::SubmitOperatorCheck(const MicroBatch& batch, LogWriter::Ticket after) {
  return log_.Submit("state schemas and operator metadata",
                     [this, first = batch.id] {
                       return CheckOrWriteOperators(parts_.file_system, parts_.layout, first, parts_.plan.stateful_operators(), parts_.config);
                     },
                     {std::move(after)});
}

std::vector<LogWriter::Ticket> MicroBatchLoop::SubmitSourceLogs(const MicroBatch& batch, const std::vector<LogWriter::Ticket>& after) {
  // commits/N-1 is not among `after`: an entry that offsets/N does not name yet harms nobody, so both share a round of syncing.
  std::vector<LogWriter::Ticket> tickets;
  for (size_t i = 0; i < parts_.sources.size(); ++i) {
    if (SameOffset(batch.start[i], batch.end[i])) continue;
    tickets.push_back(log_.Submit(fmt::format("log of source {} up to batch {}", i, batch.id),
                                  [source = parts_.sources[i], end = *batch.end[i]] { return source->LogUpTo(end); }, after));
  }
  return tickets;
}

checkpoint::OffsetEntry MicroBatchLoop::EntryOf(const MicroBatch& batch) const {
  checkpoint::OffsetEntry entry;
  if (parts_.restart.latest) {
    entry.version = parts_.restart.latest->version;
    entry.source_ids = parts_.restart.latest->source_ids;
    entry.source_metadata_json = parts_.restart.latest->source_metadata_json;
  } else {
    entry.version = static_cast<int>(parts_.config.GetInt(conf::kOffsetLogFormat));
    for (size_t i = 0; entry.version == 2 && i < batch.end.size(); ++i) entry.source_ids.push_back(std::to_string(i));
  }
  entry.batch_watermark_ms = batch.evict_watermark_ms;
  entry.batch_timestamp_ms = batch.timestamp_ms;
  entry.conf = parts_.recorded;
  entry.offsets = batch.end;
  return entry;
}

// offsets/N is durable, so what batch N-1 read will never be read again.
Status MicroBatchLoop::TellSources(MicroBatch& batch) {
  if (batch.rerun || batch.sources_told) return Status::OK();
  for (size_t i = 0; i < parts_.sources.size(); ++i) {
    if (batch.start[i]) ARROW_RETURN_NOT_OK(parts_.sources[i]->Commit(*batch.start[i]));
  }
  batch.sources_told = true;
  return Status::OK();
}

// Nothing of a failed attempt may be mistaken for the next one's: state goes back to version N, staged files go. But not the output of a commit that
// failed: such an error can come after the fact, and a sink that took the batch all the same must find its files.
void MicroBatchLoop::Abandon(MicroBatch& batch) {
  if (!batch.output) return;
  parts_.plan.Abort();
  parts_.file_system.Discard(batch.output->state_files);
  if (!batch.sink_asked) parts_.sink.Discard(batch.output->sink_results);
  batch.output.reset();
}

void MicroBatchLoop::MoveOn(const MicroBatch& batch) {
  next_batch_id_ = batch.id + 1;
  next_is_rerun_ = false;
  start_ = batch.end;
  late_watermark_ms_ = batch.evict_watermark_ms;
  last_evict_watermark_ms_ = batch.evict_watermark_ms;
  last_timestamp_ms_ = batch.timestamp_ms;
}

Status MicroBatchLoop::CountingRounds(const std::function<Status()>& work) {
  const int64_t before = parts_.file_system.sync_counters().rounds;
  const Status status = work();
  log_.AddDriverRounds(parts_.file_system.sync_counters().rounds - before);
  return status;
}

}  // namespace tidemill::stream
