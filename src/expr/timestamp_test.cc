#include <gtest/gtest.h>

#include "expr/civil_time.h"
#include "expr/timestamp.h"

namespace tidemill::expr {
namespace {

// The timestamp a text means, printed in UTC; "-" when it means none.
std::string Parsed(std::string_view text, const std::string& zone = "UTC") {
  int64_t micros = 0;
  return ParseTimestamp(text, zone, &micros) ? FormatTimestamp(micros, "UTC") : "-";
}

TEST(Timestamp, CommonLayout) {
  EXPECT_EQ(Parsed("2024-01-01T00:00:05Z"), "2024-01-01 00:00:05");
  EXPECT_EQ(Parsed("2024-01-01 00:00:05.25"), "2024-01-01 00:00:05.25");
  EXPECT_EQ(Parsed("2024-02-29T23:59:59.123456789+01:30"), "2024-02-29 22:29:59.123456");
  EXPECT_EQ(Parsed("1969-12-31 23:59:59.999999"), "1969-12-31 23:59:59.999999");
  EXPECT_EQ(Parsed("2024-01-01T00:00:00-08:00"), "2024-01-01 08:00:00");
}

TEST(Timestamp, EveryOtherLayout) {
  EXPECT_EQ(Parsed(" 2024 "), "2024-01-01 00:00:00");
  EXPECT_EQ(Parsed("2024-3"), "2024-03-01 00:00:00");
  EXPECT_EQ(Parsed("2024-3-7 4:5:6"), "2024-03-07 04:05:06");
  EXPECT_EQ(Parsed("2024-03-07 04:05"), "2024-03-07 04:05:00");
  EXPECT_EQ(Parsed("2024-03-07 04:05:06 UTC"), "2024-03-07 04:05:06");
  EXPECT_EQ(Parsed("2024-03-07 04:05:06.5 Europe/Berlin"), "2024-03-07 03:05:06.5");
  EXPECT_EQ(Parsed("2024-03-07T04:05:06GMT+2"), "2024-03-07 02:05:06");
  EXPECT_EQ(Parsed("2024-03-07T04:05:06+2:00"), "2024-03-07 02:05:06");
  EXPECT_EQ(Parsed("+12345-03-07"), "+12345-03-07 00:00:00");
}

TEST(Timestamp, RefusesWhatIsNone) {
  for (const char* text : {"", "a", "2023-02-29", "2024-13-01", "2024-00-01", "2024-01-32", "2024-01-01 24:00:00", "2024-01-01 00:60:00",
                           "2024-01-01x", "202-01-01", "2024-01-01T00:00:00 Nowhere/Here", "2024-01-01 00:00:00+25:00", "2024-01-01 1234",
                           "2024-1-1T", "12:00:00", "2024-01-01 10:00Z"}) {
    EXPECT_EQ(Parsed(text), "-") << text;
  }
}

TEST(Timestamp, LocalTimesFollowTheZone) {
  EXPECT_EQ(Parsed("2024-07-01 12:00:00", "America/New_York"), "2024-07-01 16:00:00");
  EXPECT_EQ(Parsed("2024-01-01 12:00:00", "America/New_York"), "2024-01-01 17:00:00");
  // Skipped by the change of clocks: moves forward. Twice there: the earlier.
  EXPECT_EQ(Parsed("2024-03-10 02:30:00", "America/New_York"), "2024-03-10 07:30:00");
  EXPECT_EQ(Parsed("2024-11-03 01:30:00", "America/New_York"), "2024-11-03 05:30:00");
  EXPECT_EQ(Parsed("2024-01-01 00:00:00", "+05:30"), "2023-12-31 18:30:00");
}

TEST(Timestamp, FormatsInTheZone) {
  EXPECT_EQ(FormatTimestamp(0, "UTC"), "1970-01-01 00:00:00");
  EXPECT_EQ(FormatTimestamp(-1, "UTC"), "1969-12-31 23:59:59.999999");
  EXPECT_EQ(FormatTimestamp(1'720'000'000'100'000, "America/New_York"), "2024-07-03 05:46:40.1");
  EXPECT_EQ(FormatTimestamp(0, "-03:00"), "1969-12-31 21:00:00");
}

TEST(Date, ParsesAndFormats) {
  int32_t days = 0;
  ASSERT_TRUE(ParseDate("2024-02-29", &days));
  EXPECT_EQ(FormatDate(days), "2024-02-29");
  ASSERT_TRUE(ParseDate(" 2024-02-29 anything", &days));
  ASSERT_TRUE(ParseDate("1969-12-31T", &days));
  EXPECT_EQ(days, -1);
  ASSERT_TRUE(ParseDate("2024", &days));
  EXPECT_EQ(FormatDate(days), "2024-01-01");
  for (const char* text : {"", "2023-02-29", "2024-1-1-1", "24-01-01", "2024/01/01", "x"}) EXPECT_FALSE(ParseDate(text, &days)) << text;
}

TEST(CivilTime, DaysAndDatesAreInverse) {
  for (int64_t days = -800'000; days < 800'000; days += 37) {
    const CivilDate civil = CivilFromDays(days);
    EXPECT_EQ(DaysFromCivil(civil.year, civil.month, civil.day), days);
  }
  EXPECT_EQ(DaysFromCivil(1970, 1, 1), 0);
  EXPECT_EQ(DaysFromCivil(2000, 3, 1), 11'017);
}

TEST(ZoneRules, RefusesUnknownNames) {
  for (const char* name : {"", "Mars/Phobos", "+19:00", "GMT+", "+1:2:3:4"}) {
    const auto zone = ZoneRules::Find(name);
    ASSERT_FALSE(zone.ok()) << name;
    EXPECT_EQ(ErrorDetail::Of(zone.status())->condition, "INVALID_TIMEZONE");
  }
}

TEST(ZoneRules, RememberedStretchGivesTheSameAsAFreshLookUp) {
  auto used = *ZoneRules::Find("America/New_York");
  for (int64_t hour = 0; hour < 24 * 400; hour += 5) {
    const int64_t local = 1'700'000'000 * kMicrosPerSecond + hour * kMicrosPerHour;
    auto fresh = *ZoneRules::Find("America/New_York");
    EXPECT_EQ(used.ToUtc(local), fresh.ToUtc(local));
    EXPECT_EQ(used.ToLocal(local), fresh.ToLocal(local));
  }
}

}  // namespace
}  // namespace tidemill::expr
