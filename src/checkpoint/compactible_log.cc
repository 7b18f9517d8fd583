#include "checkpoint/compactible_log.h"

#include <algorithm>
#include <utility>

#include "checkpoint/log_text_internal.h"

namespace tidemill::checkpoint {

namespace {

constexpr int kNewestVersion = 1;
constexpr std::string_view kCompactSuffix = ".compact";

/// The id of `<id>.compact`.
std::optional<int64_t> ParseCompactName(std::string_view name) {
  if (!name.ends_with(kCompactSuffix)) return std::nullopt;
  return internal::ParseId(name.substr(0, name.size() - kCompactSuffix.size()));
}

/// The first id whose file has to be read for everything up to `latest`: the last compact file, or 0.
int64_t FirstInForce(int64_t latest, int interval) { return std::max<int64_t>(0, (latest + 1) / interval * interval - 1); }

}  // namespace

int CompactInterval(const std::vector<int64_t>& compact_ids, int configured) {
  if (compact_ids.empty()) return configured;
  if (compact_ids.size() >= 2) return static_cast<int>(compact_ids.back() - compact_ids[compact_ids.size() - 2]);
  // One compact file tells its id and not the interval: the intervals that fit are the divisors of n. The one nearest above the configured is taken.
  const int64_t n = compact_ids[0] + 1;
  if (n <= configured) return static_cast<int>(n);
  for (int64_t interval = configured; interval <= n / 2; ++interval) {
    if (interval > 0 && n % interval == 0) return static_cast<int>(interval);
  }
  return static_cast<int>(n);
}

bool IsCompactionId(int64_t id, int interval) { return (id + 1) % interval == 0; }

Result<std::vector<std::string>> ParseLogLines(std::string_view text) {
  const std::vector<std::string_view> lines = internal::SplitLines(text);
  if (lines.empty()) return ExternalError("TIDEMILL_MALFORMED_LOG", "Incomplete log file: it is empty");
  ARROW_RETURN_NOT_OK(internal::ParseVersion(lines[0], kNewestVersion).status());
  std::vector<std::string> entries;
  entries.reserve(lines.size() - 1);
  for (size_t i = 1; i < lines.size(); ++i) entries.emplace_back(lines[i]);
  return entries;
}

std::string PrintLogLines(const std::vector<std::string>& lines) {
  std::string text = fmt::format("v{}", kNewestVersion);
  for (const std::string& line : lines) {
    text += '\n';
    text += line;
  }
  return text;
}

struct CompactibleLog::Contents {
  std::vector<fs::FileInfo> files;   // of both kinds
  std::vector<int64_t> ids;          // of `files`, in its order
  std::vector<int64_t> compact_ids;  // ascending
};

CompactibleLog::CompactibleLog(fs::FileSystem& file_system, Clock& clock, std::string directory, CompactionOptions options)
    : file_system_(file_system), clock_(clock), directory_(std::move(directory)), options_(options) {}

Result<CompactibleLog::Contents> CompactibleLog::ListContents() {
  ARROW_ASSIGN_OR_RAISE(auto entries, file_system_.List(directory_));
  Contents contents;
  if (!entries) return contents;
  for (fs::FileInfo& entry : *entries) {
    const std::optional<int64_t> compact = ParseCompactName(entry.name);
    const std::optional<int64_t> id = compact ? compact : internal::ParseId(entry.name);
    if (!id || entry.is_directory) continue;
    if (compact) contents.compact_ids.push_back(*compact);
    contents.ids.push_back(*id);
    contents.files.push_back(std::move(entry));
  }
  std::sort(contents.compact_ids.begin(), contents.compact_ids.end());
  return contents;
}

Result<int> CompactibleLog::Interval() {
  {
    std::lock_guard lock(mutex_);
    if (interval_) return *interval_;
  }
  ARROW_ASSIGN_OR_RAISE(const Contents contents, ListContents());
  std::lock_guard lock(mutex_);
  interval_ = CompactInterval(contents.compact_ids, options_.compact_interval);
  return *interval_;
}

namespace {

Error EntryMissing(int64_t id, int64_t first, int64_t last, const std::string& path) {
  return ExternalError("TIDEMILL_LOG_ENTRY_MISSING",
                       "batches ({}) don't exist (startId: {}, endId: {}): {} is missing, and what it says is needed. Restore the file from a copy; "
                       "if there is none, start with a new checkpoint folder (and, for the log of a file sink, a new output folder)",
                       id, first, last, path)
      .Path(path);
}

}  // namespace

std::string CompactibleLog::PathOf(int64_t id, int interval) const {
  return fs::Join(directory_, fmt::format("{}{}", id, IsCompactionId(id, interval) ? kCompactSuffix : ""));
}

Result<bool> CompactibleLog::Add(int64_t id, const std::vector<std::string>& lines, const std::function<bool(const std::string&)>& keep) {
  ARROW_ASSIGN_OR_RAISE(const int interval, Interval());
  std::vector<std::string> all;
  if (IsCompactionId(id, interval)) {
    ARROW_ASSIGN_OR_RAISE(all, LinesToCompact(id, interval, keep));
  }
  all.insert(all.end(), lines.begin(), lines.end());
  const Result<fs::CreateOutcome> outcome = file_system_.CreateIfAbsent(PathOf(id, interval), PrintLogLines(all));
  if (!outcome.ok()) {
    std::lock_guard lock(mutex_);
    durable_ = false;
    return outcome.status();
  }
  return *outcome == fs::CreateOutcome::kCreated;
}

Result<std::vector<std::string>> CompactibleLog::LinesToCompact(int64_t id, int interval, const std::function<bool(const std::string&)>& keep) {
  ARROW_ASSIGN_OR_RAISE(std::vector<std::string> lines, ReadRange(std::max<int64_t>(0, id - interval), id - 1, interval));
  if (keep) std::erase_if(lines, [&](const std::string& line) { return !keep(line); });
  return lines;
}

Result<std::optional<std::vector<std::string>>> CompactibleLog::Get(int64_t id) {
  ARROW_ASSIGN_OR_RAISE(const int interval, Interval());
  const std::string path = PathOf(id, interval);
  const Result<std::string> text = file_system_.Read(path);
  if (!text.ok()) {
    if (fs::IsNotFound(text.status())) return std::optional<std::vector<std::string>>();
    return text.status();
  }
  Result<std::vector<std::string>> lines = ParseLogLines(*text);
  if (!lines.ok()) return internal::InFile(lines.status(), path);
  return std::optional<std::vector<std::string>>(std::move(*lines));
}

Result<std::vector<std::string>> CompactibleLog::ReadRange(int64_t first, int64_t last, int interval) {
  std::vector<std::string> all;
  for (int64_t id = first; id <= last; ++id) {
    ARROW_ASSIGN_OR_RAISE(std::optional<std::vector<std::string>> lines, Get(id));
    if (!lines) return EntryMissing(id, first, last, PathOf(id, interval));
    std::move(lines->begin(), lines->end(), std::back_inserter(all));
  }
  return all;
}

Result<std::vector<std::string>> CompactibleLog::AllLines() {
  ARROW_ASSIGN_OR_RAISE(const std::optional<int64_t> latest, LatestId());
  if (!latest) return std::vector<std::string>();
  ARROW_ASSIGN_OR_RAISE(const int interval, Interval());
  return ReadRange(FirstInForce(*latest, interval), *latest, interval);
}

Result<std::optional<int64_t>> CompactibleLog::LatestId() {
  ARROW_ASSIGN_OR_RAISE(const Contents contents, ListContents());
  if (contents.ids.empty()) return std::optional<int64_t>();
  const int64_t latest = *std::max_element(contents.ids.begin(), contents.ids.end());
  ARROW_RETURN_NOT_OK(MakeDurable(latest));
  return std::optional<int64_t>(latest);
}

Status CompactibleLog::MakeDurable(int64_t latest_id) {
  {
    std::lock_guard lock(mutex_);
    if (durable_) return Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(const int interval, Interval());
  std::vector<std::string> paths;
  for (int64_t id = FirstInForce(latest_id, interval); id <= latest_id; ++id) {
    const std::string path = PathOf(id, interval);
    ARROW_ASSIGN_OR_RAISE(const auto info, file_system_.Stat(path));
    // A log may begin late, in a folder that an older query was given; what is missing then is found by whoever needs it.
    if (!info && !paths.empty()) return EntryMissing(id, FirstInForce(latest_id, interval), latest_id, path);
    if (info) paths.push_back(path);
  }
  ARROW_RETURN_NOT_OK(file_system_.MakeDurable(paths));
  std::lock_guard lock(mutex_);
  durable_ = true;
  return Status::OK();
}

Status CompactibleLog::DeleteExpired(int64_t latest_id) {
  ARROW_ASSIGN_OR_RAISE(const int interval, Interval());
  // Everything up to the compact file before the oldest batch to retain is in that file.
  const int64_t oldest_retained = latest_id + 1 - options_.min_batches_to_retain;
  if (!options_.deletion || oldest_retained < interval) return Status::OK();
  const int64_t limit = oldest_retained - oldest_retained % interval - 1;
  ARROW_ASSIGN_OR_RAISE(const Contents contents, ListContents());
  const int64_t now_ms = clock_.NowMs();
  for (size_t i = 0; i < contents.files.size(); ++i) {
    const fs::FileInfo& file = contents.files[i];
    if (contents.ids[i] >= limit || file.modified_ms > now_ms - options_.cleanup_delay_ms) continue;
    ARROW_RETURN_NOT_OK(file_system_.Remove(fs::Join(directory_, file.name)));
  }
  return Status::OK();
}

}  // namespace tidemill::checkpoint
