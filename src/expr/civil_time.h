#pragma once

// Days and clock times of the proleptic Gregorian calendar, and the rules of a time zone. All in microseconds or days since 1970-01-01.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace date {
class time_zone;
}

namespace tidemill::expr {

inline constexpr int64_t kMicrosPerSecond = 1'000'000;
inline constexpr int64_t kMicrosPerMinute = 60 * kMicrosPerSecond;
inline constexpr int64_t kMicrosPerHour = 60 * kMicrosPerMinute;
inline constexpr int64_t kMicrosPerDay = 24 * kMicrosPerHour;

inline int64_t FloorDiv(int64_t a, int64_t b) { return a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0); }
inline int64_t FloorMod(int64_t a, int64_t b) { return a - FloorDiv(a, b) * b; }

struct CivilDate {
  int32_t year = 1970;
  int32_t month = 1;  ///< 1..12
  int32_t day = 1;    ///< 1..31
};

CivilDate CivilFromDays(int64_t days);
/// `month` and `day` must be in range.
int64_t DaysFromCivil(int64_t year, int32_t month, int32_t day);
int32_t DaysInMonth(int64_t year, int32_t month);
/// `days` moved by `months`; a day that the month does not have becomes its last one.
int64_t AddMonths(int64_t days, int64_t months);

/// A time zone: UTC, a fixed offset, or the rules of a region. Remembers the stretch of time it was last asked about, so that
/// neighbouring times cost a comparison; one
/// object serves one thread.
class ZoneRules {
 public:
  /// As java.time.ZoneId.of: "UTC", "Z", "+01:00", "GMT+2", "Europe/Berlin". Errors: user error INVALID_TIMEZONE.
  static Result<ZoneRules> Find(std::string_view name);

  bool is_utc() const { return zone_ == nullptr && fixed_offset_ == 0; }
  bool is_fixed() const { return zone_ == nullptr; }
  /// What to add to UTC to get local time.
  int64_t OffsetAt(int64_t utc_micros) {
    if (zone_ == nullptr) return fixed_offset_;
    if (utc_micros < begin_ || utc_micros >= end_) LookUp(utc_micros);
    return offset_;
  }
  int64_t ToLocal(int64_t utc_micros) { return utc_micros + OffsetAt(utc_micros); }
  /// A local time that was skipped moves forward by the length of the gap; of two instants with one local time the earlier is meant (as
  /// java.time).
  int64_t ToUtc(int64_t local_micros);

 private:
  void LookUp(int64_t utc_micros);

  const date::time_zone* zone_ = nullptr;
  int64_t fixed_offset_ = 0;
  int64_t begin_ = 0;  // the stretch [begin_, end_) has offset_
  int64_t end_ = 0;
  int64_t offset_ = 0;
};

}  // namespace tidemill::expr
