#pragma once

// When the next batch may begin: how users write a trigger, and the ticks of a processing-time trigger. Source: Spark ProcessingTimeExecutor, Trigger.

#include <cstdint>
#include <string_view>

#include "base/status.h"

namespace tidemill::stream {

enum class TriggerKind {
  kProcessingTime,  ///< every `interval_ms`, or back to back when that is 0
  kOnce,            ///< one batch without read limits; a batch that was left unfinished is that batch
  kAvailableNow,    ///< all that is there at the start, in as many batches as the read limits ask for, and the no-data batches after them
};

struct Trigger {
  TriggerKind kind = TriggerKind::kProcessingTime;
  int64_t interval_ms = 0;
};

/// "available-now" (also "AvailableNow"), "once", or an interval such as "10 seconds". Errors in Spark's words, with its conditions
/// INVALID_INTERVAL_FORMAT.* and _LEGACY_ERROR_TEMP_3262.
Result<Trigger> ParseTrigger(std::string_view text);

/// The first multiple of `interval_ms` since the epoch after `now_ms`: ticks align to the epoch and not to the start of the query.
int64_t NextTickMs(int64_t now_ms, int64_t interval_ms);

}  // namespace tidemill::stream
