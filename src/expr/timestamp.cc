// Timestamp and date text, as Spark's casts read and write it. Source: Spark SparkDateTimeUtils (stringToTimestamp, stringToDate), 3.5 to
// 4.3.

#include "expr/timestamp.h"

#include <cstring>
#include <limits>


namespace tidemill::expr {

namespace {

// A timestamp text taken apart: local clock time and what the text says about its zone.
struct ParsedTime {
  int64_t local_micros = 0;
  bool has_offset = false;  // "Z" or "+01:00": offset_micros
  int64_t offset_micros = 0;
  std::string_view zone_name;  // anything else after the time
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Two digits at `p`; anything else yields a value of 100 or more.
unsigned TwoDigits(const char* p) {
  const unsigned tens = static_cast<unsigned char>(p[0]) - '0';
  const unsigned ones = static_cast<unsigned char>(p[1]) - '0';
  return (tens > 9 || ones > 9) ? 100 : tens * 10 + ones;
}

bool ComposeMicros(int64_t days, int64_t micros_of_day, int64_t* micros) {
  int64_t day_micros;
  if (__builtin_mul_overflow(days, kMicrosPerDay, &day_micros)) return false;
  return !__builtin_add_overflow(day_micros, micros_of_day, micros);
}

// The layout nearly every event has: YYYY-MM-DD, 'T' or ' ', HH:MM:SS, up to nine digits of fraction, then nothing, 'Z' or ±hh:mm.
// Everything else is left to the general
// parser, whether it is right or wrong.
bool ParseCommonLayout(std::string_view text, ParsedTime* parsed) {
  if (text.size() < 19) return false;
  const char* p = text.data();
  const unsigned century = TwoDigits(p), year = TwoDigits(p + 2), month = TwoDigits(p + 5), day = TwoDigits(p + 8);
  const unsigned hour = TwoDigits(p + 11), minute = TwoDigits(p + 14), second = TwoDigits(p + 17);
  if (p[4] != '-' || p[7] != '-' || (p[10] != 'T' && p[10] != ' ') || p[13] != ':' || p[16] != ':') return false;
  if (century > 99 || year > 99 || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 59) return false;
  const int full_year = static_cast<int>(century * 100 + year);
  if (day > 28 && static_cast<int>(day) > DaysInMonth(full_year, static_cast<int>(month))) return false;

  size_t at = 19;
  int64_t fraction = 0;
  if (at < text.size() && p[at] == '.') {
    int64_t unit = 100'000;
    for (++at; at < text.size() && IsDigit(p[at]); ++at, unit /= 10) fraction += (p[at] - '0') * unit;
  }
  parsed->has_offset = false;
  if (at < text.size()) {
    if (p[at] == 'Z' && at + 1 == text.size()) {
      parsed->offset_micros = 0;
    } else if ((p[at] == '+' || p[at] == '-') && at + 6 == text.size() && p[at + 3] == ':') {
      const unsigned hours = TwoDigits(p + at + 1), minutes = TwoDigits(p + at + 4);
      if (hours > 17 || minutes > 59) return false;
      parsed->offset_micros = (p[at] == '-' ? -1 : 1) * (hours * kMicrosPerHour + minutes * kMicrosPerMinute);
    } else {
      return false;
    }
    parsed->has_offset = true;
  }
  const int64_t days = DaysFromCivil(full_year, static_cast<int>(month), static_cast<int>(day));
  parsed->local_micros = days * kMicrosPerDay + hour * kMicrosPerHour + minute * kMicrosPerMinute + second * kMicrosPerSecond + fraction;
  parsed->zone_name = {};
  return true;
}

// Year, month, day, hour, minute, second, fraction.
constexpr int kYear = 0, kDay = 2, kSecond = 5, kFraction = 6;

bool ValidDigits(int segment, int digits) {
  if (segment == kYear) return digits >= 4 && digits <= 6;
  if (segment == kFraction) return true;
  return digits >= 1 && digits <= 2;
}

// The character that ends `segment` when it is not the last one.
bool IsSeparator(int segment, char c) {
  switch (segment) {
    case 0:
    case 1:
      return c == '-';
    case kDay:
      return c == ' ' || c == 'T';
    case 3:
    case 4:
      return c == ':';
    case kSecond:
      return c == '.';
    default:
      return false;
  }
}

// Every layout Spark takes: a prefix of [+-]y…-[m]m-[d]d[ T][h]h:[m]m:[s]s.[fraction][zone], years of four to six digits. (A time without
// a date, which means today in
// Spark, is not taken: a batch that is repeated tomorrow must read the same.)
bool ParseAnyLayout(std::string_view text, ParsedTime* parsed) {
  text = TrimWhitespace(text);
  if (text.empty()) return false;
  int64_t values[7] = {1, 1, 1, 0, 0, 0, 0};
  size_t at = 0;
  int64_t year_sign = 1;
  if (text[0] == '-' || text[0] == '+') {
    year_sign = text[0] == '-' ? -1 : 1;
    at = 1;
  }
  int segment = kYear;
  int digits = 0;
  int64_t value = 0;
  std::string_view zone;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (IsDigit(c)) {
      // A fraction keeps microseconds; what is finer is cut off.
      if (segment == kFraction ? digits < 6 : digits < 7) value = value * 10 + (c - '0');
      ++digits;
      continue;
    }
    if (!ValidDigits(segment, digits)) return false;
    if (!IsSeparator(segment, c)) {
      if (segment < kSecond) return false;
      zone = text.substr(at);
      break;
    }
    values[segment++] = value;
    value = 0;
    digits = 0;
  }
  if (!ValidDigits(segment, digits)) return false;
  if (segment == kFraction) {
    for (; digits < 6; ++digits) value *= 10;
  }
  values[segment] = value;

  const int64_t year = year_sign * values[0];
  if (values[1] < 1 || values[1] > 12 || values[2] < 1 || values[2] > DaysInMonth(year, static_cast<int32_t>(values[1]))) return false;
  if (values[3] > 23 || values[4] > 59 || values[5] > 59) return false;
  const int64_t days = DaysFromCivil(year, static_cast<int32_t>(values[1]), static_cast<int32_t>(values[2]));
  parsed->has_offset = false;
  parsed->zone_name = TrimWhitespace(zone);
  if (!zone.empty() && parsed->zone_name.empty()) return false;
  return ComposeMicros(days, values[3] * kMicrosPerHour + values[4] * kMicrosPerMinute + values[5] * kMicrosPerSecond + values[6],
                       &parsed->local_micros);
}

bool Parse(std::string_view text, ParsedTime* parsed) { return ParseCommonLayout(text, parsed) || ParseAnyLayout(text, parsed); }

// True when the text itself says which instant it is.
bool ResolveOwnZone(const ParsedTime& parsed, int64_t* micros, bool* failed) {
  if (parsed.has_offset) {
    *failed = __builtin_sub_overflow(parsed.local_micros, parsed.offset_micros, micros);
    return true;
  }
  if (parsed.zone_name.empty()) return false;
  auto zone = ZoneRules::Find(parsed.zone_name);
  *failed = !zone.ok();
  if (zone.ok()) *micros = zone->ToUtc(parsed.local_micros);
  return true;
}

char* PutTwo(char* p, int64_t value) {
  p[0] = static_cast<char>('0' + value / 10);
  p[1] = static_cast<char>('0' + value % 10);
  return p + 2;
}

char* PutDate(char* p, int64_t days) {
  const CivilDate civil = CivilFromDays(days);
  int64_t year = civil.year;
  // As java.time prints years: a sign before five digits or more, and before negative ones.
  if (year < 0) *p++ = '-';
  if (year > 9999) *p++ = '+';
  if (year < 0) year = -year;
  if (year > 9999) {
    const std::string text = std::to_string(year);
    std::memcpy(p, text.data(), text.size());
    p += text.size();
  } else {
    p = PutTwo(PutTwo(p, year / 100), year % 100);
  }
  *p++ = '-';
  p = PutTwo(p, civil.month);
  *p++ = '-';
  return PutTwo(p, civil.day);
}

}  // namespace

std::string_view TrimWhitespace(std::string_view text) {
  const auto blank = [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == 0x7f; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

bool ParseTimestamp(std::string_view text, ZoneRules& zone, int64_t* micros) {
  ParsedTime parsed;
  if (!Parse(text, &parsed)) return false;
  bool failed = false;
  if (ResolveOwnZone(parsed, micros, &failed)) return !failed;
  *micros = zone.ToUtc(parsed.local_micros);
  return true;
}

bool ParseTimestampNtz(std::string_view text, int64_t* micros) {
  ParsedTime parsed;
  if (!Parse(text, &parsed)) return false;
  *micros = parsed.local_micros;
  // The zone is dropped, but it has to be one.
  return parsed.zone_name.empty() || ZoneRules::Find(parsed.zone_name).ok();
}

bool ParseTimestamp(std::string_view text, const std::string& time_zone, int64_t* micros) {
  ParsedTime parsed;
  if (!Parse(text, &parsed)) return false;
  bool failed = false;
  if (ResolveOwnZone(parsed, micros, &failed)) return !failed;
  if (time_zone == "UTC") {
    *micros = parsed.local_micros;
    return true;
  }
  auto zone = ZoneRules::Find(time_zone);
  if (!zone.ok()) return false;
  *micros = zone->ToUtc(parsed.local_micros);
  return true;
}

bool ParseDate(std::string_view text, int32_t* days) {
  text = TrimWhitespace(text);
  if (text.empty()) return false;
  size_t at = 0;
  int64_t sign = 1;
  if (text[0] == '-' || text[0] == '+') {
    sign = text[0] == '-' ? -1 : 1;
    at = 1;
  }
  int64_t values[3] = {1, 1, 1};
  int segment = kYear;
  int digits = 0;
  int64_t value = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (segment == kDay && (c == ' ' || c == 'T')) break;  // What follows a whole date is not looked at.
    if (IsDigit(c)) {
      if (++digits > 7) return false;
      value = value * 10 + (c - '0');
    } else {
      if (segment == kDay || c != '-') return false;
      if (segment == kYear ? digits < 4 || digits > 7 : digits < 1 || digits > 2) return false;
      values[segment++] = value;
      value = 0;
      digits = 0;
    }
  }
  if (segment == kYear ? digits < 4 || digits > 7 : digits < 1 || digits > 2) return false;
  values[segment] = value;
  const int64_t year = sign * values[0];
  if (values[1] < 1 || values[1] > 12 || values[2] < 1 || values[2] > DaysInMonth(year, static_cast<int32_t>(values[1]))) return false;
  const int64_t all = DaysFromCivil(year, static_cast<int32_t>(values[1]), static_cast<int32_t>(values[2]));
  if (all < std::numeric_limits<int32_t>::min() || all > std::numeric_limits<int32_t>::max()) return false;
  *days = static_cast<int32_t>(all);
  return true;
}

void AppendLocalTimestamp(int64_t local_micros, std::string* out) {
  char buffer[48];
  const int64_t days = FloorDiv(local_micros, kMicrosPerDay);
  int64_t rest = local_micros - days * kMicrosPerDay;
  char* p = PutDate(buffer, days);
  *p++ = ' ';
  p = PutTwo(p, rest / kMicrosPerHour);
  *p++ = ':';
  p = PutTwo(p, rest / kMicrosPerMinute % 60);
  *p++ = ':';
  p = PutTwo(p, rest / kMicrosPerSecond % 60);
  rest %= kMicrosPerSecond;
  if (rest != 0) {
    *p++ = '.';
    for (int64_t unit = 100'000; rest != 0; unit /= 10) {
      *p++ = static_cast<char>('0' + rest / unit);
      rest %= unit;
    }
  }
  out->append(buffer, static_cast<size_t>(p - buffer));
}

void AppendDate(int64_t days, std::string* out) {
  char buffer[24];
  out->append(buffer, static_cast<size_t>(PutDate(buffer, days) - buffer));
}

std::string FormatTimestamp(int64_t micros, const std::string& time_zone) {
  std::string text;
  if (time_zone != "UTC") {
    // A zone that does not exist was refused when the session was made; UTC is the honest rest.
    auto zone = ZoneRules::Find(time_zone);
    if (zone.ok()) micros = zone->ToLocal(micros);
  }
  AppendLocalTimestamp(micros, &text);
  return text;
}

std::string FormatDate(int32_t days) {
  std::string text;
  AppendDate(days, &text);
  return text;
}

}  // namespace tidemill::expr
