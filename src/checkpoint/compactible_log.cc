#include "checkpoint/compactible_log.h"

#include <algorithm>
#include <utility>

#include "checkpoint/log_text_internal.h"

namespace tidemill::checkpoint {

namespace {

constexpr int kNewestVersion = 1;
constexpr std::string_view kHeader = "v1";
constexpr std::string_view kCompactSuffix = ".compact";

/// The ids in a log's folder, ascending, by kind.
struct LogIds {
  std::vector<int64_t> plain;
  std::vector<int64_t> compact;

  std::optional<int64_t> Latest() const {
    std::optional<int64_t> latest;
    if (!plain.empty()) latest = plain.back();
    if (!compact.empty()) latest = std::max(latest.value_or(0), compact.back());
    return latest;
  }
};

Result<LogIds> ListLog(fs::FileSystem& file_system, const std::string& directory) {
  LogIds ids;
  ARROW_ASSIGN_OR_RAISE(const auto entries, file_system.List(directory));
  if (!entries) return ids;
  for (const fs::FileInfo& entry : *entries) {
    if (entry.is_directory) continue;
    std::string_view name = entry.name;
    const bool is_compact = name.ends_with(kCompactSuffix);
    if (is_compact) name.remove_suffix(kCompactSuffix.size());
    if (const auto id = internal::ParseId(name)) (is_compact ? ids.compact : ids.plain).push_back(*id);
  }
  std::sort(ids.plain.begin(), ids.plain.end());
  std::sort(ids.compact.begin(), ids.compact.end());
  return ids;
}

std::string PathOf(const std::string& directory, int64_t id, bool is_compact) {
  return fs::Join(directory, std::to_string(id)) + std::string(is_compact ? kCompactSuffix : "");
}

Result<std::vector<std::string>> ReadLines(fs::FileSystem& file_system, const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(const std::string text, file_system.Read(path));
  const std::vector<std::string_view> lines = internal::SplitLines(text);
  const Status version = internal::ParseVersion(lines.empty() ? std::string_view() : lines[0], kNewestVersion).status();
  if (!version.ok()) return internal::InFile(version, path);
  return std::vector<std::string>(lines.begin() + 1, lines.end());
}

Status EntryMissing(const std::string& path, int64_t id) {
  return ExternalError("TIDEMILL_LOG_ENTRY_MISSING",
                       "batch {} doesn't exist: {} is missing. Restore the file from a copy of the checkpoint, or start with a new checkpoint folder", id, path)
      .Path(path);
}

/// All lines up to entry `last`: from the newest compact file at or below it on.
Result<std::vector<std::string>> ReadUpTo(fs::FileSystem& file_system, const std::string& directory, const LogIds& ids, int64_t last) {
  std::vector<std::string> lines;
  int64_t first = 0;
  const auto above = std::upper_bound(ids.compact.begin(), ids.compact.end(), last);
  if (above != ids.compact.begin()) {
    const int64_t base = *std::prev(above);
    ARROW_ASSIGN_OR_RAISE(lines, ReadLines(file_system, PathOf(directory, base, true)));
    first = base + 1;
  }
  for (int64_t id = first; id <= last; ++id) {
    const std::string path = PathOf(directory, id, false);
    Result<std::vector<std::string>> entry = ReadLines(file_system, path);
    if (!entry.ok()) return fs::IsNotFound(entry.status()) ? EntryMissing(path, id) : entry.status();
    std::move(entry->begin(), entry->end(), std::back_inserter(lines));
  }
  return lines;
}

}  // namespace

bool IsCompactionId(int64_t id, int interval) { return (id + 1) % interval == 0; }

int CompactInterval(const std::vector<int64_t>& compact_ids, int configured) {
  if (compact_ids.empty()) return configured;
  if (compact_ids.size() >= 2) return static_cast<int>(compact_ids.back() - compact_ids[compact_ids.size() - 2]);
  const int64_t count = compact_ids.back() + 1;  // the one file there is holds that many entries
  if (count <= configured) return static_cast<int>(count);
  if (configured >= count / 2) return static_cast<int>(count);
  for (int64_t divisor = configured; divisor <= count / 2; ++divisor) {
    if (divisor > 0 && count % divisor == 0) return static_cast<int>(divisor);
  }
  return static_cast<int>(count);
}

CompactibleLog::CompactibleLog(fs::FileSystem& file_system, Clock& clock, std::string directory, CompactionOptions options)
    : file_system_(file_system), clock_(clock), directory_(std::move(directory)), options_(options) {
  options_.compact_interval = std::max(options_.compact_interval, 1);
}

Result<bool> CompactibleLog::Add(int64_t id, const std::vector<std::string>& lines, const std::function<bool(const std::string&)>& keep) {
  ARROW_ASSIGN_OR_RAISE(LogIds ids, ListLog(file_system_, directory_));
  // An entry of this very id is either somebody else's or what a failed call of ours left; CreateIfAbsent tells which. It must not sway the interval.
  std::erase(ids.compact, id);
  const bool compacts = IsCompactionId(id, CompactInterval(ids.compact, options_.compact_interval));
  std::string text(kHeader);
  if (compacts && id > 0) {
    ARROW_ASSIGN_OR_RAISE(const auto earlier, ReadUpTo(file_system_, directory_, ids, id - 1));
    for (const std::string& line : earlier) {
      if (!keep || keep(line)) text += '\n' + line;
    }
  }
  for (const std::string& line : lines) text += '\n' + line;
  // The other kind of name would be the same entry too.
  ARROW_ASSIGN_OR_RAISE(const auto other, file_system_.Stat(PathOf(directory_, id, !compacts)));
  if (other) return false;
  ARROW_ASSIGN_OR_RAISE(const fs::CreateOutcome outcome, file_system_.CreateIfAbsent(PathOf(directory_, id, compacts), text));
  return outcome == fs::CreateOutcome::kCreated;
}

Result<std::optional<std::vector<std::string>>> CompactibleLog::Get(int64_t id) {
  for (const bool is_compact : {false, true}) {
    Result<std::vector<std::string>> lines = ReadLines(file_system_, PathOf(directory_, id, is_compact));
    if (lines.ok()) return std::optional(std::move(*lines));
    if (!fs::IsNotFound(lines.status())) return lines.status();
  }
  return std::nullopt;
}

Result<std::vector<std::string>> CompactibleLog::AllLines() {
  ARROW_ASSIGN_OR_RAISE(const LogIds ids, ListLog(file_system_, directory_));
  const std::optional<int64_t> latest = ids.Latest();
  if (!latest) return std::vector<std::string>{};
  return ReadUpTo(file_system_, directory_, ids, *latest);
}

Result<std::optional<int64_t>> CompactibleLog::LatestId() {
  ARROW_ASSIGN_OR_RAISE(const LogIds ids, ListLog(file_system_, directory_));
  return ids.Latest();
}

Status CompactibleLog::DeleteExpired(int64_t latest_id) {
  if (!options_.deletion) return Status::OK();
  ARROW_ASSIGN_OR_RAISE(const LogIds ids, ListLog(file_system_, directory_));
  const int64_t interval = CompactInterval(ids.compact, options_.compact_interval);
  const int64_t kept_from = latest_id + 1 - options_.min_batches_to_retain;
  if (interval > kept_from) return Status::OK();
  // The compact file below the oldest entry that is kept holds all that comes before, itself included.
  const int64_t limit = kept_from - kept_from % interval - 1;
  const int64_t oldest_ms = clock_.NowMs() - options_.cleanup_delay_ms;
  for (const bool is_compact : {false, true}) {
    for (const int64_t id : is_compact ? ids.compact : ids.plain) {
      if (id >= limit) break;
      const std::string path = PathOf(directory_, id, is_compact);
      ARROW_ASSIGN_OR_RAISE(const auto info, file_system_.Stat(path));
      if (info && info->modified_ms < oldest_ms) ARROW_RETURN_NOT_OK(file_system_.Remove(path));
    }
  }
  return Status::OK();
}

}  // namespace tidemill::checkpoint
