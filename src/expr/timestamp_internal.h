#pragma once

// Timestamp and date text with the zone already looked up: what casts use for whole columns (evaluator.h has the forms by zone name).

#include <cstdint>
#include <string>
#include <string_view>

#include "expr/civil_time_internal.h"

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

}  // namespace tidemill::expr
