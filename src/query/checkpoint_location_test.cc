#include "query/checkpoint_location.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <memory>

#include "fs/local_file_system.h"

namespace tidemill::query {
namespace {

class CheckpointLocationTest : public ::testing::Test {
 protected:
  CheckpointLocationTest() : directory_(testing::TempDir() + "/checkpoint_location_" + std::to_string(getpid())) {
    std::filesystem::create_directories(directory_);
    request_.temporary_directory = "/tmp";
    request_.table = "t";
    request_.flow = "t";
    request_.only_query = true;
  }
  ~CheckpointLocationTest() override { std::filesystem::remove_all(directory_); }

  Result<CheckpointLocation> Locate() { return LocateCheckpoint(request_, *file_system_); }
  std::string ConditionOf(const Status& status) { return ErrorDetail::Of(status) == nullptr ? "" : ErrorDetail::Of(status)->condition; }

  std::string directory_;
  std::unique_ptr<fs::SystemCalls> calls_ = fs::MakePosixCalls();
  std::unique_ptr<fs::FileSystem> file_system_ = fs::MakeLocalFileSystem(*calls_);
  CheckpointRequest request_;
};

TEST_F(CheckpointLocationTest, FlagNamesTheFolderAbove) {
  request_.flag = directory_;
  request_.property = "/elsewhere";
  const auto location = Locate();
  ASSERT_TRUE(location.ok()) << location.status();
  EXPECT_EQ(location->path, directory_ + "/t/t");
  EXPECT_FALSE(location->temporary);
}

TEST_F(CheckpointLocationTest, FlagMayNameTheCheckpointOfTheOnlyQuery) {
  std::filesystem::create_directories(directory_ + "/offsets");
  request_.flag = directory_;
  EXPECT_EQ(Locate()->path, directory_);
  request_.only_query = false;
  EXPECT_EQ(ConditionOf(Locate().status()), "TIDEMILL_CHECKPOINT_AMBIGUOUS");
}

TEST_F(CheckpointLocationTest, PropertyGoesBeforeSetting) {
  request_.property = "/p";
  request_.setting = "/s";
  EXPECT_EQ(Locate()->path, "/p");
  request_.property.reset();
  EXPECT_EQ(Locate()->path, "/s/t");
}

TEST_F(CheckpointLocationTest, AFileSinkKeepsItsStateBesideTheJob) {
  request_.job_path = "/jobs/daily.v2.sql";
  EXPECT_EQ(Locate()->path, "/jobs/daily.v2.checkpoint/t/t");
  request_.job_path.clear();
  EXPECT_EQ(ConditionOf(Locate().status()), "TIDEMILL_CHECKPOINT_REQUIRED");
}

TEST_F(CheckpointLocationTest, TheConsoleUsesATemporaryFolderOfItsOwn) {
  request_.job_path = "/jobs/daily.sql";
  request_.needs_checkpoint = false;
  const auto first = Locate();
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(first->temporary);
  EXPECT_EQ(first->path.rfind("/tmp/tidemill-", 0), 0u);
  EXPECT_NE(first->path, Locate()->path);
}

TEST_F(CheckpointLocationTest, RefusesANameThatLeavesTheFolder) {
  request_.table = "..";
  EXPECT_EQ(ConditionOf(Locate().status()), "TIDEMILL_INVALID_NAME");
  request_.table = "a/b";
  EXPECT_EQ(ConditionOf(Locate().status()), "TIDEMILL_INVALID_NAME");
}

}  // namespace
}  // namespace tidemill::query
