#include "expr/civil_time.h"

#include <date/date.h>
#include <date/tz.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

namespace tidemill::expr {

namespace {

constexpr int64_t kDaysPerEra = 146'097;  // 400 years

Error UnknownZone(std::string_view name) {
  return UserError("INVALID_TIMEZONE",
                   "The timezone: {} is invalid. It must be a region ID like 'Europe/Berlin' or an offset like '+01:00'.", name)
      .Param("timeZone", std::string(name));
}

std::optional<int> TwoDigits(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || text.size() > 2 || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// [+-]h[h][[:]m[m][[:]ss]] in microseconds.
std::optional<int64_t> ParseOffset(std::string_view text) {
  if (text.size() < 2 || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const int64_t sign = text[0] == '-' ? -1 : 1;
  text.remove_prefix(1);
  std::string_view parts[3];
  int count = 0;
  if (text.find(':') != std::string_view::npos) {
    while (count < 3) {
      const size_t colon = text.find(':');
      parts[count++] = text.substr(0, colon);
      if (colon == std::string_view::npos) {
        text = {};
        break;
      }
      text.remove_prefix(colon + 1);
      if (text.empty()) return std::nullopt;
    }
    if (!text.empty()) return std::nullopt;
  } else {
    if (text.size() > 2 && text.size() % 2 != 0) return std::nullopt;
    for (; !text.empty() && count < 3; text.remove_prefix(std::min<size_t>(2, text.size()))) parts[count++] = text.substr(0, 2);
    if (!text.empty()) return std::nullopt;
  }
  int64_t seconds = 0;
  constexpr int64_t kUnit[] = {3600, 60, 1};
  for (int i = 0; i < count; ++i) {
    const auto value = TwoDigits(parts[i]);
    if (!value || (i > 0 && *value > 59)) return std::nullopt;
    seconds += *value * kUnit[i];
  }
  if (seconds > 18 * 3600) return std::nullopt;
  return sign * seconds * kMicrosPerSecond;
}

}  // namespace

// Era, year of era, day of year with March as first month: leap days then come last and need no special case.
CivilDate CivilFromDays(int64_t days) {
  const int64_t shifted = days + 719'468;
  const int64_t era = FloorDiv(shifted, kDaysPerEra);
  const int64_t day_of_era = shifted - era * kDaysPerEra;
  const int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t shifted_month = (5 * day_of_year + 2) / 153;
  CivilDate civil;
  civil.day = static_cast<int32_t>(day_of_year - (153 * shifted_month + 2) / 5 + 1);
  civil.month = static_cast<int32_t>(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
  civil.year = static_cast<int32_t>(year_of_era + era * 400 + (civil.month <= 2 ? 1 : 0));
  return civil;
}

int64_t DaysFromCivil(int64_t year, int32_t month, int32_t day) {
  const int64_t y = month <= 2 ? year - 1 : year;
  const int64_t era = FloorDiv(y, 400);
  const int64_t year_of_era = y - era * 400;
  const int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * kDaysPerEra + day_of_era - 719'468;
}

int32_t DaysInMonth(int64_t year, int32_t month) {
  if (month == 2) return (year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)) ? 29 : 28;
  return (month == 4 || month == 6 || month == 9 || month == 11) ? 30 : 31;
}

int64_t AddMonths(int64_t days, int64_t months) {
  const CivilDate civil = CivilFromDays(days);
  const int64_t total = civil.year * int64_t{12} + civil.month - 1 + months;
  const int64_t year = FloorDiv(total, 12);
  const auto month = static_cast<int32_t>(total - year * 12 + 1);
  return DaysFromCivil(year, month, std::min(civil.day, DaysInMonth(year, month)));
}

Result<ZoneRules> ZoneRules::Find(std::string_view name) {
  ZoneRules rules;
  if (name == "UTC" || name == "Z" || name == "GMT" || name == "UT" || name == "Etc/UTC") return rules;
  std::string_view offset = name;
  for (std::string_view prefix : {"UTC", "GMT", "UT"}) {
    if (name.substr(0, prefix.size()) == prefix) {
      offset.remove_prefix(prefix.size());
      break;
    }
  }
  if (!offset.empty() && (offset[0] == '+' || offset[0] == '-')) {
    const auto micros = ParseOffset(offset);
    if (!micros) return UnknownZone(name);
    rules.fixed_offset_ = *micros;
    return rules;
  }
  try {
    rules.zone_ = date::locate_zone(name);
  } catch (const std::exception&) {  // The library reports an unknown name (and a machine without zone files) this way.
    return UnknownZone(name);
  }
  return rules;
}

void ZoneRules::LookUp(int64_t utc_micros) {
  const auto seconds = date::sys_seconds(std::chrono::seconds(FloorDiv(utc_micros, kMicrosPerSecond)));
  const date::sys_info info = zone_->get_info(seconds);
  // The first and last stretch reach beyond what microseconds can say.
  constexpr int64_t kMaxSeconds = std::numeric_limits<int64_t>::max() / kMicrosPerSecond;
  begin_ = std::max(static_cast<int64_t>(info.begin.time_since_epoch().count()), -kMaxSeconds) * kMicrosPerSecond;
  end_ = std::min(static_cast<int64_t>(info.end.time_since_epoch().count()), kMaxSeconds) * kMicrosPerSecond;
  offset_ = info.offset.count() * kMicrosPerSecond;
}

int64_t ZoneRules::ToUtc(int64_t local_micros) {
  if (zone_ == nullptr) return local_micros - fixed_offset_;
  // Well inside the remembered stretch (no transition within a day) the answer is certain.
  if (local_micros - offset_ - kMicrosPerDay >= begin_ && local_micros - offset_ + kMicrosPerDay < end_) return local_micros - offset_;
  const auto seconds = date::local_seconds(std::chrono::seconds(FloorDiv(local_micros, kMicrosPerSecond)));
  const date::local_info info = zone_->get_info(seconds);
  // Before a gap's end the offset of `first` still holds: using it moves a skipped time forward; in an overlap it is the earlier instant.
  const int64_t utc = local_micros - info.first.offset.count() * kMicrosPerSecond;
  LookUp(utc);
  return utc;
}

}  // namespace tidemill::expr
