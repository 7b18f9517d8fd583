#pragma once

// One scripted case (README.md), run against the engine in this process.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/config.h"
#include "base/thread_pool.h"
#include "connector/registry.h"
#include "fs/file_system.h"
#include "plan/analyzer.h"
#include "query/catalog.h"
#include "stream/streaming_query.h"
#include "gated_clock.h"
#include "recording_sink.h"
#include "values.h"

namespace tidemill::semantics {

/// What all cases share.
struct Engine {
  fs::FileSystem& file_system;
  GatedClock& clock;
  ThreadPool& pool;
};

class CaseRun {
 public:
  /// `work`: an empty folder of its own.
  CaseRun(Engine engine, const Json& one, std::string work);

  /// Carry out the script. `{"runs": […], "facts": […]}`, as record.py makes it. A Status only for what this runner (not the engine) cannot do: NotImplemented
  /// names the feature, anything else is a fault of the script.
  Result<Json> Run();

 private:
  Status Perform(const Json& action);
  Status StartRun(const Json& spec);
  Status Add(const Json& views, const Json& action);
  bool WaitsForInput() const;
  Status Remove(const std::string& pattern);
  Status Await(const Json& limit);
  Status WaitForBatch(int64_t batch_id);
  Status StopRun();
  void AddList(const std::string& directory);
  void AddText(const std::string& file);
  /// A batch query over what the run wrote, as one pass of a streaming query over it.
  Status AddTable(const std::string& sql);
  Result<Json> ReadTable(const std::string& sql);

  Result<Config> MakeConfig(const Json& spec) const;
  Result<plan::PlanPtr> Build();
  Status AddInput(const std::string& name, const Json& spec);
  Status CheckInput(plan::TableDescription* input);
  Result<plan::PlanPtr> Step(const Json& step);
  Status StartQuery(plan::PlanPtr analyzed, const Json& spec);
  Status SetSink(const Json& spec, stream::QueryOptions* options);

  void Fail(const Status& status, const std::string& phase);
  void Collect();
  Json BatchToJson(const stream::Progress& progress) const;
  Json RowsOf(int64_t batch_id) const;
  Json& run() { return runs_.back(); }

  Engine engine_;
  const Json& case_;
  std::string work_;
  Cleaner cleaner_;
  Config config_;
  query::SessionCatalog catalog_;
  Json settings_;
  Json runs_ = Json::array();
  Json facts_ = Json::array();
  std::map<std::string, int> file_numbers_;
  std::set<int64_t> done_;
  bool callback_sink_ = false;
  type::Schema schema_;
  connector::Registry registry_;
  std::shared_ptr<Recording> recording_;
  std::unique_ptr<stream::StreamingQuery> query_;
  stream::Trigger trigger_;  // of the query
  std::string waits_for_;  // what the engine said it cannot do yet
};

}  // namespace tidemill::semantics
