#include "connector/rate/rate_options.h"

#include <charconv>

#include "base/config.h"

namespace tidemill::connector {

namespace {

using Options = std::map<std::string, std::string>;

Result<int64_t> ParseWhole(const std::string& text) {
  int64_t value = 0;
  const size_t sign = text.starts_with('+') ? 1 : 0;
  const auto [end, error] = std::from_chars(text.data() + sign, text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return UserError("", "For input string: \"{}\"", text);
  return value;
}

/// A whole number of at least `least`; what Spark says otherwise ends with `demand`.
Result<std::optional<int64_t>> ReadNumber(const Options& options, const std::string& key, const std::string& name, int64_t least,
                                          std::string_view demand) {
  const auto found = options.find(key);
  if (found == options.end()) return std::nullopt;
  ARROW_ASSIGN_OR_RAISE(const int64_t value, ParseWhole(found->second));
  if (value < least) return UserError("", "Invalid value '{}'. The option '{}' must be {}", value, name, demand);
  return value;
}

}  // namespace

Result<RateOptions> RateOptions::Make(const Options& options) {
  RateOptions result;
  ARROW_ASSIGN_OR_RAISE(const auto rows, ReadNumber(options, "rowspersecond", "rowsPerSecond", 1, "positive"));
  result.rows_per_second = rows.value_or(1);
  if (const auto ramp = options.find("rampuptime"); ramp != options.end()) {
    // A bare number is seconds here.
    const bool bare = !ramp->second.empty() && ramp->second.find_first_not_of("-0123456789") == std::string::npos;
    const auto ms = ParseDurationMs(bare ? ramp->second + "s" : ramp->second);
    if (!ms)
      return UserError("",
                       "Time must be specified as seconds (s), milliseconds (ms), minutes (m or min), hour (h), or day (d), not as '{}'.",
                       ramp->second);
    result.ramp_up_s = *ms / 1000;
    if (result.ramp_up_s < 0) return UserError("", "Invalid value '{}'. The option 'rampUpTime' must not be negative", result.ramp_up_s);
  }
  ARROW_ASSIGN_OR_RAISE(result.partitions, ReadNumber(options, "numpartitions", "numPartitions", 1, "positive"));
  return result;
}

const std::vector<std::string>& RateOptions::Known() {
  static const std::vector<std::string> known = {"numpartitions", "rampuptime", "rowspersecond"};
  return known;
}

Result<RateMicroBatchOptions> RateMicroBatchOptions::Make(const Options& options) {
  RateMicroBatchOptions result;
  ARROW_ASSIGN_OR_RAISE(const auto rows, ReadNumber(options, "rowsperbatch", "rowsPerBatch", 1, "positive"));
  if (!rows) return UserError("", "Invalid value '0'. The option 'rowsPerBatch' must be positive");
  result.rows_per_batch = *rows;
  ARROW_ASSIGN_OR_RAISE(result.partitions, ReadNumber(options, "numpartitions", "numPartitions", 1, "positive"));
  ARROW_ASSIGN_OR_RAISE(const auto start, ReadNumber(options, "starttimestamp", "startTimestamp", 0, "non-negative"));
  result.start_timestamp_ms = start.value_or(0);
  ARROW_ASSIGN_OR_RAISE(const auto advance, ReadNumber(options, "advancemillisperbatch", "advanceMillisPerBatch", 0, "non-negative"));
  result.advance_ms_per_batch = advance.value_or(1000);
  return result;
}

const std::vector<std::string>& RateMicroBatchOptions::Known() {
  static const std::vector<std::string> known = {"advancemillisperbatch", "numpartitions", "rowsperbatch", "starttimestamp"};
  return known;
}

}  // namespace tidemill::connector
