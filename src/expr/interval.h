#pragma once

// Interval text.

#include <cstdint>
#include <string_view>

#include "base/status.h"

namespace tidemill::expr {

/// An interval text ("10 seconds", "1 hour 30 minutes", "INTERVAL '5' SECOND" without the keyword) in microseconds. Errors: CANNOT_PARSE_INTERVAL; months: `has_months` is set and
/// counted as 31 days (Spark's rule for watermark delays), or, where `has_months` is null, refused.
Result<int64_t> ParseIntervalMicros(std::string_view text, bool* has_months);

}  // namespace tidemill::expr
