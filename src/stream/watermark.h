#pragma once

// The global watermark of a query, computed from what each watermark operator saw. Pure functions. Source: Spark WatermarkTracker.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "exec/query_plan.h"

namespace tidemill::stream {

/// How the watermarks of several operators become one (spark.sql.streaming.multipleWatermarkPolicy).
enum class WatermarkPolicy { kMin, kMax };

Result<WatermarkPolicy> ParseWatermarkPolicy(std::string_view text);

struct Watermarks {
  int64_t global_ms = 0;  ///< never goes down, never negative
  /// By watermark operator, of this run of the query: nullopt until it has seen a row. Such an operator counts as 0, so with policy min a silent
  /// stream holds the global watermark, and after a restart every stream has to deliver again.
  std::vector<std::optional<int64_t>> operators_ms;
};

/// The watermarks after a batch with `stats`, one entry a watermark operator, whose delays are `delays_ms`. A plan without one leaves them as they are.
Watermarks AdvanceWatermarks(Watermarks before, std::span<const exec::EventTimeStats> stats, std::span<const int64_t> delays_ms, WatermarkPolicy policy);

}  // namespace tidemill::stream
