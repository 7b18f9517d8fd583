#pragma once

// Options of the rate sources, with Spark's names, defaults and words.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"

namespace tidemill::connector {

struct RateOptions {
  int64_t rows_per_second = 1;
  int64_t ramp_up_s = 0;
  std::optional<int64_t> partitions;

  /// From options with keys in lower case.
  static Result<RateOptions> Make(const std::map<std::string, std::string>& options);
  static const std::vector<std::string>& Known();
};

struct RateMicroBatchOptions {
  int64_t rows_per_batch = 0;
  std::optional<int64_t> partitions;
  int64_t start_timestamp_ms = 0;
  int64_t advance_ms_per_batch = 1000;

  static Result<RateMicroBatchOptions> Make(const std::map<std::string, std::string>& options);
  static const std::vector<std::string>& Known();
};

/// Spark takes the number of cores; a result must not depend on the machine.
constexpr int64_t kDefaultRatePartitions = 8;

}  // namespace tidemill::connector
