#include "checkpoint/commit_log.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "checkpoint/log_text_internal.h"

namespace tidemill::checkpoint {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kNewestVersion = 3;

}  // namespace

Result<CommitEntry> ParseCommitEntry(std::string_view text) {
  const std::vector<std::string_view> lines = internal::SplitLines(text);
  if (lines.empty()) return ExternalError("TIDEMILL_MALFORMED_LOG", "Incomplete log file: it is empty");
  CommitEntry entry;
  ARROW_ASSIGN_OR_RAISE(entry.version, internal::ParseVersion(lines[0], kNewestVersion));
  // Spark 2.3 and before wrote the version line alone, or {} after it.
  if (lines.size() < 2 || lines[1].empty()) return entry;
  ARROW_ASSIGN_OR_RAISE(const Json object, internal::ParseObject(lines[1], "the commit line"));
  ARROW_ASSIGN_OR_RAISE(entry.next_batch_watermark_ms, internal::ReadInt(object, "nextBatchWatermarkMs", 0));
  if (const auto ids = object.find("stateUniqueIds"); ids != object.end()) {
    ARROW_ASSIGN_OR_RAISE(entry.state_unique_ids_json, internal::PrintJson(*ids));
  }
  return entry;
}

std::string PrintCommitEntry(const CommitEntry& entry) {
  Json object;
  object["nextBatchWatermarkMs"] = entry.next_batch_watermark_ms;
  if (!entry.state_unique_ids_json.empty()) {
    Json ids = Json::parse(entry.state_unique_ids_json, nullptr, /*allow_exceptions=*/false);
    if (!ids.is_discarded()) object["stateUniqueIds"] = std::move(ids);
  }
  return fmt::format("v{}\n{}", entry.version, object.dump());
}

CommitLog::CommitLog(fs::FileSystem& file_system, std::string directory) : file_system_(file_system), directory_(std::move(directory)) {}

Status CommitLog::Add(int64_t batch_id, const CommitEntry& entry) {
  return internal::AddEntry(file_system_, directory_, batch_id, PrintCommitEntry(entry));
}

Result<CommitEntry> CommitLog::Get(int64_t batch_id) {
  ARROW_ASSIGN_OR_RAISE(const std::string text, internal::ReadEntry(file_system_, directory_, batch_id));
  Result<CommitEntry> entry = ParseCommitEntry(text);
  if (!entry.ok()) return internal::InFile(entry.status(), fs::Join(directory_, std::to_string(batch_id)));
  return entry;
}

Result<std::vector<int64_t>> CommitLog::ListIds() { return internal::ListIds(file_system_, directory_); }

Status CommitLog::Purge(int64_t threshold) { return internal::Purge(file_system_, directory_, threshold); }

}  // namespace tidemill::checkpoint
