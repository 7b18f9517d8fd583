#include "query/options.h"

#include <gtest/gtest.h>

namespace tidemill::query {
namespace {

connector::Format Json() {
  connector::Format format;
  format.known_options = {"maxfilespertrigger", "mode"};
  return format;
}

TEST(CheckOptionsTest, AcceptsWhatTheFormatAndTheEngineKnow) {
  const auto warnings = CheckOptions("table t", {{"path", "/a"}, {"mode", "FAILFAST"}}, Json(), {"path"}, UnknownOption::kRefuse);
  ASSERT_TRUE(warnings.ok());
  EXPECT_TRUE(warnings->empty());
}

TEST(CheckOptionsTest, NamesTheNearestKnownOption) {
  const auto refused = CheckOptions("table t", {{"maxfilepertrigger", "1"}}, Json(), {}, UnknownOption::kRefuse);
  ASSERT_FALSE(refused.ok());
  const ErrorDetail* detail = ErrorDetail::Of(refused.status());
  ASSERT_NE(detail, nullptr);
  EXPECT_EQ(detail->condition, "TIDEMILL_UNKNOWN_OPTION");
  EXPECT_EQ(detail->parameters.at("nearest"), "maxfilespertrigger");
}

TEST(CheckOptionsTest, LetsAPropertyBeFreeTextButNotAMisspeltOne) {
  const auto free_text = CheckOptions("table t", {{"quality", "silver"}}, Json(), {"outputmode"}, UnknownOption::kRefuseIfClose);
  ASSERT_TRUE(free_text.ok());
  EXPECT_EQ(free_text->size(), 1u);
  EXPECT_FALSE(CheckOptions("table t", {{"outputmod", "update"}}, Json(), {"outputmode"}, UnknownOption::kRefuseIfClose).ok());
}

TEST(TakeOptionTest, TakesOnce) {
  plan::Options options = {{"path", "/a"}};
  EXPECT_EQ(TakeOption(options, "path"), "/a");
  EXPECT_EQ(TakeOption(options, "path"), std::nullopt);
}

}  // namespace
}  // namespace tidemill::query
