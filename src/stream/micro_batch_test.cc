#include "stream/micro_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stream/loop_rig.h"
#include "testing/simulated_disk.h"

namespace tidemill::stream {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// The second block has numbers behind the first's watermark that are not late yet, a number twice, and one in both.
const Blocks kBlocks = {{10, 30, 20}, {15, 40, 40, 30}, {35, 60, 50}};

Status Stopped() { return InternalError("stopped here by the test"); }
Status Passing() { return RetryableError("", "the disk was full for a moment"); }

class MicroBatchTest : public ::testing::Test {
 protected:
  std::unique_ptr<LoopRig> OpenRig(RigOptions options = {}) {
    auto rig = std::make_unique<LoopRig>(disk_, clock_, blocks_, std::move(options));
    const Status opened = rig->Open();
    EXPECT_TRUE(opened.ok()) << opened;
    return rig;
  }
  checkpoint::OffsetEntry Offsets(LoopRig& rig, int64_t batch_id) {
    return checkpoint::OffsetLog(*rig.file_system, rig.layout.offsets()).Get(batch_id).ValueOrDie();
  }
  std::vector<int64_t> OffsetIds(LoopRig& rig) { return checkpoint::OffsetLog(*rig.file_system, rig.layout.offsets()).ListIds().ValueOrDie(); }
  std::vector<int64_t> CommitIds(LoopRig& rig) { return checkpoint::CommitLog(*rig.file_system, rig.layout.commits()).ListIds().ValueOrDie(); }
  int64_t NextWatermark(LoopRig& rig, int64_t batch_id) {
    return checkpoint::CommitLog(*rig.file_system, rig.layout.commits()).Get(batch_id).ValueOrDie().next_batch_watermark_ms;
  }
  std::vector<int64_t> Rows(LoopRig& rig) { return ManifestSink::ReadRows(*rig.file_system, kRigOutput).ValueOrDie(); }

  testing::SimulatedDisk disk_;
  testing::FakeClock clock_{1'700'000'000'000};
  Blocks blocks_ = kBlocks;
};

TEST_F(MicroBatchTest, RunsEachBlockOnceAndThenWhatTheWatermarkHasPassed) {
  for (const LogSchedule schedule : {LogSchedule::kThreads, LogSchedule::kEager, LogSchedule::kLazy}) {
    testing::SimulatedDisk disk;
    LoopRig rig(disk, clock_, blocks_, {.log_schedule = schedule});
    ASSERT_TRUE(rig.Open().ok());
    ASSERT_TRUE(rig.RunAll().ok());
    EXPECT_EQ(Rows(rig), ExpectedRows(kBlocks));
    EXPECT_THAT(OffsetIds(rig), ElementsAre(0, 1, 2, 3)) << "three blocks and a batch without data";
    EXPECT_EQ(CommitIds(rig), OffsetIds(rig));
  }
}

TEST_F(MicroBatchTest, LateRowsGoByTheWatermarkBeforeAndEvictionByTheOneOfTheBatch) {
  auto rig = OpenRig();
  ASSERT_TRUE(rig->RunAll().ok());
  std::vector<std::pair<int64_t, int64_t>> marks;
  for (const exec::BatchInput& input : rig->plan.ran) marks.emplace_back(input.late_watermark_ms, input.evict_watermark_ms);
  EXPECT_THAT(marks, ElementsAre(std::pair(0, 0), std::pair(0, 30), std::pair(30, 40), std::pair(40, 60)));
  EXPECT_EQ(NextWatermark(*rig, 0), 30);
  EXPECT_EQ(Offsets(*rig, 1).batch_watermark_ms, 30);
  EXPECT_EQ(NextWatermark(*rig, 3), 60);
}

TEST_F(MicroBatchTest, ANewQueryRecordsTimeConfigurationAndOffsets) {
  auto rig = OpenRig();
  ASSERT_TRUE(rig->RunTrigger().ok());
  const checkpoint::OffsetEntry entry = Offsets(*rig, 0);
  EXPECT_EQ(entry.version, 1);
  EXPECT_EQ(entry.batch_timestamp_ms, 1'700'000'000'000);
  EXPECT_THAT(entry.conf, SizeIs(9));
  EXPECT_THAT(entry.offsets, ElementsAre("0"));
  EXPECT_TRUE(checkpoint::ReadQueryId(*rig->file_system, rig->layout)->has_value());
}

TEST_F(MicroBatchTest, TheClockMayGoBackAndBatchTimeMayNot) {
  auto rig = OpenRig();
  ASSERT_TRUE(rig->RunTrigger().ok());
  clock_.SetMs(1'600'000'000'000);
  ASSERT_TRUE(rig->RunTrigger().ok());
  EXPECT_EQ(Offsets(*rig, 1).batch_timestamp_ms, 1'700'000'000'000);
}

// ---- Stopped here, a restart does this: a test for each row of the table in docs/architecture.md.

TEST_F(MicroBatchTest, StoppedBeforeOffsetsARestartChoosesAnew) {
  {
    auto rig = OpenRig({.log_schedule = LogSchedule::kLazy});
    ASSERT_TRUE(rig->RunTrigger().ok());
    rig->plan.on_run = [](const exec::BatchInput&) { return Stopped(); };
    EXPECT_FALSE(rig->RunTrigger().ok());
    EXPECT_TRUE(rig->loop->Flush().ok());
    EXPECT_THAT(OffsetIds(*rig), ElementsAre(0));
  }
  clock_.AdvanceMs(1000);
  auto rig = OpenRig();
  ASSERT_TRUE(rig->RunTrigger().ok());
  EXPECT_EQ(rig->plan.ran[0].batch_id, 1);
  EXPECT_EQ(rig->plan.ran[0].batch_timestamp_ms, 1'700'000'001'000);
  ASSERT_TRUE(rig->RunAll().ok());
  EXPECT_EQ(Rows(*rig), ExpectedRows(kBlocks));
}

TEST_F(MicroBatchTest, StoppedBeforeTheSinksCommitARestartReadsTheSameRange) {
  {
    auto rig = OpenRig();
    rig->sink.before_commit = [](int64_t batch_id) { return batch_id == 1 ? Stopped() : Status::OK(); };
    EXPECT_FALSE(rig->RunAll().ok());
    EXPECT_THAT(OffsetIds(*rig), ElementsAre(0, 1));
    EXPECT_THAT(CommitIds(*rig), ElementsAre(0));
    EXPECT_TRUE(rig->file_system->Stat(rig->layout.state() + "/0/0/2.delta")->has_value()) << "state N+1 is there and must not be taken for N";
  }
  clock_.AdvanceMs(1000);
  auto rig = OpenRig();
  ASSERT_TRUE(rig->RunTrigger().ok());
  const exec::BatchInput& again = rig->plan.ran[0];
  EXPECT_EQ(again.batch_id, 1);
  EXPECT_EQ(again.state_version, 1);
  EXPECT_EQ(again.batch_timestamp_ms, 1'700'000'000'000);
  EXPECT_EQ(again.late_watermark_ms, 0);
  EXPECT_EQ(again.evict_watermark_ms, 30);
  ASSERT_TRUE(rig->RunAll().ok());
  EXPECT_EQ(Rows(*rig), ExpectedRows(kBlocks));
}

TEST_F(MicroBatchTest, StoppedBeforeTheCommitEntryARestartRepeatsWhatTheSinkKnows) {
  {
    auto rig = OpenRig();
    rig->sink.after_commit = [](int64_t batch_id) { return batch_id == 1 ? Stopped() : Status::OK(); };
    EXPECT_FALSE(rig->RunAll().ok());
    EXPECT_THAT(CommitIds(*rig), ElementsAre(0));
  }
  auto rig = OpenRig();
  int commits_of_1 = 0;
  rig->sink.before_commit = [&](int64_t batch_id) {
    commits_of_1 += batch_id == 1;
    return Status::OK();
  };
  ASSERT_TRUE(rig->RunAll().ok());
  EXPECT_EQ(rig->plan.ran[0].batch_id, 1);
  EXPECT_EQ(commits_of_1, 0);
  EXPECT_EQ(Rows(*rig), ExpectedRows(kBlocks));
}

TEST_F(MicroBatchTest, StoppedAfterTheCommitEntryARestartGoesOn) {
  {
    auto rig = OpenRig();
    ASSERT_TRUE(rig->RunTrigger().ok());
    ASSERT_TRUE(rig->RunTrigger().ok());
    ASSERT_TRUE(rig->loop->Flush().ok());
  }
  auto rig = OpenRig();
  ASSERT_TRUE(rig->RunTrigger().ok());
  EXPECT_EQ(rig->plan.ran[0].batch_id, 2);
  EXPECT_EQ(rig->plan.ran[0].evict_watermark_ms, 40);
  EXPECT_EQ(rig->plan.ran[0].late_watermark_ms, 30);
}

TEST_F(MicroBatchTest, ARestartWaitsForDataBeforeItRunsABatchWithout) {
  {
    auto rig = OpenRig();
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(rig->RunTrigger().ok());
    ASSERT_TRUE(rig->loop->Flush().ok());
  }
  auto rig = OpenRig();
  EXPECT_FALSE(rig->RunTrigger()->executed);
  blocks_.push_back({100});
  ASSERT_TRUE(rig->RunAll().ok());
  EXPECT_THAT(rig->plan.ran, SizeIs(2));
}

// ---- Phases and failures.

TEST_F(MicroBatchTest, AnErrorNamesItsPhaseAndBatch) {
  const std::vector<std::pair<std::string, BatchPhase>> places = {
      {"LatestOffset", BatchPhase::kLatestOffset}, {"LogUpTo", BatchPhase::kAddBatch},  // the barrier is where the log thread's errors come up
      {"PlanPartitions", BatchPhase::kGetBatch},   {"Commit", BatchPhase::kAddBatch}};
  for (const auto& [call, phase] : places) {
    testing::SimulatedDisk disk;
    LoopRig rig(disk, clock_, blocks_);
    ASSERT_TRUE(rig.Open().ok());
    ASSERT_TRUE(rig.RunTrigger().ok());
    rig.source.on_call = [&, wanted = call](std::string_view now) { return now == wanted ? Stopped() : Status::OK(); };
    const Status status = rig.RunTrigger().status();
    ASSERT_FALSE(status.ok()) << call;
    EXPECT_EQ(ErrorDetail::Of(status)->batch_id, 1) << call;
    ASSERT_TRUE(rig.loop->failed_phase()) << call;
    EXPECT_EQ(*rig.loop->failed_phase(), phase) << call;
  }
}

TEST_F(MicroBatchTest, AnOperatorThatDoesNotFitFailsInPlanning) {
  {
    auto rig = OpenRig();
    ASSERT_TRUE(rig->RunTrigger().ok());
    ASSERT_TRUE(rig->loop->Flush().ok());
  }
  auto rig = OpenRig();
  rig->plan.operators[0].metadata.operator_name = "dedupe";
  const Status status = rig->RunTrigger().status();
  EXPECT_EQ(ErrorDetail::Of(status)->condition, "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA") << status;
  EXPECT_EQ(*rig->loop->failed_phase(), BatchPhase::kQueryPlanning);
  EXPECT_THAT(OffsetIds(*rig), ElementsAre(0)) << "a plan that does not fit leaves no trace";
}

TEST_F(MicroBatchTest, AMissingStateFolderIsAnError) {
  {
    auto rig = OpenRig();
    ASSERT_TRUE(rig->RunTrigger().ok());
    ASSERT_TRUE(rig->loop->Flush().ok());
    ASSERT_TRUE(rig->file_system->RemoveTree(rig->layout.state()).ok());
  }
  auto rig = OpenRig();
  EXPECT_EQ(ErrorDetail::Of(rig->RunTrigger().status())->condition, "STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY");
}

TEST_F(MicroBatchTest, APassingFailureIsRepeatedWithTheSameBatch) {
  auto rig = OpenRig();
  int failures = 3;
  rig->plan.on_run = [&](const exec::BatchInput&) {
    clock_.AdvanceMs(5);
    return failures-- > 0 ? Passing() : Status::OK();
  };
  ASSERT_TRUE(rig->RunTrigger().ok());
  ASSERT_THAT(rig->plan.ran, SizeIs(4));
  for (const exec::BatchInput& input : rig->plan.ran) {
    EXPECT_EQ(input.batch_id, 0);
    EXPECT_EQ(input.batch_timestamp_ms, 1'700'000'000'000);
  }
  ASSERT_TRUE(rig->RunAll().ok());
  EXPECT_EQ(Rows(*rig), ExpectedRows(kBlocks));
}

TEST_F(MicroBatchTest, FourFailuresAreEnoughAndAUsersFaultIsNotRepeated) {
  auto rig = OpenRig();
  rig->plan.on_run = [&](const exec::BatchInput&) { return Passing(); };
  EXPECT_FALSE(rig->RunTrigger().ok());
  EXPECT_THAT(rig->plan.ran, SizeIs(4));
  rig->plan.on_run = [&](const exec::BatchInput&) -> Status { return UserError("DIVIDE_BY_ZERO", "Division by zero."); };
  EXPECT_FALSE(rig->RunTrigger().ok());
  EXPECT_THAT(rig->plan.ran, SizeIs(5));
}

TEST_F(MicroBatchTest, ASinkThatFailsBeforeTakingTheBatchGetsAnotherAttempt) {
  auto rig = OpenRig();
  int failures = 2;
  rig->sink.before_commit = [&](int64_t) { return failures-- > 0 ? Passing() : Status::OK(); };
  ASSERT_TRUE(rig->RunAll().ok());
  EXPECT_EQ(rig->plan.aborts, 2);
  EXPECT_EQ(Rows(*rig), ExpectedRows(kBlocks));
}

TEST_F(MicroBatchTest, ASinkThatFailsAfterTakingTheBatchIsNotGivenItAgain) {
  auto rig = OpenRig();
  int failures = 1;
  rig->sink.after_commit = [&](int64_t batch_id) { return batch_id == 1 && failures-- > 0 ? Passing() : Status::OK(); };
  ASSERT_TRUE(rig->RunAll().ok());
  EXPECT_EQ(Rows(*rig), ExpectedRows(kBlocks)) << "the files of the attempt that failed late are the ones that count";
}

TEST_F(MicroBatchTest, SourcesForgetABatchOnlyWhenTheNextOffsetsAreOnDisk) {
  auto rig = OpenRig({.log_schedule = LogSchedule::kLazy});
  rig->source.on_call = [&](std::string_view call) {
    if (call == "Commit") {
      EXPECT_EQ(OffsetIds(*rig).back(), static_cast<int64_t>(rig->source.committed.size()) + 1);
    }
    return Status::OK();
  };
  ASSERT_TRUE(rig->RunAll().ok());
  EXPECT_THAT(rig->source.committed, ElementsAre("0", "1", "2"));
}

TEST_F(MicroBatchTest, NoRowReachesTheSinkBeforeTheOffsetsAreOnDisk) {
  auto rig = OpenRig({.log_schedule = LogSchedule::kLazy});
  rig->sink.before_commit = [&](int64_t batch_id) {
    EXPECT_EQ(OffsetIds(*rig).back(), batch_id);
    if (batch_id > 0) {
      EXPECT_EQ(CommitIds(*rig).back(), batch_id - 1);
    }
    return Status::OK();
  };
  ASSERT_TRUE(rig->RunAll().ok());
}

TEST_F(MicroBatchTest, StateIsTouchedOnlyOnceTheFirstOffsetsAreThere) {
  auto rig = OpenRig({.log_schedule = LogSchedule::kLazy});
  rig->plan.on_run = [&](const exec::BatchInput&) {
    EXPECT_THAT(OffsetIds(*rig), ElementsAre(0));
    return Stopped();
  };
  EXPECT_FALSE(rig->RunTrigger().ok());
}

TEST_F(MicroBatchTest, StopNowAbandonsTheBatch) {
  auto rig = OpenRig();
  rig->plan.on_run = [&](const exec::BatchInput&) {
    rig->abandon.request_stop();
    return Status::OK();
  };
  EXPECT_TRUE(rig->RunTrigger().status().IsCancelled());
  EXPECT_THAT(CommitIds(*rig), IsEmpty());
  EXPECT_EQ(rig->plan.aborts, 1);
}

TEST_F(MicroBatchTest, OnceReadsAllAndRepeatsAnUnfinishedBatchInstead) {
  {
    auto rig = OpenRig({.trigger = TriggerKind::kOnce});
    rig->sink.before_commit = [](int64_t) { return Stopped(); };
    EXPECT_FALSE(rig->RunTrigger().ok());
    EXPECT_THAT(Offsets(*rig, 0).offsets, ElementsAre("2"));
  }
  blocks_.push_back({100});
  auto rig = OpenRig({.trigger = TriggerKind::kOnce});
  ASSERT_TRUE(rig->RunTrigger().ok());
  EXPECT_THAT(rig->plan.ran, SizeIs(1));
  EXPECT_THAT(OffsetIds(*rig), ElementsAre(0)) << "the new block waits for the next run";
}

TEST_F(MicroBatchTest, OldEntriesArePurged) {
  blocks_ = {{1}, {2}, {3}, {4}, {5}, {6}};
  auto rig = OpenRig({.config = *Config().With(conf::kMinBatchesToRetain, "2")});
  ASSERT_TRUE(rig->RunAll().ok());
  EXPECT_THAT(OffsetIds(*rig), ElementsAre(4, 5, 6));
  EXPECT_THAT(CommitIds(*rig), ElementsAre(4, 5, 6));
}

// ---- How long a batch waits for the disk.

TEST_F(MicroBatchTest, ABatchWaitsForFourRoundsOfSyncing) {
  for (const LogSchedule schedule : {LogSchedule::kThreads, LogSchedule::kEager, LogSchedule::kLazy}) {
    testing::SimulatedDisk disk;
    LoopRig rig(disk, clock_, blocks_, {.log_schedule = schedule});
    ASSERT_TRUE(rig.Open().ok());
    ASSERT_TRUE(rig.RunAll().ok());
    // commits/N-1 beside the source log, offsets/N, the barrier, the sink.
    EXPECT_EQ(rig.progress[1].sync_rounds, 4);
    EXPECT_EQ(rig.progress[2].sync_rounds, 4);
    // Without new data there is no source log to write; commits/N-1 is still to come.
    EXPECT_EQ(rig.progress[3].sync_rounds, 4);
  }
}

TEST_F(MicroBatchTest, AfterIdleTimeABatchWithoutSourceLogWaitsForThree) {
  auto rig = OpenRig({.source_has_log = false});
  ASSERT_TRUE(rig->RunAll().ok());
  blocks_.push_back({100});
  ASSERT_TRUE(rig->RunAll().ok());
  // commits/N-1 became durable while the query was idle: offsets/N, the barrier, the sink.
  EXPECT_EQ(rig->progress[4].sync_rounds, 3);
}

}  // namespace
}  // namespace tidemill::stream
