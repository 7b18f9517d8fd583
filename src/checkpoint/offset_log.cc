#include "checkpoint/offset_log.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "checkpoint/log_text_internal.h"

namespace tidemill::checkpoint {

namespace {

using internal::ParseObject;
using internal::ReadInt;
using Json = nlohmann::ordered_json;

constexpr int kNewestVersion = 2;
constexpr std::string_view kNoOffset = "-";

Status ReadConf(const Json& metadata, OffsetEntry* entry) {
  const auto conf = metadata.find("conf");
  if (conf == metadata.end()) return Status::OK();
  if (!conf->is_object()) return ExternalError("TIDEMILL_MALFORMED_LOG", "field conf is not a JSON object");
  for (const auto& [key, value] : conf->items()) {
    if (!value.is_string()) return ExternalError("TIDEMILL_MALFORMED_LOG", "conf key {} has a value that is no string", key);
    entry->conf[key] = value.get<std::string>();
  }
  return Status::OK();
}

Status ReadMetadata(std::string_view line, OffsetEntry* entry) {
  // Before Spark 2.2 the line is empty.
  if (line.empty()) return Status::OK();
  ARROW_ASSIGN_OR_RAISE(const Json metadata, ParseObject(line, "the metadata line"));
  ARROW_ASSIGN_OR_RAISE(entry->batch_watermark_ms, ReadInt(metadata, "batchWatermarkMs", 0));
  ARROW_ASSIGN_OR_RAISE(entry->batch_timestamp_ms, ReadInt(metadata, "batchTimestampMs", 0));
  ARROW_RETURN_NOT_OK(ReadConf(metadata, entry));
  if (const auto control = metadata.find("controlBatchInfo"); control != metadata.end() && !control->is_null()) {
    return ExternalError("TIDEMILL_UNSUPPORTED_LOG_VERSION",
                         "a batch that repartitions the state offline is under way (controlBatchInfo): let Spark finish it first");
  }
  if (const auto sources = metadata.find("sourceMetadataInfo"); sources != metadata.end()) {
    ARROW_ASSIGN_OR_RAISE(entry->source_metadata_json, internal::PrintJson(*sources));
  }
  return Status::OK();
}

/// A source's line as the log has it, without its id. JSON text has no raw control characters; one that slipped in would not survive writing.
Result<std::optional<std::string>> OffsetOf(std::string_view text) {
  if (text.empty()) return ExternalError("TIDEMILL_MALFORMED_LOG", "an offset line is empty");
  if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20; })) {
    return ExternalError("TIDEMILL_MALFORMED_LOG", "an offset line holds a control character");
  }
  return text == kNoOffset ? std::nullopt : std::optional<std::string>(text);
}

bool IdBefore(const std::string& a, const std::string& b) {
  const auto left = internal::ParseId(a);
  const auto right = internal::ParseId(b);
  if (left && right) return *left < *right;
  return left.has_value() != right.has_value() ? left.has_value() : a < b;
}

/// Version 2 has its lines in no fixed order: sources that have numbers for names come in the order of those.
Status ReadKeyedOffsets(const std::vector<std::string_view>& lines, OffsetEntry* entry) {
  std::map<std::string, std::optional<std::string>, decltype(&IdBefore)> by_id(&IdBefore);
  for (const std::string_view line : lines) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) {
      return ExternalError("TIDEMILL_MALFORMED_LOG", "an offset line has no source id: \"{}\"", line.substr(0, 80));
    }
    ARROW_ASSIGN_OR_RAISE(std::optional<std::string> offset, OffsetOf(line.substr(colon + 1)));
    const auto [position, added] = by_id.emplace(std::string(line.substr(0, colon)), std::move(offset));
    if (!added) return ExternalError("TIDEMILL_MALFORMED_LOG", "source {} has two offset lines", position->first);
  }
  for (auto& [id, offset] : by_id) {
    entry->source_ids.push_back(id);
    entry->offsets.push_back(std::move(offset));
  }
  return Status::OK();
}

}  // namespace

Result<OffsetEntry> ParseOffsetEntry(std::string_view text) {
  std::vector<std::string_view> lines = internal::SplitLines(text);
  if (lines.empty()) return ExternalError("TIDEMILL_MALFORMED_LOG", "Incomplete log file: it is empty");
  OffsetEntry entry;
  ARROW_ASSIGN_OR_RAISE(entry.version, internal::ParseVersion(lines[0], kNewestVersion));
  if (lines.size() < 2) return ExternalError("TIDEMILL_MALFORMED_LOG", "Incomplete log file: the metadata line is missing");
  ARROW_RETURN_NOT_OK(ReadMetadata(lines[1], &entry));
  lines.erase(lines.begin(), lines.begin() + 2);
  if (entry.version >= 2) {
    ARROW_RETURN_NOT_OK(ReadKeyedOffsets(lines, &entry));
    return entry;
  }
  for (const std::string_view line : lines) {
    ARROW_ASSIGN_OR_RAISE(std::optional<std::string> offset, OffsetOf(line));
    entry.offsets.push_back(std::move(offset));
  }
  return entry;
}

std::string PrintOffsetEntry(const OffsetEntry& entry) {
  Json metadata;
  metadata["batchWatermarkMs"] = entry.batch_watermark_ms;
  metadata["batchTimestampMs"] = entry.batch_timestamp_ms;
  metadata["conf"] = Json::object();
  for (const auto& [key, value] : entry.conf) metadata["conf"][key] = value;
  if (entry.version >= 2) {
    const Json sources = Json::parse(entry.source_metadata_json, nullptr, /*allow_exceptions=*/false);
    metadata["sourceMetadataInfo"] = sources.is_object() ? sources : Json::object();
  }
  // A conf value that is no UTF-8 cannot be written down; a replacement character is what Java makes of it too.
  std::string text = fmt::format("v{}\n{}", entry.version, metadata.dump(-1, ' ', false, Json::error_handler_t::replace));
  for (size_t i = 0; i < entry.offsets.size(); ++i) {
    text += '\n';
    if (entry.version >= 2) text += (i < entry.source_ids.size() ? entry.source_ids[i] : std::to_string(i)) + ":";
    text += entry.offsets[i] ? std::string_view(*entry.offsets[i]) : kNoOffset;
  }
  return text;
}

OffsetLog::OffsetLog(fs::FileSystem& file_system, std::string directory) : file_system_(file_system), directory_(std::move(directory)) {}

Status OffsetLog::Add(int64_t batch_id, const OffsetEntry& entry) {
  return internal::AddEntry(file_system_, directory_, batch_id, PrintOffsetEntry(entry));
}

Result<OffsetEntry> OffsetLog::Get(int64_t batch_id) {
  ARROW_ASSIGN_OR_RAISE(const std::string text, internal::ReadEntry(file_system_, directory_, batch_id));
  Result<OffsetEntry> entry = ParseOffsetEntry(text);
  if (!entry.ok()) return internal::InFile(entry.status(), fs::Join(directory_, std::to_string(batch_id)));
  return entry;
}

Result<std::vector<int64_t>> OffsetLog::ListIds() { return internal::ListIds(file_system_, directory_); }

Status OffsetLog::Purge(int64_t threshold) { return internal::Purge(file_system_, directory_, threshold); }

}  // namespace tidemill::checkpoint
