#include "query/session.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <ostream>
#include <utility>

#include "query/checkpoint_location.h"
#include "query/options.h"

namespace tidemill::query {

namespace {

const std::vector<std::string>& EngineOptions() {
  static const std::vector<std::string> names = {"path", "outputmode", "trigger", "checkpointlocation"};
  return names;
}

/// `status` pointing at `origin`, unless it points somewhere already.
Status At(const Status& status, const expr::Origin& origin) {
  const ErrorDetail* detail = ErrorDetail::Of(status);
  if (status.ok() || detail == nullptr || origin.line == 0 || detail->parameters.contains("line")) return status;
  auto placed = std::make_shared<ErrorDetail>(*detail);
  placed->parameters["line"] = std::to_string(origin.line);
  placed->parameters["column"] = std::to_string(origin.column);
  return Status(status.code(), status.message(), std::move(placed));
}

bool IsQuery(const sql::Statement& statement) {
  return std::holds_alternative<sql::CreateStreamingTableStatement>(statement.node) || std::holds_alternative<sql::QueryStatement>(statement.node);
}

}  // namespace

Session::Session(SessionOptions options, const connector::Registry& registry, fs::FileSystem& file_system, std::ostream& out)
    : options_(std::move(options)), registry_(registry), file_system_(file_system), out_(out), config_(options_.config) {}

Result<std::vector<Flow>> Session::Plan(std::string_view text) {
  ARROW_ASSIGN_OR_RAISE(const std::vector<sql::Statement> statements, sql::ParseScript(text));
  const bool only_query = std::count_if(statements.begin(), statements.end(), IsQuery) == 1;
  std::vector<Flow> flows;
  for (const sql::Statement& statement : statements) {
    ARROW_RETURN_NOT_OK(At(Execute(statement, only_query, &flows), statement.origin));
  }
  for (std::string& line : config_.Unknown()) warnings_.push_back(std::move(line));
  return flows;
}

Status Session::Execute(const sql::Statement& statement, bool only_query, std::vector<Flow>* flows) {
  if (const auto* set = std::get_if<sql::SetStatement>(&statement.node)) return Set(*set);
  if (const auto* table = std::get_if<sql::CreateTableStatement>(&statement.node)) return CreateTable(*table);
  if (const auto* view = std::get_if<sql::CreateViewStatement>(&statement.node)) return CreateView(*view);
  const auto* streaming_table = std::get_if<sql::CreateStreamingTableStatement>(&statement.node);
  ARROW_ASSIGN_OR_RAISE(Flow flow, streaming_table != nullptr ? PlanStreamingTable(*streaming_table, only_query)
                                                             : PlanConsoleQuery(std::get<sql::QueryStatement>(statement.node), only_query));
  flow.origin = statement.origin;
  flows->push_back(std::move(flow));
  return Status::OK();
}

Status Session::Set(const sql::SetStatement& statement) {
  if (!statement.value) {
    out_ << statement.key << '\t' << (config_.Get(statement.key).empty() ? "<undefined>" : config_.Get(statement.key)) << '\n';
    return Status::OK();
  }
  // The one who types the command sees more than the one who wrote the job: --set stays.
  if (options_.config.IsSet(statement.key)) {
    warnings_.push_back(fmt::format("SET without effect, the command line decides: {}", statement.key));
    return Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(config_, config_.With(statement.key, *statement.value));
  return Status::OK();
}

Status Session::CreateTable(const sql::CreateTableStatement& statement) {
  ARROW_ASSIGN_OR_RAISE(const connector::Format* format, registry_.Find(statement.format));
  const std::string name = DottedName(statement.name);
  if (!format->make_source) {
    return UserError("TIDEMILL_FORMAT_NOT_READABLE", "A table of this format can only be written: {} (table {})", statement.format, name);
  }
  ARROW_RETURN_NOT_OK(CheckOptions("table " + name, statement.options, *format, {"path"}, UnknownOption::kRefuse));
  plan::TableDescription table{name, statement.format, {}, statement.options, statement.temporary_view};
  ARROW_ASSIGN_OR_RAISE(table.schema, connector::ColumnsOf(*format, statement.options, statement.schema));
  if (table.schema.size() == 0) {
    return UserError("TIDEMILL_UNSUPPORTED_SYNTAX",
                     "{} has no list of columns, and inferring them from files is not supported yet: name them, as in {} (k STRING).", name, name);
  }
  if (statement.temporary_view) return catalog_.AddSourceView(statement.name, std::move(table), statement.or_replace);
  return catalog_.AddTable(statement.name, std::move(table), statement.if_not_exists);
}

Status Session::CreateView(const sql::CreateViewStatement& statement) {
  // Analysed here and not where it is used, so that an error points into the view's own text.
  ARROW_ASSIGN_OR_RAISE(plan::PlanPtr analyzed, plan::Analyze(statement.query, catalog_, config_));
  return catalog_.AddView(statement.name, std::move(analyzed), statement.or_replace);
}

Result<Flow> Session::PlanStreamingTable(const sql::CreateStreamingTableStatement& statement, bool only_query) {
  const std::string name = DottedName(statement.name);
  ARROW_ASSIGN_OR_RAISE(const connector::Format* format, registry_.Find(statement.format));
  if (!format->make_sink) {
    return UserError("TIDEMILL_FORMAT_NOT_WRITABLE", "A table of this format can only be read: {} (table {})", statement.format, name);
  }
  plan::Options properties = statement.properties;
  ARROW_ASSIGN_OR_RAISE(std::vector<std::string> notes,
                        CheckOptions("streaming table " + name, properties, *format, EngineOptions(),
                                     statement.has_options ? UnknownOption::kRefuse : UnknownOption::kRefuseIfClose));
  warnings_.insert(warnings_.end(), notes.begin(), notes.end());

  Flow flow;
  ARROW_ASSIGN_OR_RAISE(flow.query.analyzed, AnalyzeStream(statement.query));
  if (const auto mode = TakeOption(properties, "outputmode")) {
    ARROW_ASSIGN_OR_RAISE(flow.query.output_mode, plan::ParseOutputMode(*mode));
  }
  ARROW_RETURN_NOT_OK(plan::CheckStreaming(*flow.query.analyzed, flow.query.output_mode, config_));
  ARROW_RETURN_NOT_OK(plan::Optimize(flow.query.analyzed, config_).status());  // what no operator runs yet is said before anything starts
  if (format->needs_checkpoint) properties.try_emplace("path", fs::Join(config_.Get(conf::kWarehouseDir), statement.name.back()));
  flow.query.sink_format = statement.format;
  ARROW_RETURN_NOT_OK(Finish(statement.name.back(), &properties, *format, only_query, &flow.query));

  // Later statements may read what this one writes.
  plan::TableDescription table{name, statement.format, plan::OutputSchema(*flow.query.analyzed), {}, false};
  if (const auto path = properties.find("path"); path != properties.end()) table.options["path"] = path->second;
  ARROW_RETURN_NOT_OK(catalog_.AddTable(statement.name, std::move(table), statement.if_not_exists));
  return flow;
}

Result<Flow> Session::PlanConsoleQuery(const sql::QueryStatement& statement, bool only_query) {
  ARROW_ASSIGN_OR_RAISE(const connector::Format* format, registry_.Find("console"));
  Flow flow;
  ARROW_ASSIGN_OR_RAISE(flow.query.analyzed, AnalyzeStream(statement.query));
  // A bare query cannot say its mode. Append shows each row once; where Spark has no append for the plan, changed rows are shown.
  flow.query.output_mode = plan::OutputMode::kAppend;
  const Status append = plan::CheckStreaming(*flow.query.analyzed, plan::OutputMode::kAppend, config_);
  if (!append.ok()) {
    if (!plan::CheckStreaming(*flow.query.analyzed, plan::OutputMode::kUpdate, config_).ok()) return append;
    flow.query.output_mode = plan::OutputMode::kUpdate;
  }
  ARROW_RETURN_NOT_OK(plan::Optimize(flow.query.analyzed, config_).status());
  flow.query.sink_format = "console";
  plan::Options properties;
  const std::string name = flow_names_.empty() ? "query" : fmt::format("query{}", flow_names_.size() + 1);
  ARROW_RETURN_NOT_OK(Finish(name, &properties, *format, only_query, &flow.query));
  return flow;
}

Result<plan::PlanPtr> Session::AnalyzeStream(const plan::PlanPtr& query) {
  ARROW_ASSIGN_OR_RAISE(plan::PlanPtr analyzed, plan::Analyze(query, catalog_, config_));
  if (!plan::IsStreaming(*analyzed)) {
    return UserError("TIDEMILL_UNSUPPORTED_BATCH_QUERY",
                     "Queries that read no stream are not supported yet; read a table as a stream with FROM STREAM and its name");
  }
  ARROW_RETURN_NOT_OK(CheckSources(*analyzed));
  return analyzed;
}

Status Session::CheckSources(const plan::LogicalPlan& plan) {
  if (plan.kind == plan::PlanKind::kRelation && plan.table != nullptr) {
    ARROW_ASSIGN_OR_RAISE(const connector::Format* format, registry_.Find(plan.table->format));
    if (!format->make_source) {
      return UserError("TIDEMILL_FORMAT_NOT_READABLE", "A table of this format can only be written: {} (table {})", plan.table->format, plan.table->name);
    }
    ARROW_RETURN_NOT_OK(CheckOptions("table " + plan.table->name, plan.table->options, *format, {"path"}, UnknownOption::kRefuse));
  }
  for (const plan::PlanPtr& child : plan.children) ARROW_RETURN_NOT_OK(CheckSources(*child));
  return Status::OK();
}

Status Session::Finish(const std::string& name, plan::Options* properties, const connector::Format& format, bool only_query,
                       stream::QueryOptions* query) {
  if (!flow_names_.insert(name).second) {
    return UserError("PIPELINE_DUPLICATE_IDENTIFIERS.FLOW", "Two queries of the job have the same name: {}", name).Param("flowName", name);
  }
  query->name = name;
  query->config = config_;
  query->base_directory = options_.base_directory;

  // A job ends when its input does, as a flow of a Spark pipeline; a service says how often it looks.
  query->trigger = {stream::TriggerKind::kAvailableNow, 0};
  if (const auto text = TakeOption(*properties, "trigger")) {
    ARROW_ASSIGN_OR_RAISE(query->trigger, stream::ParseTrigger(*text));
  }
  if (options_.trigger) query->trigger = *options_.trigger;

  CheckpointRequest request;
  request.flag = options_.checkpoint;
  if (const auto property = TakeOption(*properties, "checkpointlocation")) {
    ARROW_ASSIGN_OR_RAISE(request.property, fs::LocalPath(*property, options_.base_directory));
  }
  if (const std::string setting = config_.Get(conf::kCheckpointLocation); !setting.empty()) {
    ARROW_ASSIGN_OR_RAISE(request.setting, fs::LocalPath(setting, options_.base_directory));
  }
  request.job_path = options_.job_path;
  request.temporary_directory = options_.temporary_directory;
  request.table = name;
  request.flow = name;
  request.only_query = only_query;
  request.needs_checkpoint = format.needs_checkpoint;
  ARROW_ASSIGN_OR_RAISE(const CheckpointLocation location, LocateCheckpoint(request, file_system_));
  if (!checkpoints_.insert(location.path).second) {
    return UserError("TIDEMILL_CHECKPOINT_SHARED", "Two queries of the job have the same checkpoint {}; {} needs one of its own.", location.path, name)
        .Path(location.path);
  }
  query->checkpoint = location.path;
  query->temporary_checkpoint = location.temporary;
  query->sink_options = *properties;
  return Status::OK();
}

}  // namespace tidemill::query
