#include "cli/error_report.h"

#include <gtest/gtest.h>

namespace tidemill::cli {
namespace {

TEST(ErrorReportTest, ShowsTheConditionAndTheMessage) {
  EXPECT_EQ(ReportError(UserError("PATH_NOT_FOUND", "Path does not exist: {}", "/a"), "job.sql", ""), "error: [PATH_NOT_FOUND] Path does not exist: /a\n");
  EXPECT_EQ(ReportError(Status::IOError("no condition"), "job.sql", ""), "error: no condition\n");
}

TEST(ErrorReportTest, PointsIntoTheText) {
  const Status error = UserError("SOME_CONDITION", "Something is wrong").Param("line", "2").Param("column", "8");
  const std::string report = ReportError(error, "job.sql", "SELECT a\nSELECT b FROM c\n");
  EXPECT_NE(report.find("job.sql"), std::string::npos) << report;
  EXPECT_NE(report.find("SELECT b FROM c"), std::string::npos) << report;
  EXPECT_NE(report.find('^'), std::string::npos) << report;
  EXPECT_EQ(report.back(), '\n');
}

TEST(ErrorReportTest, MapsErrorsToExitCodes) {
  EXPECT_EQ(CodeOfPlanError(UserError("PARSE_SYNTAX_ERROR", "x")), ExitCode::kInvalidJob);
  EXPECT_EQ(CodeOfPlanError(ExternalError("PERMISSION", "x")), ExitCode::kFailed);
  EXPECT_EQ(CodeOfRunError(UserError("DIVIDE_BY_ZERO", "x")), ExitCode::kFailed);
  EXPECT_EQ(CodeOfRunError(UserError("TIDEMILL_CHECKPOINT_LOCKED", "x")), ExitCode::kLocked);
  const Status wrapped = UserError("STREAM_FAILED", "x").Param("innerCondition", "TIDEMILL_CHECKPOINT_LOCKED");
  EXPECT_EQ(CodeOfRunError(wrapped), ExitCode::kLocked);
}

}  // namespace
}  // namespace tidemill::cli
