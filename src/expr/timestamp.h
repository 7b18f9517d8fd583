#pragma once

// Timestamps and dates as text, the way Spark's casts read and write them: with the zone by name, or already looked up for whole columns.

#include <cstdint>
#include <string>
#include <string_view>

#include "expr/civil_time.h"

namespace tidemill::expr {

/// To microseconds UTC; text without a zone of its own is local to `zone`.
bool ParseTimestamp(std::string_view text, ZoneRules& zone, int64_t* micros);
/// To microseconds of the local clock; a zone in the text is read and dropped.
bool ParseTimestampNtz(std::string_view text, int64_t* micros);
/// Local microseconds as "2026-01-01 00:00:00.5".
void AppendLocalTimestamp(int64_t local_micros, std::string* out);
void AppendDate(int64_t days, std::string* out);
/// `text` without leading and trailing white space and control characters.
std::string_view TrimWhitespace(std::string_view text);

/// Timestamp text to microseconds UTC, as Spark's cast from string does (partial dates, zone suffixes, fractions); false when it does not parse.
bool ParseTimestamp(std::string_view text, const std::string& time_zone, int64_t* micros);
bool ParseDate(std::string_view text, int32_t* days);
/// "2026-01-01 00:00:00.5" (trailing zeros dropped) in `time_zone`.
std::string FormatTimestamp(int64_t micros, const std::string& time_zone);
std::string FormatDate(int32_t days);

}  // namespace tidemill::expr
