// RunningQuery::Open(): everything between start() and the first trigger.

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/uuid.h"
#include "stream/running_query.h"

namespace tidemill::stream {

namespace {

constexpr char kMemoryProvider[] = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider";

std::string ConditionOf(const Status& status) {
  const ErrorDetail* detail = ErrorDetail::Of(status);
  return detail == nullptr ? "" : detail->condition;
}

Result<bool> HasEntries(fs::FileSystem& file_system, const std::string& directory) {
  ARROW_ASSIGN_OR_RAISE(const auto entries, file_system.List(directory));
  return entries && std::any_of(entries->begin(), entries->end(), [](const fs::FileInfo& entry) { return !entry.name.starts_with('.'); });
}

std::string LowerModeName(plan::OutputMode mode) {
  std::string name(plan::OutputModeName(mode));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

}  // namespace

Status RunningQuery::Open() {
  ARROW_ASSIGN_OR_RAISE(const connector::Format* format, services_.registry.Find(options_.sink_format));
  ARROW_RETURN_NOT_OK(CheckSink(*format));
  if (options_.config.GetBool(conf::kUnsupportedOperationCheck)) {
    if (!plan::IsStreaming(*options_.analyzed)) {
      return UserError("WRITE_STREAM_NOT_ALLOWED", "`writeStream` can be called only on streaming Dataset/DataFrame.");
    }
    ARROW_RETURN_NOT_OK(plan::CheckStreaming(*options_.analyzed, options_.output_mode, options_.config));
  }
  ARROW_RETURN_NOT_OK(OpenCheckpoint());
  ARROW_RETURN_NOT_OK(MakeSink(*format));

  // From here on Spark is in the query's own thread: what goes wrong ends the run, but for what is wrong with the query text itself.
  Result<RestartPoint> restart = ReadRestartPoint(services_.file_system, layout_);
  if (!restart.ok()) {
    run_failure_ = restart.status();
    return Status::OK();
  }
  restart_ = std::move(*restart);
  Result<PinnedConfig> pinned =
      PinConf(options_.config, restart_.latest ? restart_.latest->conf : RecordConf(options_.config));
  if (!pinned.ok()) {
    run_failure_ = pinned.status();
    return Status::OK();
  }
  pinned_ = std::move(*pinned);
  for (const std::string& warning : pinned_.warnings) log::Warning("{}", warning);
  ARROW_RETURN_NOT_OK(MakePlan());
  const Status sources = MakeSources();
  if (ConditionOf(sources) == "PATH_NOT_FOUND") return sources;
  run_failure_ = sources.ok() ? CheckRestart() : sources;
  if (run_failure_.ok()) MakeLoop();
  return Status::OK();
}

Status RunningQuery::CheckSink(const connector::Format& format) const {
  if (!format.make_sink) {
    return UserError("_LEGACY_ERROR_TEMP_2049", "Data source {} does not support streamed writing.", options_.sink_format)
        .Param("className", options_.sink_format)
        .Param("operator", "writing");
  }
  if (format.append_only && options_.output_mode != plan::OutputMode::kAppend) {
    const std::string mode = LowerModeName(options_.output_mode);
    return UserError("STREAMING_OUTPUT_MODE.UNSUPPORTED_DATASOURCE",
                     "Invalid streaming output mode: {}. This output mode is not supported in Data Source {}.", mode, options_.sink_format)
        .Param("className", options_.sink_format)
        .Param("outputMode", mode);
  }
  if (format.needs_checkpoint && options_.checkpoint.empty()) {
    return UserError("_LEGACY_ERROR_TEMP_1298",
                     "checkpointLocation must be specified either through option(\"checkpointLocation\", ...) or "
                     "SparkSession.conf.set(\"spark.sql.streaming.checkpointLocation\", ...).")
        .Param("config", "spark.sql.streaming.checkpointLocation");
  }
  return Status::OK();
}

Status RunningQuery::OpenCheckpoint() {
  ARROW_RETURN_NOT_OK(services_.file_system.CreateDirectories(layout_.root));
  ARROW_ASSIGN_OR_RAISE(lock_, checkpoint::LockCheckpoint(services_.file_system, layout_));
  ARROW_ASSIGN_OR_RAISE(const std::optional<std::string> id, checkpoint::ReadQueryId(services_.file_system, layout_));
  if (id) {
    identity_.id = *id;
    return Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(const bool offsets, HasEntries(services_.file_system, layout_.offsets()));
  ARROW_ASSIGN_OR_RAISE(const bool commits, HasEntries(services_.file_system, layout_.commits()));
  if (offsets || commits) {
    return UserError("STREAMING_CHECKPOINT_MISSING_METADATA_FILE",
                     "Checkpoint location {} is in an inconsistent state: the metadata file is missing but offset and/or commit logs contain data. Please "
                     "restore the metadata file or create a new checkpoint directory.",
                     layout_.root)
        .Param("checkpointLocation", layout_.root)
        .Path(layout_.metadata());
  }
  // Written by the first batch, before its offsets: a query that never ran leaves nothing behind.
  identity_.id = NewUuid();
  write_query_id_ = true;
  return Status::OK();
}

Status RunningQuery::MakeSink(const connector::Format& format) {
  const connector::SinkContext context{services_.file_system,    services_.clock,          options_.config,
                                       plan::OutputSchema(*options_.analyzed), options_.sink_options, options_.base_directory,
                                       services_.out};
  ARROW_ASSIGN_OR_RAISE(sink_, format.make_sink(context));
  return Status::OK();
}

Status RunningQuery::MakePlan() {
  const std::string provider = pinned_.config.Get(conf::kProviderClass);
  if (provider != kMemoryProvider) {
    return UserError("STATE_STORE_INVALID_PROVIDER", "The state store provider {} is not supported; {} is", provider, kMemoryProvider)
        .Param("inputClass", provider);
  }
  provider_ = state::MakeMemoryProvider(services_.file_system, layout_.state(), pinned_.config.GetDurationMs(conf::kMaintenanceInterval));
  ARROW_ASSIGN_OR_RAISE(const plan::PlanPtr optimized, plan::Optimize(options_.analyzed, pinned_.config));
  ARROW_ASSIGN_OR_RAISE(plan_, exec::MakeQueryPlan(optimized, options_.output_mode, pinned_.config, *provider_));
  return Status::OK();
}

Status RunningQuery::MakeSources() {
  int number = 0;
  for (const auto& table : plan_->sources()) {
    ARROW_ASSIGN_OR_RAISE(auto source, MakeSource(*table, layout_.source(number++)));
    sources_.push_back(std::move(source));
  }
  std::vector<std::unique_ptr<connector::Source>> static_sources;
  for (const auto& table : plan_->static_sources()) {
    // Read once from the beginning: such a source keeps no log.
    ARROW_ASSIGN_OR_RAISE(auto source, MakeSource(*table, fs::Join(layout_.root, "no-log")));
    static_sources.push_back(std::move(source));
  }
  plan_->UseStaticSources(std::move(static_sources));
  return Status::OK();
}

Result<std::unique_ptr<connector::Source>> RunningQuery::MakeSource(const plan::TableDescription& table, const std::string& metadata_path) {
  ARROW_ASSIGN_OR_RAISE(const connector::Format* format, services_.registry.Find(table.format));
  if (!format->make_source) {
    return UserError("_LEGACY_ERROR_TEMP_2049", "Data source {} does not support streamed reading.", table.format)
        .Param("className", table.format)
        .Param("operator", "reading");
  }
  return format->make_source({services_.file_system, services_.clock, pinned_.config, metadata_path, table.schema, table.options, options_.base_directory});
}

// What the sink has beyond our offsets, somebody else wrote; to take it for ours would leave rows out in silence.
Status RunningQuery::CheckSinkIsNotAhead() const {
  const int64_t first_new = restart_.next_batch_id + (restart_.rerun ? 1 : 0);
  ARROW_ASSIGN_OR_RAISE(const bool ahead, sink_->HasBatch(first_new));
  if (!ahead) return Status::OK();
  return UserError("TIDEMILL_SINK_AHEAD",
                   "{} has batch {} already, which this query has not come to. Its folder belongs to another query, or the checkpoint {} was removed "
                   "or replaced by an "
                   "older one since. Give the query a folder of its own, or bring back the checkpoint that belongs to this one.",
                   sink_->Description(), first_new, layout_.root)
      .Path(layout_.root);
}

Status RunningQuery::CheckRestart() const {
  ARROW_RETURN_NOT_OK(CheckSinkIsNotAhead());
  if (!restart_.latest) return Status::OK();
  const size_t logged = restart_.latest->offsets.size();
  if (logged != sources_.size()) {
    return UserError("",
                     "assertion failed: There are [{}] sources in the checkpoint offsets and now there are [{}] sources requested by the query. "
                     "Cannot continue. "
                     "Bring back the query that wrote {}, or start this one with a new checkpoint.",
                     logged, sources_.size(), layout_.root)
        .Path(layout_.offsets());
  }
  if (restart_.has_state_ids && !plan_->stateful_operators().empty()) {
    return UserError("STATE_STORE_CHECKPOINT_IDS_NOT_SUPPORTED",
                     "The checkpoint {} has state of checkpoint format 2 (unique ids in its commit log), which the state store provider {} cannot "
                     "read", layout_.root,
                     kMemoryProvider)
        .Path(layout_.commits());
  }
  return Status::OK();
}

void RunningQuery::MakeLoop() {
  std::vector<connector::Source*> sources;
  for (const auto& source : sources_) sources.push_back(source.get());
  loop_ = std::make_unique<MicroBatchLoop>(MicroBatchLoop::Parts{.identity = identity_,
                                                                 .plan = *plan_,
                                                                 .sources = std::move(sources),
                                                                 .sink = *sink_,
                                                                 .provider = plan_->stateful_operators().empty() ? nullptr : provider_.get(),
                                                                 .file_system = services_.file_system,
                                                                 .clock = services_.clock,
                                                                 .pool = services_.pool,
                                                                 .layout = layout_,
                                                                 .config = pinned_.config,
                                                                 .recorded = pinned_.recorded,
                                                                 .restart = restart_,
                                                                 .write_query_id = write_query_id_,
                                                                 .trigger = options_.trigger.kind,
                                                                 .log_schedule = options_.log_schedule});
}

}  // namespace tidemill::stream
