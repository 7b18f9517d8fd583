#pragma once

// Options of the file source, as Spark names them; format options are the format's own.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/config.h"
#include "base/status.h"

namespace tidemill::connector {

enum class CleanSource { kOff, kDelete };

struct FileSourceOptions {
  std::optional<int64_t> max_files_per_trigger;
  std::optional<int64_t> max_bytes_per_trigger;
  bool latest_first = false;
  int64_t max_file_age_ms = int64_t{7} * 24 * 3600 * 1000;
  bool file_name_only = false;
  CleanSource clean_source = CleanSource::kOff;
  int64_t max_cached_files = 10000;
  double discard_cached_input_ratio = 0.2;
  std::optional<std::string> path_glob_filter;
  bool recursive_file_lookup = false;
  bool ignore_missing_files = false;
  bool ignore_corrupt_files = false;

  /// From options with keys in lower case. Errors: in Spark's words, as the query raises them in its first batch.
  static Result<FileSourceOptions> Make(const std::map<std::string, std::string>& options, const Config& config);
  /// Every option name that Make() looks at, in lower case, `path` included.
  static const std::vector<std::string>& Known();
};

}  // namespace tidemill::connector
