#pragma once

// A session: runs the statements of a job in order and turns its queries into flows, checked in full before any of them starts.
//
//   query::Session session(options, registry, file_system, std::cout);
//   ARROW_ASSIGN_OR_RAISE(std::vector<query::Flow> flows, session.Plan(text));

#include <iosfwd>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/config.h"
#include "connector/registry.h"
#include "fs/file_system.h"
#include "query/catalog.h"
#include "sql/parser.h"
#include "stream/streaming_query.h"

namespace tidemill::query {

struct SessionOptions {
  Config config;                                ///< as the command line sets it; SET cannot change a key that is set here
  std::string base_directory;                   ///< relative paths of the job start here; absolute
  std::string job_path;                         ///< absolute; empty when the text is not a file
  std::string temporary_directory = "/tmp";
  std::optional<std::string> checkpoint;        ///< --checkpoint, absolute
  std::optional<stream::Trigger> trigger;       ///< --trigger; goes before the properties of a table
};

/// A query of the job, ready to start.
struct Flow {
  stream::QueryOptions query;
  expr::Origin origin;  ///< of its statement
};

class Session {
 public:
  /// The references outlive the session. `out` takes what SET without a value shows.
  Session(SessionOptions options, const connector::Registry& registry, fs::FileSystem& file_system, std::ostream& out);

  /// Run all statements of `text`: SET and definitions take effect, queries are analysed and returned in order.
  ///
  /// Nothing is read from or written to a data source or a checkpoint.
  /// Errors: those of the parser, the analyser and Spark's rules for streams, with "line" and "column" in the detail's parameters.
  Result<std::vector<Flow>> Plan(std::string_view text);

  const Config& config() const { return config_; }
  /// What the user should know, gathered by Plan(): keys that do nothing, properties without effect.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  Status Execute(const sql::Statement& statement, bool only_query, std::vector<Flow>* flows);
  Status Set(const sql::SetStatement& statement);
  Status CreateTable(const sql::CreateTableStatement& statement);
  Status CreateView(const sql::CreateViewStatement& statement);
  Result<Flow> PlanStreamingTable(const sql::CreateStreamingTableStatement& statement, bool only_query);
  Result<Flow> PlanConsoleQuery(const sql::QueryStatement& statement, bool only_query);

  /// Analyse a query that must read a stream, and check the options of its sources.
  Result<plan::PlanPtr> AnalyzeStream(const plan::PlanPtr& query);
  Status CheckSources(const plan::LogicalPlan& plan);
  /// Fill in what both kinds of query share: trigger, checkpoint, configuration.
  Status Finish(const std::string& name, plan::Options* properties, const connector::Format& format, bool only_query, stream::QueryOptions* query);

  SessionOptions options_;
  const connector::Registry& registry_;
  fs::FileSystem& file_system_;
  std::ostream& out_;
  Config config_;
  SessionCatalog catalog_;
  std::set<std::string> flow_names_;
  std::set<std::string> checkpoints_;  // of the flows
  std::vector<std::string> warnings_;
};

}  // namespace tidemill::query
