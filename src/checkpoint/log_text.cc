#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "checkpoint/log_text_internal.h"

namespace tidemill::checkpoint::internal {

using Json = nlohmann::ordered_json;

std::optional<int64_t> ParseId(std::string_view name) {
  if (name.empty() || name.size() > 19 || (name.size() > 1 && name[0] == '0')) return std::nullopt;
  int64_t id = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
  if (error != std::errc() || end != name.data() + name.size() || id < 0) return std::nullopt;
  return id;
}

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    // Java's line readers take a carriage return before the line feed for a part of the line end.
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

Result<int> ParseVersion(std::string_view line, int newest_supported) {
  int64_t version = 0;
  if (line.size() >= 2 && line[0] == 'v') {
    const std::string_view digits = line.substr(1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), version);
    if (error == std::errc::result_out_of_range && digits.find_first_not_of("0123456789") == std::string_view::npos) version = INT64_MAX;
    if (error == std::errc::invalid_argument || end != digits.data() + digits.size()) version = 0;
  }
  if (version <= 0) {
    return ExternalError("TIDEMILL_MALFORMED_LOG", "malformed log version: expected a first line such as v{}, found \"{}\"", newest_supported,
                         line.substr(0, 40));
  }
  if (version > newest_supported) {
    return ExternalError("TIDEMILL_UNSUPPORTED_LOG_VERSION",
                         "unsupported log version: the newest version that can be read is v{}, this file is v{}. A newer Spark wrote it: continue it there",
                         newest_supported, version);
  }
  return static_cast<int>(version);
}

Result<Json> ParseObject(std::string_view line, std::string_view what) {
  Json object = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (object.is_discarded() || !object.is_object()) {
    return ExternalError("TIDEMILL_MALFORMED_LOG", "{} is not a JSON object: \"{}\"", what, line.substr(0, 80));
  }
  return object;
}

Result<int64_t> ReadInt(const Json& object, const char* name, int64_t absent) {
  const auto field = object.find(name);
  if (field == object.end()) return absent;
  const bool fits = field->is_number_unsigned() ? field->get<uint64_t>() <= INT64_MAX : field->is_number_integer();
  if (!fits) return ExternalError("TIDEMILL_MALFORMED_LOG", "field {} is not a 64-bit whole number", name);
  return field->get<int64_t>();
}

Result<std::string> PrintJson(const Json& value) {
  try {
    return value.dump(-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::strict);
  } catch (const Json::exception& error) {
    return ExternalError("TIDEMILL_MALFORMED_LOG", "cannot write this as JSON: {}", error.what());
  }
}

Result<std::vector<int64_t>> ListIds(fs::FileSystem& file_system, const std::string& directory) {
  ARROW_ASSIGN_OR_RAISE(const auto entries, file_system.List(directory));
  std::vector<int64_t> ids;
  if (!entries) return ids;
  for (const fs::FileInfo& entry : *entries) {
    if (const auto id = ParseId(entry.name); id && !entry.is_directory) ids.push_back(*id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

Status Purge(fs::FileSystem& file_system, const std::string& directory, int64_t threshold) {
  ARROW_ASSIGN_OR_RAISE(const std::vector<int64_t> ids, ListIds(file_system, directory));
  // Oldest first, so that what is left after a crash has no hole.
  for (const int64_t id : ids) {
    if (id >= threshold) break;
    ARROW_RETURN_NOT_OK(file_system.Remove(fs::Join(directory, std::to_string(id))));
  }
  return Status::OK();
}

Result<std::string> ReadEntry(fs::FileSystem& file_system, const std::string& directory, int64_t id) {
  const std::string path = fs::Join(directory, std::to_string(id));
  Result<std::string> text = file_system.Read(path);
  if (text.ok() || !fs::IsNotFound(text.status())) return text;
  return ExternalError("TIDEMILL_LOG_ENTRY_MISSING",
                       "batch {} doesn't exist: {} is missing. Restore the file from a copy of the checkpoint, or start with a new checkpoint folder", id,
                       path)
      .Path(path);
}

Status InFile(const Status& status, const std::string& path) {
  if (status.ok()) return status;
  const ErrorDetail* detail = ErrorDetail::Of(status);
  return Error(Fault::kExternal, Retry::kNever, detail == nullptr ? "TIDEMILL_MALFORMED_LOG" : detail->condition,
               fmt::format("Failed to read log file {}. {}. Restore the file from a copy of the checkpoint; if there is none, start with a new "
                           "checkpoint folder",
                           path, status.message()))
      .Path(path);
}

Status AddEntry(fs::FileSystem& file_system, const std::string& directory, int64_t id, std::string_view text) {
  const std::string path = fs::Join(directory, std::to_string(id));
  ARROW_ASSIGN_OR_RAISE(const fs::CreateOutcome outcome, file_system.CreateIfAbsent(path, text));
  return outcome == fs::CreateOutcome::kCreated ? Status::OK() : ConcurrentUpdate(id, path);
}

Status ConcurrentUpdate(int64_t id, const std::string& path) {
  return ExternalError("CONCURRENT_STREAM_LOG_UPDATE",
                       "Another query has written {}: the log already has an entry for batch {}. Only one query at a time may use a checkpoint; stop "
                       "the other one, then start this one again",
                       path, id)
      .Param("batchId", std::to_string(id))
      .Path(path);
}

}  // namespace tidemill::checkpoint::internal
