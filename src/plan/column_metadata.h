#pragma once

// Spark's metadata of a column, as far as the analyser gives it a meaning. It travels with plain attributes and aliases, never through other expressions.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tidemill::plan {

/// The delay of the watermark that the column carries, in ms; nullopt: it is no event-time column.
std::optional<int64_t> WatermarkDelayMs(std::string_view metadata_json);
/// `metadata_json` with that delay set, or removed.
std::string WithWatermarkDelay(std::string_view metadata_json, std::optional<int64_t> delay_ms);
/// Was the column made by window(…)?
bool IsTimeWindow(std::string_view metadata_json);
/// `metadata_json` marked, or not, as a column made by window(…).
std::string WithTimeWindow(std::string_view metadata_json, bool is_window);

}  // namespace tidemill::plan
