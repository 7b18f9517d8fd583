#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tidemill::log {
namespace {

TEST(LogTest, LevelsAreNamedInAnyCase) {
  EXPECT_EQ(ParseLevel("WARN").ValueOrDie(), Level::kWarning);
  EXPECT_EQ(ParseLevel("off").ValueOrDie(), Level::kOff);
  EXPECT_FALSE(ParseLevel("loud").ok());
}

TEST(LogTest, ControlCharactersAreEscaped) {
  testing::internal::CaptureStderr();
  SetLevel(Level::kInfo);
  Info("value {}", "a\nb\x1b[2J");
  Debug("below the level");
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, testing::HasSubstr("value a\\nb\\x1b[2J\n"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("below")));
}

}  // namespace
}  // namespace tidemill::log
