#include "connector/file/file_source_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemill::connector {
namespace {

using ::testing::HasSubstr;

Result<FileSourceOptions> Make(const std::string& name, const std::string& value) { return FileSourceOptions::Make({{name, value}}, Config()); }

std::string Refusal(const std::string& name, const std::string& value) { return Make(name, value).status().ToString(); }

// The expectations of this file were compared with Spark 4.3.0.

TEST(FileSourceOptionsTest, LimitsAreWholeNumbersAboveZero) {
  EXPECT_EQ(Make("maxfilespertrigger", "+1").ValueOrDie().max_files_per_trigger, 1);
  EXPECT_EQ(Make("maxfilespertrigger", "2147483647").ValueOrDie().max_files_per_trigger, 2147483647);
  EXPECT_EQ(Make("maxbytespertrigger", "3000000000").ValueOrDie().max_bytes_per_trigger, 3000000000);
  for (const char* value : {"0", "-1", "x", "", " 1", "+", "+-1", "2147483648"}) {
    EXPECT_THAT(Refusal("maxfilespertrigger", value), HasSubstr("option 'maxFilesPerTrigger', must be a positive integer")) << value;
  }
  for (const char* value : {"0", "1k", "10MB", "1.5k", "9223372036854775808"}) {  // Spark takes no units here
    EXPECT_THAT(Refusal("maxbytespertrigger", value), HasSubstr("option 'maxBytesPerTrigger', must be a positive integer")) << value;
  }
}

TEST(FileSourceOptionsTest, AnAgeIsATimeText) {
  EXPECT_EQ(Make("maxfileage", "10").ValueOrDie().max_file_age_ms, 10);
  EXPECT_EQ(Make("maxfileage", "1H").ValueOrDie().max_file_age_ms, 3'600'000);
  for (const char* value : {"-1s", "1w", "x", ""}) EXPECT_THAT(Refusal("maxfileage", value), HasSubstr("'maxFileAge'")) << value;
}

}  // namespace
}  // namespace tidemill::connector
