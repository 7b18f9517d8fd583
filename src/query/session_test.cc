#include "query/session.h"

#include <gtest/gtest.h>

#include <memory>
#include <sstream>

#include "fs/local_file_system.h"

namespace tidemill::query {
namespace {

/// Formats that are never opened: a session only plans.
connector::Registry PlanningRegistry() {
  const auto no_source = [](const connector::SourceContext&) -> Result<std::unique_ptr<connector::Source>> {
    return InternalError("planning opened a source");
  };
  const auto no_sink = [](const connector::SinkContext&) -> Result<std::unique_ptr<connector::Sink>> {
    return InternalError("planning opened a sink");
  };
  connector::Registry registry;
  connector::Format json;
  json.make_source = no_source;
  json.make_sink = no_sink;
  json.known_options = {"path", "maxfilespertrigger"};
  json.append_only = true;
  registry.Add("json", json);
  connector::Format console;
  console.make_sink = no_sink;
  console.known_options = {"numrows", "truncate"};
  console.needs_checkpoint = false;
  registry.Add("console", console);
  return registry;
}

constexpr char kTable[] = "CREATE TABLE e (ts TIMESTAMP, k STRING, v INT) USING json OPTIONS (path 'in');\n";

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() {
    options_.base_directory = "/jobs";
    options_.job_path = "/jobs/job.sql";
  }

  Result<std::vector<Flow>> Plan(const std::string& text) {
    session_ = std::make_unique<Session>(options_, registry_, *file_system_, out_);
    return session_->Plan(text);
  }
  /// The condition that `text` is refused with, or "accepted".
  std::string Refusal(const std::string& text) {
    const auto flows = Plan(text);
    if (flows.ok()) return "accepted";
    const ErrorDetail* detail = ErrorDetail::Of(flows.status());
    return detail == nullptr ? flows.status().ToString() : detail->condition;
  }

  SessionOptions options_;
  connector::Registry registry_ = PlanningRegistry();
  std::unique_ptr<fs::SystemCalls> calls_ = fs::MakePosixCalls();
  std::unique_ptr<fs::FileSystem> file_system_ = fs::MakeLocalFileSystem(*calls_);
  std::ostringstream out_;
  std::unique_ptr<Session> session_;
};

TEST_F(SessionTest, PlansAStreamingTable) {
  const auto flows = Plan(std::string(kTable) +
                          "CREATE STREAMING TABLE c USING json OPTIONS (path 'out', outputMode 'append', trigger '10 seconds', checkpointLocation 'ck') "
                          "AS SELECT k, v FROM STREAM e");
  ASSERT_TRUE(flows.ok()) << flows.status();
  ASSERT_EQ(flows->size(), 1u);
  const stream::QueryOptions& query = flows->front().query;
  EXPECT_EQ(query.name, "c");
  EXPECT_EQ(query.sink_format, "json");
  EXPECT_EQ(query.output_mode, plan::OutputMode::kAppend);
  EXPECT_EQ(query.trigger.kind, stream::TriggerKind::kProcessingTime);
  EXPECT_EQ(query.trigger.interval_ms, 10'000);
  EXPECT_EQ(query.checkpoint, "/jobs/ck");
  EXPECT_EQ(query.base_directory, "/jobs");
  EXPECT_EQ(query.sink_options, (std::map<std::string, std::string>{{"path", "out"}}));
  EXPECT_EQ(flows->front().origin.line, 2);
}

TEST_F(SessionTest, EndsWithItsInputAndKeepsItsStateBesideTheJobUnlessTold) {
  const auto flows = Plan(std::string(kTable) + "CREATE STREAMING TABLE c USING json AS SELECT k FROM STREAM e");
  ASSERT_TRUE(flows.ok()) << flows.status();
  const stream::QueryOptions& query = flows->front().query;
  EXPECT_EQ(query.trigger.kind, stream::TriggerKind::kAvailableNow);
  EXPECT_EQ(query.checkpoint, "/jobs/job.checkpoint/c/c");
  EXPECT_EQ(query.sink_options.at("path"), "spark-warehouse/c");
}

TEST_F(SessionTest, CommandLineGoesBeforeTheJob) {
  options_.trigger = stream::Trigger{stream::TriggerKind::kOnce, 0};
  options_.config = options_.config.With("spark.sql.shuffle.partitions", "3").ValueOrDie();
  const auto flows = Plan(std::string(kTable) + "SET spark.sql.shuffle.partitions = 5;\n"
                          "CREATE STREAMING TABLE c USING json TBLPROPERTIES ('trigger' = '1 minute') AS SELECT k FROM STREAM e");
  ASSERT_TRUE(flows.ok()) << flows.status();
  EXPECT_EQ(flows->front().query.trigger.kind, stream::TriggerKind::kOnce);
  EXPECT_EQ(flows->front().query.config.GetInt("spark.sql.shuffle.partitions"), 3);
  ASSERT_EQ(session_->warnings().size(), 1u);
}

TEST_F(SessionTest, AQueryTakesTheConfigurationOfItsPlaceInTheJob) {
  const auto flows = Plan(std::string(kTable) +
                          "SET spark.sql.shuffle.partitions = 5;\nCREATE STREAMING TABLE a USING json AS SELECT k FROM STREAM e;\n"
                          "SET spark.sql.shuffle.partitions = 6;\nCREATE STREAMING TABLE b USING json AS SELECT k FROM STREAM e");
  ASSERT_TRUE(flows.ok()) << flows.status();
  ASSERT_EQ(flows->size(), 2u);
  EXPECT_EQ((*flows)[0].query.config.GetInt("spark.sql.shuffle.partitions"), 5);
  EXPECT_EQ((*flows)[1].query.config.GetInt("spark.sql.shuffle.partitions"), 6);
}

TEST_F(SessionTest, SetWithoutValueShowsIt) {
  ASSERT_TRUE(Plan("SET spark.sql.shuffle.partitions = 7; SET spark.sql.shuffle.partitions").ok());
  EXPECT_EQ(out_.str(), "spark.sql.shuffle.partitions\t7\n");
}

TEST_F(SessionTest, ABareQueryGoesToTheConsole) {
  const auto flows = Plan(std::string(kTable) + "SELECT k FROM STREAM e; SELECT k, count(*) AS n FROM STREAM e GROUP BY k");
  ASSERT_TRUE(flows.ok()) << flows.status();
  ASSERT_EQ(flows->size(), 2u);
  EXPECT_EQ((*flows)[0].query.sink_format, "console");
  EXPECT_EQ((*flows)[0].query.output_mode, plan::OutputMode::kAppend);
  EXPECT_TRUE((*flows)[0].query.temporary_checkpoint);
  // Spark has no append for an aggregate without a watermark.
  EXPECT_EQ((*flows)[1].query.output_mode, plan::OutputMode::kUpdate);
}

TEST_F(SessionTest, ALaterQueryReadsWhatAnEarlierOneWrites) {
  const auto flows = Plan(std::string(kTable) +
                          "CREATE STREAMING TABLE a USING json TBLPROPERTIES ('path' = 'a') AS SELECT k AS key FROM STREAM e;\n"
                          "CREATE STREAMING TABLE b USING json TBLPROPERTIES ('path' = 'b') AS SELECT upper(key) AS u FROM STREAM a");
  ASSERT_TRUE(flows.ok()) << flows.status();
  EXPECT_EQ(flows->size(), 2u);
}

TEST_F(SessionTest, RefusesWithTheConditionThatBelongsToIt) {
  const std::string table(kTable);
  EXPECT_EQ(Refusal("SELEC 1"), "PARSE_SYNTAX_ERROR");
  EXPECT_EQ(Refusal(table + "SELECT k FROM e"), "TIDEMILL_UNSUPPORTED_BATCH_QUERY");
  EXPECT_EQ(Refusal(table + "SELECT nothing FROM STREAM e"), "UNRESOLVED_COLUMN.WITH_SUGGESTION");
  EXPECT_EQ(Refusal("CREATE TABLE t (k STRING) USING jsn OPTIONS (path 'in')"), "DATA_SOURCE_NOT_FOUND");
  EXPECT_EQ(Refusal("CREATE TABLE t (k STRING) USING json OPTIONS (pth 'in')"), "TIDEMILL_UNKNOWN_OPTION");
  EXPECT_EQ(Refusal("CREATE TABLE t (k STRING) USING console"), "TIDEMILL_FORMAT_NOT_READABLE");
  EXPECT_EQ(Refusal(table + "CREATE STREAMING TABLE c USING json TBLPROPERTIES ('outputMod' = 'update') AS SELECT k FROM STREAM e"),
            "TIDEMILL_UNKNOWN_OPTION");
  EXPECT_EQ(Refusal(table + table), "TABLE_OR_VIEW_ALREADY_EXISTS");
}

TEST_F(SessionTest, AnErrorPointsAtItsStatement) {
  const auto flows = Plan(std::string(kTable) + "CREATE STREAMING TABLE c USING json OPTIONS (pth 'x') AS SELECT k FROM STREAM e");
  ASSERT_FALSE(flows.ok());
  const ErrorDetail* detail = ErrorDetail::Of(flows.status());
  ASSERT_NE(detail, nullptr);
  EXPECT_EQ(detail->parameters.at("line"), "2");
}

TEST_F(SessionTest, WithoutAJobFileAFileSinkNeedsACheckpoint) {
  options_.job_path.clear();
  const std::string query = std::string(kTable) + "CREATE STREAMING TABLE c USING json AS SELECT k FROM STREAM e";
  EXPECT_EQ(Refusal(query), "TIDEMILL_CHECKPOINT_REQUIRED");
  options_.checkpoint = "/state";
  const auto flows = Plan(query);
  ASSERT_TRUE(flows.ok()) << flows.status();
  EXPECT_EQ(flows->front().query.checkpoint, "/state/c/c");
}

}  // namespace
}  // namespace tidemill::query
