#include "case_run.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <regex>
#include <sstream>
#include <thread>

#include "connector/console/console_sink.h"
#include "connector/file/file_format.h"
#include "connector/rate/rate_formats.h"
#include "expr/function/resolve.h"
#include "expr/interval.h"
#include "sql/parser.h"

namespace tidemill::semantics {

namespace {

// 2024-01-01T00:00:00Z: modification time of the first input file of a case, in seconds.
constexpr int64_t kFileEpoch = 1704067200;
// A query that neither finishes nor fails is given up after this long.
constexpr auto kPatience = std::chrono::seconds(60);

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string ReplaceWork(std::string text, const std::string& work) {
  static const std::string kMark = "<work>";
  for (size_t at = text.find(kMark); at != std::string::npos; at = text.find(kMark, at)) text.replace(at, kMark.size(), work);
  return text;
}

// Options of a reader or writer: keys in lower case; booleans and numbers as text.
std::map<std::string, std::string> Options(const Json& given, const std::string& work) {
  std::map<std::string, std::string> options;
  for (const auto& [key, value] : given.items()) {
    options[Lower(key)] = ReplaceWork(value.is_string() ? value.get<std::string>() : value.dump(), work);
  }
  return options;
}

std::optional<std::string> ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// What a Spark client checks before the engine sees a trigger is not the engine's: only one kind, and a text in it.
Result<stream::Trigger> MakeTrigger(const Json& spec) {
  if (spec.is_null()) return stream::Trigger{};
  if (spec.size() != 1) return Status::NotImplemented("argument checks of the Python client");
  if (spec.contains("once")) return stream::ParseTrigger("once");
  if (spec.contains("availableNow")) return stream::ParseTrigger("available-now");
  if (spec.contains("continuous")) return Status::NotImplemented("continuous processing");
  const std::string interval = spec["processingTime"];
  if (interval.find_first_not_of(' ') == std::string::npos) return Status::NotImplemented("argument checks of the Python client");
  return stream::ParseTrigger(interval);
}

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

Json ParseOffset(const std::optional<std::string>& text) {
  return text ? Json::parse(*text, nullptr, false) : Json();
}

Json OperatorToJson(const exec::OperatorMetrics& metrics) {
  return {{"name", metrics.name},
          {"total", metrics.rows_total},
          {"updated", metrics.rows_updated},
          {"removed", metrics.rows_removed},
          {"dropped", metrics.rows_dropped_by_watermark},
          {"partitions", metrics.partitions},
          {"stores", metrics.stores}};
}

}  // namespace

CaseRun::CaseRun(Engine engine, const Json& one, std::string work)
    : engine_(engine), case_(one), work_(std::move(work)), cleaner_(work_) {
  std::filesystem::create_directories(work_ + "/out");
  for (const auto& view : case_["views"].items()) std::filesystem::create_directories(work_ + "/in/" + view.key());
}

Result<Json> CaseRun::Run() {
  for (const Json& action : case_["script"]) {
    ARROW_RETURN_NOT_OK(Perform(action));
    if (!waits_for_.empty()) return Status::NotImplemented(waits_for_);
  }
  if (query_ != nullptr) {
    Collect();
    query_.reset();
  }
  if (case_.contains("limitBatches")) {  // sources that never run dry: the first batches only
    const size_t limit = case_["limitBatches"];
    for (Json& run : runs_) {
      Json& batches = run["batches"];
      if (batches.size() > limit) batches.erase(batches.begin() + static_cast<std::ptrdiff_t>(limit), batches.end());
    }
  }
  Json found = {{"runs", runs_}};
  if (!facts_.empty()) found["facts"] = facts_;
  return found;
}

Status CaseRun::Perform(const Json& action) {
  if (action.contains("start")) return StartRun(action["start"].is_null() ? Json::object() : action["start"]);
  if (action.contains("add")) return Add(action["add"], action);
  if (action.contains("process")) {
    if (query_ == nullptr) return Status::OK();
    const Status status = query_->ProcessAllAvailable();
    if (!status.ok()) Fail(status, "run");
    Collect();
    return Status::OK();
  }
  if (action.contains("await")) return Await(action["await"]);
  if (action.contains("waitBatches")) return WaitForBatch(action["waitBatches"]);
  if (action.contains("stop")) return StopRun();
  if (action.contains("remove")) return Remove(action["remove"]);
  if (action.contains("list")) {
    AddList(action["list"]);
    return Status::OK();
  }
  if (action.contains("read")) {
    AddText(action["read"]);
    return Status::OK();
  }
  if (action.contains("table")) return AddTable(action["table"]);
  // Waiting gives background work of Spark time; ours is done before a query ends.
  if (action.contains("sleep")) return Status::OK();
  return Status::Invalid("unknown action ", action.dump());
}

// ---------------------------------------------------------------- building and starting

Result<Config> CaseRun::MakeConfig(const Json& spec) const {
  Config config;
  Json conf = {{"spark.sql.session.timeZone", "UTC"}, {"spark.sql.shuffle.partitions", "2"}};
  conf.update(case_.value("conf", Json::object()));
  conf.update(spec.value("conf", Json::object()));
  // Nothing here outlives the process.
  conf["tidemill.checkpoint.sync"] = "false";
  for (const auto& [key, value] : conf.items()) {
    ARROW_ASSIGN_OR_RAISE(config, config.With(key, value.is_string() ? value.get<std::string>() : value.dump()));
  }
  return config;
}

Status CaseRun::StartRun(const Json& spec) {
  settings_ = Json::object();
  for (const char* key : {"plan", "outputMode", "sink", "trigger", "options"}) settings_[key] = spec.value(key, case_.value(key, Json()));
  if (settings_["sink"].is_null()) settings_["sink"] = "foreachBatch";
  callback_sink_ = settings_["sink"] == "foreachBatch";
  runs_.push_back({{"batches", Json::array()}});
  done_.clear();
  catalog_ = query::SessionCatalog();
  registry_ = connector::Registry();
  connector::RegisterFileFormats(registry_);
  connector::RegisterConsoleFormats(registry_);
  connector::RegisterRateFormats(registry_);

  const auto config = MakeConfig(spec);
  if (!config.ok()) {
    Fail(config.status(), "build");
    return Status::OK();
  }
  config_ = *config;
  const auto analyzed = Build();
  if (analyzed.status().IsNotImplemented()) return analyzed.status();
  if (!analyzed.ok()) {
    Fail(analyzed.status(), "build");
    return Status::OK();
  }
  schema_ = plan::OutputSchema(**analyzed);
  run()["schema"] = SchemaToJson(schema_);
  const Status started = StartQuery(*analyzed, spec);
  if (started.IsNotImplemented()) return started;
  if (!started.ok()) Fail(started, "start");
  return Status::OK();
}

Result<plan::PlanPtr> CaseRun::Build() {
  for (const auto& [name, spec] : case_["views"].items()) ARROW_RETURN_NOT_OK(AddInput(name, spec));
  plan::PlanPtr last;
  for (const Json& step : settings_["plan"]) {
    ARROW_ASSIGN_OR_RAISE(last, Step(step));
    if (step.contains("as")) ARROW_RETURN_NOT_OK(catalog_.AddView({step["as"].get<std::string>()}, last, true));
  }
  return last;
}

Status CaseRun::AddInput(const std::string& name, const Json& spec) {
  const std::string kind = spec.value("type", "files");
  plan::TableDescription table;
  table.name = name;
  table.format = spec.value("format", "json");
  table.options = Options(spec.value("options", Json::object()), work_);
  table.is_streaming_view = kind != "static";
  if (spec.contains("schema") && spec["schema"].is_string()) {
    ARROW_ASSIGN_OR_RAISE(table.schema, type::ParseDdl(spec["schema"].get<std::string>()));
  }
  if (kind == "static") {
    table.options["path"] = work_ + "/static/" + name;
    std::filesystem::create_directories(table.options["path"]);
    std::ofstream file(table.options["path"] + "/rows.json", std::ios::binary);
    for (const Json& row : spec.value("rows", Json::array())) file << row.dump() << "\n";
  }
  if (kind == "files") table.options["path"] = work_ + "/in/" + name + "/" + spec.value("glob", "");
  ARROW_RETURN_NOT_OK(CheckInput(&table));
  return catalog_.AddSourceView({name}, std::move(table), true);
}

// Spark makes a source once when a DataFrame is loaded, so that a wrong format or path shows before anything starts.
Status CaseRun::CheckInput(plan::TableDescription* input) {
  plan::TableDescription& table = *input;
  ARROW_ASSIGN_OR_RAISE(const connector::Format* format, registry_.Find(table.format));
  if (!format->make_source) {
    return UserError("_LEGACY_ERROR_TEMP_2049", "Data source {} does not support streamed reading.", table.format)
        .Param("className", table.format)
        .Param("operator", "reading");
  }
  ARROW_ASSIGN_OR_RAISE(table.schema, connector::ColumnsOf(*format, table.options, table.schema));
  const connector::SourceContext context{engine_.file_system, engine_.clock, config_, work_ + "/.load/" + table.name, table.schema, table.options, work_};
  return format->make_source(context).status();
}

Result<plan::PlanPtr> CaseRun::Step(const Json& step) {
  if (step.contains("sql")) {
    ARROW_ASSIGN_OR_RAISE(plan::PlanPtr parsed, sql::ParseQuery(step["sql"].get<std::string>()));
    return plan::Analyze(parsed, catalog_, config_);
  }
  if (step.contains("withWatermark")) {
    plan::PlanPtr input = plan::UnresolvedRelation({step["from"].get<std::string>()}, false);
    const std::string column = step["withWatermark"][0], delay = step["withWatermark"][1];
    bool has_months = false;
    ARROW_ASSIGN_OR_RAISE(const int64_t micros, expr::ParseIntervalMicros(delay, &has_months));
    return plan::Analyze(plan::Watermark(input, expr::UnresolvedAttribute({column}), micros / 1000, delay), catalog_, config_);
  }
  for (const auto& member : step.items()) {
    if (member.key() != "from" && member.key() != "as") return Status::NotImplemented(member.key());
  }
  return Status::Invalid("a plan step without content: ", step.dump());
}

Status CaseRun::StartQuery(plan::PlanPtr analyzed, const Json& spec) {
  stream::QueryOptions options;
  options.name = case_.value("queryName", "");
  if (!case_.value("noCheckpoint", false)) options.checkpoint = work_ + "/ckpt";
  options.analyzed = std::move(analyzed);
  if (settings_["outputMode"].is_string()) {
    ARROW_ASSIGN_OR_RAISE(options.output_mode, plan::ParseOutputMode(settings_["outputMode"].get<std::string>()));
  }
  ARROW_ASSIGN_OR_RAISE(trigger_, MakeTrigger(settings_["trigger"]));
  options.trigger = trigger_;
  options.sink_options = Options(settings_["options"].is_null() ? Json::object() : settings_["options"], work_);
  options.base_directory = work_;
  options.config = config_;
  ARROW_RETURN_NOT_OK(SetSink(spec, &options));
  stream::QueryServices services{engine_.file_system, engine_.clock, engine_.pool, registry_, std::cerr};
  ARROW_ASSIGN_OR_RAISE(query_, stream::StreamingQuery::Start(std::move(options), services));
  return Status::OK();
}

Status CaseRun::SetSink(const Json& spec, stream::QueryOptions* options) {
  const Json& sink = settings_["sink"];
  if (sink == "memory") return Status::NotImplemented("the memory sink");
  if (sink.is_object()) {
    if (sink.contains("partitionBy")) return Status::NotImplemented("partitionBy of the file sink");
    options->sink_format = sink["format"];
    return Status::OK();
  }
  options->sink_format = sink;
  if (!callback_sink_) return Status::OK();
  std::optional<int64_t> fail_on;
  if (spec.contains("failOnBatch")) fail_on = spec["failOnBatch"].get<int64_t>();
  recording_ = std::make_shared<Recording>(fail_on);
  registry_.Add("foreachBatch", RecordingFormat(recording_));
  return Status::OK();
}

// ---------------------------------------------------------------- actions

Status CaseRun::Add(const Json& views, const Json& action) {
  std::vector<std::pair<std::string, std::string>> ready;
  for (const auto& [view, rows] : views.items()) {
    const int number = file_numbers_[view]++;
    const std::string name = action.value("name", fmt::format("f{:03d}.json", number));
    const std::string path = work_ + "/in/" + view + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    const std::string hidden = fmt::format("{}/.new-{}-{}", work_, view, number);
    std::ofstream file(hidden, std::ios::binary);
    for (const Json& row : rows) file << (row.is_string() ? row.get<std::string>() : row.dump()) << "\n";
    if (rows.empty()) file << "\n";
    file.close();
    if (!file) return Status::IOError("cannot write ", hidden);
    const int64_t seconds = kFileEpoch + (action.contains("mtime") ? action["mtime"].get<int64_t>() : 10 * number);
    const timespec times[2] = {{seconds, 0}, {seconds, 0}};
    if (utimensat(AT_FDCWD, hidden.c_str(), times, 0) != 0) return Status::IOError("cannot set the time of ", hidden);
    ready.emplace_back(hidden, path);
  }
  engine_.clock.WhileWaiting([this] { return WaitsForInput(); }, [&] {
    for (const auto& [hidden, path] : ready) std::filesystem::rename(hidden, path);
  });
  return Status::OK();
}

bool CaseRun::WaitsForInput() const {
  return query_ != nullptr && query_->is_active() && trigger_.kind == stream::TriggerKind::kProcessingTime;
}

Status CaseRun::Remove(const std::string& pattern) {
  glob_t found{};
  const int outcome = glob((work_ + "/" + pattern).c_str(), 0, nullptr, &found);
  const std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + (outcome == 0 ? found.gl_pathc : 0));
  globfree(&found);
  for (const std::string& path : paths) std::filesystem::remove_all(path);
  return Status::OK();
}

Status CaseRun::Await(const Json& limit) {
  if (query_ == nullptr) return Status::OK();
  const auto patience = limit.is_number() ? std::chrono::duration<double>(limit.get<double>()) : std::chrono::duration<double>(kPatience);
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (query_->is_active() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (query_->is_active()) {
    run()["stillRunning"] = true;
  } else {
    const Status status = query_->AwaitTermination();
    if (!status.ok()) Fail(status, "run");
  }
  Collect();
  return Status::OK();
}

Status CaseRun::WaitForBatch(int64_t batch_id) {
  const auto finished = [&] {
    const auto progress = query_->recent_progress();
    return !progress.empty() && progress.back().batch_id >= batch_id && progress.back().executed;
  };
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (query_ != nullptr && query_->is_active() && !finished() && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  Collect();
  return Status::OK();
}

Status CaseRun::StopRun() {
  if (query_ == nullptr) return Status::OK();
  query_->StopNow();
  const Status status = query_->AwaitTermination();
  Collect();
  if (!status.ok()) Fail(status, "run");
  query_.reset();
  return Status::OK();
}

void CaseRun::AddList(const std::string& directory) {
  std::vector<std::string> files;
  const std::filesystem::path top = work_ + "/" + directory;
  std::error_code missing;
  for (std::filesystem::recursive_directory_iterator it(top, missing), end; !missing && it != end; it.increment(missing)) {
    if (!it->is_directory() && it->path().extension() != ".crc") {
      files.push_back(cleaner_.Clean(std::filesystem::relative(it->path(), top).string()));
    }
  }
  std::sort(files.begin(), files.end());
  facts_.push_back({{"list", directory}, {"files", files}});
}

void CaseRun::AddText(const std::string& file) {
  const auto text = ReadText(work_ + "/" + file);
  facts_.push_back({{"read", file}, {"text", text ? Json(cleaner_.Clean(*text)) : Json()}});
}

Status CaseRun::AddTable(const std::string& sql) {
  ARROW_ASSIGN_OR_RAISE(Json rows, ReadTable(sql));
  facts_.push_back({{"table", sql}, {"rows", std::move(rows)}});
  return Status::OK();
}

Result<Json> CaseRun::ReadTable(const std::string& sql) {
  // json.`<path>` names a folder; its columns are those of the run that wrote it.
  static const std::regex kFolder("json\\.`([^`]*)`");
  std::smatch folder;
  if (!std::regex_search(sql, folder, kFolder)) return Status::NotImplemented("the memory sink");
  query::SessionCatalog catalog;
  plan::TableDescription table{"written", "json", schema_, {{"path", ReplaceWork(folder[1], work_)}}, true};
  ARROW_RETURN_NOT_OK(catalog.AddSourceView({"written"}, std::move(table), true));
  ARROW_ASSIGN_OR_RAISE(const plan::PlanPtr parsed, sql::ParseQuery(std::regex_replace(sql, kFolder, "written")));

  stream::QueryOptions options;
  ARROW_ASSIGN_OR_RAISE(options.analyzed, plan::Analyze(parsed, catalog, config_));
  options.checkpoint = fmt::format("{}/.table-{}", work_, facts_.size());
  options.output_mode = plan::OutputMode::kUpdate;
  options.trigger = {stream::TriggerKind::kAvailableNow, 0};
  options.sink_format = "table";
  options.base_directory = work_;
  options.config = config_;
  auto recording = std::make_shared<Recording>(std::nullopt);
  connector::Registry registry = registry_;
  registry.Add("table", RecordingFormat(recording));
  const type::Schema schema = plan::OutputSchema(*options.analyzed);
  ARROW_ASSIGN_OR_RAISE(const auto query, stream::StreamingQuery::Start(
                                              std::move(options), {engine_.file_system, engine_.clock, engine_.pool, registry, std::cerr}));
  ARROW_RETURN_NOT_OK(query->AwaitTermination());
  Json rows = Json::array();
  for (const auto& batch : recording->RowsOf(0).value_or(std::vector<std::shared_ptr<arrow::RecordBatch>>{})) AppendRows(*batch, schema, &rows);
  std::vector<Json> sorted(rows.begin(), rows.end());
  std::sort(sorted.begin(), sorted.end(), [](const Json& a, const Json& b) { return a.dump() < b.dump(); });
  return Json(sorted);
}

// ---------------------------------------------------------------- results

void CaseRun::Fail(const Status& status, const std::string& phase) {
  if (run().contains("error")) return;
  if (const ErrorDetail* detail = ErrorDetail::Of(status)) {
    const auto inner = detail->parameters.find("innerCondition");
    const std::string& condition = inner != detail->parameters.end() ? inner->second : detail->condition;
    if (condition.starts_with("TIDEMILL_UNSUPPORTED")) waits_for_ = FirstLine(status.message());
  }
  run()["error"] = cleaner_.Clean(ErrorToJson(status, phase, callback_sink_));
}

void CaseRun::Collect() {
  if (query_ == nullptr) return;
  for (const stream::Progress& progress : query_->recent_progress()) {
    if (progress.executed && done_.insert(progress.batch_id).second) run()["batches"].push_back(BatchToJson(progress));
  }
}

Json CaseRun::BatchToJson(const stream::Progress& progress) const {
  bool no_data = true;
  Json input_rows = Json::array(), offsets = Json::array();
  for (const stream::SourceProgress& source : progress.sources) {
    const Json start = ParseOffset(source.start_offset), end = ParseOffset(source.end_offset);
    no_data = no_data && !start.is_null() && start == end;
    input_rows.push_back(source.input_rows);
    offsets.push_back(Json::array({start, end, ParseOffset(source.latest_offset)}));
  }
  Json batch = {{"batchId", progress.batch_id}, {"noData", no_data}, {"inputRows", input_rows}};
  const Json rows = RowsOf(progress.batch_id);
  if (!rows.is_null()) batch["rows"] = rows;
  if (case_.value("offsets", false)) batch["offsets"] = offsets;
  if (!progress.event_time.empty()) batch["eventTime"] = progress.event_time;
  if (const auto commit = ReadText(fmt::format("{}/ckpt/commits/{}", work_, progress.batch_id))) {
    const Json entry = Json::parse(commit->substr(commit->find('\n') + 1), nullptr, false);
    if (entry.contains("nextBatchWatermarkMs")) batch["watermarkAfterMs"] = entry["nextBatchWatermarkMs"];
  }
  for (const exec::OperatorMetrics& metrics : progress.operators) batch["operators"].push_back(OperatorToJson(metrics));
  if (progress.sink_output_rows != -1) batch["outputRows"] = progress.sink_output_rows;
  return batch;
}

Json CaseRun::RowsOf(int64_t batch_id) const {
  const auto batches = callback_sink_ && recording_ != nullptr ? recording_->RowsOf(batch_id) : std::nullopt;
  if (!batches) return nullptr;
  Json rows = Json::array();
  for (const auto& batch : *batches) AppendRows(*batch, schema_, &rows);
  return rows;
}

}  // namespace tidemill::semantics
