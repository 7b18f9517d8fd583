#include "stream/loop_rig.h"

#include "base/uuid.h"

namespace tidemill::stream {

LoopRig::LoopRig(fs::SystemCalls& calls, testing::FakeClock& clock, const Blocks& blocks, RigOptions options)
    : file_system(fs::MakeLocalFileSystem(calls)),
      plan(*file_system, layout.state()),
      source(*file_system, layout.source(0), blocks),
      sink(*file_system, kRigOutput),
      clock_(clock),
      options_(std::move(options)) {
  source.has_log = options_.source_has_log;
}

Status LoopRig::Open() {
  ARROW_RETURN_NOT_OK(file_system->CreateDirectories(layout.root));
  ARROW_ASSIGN_OR_RAISE(lock_, checkpoint::LockCheckpoint(*file_system, layout));
  ARROW_ASSIGN_OR_RAISE(const std::optional<std::string> id, checkpoint::ReadQueryId(*file_system, layout));
  ARROW_ASSIGN_OR_RAISE(RestartPoint restart, ReadRestartPoint(*file_system, layout));
  ARROW_ASSIGN_OR_RAISE(pinned_, PinConf(options_.config, restart.latest ? restart.latest->conf : RecordConf(options_.config)));
  loop = std::make_unique<MicroBatchLoop>(MicroBatchLoop::Parts{.identity = {id.value_or(NewUuid()), NewUuid(), std::nullopt},
                                                                .plan = plan,
                                                                .sources = {&source},
                                                                .sink = sink,
                                                                .provider = nullptr,
                                                                .file_system = *file_system,
                                                                .clock = clock_,
                                                                .pool = pool_,
                                                                .layout = layout,
                                                                .config = pinned_.config,
                                                                .recorded = pinned_.recorded,
                                                                .restart = std::move(restart),
                                                                .write_query_id = !id,
                                                                .trigger = options_.trigger,
                                                                .log_schedule = options_.log_schedule});
  return Status::OK();
}

Status LoopRig::RunAll() {
  while (true) {
    ARROW_ASSIGN_OR_RAISE(TriggerOutcome outcome, RunTrigger());
    if (!outcome.executed) return loop->Flush();
    progress.push_back(std::move(outcome.progress));
  }
}

}  // namespace tidemill::stream
