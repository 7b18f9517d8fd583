#pragma once

// For tests: one run of a scripted query over a disk that outlives it. A run begins as RunningQuery::Open() begins one.

#include <memory>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "fs/local_file_system.h"
#include "stream/micro_batch.h"
#include "stream/scripted_query.h"
#include "testing/fake_clock.h"

namespace tidemill::stream {

inline constexpr char kRigRoot[] = "/q/ckpt";
// Beside the checkpoint's top folder and not in it: so each of the two can be lost without the other.
inline constexpr char kRigOutput[] = "/o/out";

struct RigOptions {
  LogSchedule log_schedule = LogSchedule::kEager;
  TriggerKind trigger = TriggerKind::kAvailableNow;
  Config config;
  bool source_has_log = true;
};

class LoopRig {
 public:
  /// `calls`, `clock` and `blocks` outlive the rig. Nothing is read or written before Open().
  LoopRig(fs::SystemCalls& calls, testing::FakeClock& clock, const Blocks& blocks, RigOptions options = {});

  /// Lock and read the checkpoint, make the loop.
  Status Open();
  /// Run triggers until one finds nothing to do, then make the last commit durable.
  Status RunAll();
  Result<TriggerOutcome> RunTrigger() { return loop->RunTrigger(abandon.get_token()); }

  std::unique_ptr<fs::FileSystem> file_system;
  const checkpoint::Layout layout{kRigRoot};
  PendingPlan plan;
  NumberSource source;
  ManifestSink sink;
  std::stop_source abandon;
  std::unique_ptr<MicroBatchLoop> loop;
  std::vector<Progress> progress;  ///< of the batches that RunAll() executed

 private:
  testing::FakeClock& clock_;
  const RigOptions options_;
  PinnedConfig pinned_;
  ThreadPool pool_{1};
  std::unique_ptr<fs::FileLock> lock_;
};

}  // namespace tidemill::stream
