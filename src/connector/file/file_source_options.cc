#include "connector/file/file_source_options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace tidemill::connector {

namespace {

using Options = std::map<std::string, std::string>;

constexpr int64_t kJavaIntMax = INT32_MAX;  // what counts files is an Int in Spark

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

const std::string* Find(const Options& options, const std::string& name) {
  const auto found = options.find(name);
  return found == options.end() ? nullptr : &found->second;
}

/// A whole number of the user's up to `max`, or nullopt. As in Java it may have a plus sign.
std::optional<int64_t> ParseWhole(std::string_view text, int64_t max) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > max) return std::nullopt;
  return value;
}

Result<std::optional<int64_t>> Positive(const Options& options, const std::string& name, int64_t max) {
  const std::string* text = Find(options, Lower(name));
  if (text == nullptr) return std::nullopt;
  const auto value = ParseWhole(*text, max);
  if (!value || *value <= 0) return UserError("", "Invalid value '{}' for option '{}', must be a positive integer", *text, name);
  return value;
}

Status ReadBool(const Options& options, const std::string& name, bool* value) {
  const std::string* text = Find(options, Lower(name));
  if (text == nullptr) return Status::OK();
  const std::string lower = Lower(*text);
  if (lower != "true" && lower != "false") return UserError("", "Invalid value '{}' for option '{}', must be 'true' or 'false'", *text, name);
  *value = lower == "true";
  return Status::OK();
}

Status ReadAge(const Options& options, FileSourceOptions* result) {
  const std::string* text = Find(options, "maxfileage");
  if (text == nullptr) return Status::OK();
  const auto age = ParseDurationMs(*text);
  if (!age || *age < 0) {
    return UserError("",
                     "Invalid value '{}' for option 'maxFileAge'. Time must be specified as seconds (s), milliseconds (ms), microseconds (us), "
                     "minutes (m or min), hour (h), or day (d). E.g. 50s, 100ms, or 250us.",
                     *text);
  }
  result->max_file_age_ms = *age;
  return Status::OK();
}

Status ReadCaching(const Options& options, FileSourceOptions* result) {
  if (const std::string* text = Find(options, "maxcachedfiles")) {
    const auto value = ParseWhole(*text, kJavaIntMax);
    if (!value || *value < 0) return UserError("", "Invalid value '{}' for option 'maxCachedFiles', must be an integer greater than or equal to 0", *text);
    result->max_cached_files = *value;
  }
  if (const std::string* text = Find(options, "discardcachedinputratio")) {
    double value = -1;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    if (error != std::errc() || end != text->data() + text->size() || !(value >= 0 && value <= 1)) {
      return UserError("", "Invalid value '{}' for option 'discardCachedInputRatio', must be a positive double between 0 and 1", *text);
    }
    result->discard_cached_input_ratio = value;
  }
  return Status::OK();
}

Status ReadCleaning(const Options& options, FileSourceOptions* result) {
  const std::string* text = Find(options, "cleansource");
  if (text == nullptr) return Status::OK();
  const std::string mode = Lower(*text);
  if (mode == "off") return Status::OK();
  if (mode == "delete") {
    result->clean_source = CleanSource::kDelete;
    return Status::OK();
  }
  if (mode == "archive") {
    if (Find(options, "sourcearchivedir") == nullptr) return UserError("", "Archive mode must be used with 'sourceArchiveDir' option.");
    return UserError("TIDEMILL_UNSUPPORTED_OPTION", "Option 'cleanSource' = 'archive' is not supported yet; 'delete' and 'off' are.");
  }
  return UserError("", "Invalid mode for clean source option Some({}). Must be one of ARCHIVE,DELETE,OFF", *text);
}

}  // namespace

Result<FileSourceOptions> FileSourceOptions::Make(const Options& options, const Config& config) {
  FileSourceOptions result;
  ARROW_ASSIGN_OR_RAISE(result.max_files_per_trigger, Positive(options, "maxFilesPerTrigger", kJavaIntMax));
  ARROW_ASSIGN_OR_RAISE(result.max_bytes_per_trigger, Positive(options, "maxBytesPerTrigger", INT64_MAX));
  if (result.max_files_per_trigger && result.max_bytes_per_trigger) {
    return UserError("", "Options 'maxFilesPerTrigger' and 'maxBytesPerTrigger' can't be both set at the same time");
  }
  for (const char* name : {"modifiedbefore", "modifiedafter"}) {
    if (Find(options, name) != nullptr) return UserError("", "option '{}' is not allowed in file stream sources", name);
  }
  ARROW_RETURN_NOT_OK(ReadBool(options, "latestFirst", &result.latest_first));
  ARROW_RETURN_NOT_OK(ReadBool(options, "fileNameOnly", &result.file_name_only));
  ARROW_RETURN_NOT_OK(ReadBool(options, "recursiveFileLookup", &result.recursive_file_lookup));
  result.ignore_missing_files = config.GetBool(conf::kIgnoreMissingFiles);
  result.ignore_corrupt_files = config.GetBool(conf::kIgnoreCorruptFiles);
  ARROW_RETURN_NOT_OK(ReadBool(options, "ignoreMissingFiles", &result.ignore_missing_files));
  ARROW_RETURN_NOT_OK(ReadBool(options, "ignoreCorruptFiles", &result.ignore_corrupt_files));
  ARROW_RETURN_NOT_OK(ReadAge(options, &result));
  // With a limit, newest first would never come to the older files if they aged meanwhile.
  if (result.latest_first && (result.max_files_per_trigger || result.max_bytes_per_trigger)) result.max_file_age_ms = INT64_MAX / 2;
  if (const std::string* glob = Find(options, "pathglobfilter")) result.path_glob_filter = *glob;
  ARROW_RETURN_NOT_OK(ReadCaching(options, &result));
  ARROW_RETURN_NOT_OK(ReadCleaning(options, &result));
  return result;
}

const std::vector<std::string>& FileSourceOptions::Known() {
  static const std::vector<std::string> known = {
      "path",           "maxfilespertrigger", "maxbytespertrigger",      "latestfirst",    "maxfileage",          "filenameonly",
      "cleansource",    "sourcearchivedir",   "maxcachedfiles",          "pathglobfilter", "recursivefilelookup", "ignoremissingfiles",
      "modifiedbefore", "modifiedafter",      "discardcachedinputratio", "ignorecorruptfiles"};
  return known;
}

}  // namespace tidemill::connector
