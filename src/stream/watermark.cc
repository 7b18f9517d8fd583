#include "stream/watermark.h"

#include <algorithm>

#include "base/check.h"

namespace tidemill::stream {

Result<WatermarkPolicy> ParseWatermarkPolicy(std::string_view text) {
  if (text == "min") return WatermarkPolicy::kMin;
  if (text == "max") return WatermarkPolicy::kMax;
  return UserError("INVALID_CONF_VALUE", "{} must be min or max, not '{}'", conf::kMultipleWatermarkPolicy, text);
}

Watermarks AdvanceWatermarks(Watermarks before, std::span<const exec::EventTimeStats> stats, std::span<const int64_t> delays_ms, WatermarkPolicy policy) {
  TIDEMILL_CHECK(stats.size() == delays_ms.size());
  if (stats.empty()) return before;
  Watermarks after = std::move(before);
  after.operators_ms.resize(stats.size());
  std::optional<int64_t> chosen;
  for (size_t i = 0; i < stats.size(); ++i) {
    std::optional<int64_t>& mine = after.operators_ms[i];
    if (stats[i].count > 0) mine = std::max(mine.value_or(INT64_MIN), stats[i].max_ms - delays_ms[i]);
    const int64_t value = mine.value_or(0);
    if (!chosen) chosen = value;
    chosen = policy == WatermarkPolicy::kMin ? std::min(*chosen, value) : std::max(*chosen, value);
  }
  after.global_ms = std::max(after.global_ms, *chosen);
  return after;
}

}  // namespace tidemill::stream
