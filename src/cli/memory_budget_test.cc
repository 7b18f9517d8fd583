#include "cli/memory_budget.h"

#include <gtest/gtest.h>

namespace tidemill::cli {
namespace {

TEST(MemoryBudgetTest, ReadsSizes) {
  EXPECT_EQ(ParseMemoryBudget("512m").ValueOrDie(), 512LL << 20);
  EXPECT_EQ(ParseMemoryBudget("4G").ValueOrDie(), 4LL << 30);
  EXPECT_EQ(ParseMemoryBudget("2gb").ValueOrDie(), 2LL << 30);
  EXPECT_EQ(ParseMemoryBudget("1073741824").ValueOrDie(), 1LL << 30);
}

TEST(MemoryBudgetTest, RefusesWhatIsNoSizeOrTooLittle) {
  for (const char* text : {"", "m", "-1g", "1x", "12 m", "1.5g", "63m", "0", "99999999999999g"}) {
    EXPECT_FALSE(ParseMemoryBudget(text).ok()) << text;
  }
}

TEST(MemoryBudgetTest, ReadsControlGroupLimits) {
  EXPECT_EQ(ParseControlGroupLimit("2147483648\n"), 2147483648);
  EXPECT_EQ(ParseControlGroupLimit("max\n"), std::nullopt);
  EXPECT_EQ(ParseControlGroupLimit("9223372036854771712\n"), std::nullopt);
}

TEST(MemoryBudgetTest, ReadsTheProcessStatus) {
  EXPECT_EQ(ParseAnonymousResident("VmRSS:\t    5000 kB\nRssAnon:\t     120 kB\nRssFile:\t 3 kB\n"), 120 << 10);
  EXPECT_EQ(ParseAnonymousResident("VmRSS:\t 5000 kB\n"), std::nullopt);
  EXPECT_GT(OwnResidentBytes(), 0);
  EXPECT_GT(DefaultMemoryBudget(), 0);
}

}  // namespace
}  // namespace tidemill::cli
