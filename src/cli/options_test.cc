#include "cli/options.h"

#include <gtest/gtest.h>

#include <vector>

namespace tidemill::cli {
namespace {

CommandLine Parse(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "tidemill");
  return ParseCommandLine(static_cast<int>(arguments.size()), arguments.data(), "1.2.3");
}

int ExitCodeOf(std::vector<const char*> arguments) {
  const CommandLine line = Parse(std::move(arguments));
  const auto* finished = std::get_if<Finished>(&line);
  return finished == nullptr ? -1 : finished->exit_code;
}

TEST(OptionsTest, ReadsARun) {
  const CommandLine line = Parse({"run", "job.sql", "--checkpoint", "ck", "--trigger", "10 seconds", "--set", "spark.sql.shuffle.partitions=3", "--set",
                                  "spark.sql.session.timeZone=UTC", "--progress", "json", "--threads", "3", "--memory", "1g", "--log-level", "error"});
  const auto* run = std::get_if<RunOptions>(&line);
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->job, "job.sql");
  EXPECT_EQ(run->checkpoint, "ck");
  ASSERT_TRUE(run->trigger.has_value());
  EXPECT_EQ(run->trigger->interval_ms, 10'000);
  EXPECT_EQ(run->config.GetInt("spark.sql.shuffle.partitions"), 3);
  EXPECT_EQ(run->config.Get("spark.sql.session.timeZone"), "UTC");
  EXPECT_EQ(run->progress, ProgressMode::kJson);
  EXPECT_EQ(run->threads, 3);
  EXPECT_EQ(run->memory_bytes, 1LL << 30);
  EXPECT_EQ(run->log_level, log::Level::kError);
}

TEST(OptionsTest, ReadsTextFromTheCommandLineAndStandardInput) {
  const CommandLine text = Parse({"run", "-e", "SET a"});
  ASSERT_NE(std::get_if<RunOptions>(&text), nullptr);
  EXPECT_EQ(std::get<RunOptions>(text).sql, "SET a");
  const CommandLine input = Parse({"run", "-"});
  ASSERT_NE(std::get_if<RunOptions>(&input), nullptr);
  EXPECT_EQ(std::get<RunOptions>(input).job, "-");
}

TEST(OptionsTest, ReadsStateRows) {
  const CommandLine line = Parse({"checkpoint", "rows", "ck", "--option", "operatorId=0", "--option", "storeName=a=b", "--json"});
  const auto* rows = std::get_if<RowsOptions>(&line);
  ASSERT_NE(rows, nullptr);
  EXPECT_EQ(rows->directory, "ck");
  EXPECT_EQ(rows->options, (std::vector<std::pair<std::string, std::string>>{{"operatorId", "0"}, {"storeName", "a=b"}}));
}

TEST(OptionsTest, TellsUsageErrorsFromHelp) {
  EXPECT_EQ(ExitCodeOf({"--version"}), 0);
  EXPECT_EQ(ExitCodeOf({"run", "--help"}), 0);
  EXPECT_EQ(ExitCodeOf({}), 2);
  EXPECT_EQ(ExitCodeOf({"walk"}), 2);
  EXPECT_EQ(ExitCodeOf({"run"}), 2);
  EXPECT_EQ(ExitCodeOf({"run", "job.sql", "-e", "SELECT 1"}), 2);
  EXPECT_EQ(ExitCodeOf({"run", "job.sql", "--trigger", "sometimes"}), 2);
  EXPECT_EQ(ExitCodeOf({"run", "job.sql", "--set", "novalue"}), 2);
  EXPECT_EQ(ExitCodeOf({"run", "job.sql", "--set", "spark.sql.shuffle.partitions=many"}), 2);
  EXPECT_EQ(ExitCodeOf({"run", "job.sql", "--progress", "loud"}), 2);
  EXPECT_EQ(ExitCodeOf({"run", "job.sql", "--threads", "0"}), 2);
  EXPECT_EQ(ExitCodeOf({"run", "job.sql", "--memory", "1k"}), 2);
  EXPECT_EQ(ExitCodeOf({"checkpoint", "rows"}), 2);
}

}  // namespace
}  // namespace tidemill::cli
