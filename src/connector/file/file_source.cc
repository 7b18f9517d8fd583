#include "connector/file/file_source.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_map>

#include "base/log.h"
#include "checkpoint/compactible_log.h"
#include "connector/file/file_listing.h"
#include "connector/file/file_source_options.h"
#include "connector/file/json_partition_reader.h"

namespace tidemill::connector {

namespace {

// Spark's rule for cutting a batch into partitions, with a fixed width in place of the number of cores: results and counters must not depend on the machine.
constexpr int64_t kMaxPartitionBytes = int64_t{128} << 20;
constexpr int64_t kOpenCostBytes = int64_t{4} << 20;
constexpr int64_t kWidth = 16;

struct LogFile {
  std::string path;
  int64_t modified_ms = 0;
};

Result<std::string> PrintLine(const LogFile& file, int64_t entry) {
  nlohmann::ordered_json line;
  line["path"] = fs::ToFileUri(file.path);
  line["timestamp"] = file.modified_ms;
  line["batchId"] = entry;
  try {
    return line.dump();
  } catch (const nlohmann::json::type_error&) {
    return ExternalError("TIDEMILL_UNSUPPORTED_PATH", "The name of the file {} is not UTF-8, so it cannot be logged. Rename the file, or leave it out "
                         "by pathGlobFilter.",
                         line["path"].dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))
        .Path(file.path);
  }
}

/// A line of the log and the entry in which its file first appeared.
Result<std::pair<LogFile, int64_t>> ParseLine(const std::string& text, const std::string& directory) {
  const auto line = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  const bool good = line.is_object() && line.contains("path") && line["path"].is_string() && line.contains("batchId") &&
                    line["batchId"].is_number_integer() && line.contains("timestamp") && line["timestamp"].is_number_integer();
  if (!good) {
    return ExternalError("TIDEMILL_MALFORMED_LOG",
                         "Failed to read the file source's log {}: a line names no file: {}. Restore the log from a copy of the "
                         "checkpoint, or start with a new "
                         "checkpoint folder.",
                         directory, text.substr(0, 120))
        .Path(directory);
  }
  ARROW_ASSIGN_OR_RAISE(std::string path, fs::LocalPath(line["path"].get<std::string>(), "/"));
  return std::pair(LogFile{std::move(path), line["timestamp"].get<int64_t>()}, line["batchId"].get<int64_t>());
}

Offset PrintOffset(int64_t entry) { return fmt::format("{{\"logOffset\":{}}}", entry); }

Result<int64_t> ParseOffset(const Offset& text) {
  const auto offset = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (offset.is_number_integer()) return offset.get<int64_t>();  // Spark 2.1 and before
  if (offset.is_object() && offset.contains("logOffset") && offset["logOffset"].is_number_integer())
    return offset["logOffset"].get<int64_t>();
  return ExternalError("TIDEMILL_MALFORMED_LOG",
                       "\"{}\" is no offset of a file source: was the source of this query replaced by another one?", text.substr(0, 80));
}

/// Files that were taken already, and how far back new ones may lie.
class SeenFiles {
 public:
  void Configure(int64_t max_age_ms, bool name_only) {
    max_age_ms_ = max_age_ms;
    name_only_ = name_only;
  }
  bool IsNew(const ListedFile& file) const { return file.modified_ms >= purged_before_ms_ && !seen_.contains(KeyOf(file.path)); }
  void Add(const std::string& path, int64_t modified_ms) {
    seen_[KeyOf(path)] = modified_ms;
    newest_ms_ = std::max(newest_ms_, modified_ms);
  }
  /// Forget what is too old to be listed as new again.
  void Purge() {
    purged_before_ms_ = newest_ms_ - max_age_ms_;
    std::erase_if(seen_, [&](const auto& entry) { return entry.second < purged_before_ms_; });
  }

 private:
  std::string KeyOf(const std::string& path) const { return name_only_ ? fs::BaseName(path) : path; }

  std::unordered_map<std::string, int64_t> seen_;
  int64_t max_age_ms_ = 0;
  bool name_only_ = false;
  int64_t newest_ms_ = 0;
  int64_t purged_before_ms_ = 0;
};

class JsonFileSource final : public Source {
 public:
  JsonFileSource(const SourceContext& context, std::string path, format::JsonOptions json)
      : file_system_(context.file_system),
        clock_(context.clock),
        config_(context.config),
        raw_options_(context.options),
        schema_(context.schema),
        path_(std::move(path)),
        json_(std::move(json)),
        log_directory_(context.metadata_path),
        log_(context.file_system, context.clock, context.metadata_path, Compaction(context.config)) {}

  std::string Description() const override { return "FileStreamSource[file:" + path_ + "]"; }
  const type::Schema& schema() const override { return schema_; }

  Result<std::optional<Offset>> LatestOffset(const std::optional<Offset>& start, bool ignore_limits) override {
    ARROW_RETURN_NOT_OK(EnsureOpen());
    // Files that were chosen but belong to no batch yet come first: a restart finds such an entry when the process died before the batch's offsets were logged.
    int64_t started = -1;
    if (start) {
      ARROW_ASSIGN_OR_RAISE(started, ParseOffset(*start));
    }
    if (started > current_) {
      return ExternalError("TIDEMILL_LOG_ENTRY_MISSING",
                           "batch {} doesn't exist: the offset log says that entry {} of the file source's log {} was read, but its last "
                           "one is {}. Restore the log from "
                           "a copy of the checkpoint, or start with a new checkpoint folder.",
                           started, started, log_directory_, current_)
          .Path(log_directory_);
    }
    ARROW_ASSIGN_OR_RAISE(std::vector<ListedFile> chosen, ChooseNewFiles(ignore_limits));
    if (!chosen.empty()) {
      ++current_;
      std::vector<LogFile> entry;
      for (const ListedFile& file : chosen) {
        seen_.Add(file.path, file.modified_ms);
        entry.push_back({file.path, file.modified_ms});
        sizes_[file.path] = file.size_bytes;
      }
      const std::lock_guard lock(mutex_);
      entries_[current_] = std::move(entry);
      seen_.Purge();
    }
    return current_ < 0 ? std::nullopt : std::optional(PrintOffset(current_));
  }

  Status PrepareForAvailableNow() override {
    ARROW_RETURN_NOT_OK(EnsureOpen());
    backlog_.clear();
    ARROW_RETURN_NOT_OK(FillBacklog());
    frozen_ = true;
    return Status::OK();
  }

  Status LogUpTo(const Offset& end) override {
    ARROW_ASSIGN_OR_RAISE(const int64_t last, ParseOffset(end));
    for (int64_t entry = logged_ + 1; entry <= last; ++entry) {
      ARROW_ASSIGN_OR_RAISE(const std::vector<std::string> lines, LinesOf(entry));
      ARROW_ASSIGN_OR_RAISE(const bool added, log_.Add(entry, lines));
      if (!added) {
        return ExternalError(
                   "CONCURRENT_STREAM_LOG_UPDATE",
                   "Concurrent update to the log. Multiple streaming jobs detected for {}: another query has written entry {} of {}.",
                   entry, entry, log_directory_)
            .Param("batchId", std::to_string(entry))
            .Path(log_directory_);
      }
      logged_ = entry;
    }
    return Status::OK();
  }

  Result<std::vector<std::shared_ptr<InputPartition>>> PlanPartitions(const std::optional<Offset>& start, const Offset& end) override {
    ARROW_RETURN_NOT_OK(EnsureOpen());
    ARROW_ASSIGN_OR_RAISE(const std::vector<LogFile> files, FilesBetween(start, end));
    std::vector<FileSplit> whole;
    int64_t total = 0;
    for (const LogFile& file : files) {
      ARROW_RETURN_NOT_OK(RefuseCompressed(file.path));
      ARROW_ASSIGN_OR_RAISE(const int64_t size, SizeOf(file.path));
      whole.push_back({file.path, 0, size});
      total += size + kOpenCostBytes;
    }
    return Pack(whole, std::min(kMaxPartitionBytes, std::max(kOpenCostBytes, total / kWidth)));
  }

  Result<std::unique_ptr<PartitionReader>> OpenReader(const InputPartition& partition, const std::vector<int>& columns,
                                                      std::stop_token stop) override {
    std::vector<type::Field> fields;
    for (const int column : columns) fields.push_back(schema_.fields.at(column));
    return MakeJsonPartitionReader(file_system_, static_cast<const FilePartition&>(partition), std::move(fields), json_,
                                   {options_.ignore_missing_files, options_.ignore_corrupt_files}, std::move(stop));
  }

  Status Commit(const Offset& end) override {
    ARROW_ASSIGN_OR_RAISE(const int64_t last, ParseOffset(end));
    // What an earlier process read last is cleaned by this one.
    if (options_.clean_source == CleanSource::kDelete && last >= 0) ARROW_RETURN_NOT_OK(FilesOf(last).status());
    for (const LogFile& file : TakeEntriesUpTo(last)) {
      sizes_.erase(file.path);
      if (options_.clean_source != CleanSource::kDelete) continue;
      const Status removed = file_system_.Remove(file.path);  // best effort, as in Spark
      if (!removed.ok()) log::Warning("cleanSource could not delete {}: {}", file.path, removed.message());
    }
    return log_.DeleteExpired(last);
  }

 private:
  static checkpoint::CompactionOptions Compaction(const Config& config) {
    checkpoint::CompactionOptions options;
    options.compact_interval = static_cast<int>(config.GetInt(conf::kFileSourceCompactInterval));
    options.cleanup_delay_ms = config.GetDurationMs(conf::kFileSourceCleanupDelay);
    options.deletion = config.GetBool(conf::kFileSourceLogDeletion);
    options.min_batches_to_retain = static_cast<int>(config.GetInt(conf::kMinBatchesToRetain));
    return options;
  }

  Result<std::vector<std::string>> LinesOf(int64_t entry) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(entry);
    if (found == entries_.end()) return InternalError("entry {} of {} is to be logged and was never chosen", entry, log_directory_);
    std::vector<std::string> lines;
    for (const LogFile& file : found->second) {
      ARROW_ASSIGN_OR_RAISE(std::string line, PrintLine(file, entry));
      lines.push_back(std::move(line));
    }
    return lines;
  }

  std::vector<LogFile> TakeEntriesUpTo(int64_t last) {
    const std::lock_guard lock(mutex_);
    std::vector<LogFile> files;
    const auto end = entries_.upper_bound(last);
    for (auto entry = entries_.begin(); entry != end; ++entry) files.insert(files.end(), entry->second.begin(), entry->second.end());
    entries_.erase(entries_.begin(), end);
    return files;
  }

  /// Read options and log, once, in the query's own thread.
  Status EnsureOpen() {
    if (open_) return Status::OK();
    ARROW_ASSIGN_OR_RAISE(options_, FileSourceOptions::Make(raw_options_, config_));
    if (options_.clean_source != CleanSource::kOff) {
      ARROW_ASSIGN_OR_RAISE(const auto sink_log, file_system_.Stat(fs::Join(path_, "_spark_metadata")));
      if (sink_log)
        return UserError("", "Clean up source files is not supported when reading from the output directory of FileStreamSink.");
    }
    seen_.Configure(options_.max_file_age_ms, options_.file_name_only);
    ARROW_ASSIGN_OR_RAISE(const auto latest, log_.LatestId());
    if (latest) {
      current_ = logged_ = *latest;
      ARROW_RETURN_NOT_OK(MakeLatestDurable());
      ARROW_ASSIGN_OR_RAISE(const auto lines, log_.AllLines());
      for (const std::string& text : lines) {
        ARROW_ASSIGN_OR_RAISE(const auto line, ParseLine(text, log_directory_));
        seen_.Add(line.first.path, line.first.modified_ms);
      }
      seen_.Purge();
    }
    open_ = true;
    return Status::OK();
  }

  /// A killed process may have left its last entry visible but not on disk; offsets must not come to rely on it before it is.
  Status MakeLatestDurable() {
    const std::string plain = fs::Join(log_directory_, std::to_string(logged_));
    ARROW_ASSIGN_OR_RAISE(const auto found, file_system_.Stat(plain));
    const std::vector<std::string> entry = {found ? plain : plain + ".compact"};
    return file_system_.MakeDurable(entry);
  }

  Result<std::vector<ListedFile>> List() {
    return ListFiles(file_system_, clock_, {path_, options_.path_glob_filter, options_.recursive_file_lookup});
  }

  /// Put every new file into the backlog, in the order they are to be read.
  Status FillBacklog() {
    ARROW_ASSIGN_OR_RAISE(std::vector<ListedFile> listed, List());
    if (options_.latest_first) std::reverse(listed.begin(), listed.end());
    std::set<std::string> names;  // two new files of one name are one, where names alone count
    for (ListedFile& file : listed) {
      if (!seen_.IsNew(file)) continue;
      if (options_.file_name_only && !names.insert(fs::BaseName(file.path)).second) continue;
      backlog_.push_back(std::move(file));
    }
    return Status::OK();
  }

  /// New files within the limits.
  Result<std::vector<ListedFile>> ChooseNewFiles(bool ignore_limits) {
    if (backlog_.empty() && !frozen_) ARROW_RETURN_NOT_OK(FillBacklog());
    std::vector<ListedFile> chosen;
    int64_t bytes = 0;
    for (; !backlog_.empty(); backlog_.pop_front()) {
      ListedFile& next = backlog_.front();
      if (!seen_.IsNew(next)) continue;  // it has become too old since it was listed
      if (!ignore_limits && !IsWithinLimits(chosen.size(), bytes + next.size_bytes)) break;
      bytes += next.size_bytes;
      chosen.push_back(std::move(next));
    }
    if (!frozen_) TrimBacklog();
    return chosen;
  }

  /// May a file that makes it `bytes` in all be read after `count` others? One file at least is.
  bool IsWithinLimits(size_t count, int64_t bytes) const {
    if (options_.max_files_per_trigger) return count < static_cast<size_t>(*options_.max_files_per_trigger);
    if (options_.max_bytes_per_trigger) return count == 0 || bytes <= *options_.max_bytes_per_trigger;
    return true;
  }

  /// Files that were listed but not taken are used up before the folder is listed again, unless only a few are left.
  void TrimBacklog() {
    if (options_.latest_first) return backlog_.clear();
    if (backlog_.size() > static_cast<size_t>(options_.max_cached_files)) backlog_.resize(static_cast<size_t>(options_.max_cached_files));
    double share = 0;
    if (options_.max_files_per_trigger) {
      share = static_cast<double>(backlog_.size()) / static_cast<double>(*options_.max_files_per_trigger);
    } else if (options_.max_bytes_per_trigger) {
      int64_t bytes = 0;
      for (const ListedFile& file : backlog_) bytes += file.size_bytes;
      share = static_cast<double>(bytes) / static_cast<double>(*options_.max_bytes_per_trigger);
    }
    if (share < options_.discard_cached_input_ratio) backlog_.clear();
  }

  Result<std::vector<LogFile>> FilesBetween(const std::optional<Offset>& start, const Offset& end) {
    int64_t first = 0;
    if (start) {
      ARROW_ASSIGN_OR_RAISE(const int64_t started, ParseOffset(*start));
      first = started + 1;
    }
    ARROW_ASSIGN_OR_RAISE(const int64_t last, ParseOffset(end));
    std::vector<LogFile> files;
    for (int64_t entry = first; entry <= last; ++entry) {
      ARROW_ASSIGN_OR_RAISE(const std::vector<LogFile> part, FilesOf(entry));
      files.insert(files.end(), part.begin(), part.end());
    }
    return files;
  }

  /// From memory, or, when an earlier process chose them, from the log.
  Result<std::vector<LogFile>> FilesOf(int64_t entry) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto known = entries_.find(entry); known != entries_.end()) return known->second;
    }
    ARROW_ASSIGN_OR_RAISE(std::vector<LogFile> files, ReadEntry(entry));
    const std::lock_guard lock(mutex_);
    return entries_.emplace(entry, std::move(files)).first->second;
  }

  Result<std::vector<LogFile>> ReadEntry(int64_t entry) {
    ARROW_ASSIGN_OR_RAISE(const auto lines, log_.Get(entry));
    if (!lines) {
      return ExternalError("TIDEMILL_LOG_ENTRY_MISSING",
                           "batch {} doesn't exist: entry {} of the file source's log {} is missing. Restore it from a copy of the "
                           "checkpoint, or start with a new checkpoint "
                           "folder.",
                           entry, entry, log_directory_)
          .Path(fs::Join(log_directory_, std::to_string(entry)));
    }
    std::vector<LogFile> files;
    for (const std::string& text : *lines) {
      ARROW_ASSIGN_OR_RAISE(const auto line, ParseLine(text, log_directory_));
      if (line.second == entry) files.push_back(line.first);  // a compact file holds the earlier ones too
    }
    return files;
  }

  Result<int64_t> SizeOf(const std::string& path) {
    if (const auto known = sizes_.find(path); known != sizes_.end()) return known->second;
    ARROW_ASSIGN_OR_RAISE(const auto info, file_system_.Stat(path));
    return info ? info->size_bytes : 0;  // a missing file is the reader's to judge
  }

  static Status RefuseCompressed(const std::string& path) {
    for (const std::string_view suffix : {".gz", ".bz2", ".zst", ".zstd", ".lz4", ".snappy", ".deflate", ".xz"}) {
      if (path.ends_with(suffix)) {
        return UserError("TIDEMILL_UNSUPPORTED_FEATURE",
                         "{} is compressed; compressed JSON is not supported yet. Unpack it, or leave it out by pathGlobFilter.", path)
            .Path(path);
      }
    }
    return Status::OK();
  }

  /// Files in order, large ones cut, small ones together, up to `limit` bytes a partition.
  static std::vector<std::shared_ptr<InputPartition>> Pack(const std::vector<FileSplit>& files, int64_t limit) {
    std::vector<std::shared_ptr<InputPartition>> partitions;
    std::vector<FileSplit> open;
    int64_t bytes = 0;
    const auto close = [&] {
      if (!open.empty()) partitions.push_back(std::make_shared<FilePartition>(std::move(open)));
      open.clear();
      bytes = 0;
    };
    for (const FileSplit& file : files) {
      int64_t begin = 0;
      do {
        const int64_t end = std::min(file.end, begin + limit);
        if (bytes + (end - begin) > limit) close();
        open.push_back({file.path, begin, end});
        bytes += end - begin + kOpenCostBytes;
        begin = end;
      } while (begin < file.end);
    }
    close();
    return partitions;
  }

  fs::FileSystem& file_system_;
  Clock& clock_;
  const Config& config_;
  const std::map<std::string, std::string> raw_options_;
  const type::Schema schema_;
  const std::string path_;
  const format::JsonOptions json_;
  const std::string log_directory_;
  checkpoint::CompactibleLog log_;
  FileSourceOptions options_;
  bool open_ = false;
  int64_t current_ = -1;  // newest entry that was chosen
  int64_t logged_ = -1;   // newest entry on disk; after EnsureOpen() the log thread's
  std::mutex mutex_;
  std::map<int64_t, std::vector<LogFile>> entries_;  // chosen or read, until committed; guarded by mutex_, as the log thread reads them
  std::unordered_map<std::string, int64_t> sizes_;
  SeenFiles seen_;
  std::deque<ListedFile> backlog_;  // listed and not taken yet, in the order they are to be read
  bool frozen_ = false;             // AvailableNow: the backlog is all that there is to read
};

}  // namespace

Result<std::unique_ptr<Source>> MakeJsonFileSource(const SourceContext& context) {
  const auto path_text = context.options.find("path");
  if (path_text == context.options.end() || path_text->second.empty()) {
    return UserError("_LEGACY_ERROR_TEMP_2047",
                     "'path' is not specified: the file source needs this option, a folder or a glob that names files.");
  }
  if (context.schema.size() == 0) {
    return UserError("_LEGACY_ERROR_TEMP_2048",
                     "Schema must be specified when creating a streaming source: name the columns of the files, as in CREATE TABLE t (k "
                     "STRING, v INT).");
  }
  ARROW_ASSIGN_OR_RAISE(std::string path, fs::LocalPath(path_text->second, context.base_directory));
  ARROW_ASSIGN_OR_RAISE(const bool exists, SourcePathExists(context.file_system, {path, std::nullopt, false}));
  if (!exists) {
    return UserError("PATH_NOT_FOUND",
                     "Path does not exist: {}. Create the folder {} before the query starts, or correct the option 'path'.",
                     path_text->second, path)
        .Param("path", path_text->second)
        .Path(path);
  }
  ARROW_ASSIGN_OR_RAISE(format::JsonOptions json, format::JsonOptions::Make(context.options, context.config));
  return std::make_unique<JsonFileSource>(context, std::move(path), std::move(json));
}

}  // namespace tidemill::connector
