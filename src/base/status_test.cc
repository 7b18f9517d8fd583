#include "base/status.h"

#include <gtest/gtest.h>

namespace tidemill {
namespace {

Result<int> Fail() { return UserError("PATH_NOT_FOUND", "Path does not exist: {}", "/a").Param("path", "/a").Path("/a"); }

TEST(StatusTest, ErrorsCarryTheirDetailIntoResults) {
  const Status status = Fail().status();
  EXPECT_TRUE(status.IsInvalid());
  EXPECT_EQ(status.message(), "Path does not exist: /a");
  const ErrorDetail* detail = ErrorDetail::Of(status);
  ASSERT_NE(detail, nullptr);
  EXPECT_EQ(detail->condition, "PATH_NOT_FOUND");
  EXPECT_EQ(detail->parameters.at("path"), "/a");
  EXPECT_EQ(detail->path, "/a");
  EXPECT_EQ(detail->fault, Fault::kUser);
}

TEST(StatusTest, OnlyRetryableErrorsAreRetried) {
  EXPECT_TRUE(IsRetryable(RetryableError("", "disk full")));
  EXPECT_FALSE(IsRetryable(ExternalError("", "no permission")));
  EXPECT_FALSE(IsRetryable(InternalError("a bug")));
  EXPECT_FALSE(IsRetryable(Status::IOError("foreign")));
  EXPECT_FALSE(IsRetryable(Status::OK()));
}

TEST(StatusTest, ContextGoesInFrontAndKeepsTheDetail) {
  const Status status = WithContext(RetryableError("X", "disk full"), "batch 3");
  EXPECT_EQ(status.message(), "batch 3: disk full");
  EXPECT_TRUE(IsRetryable(status));
  EXPECT_TRUE(WithContext(Status::OK(), "batch 3").ok());
}

TEST(StatusTest, BatchIsAddedToACopyOfTheDetail) {
  const Status before = ExternalError("X", "no permission");
  const Status after = WithBatch(before, 7);
  EXPECT_EQ(ErrorDetail::Of(after)->batch_id, 7);
  EXPECT_EQ(ErrorDetail::Of(after)->condition, "X");
  EXPECT_FALSE(ErrorDetail::Of(before)->batch_id.has_value());
  EXPECT_EQ(ErrorDetail::Of(WithBatch(Status::IOError("foreign"), 8))->batch_id, 8);
}

}  // namespace
}  // namespace tidemill
