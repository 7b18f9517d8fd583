#include "connector/file/file_sink.h"

#include <arrow/record_batch.h>
#include <simdjson.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "base/uuid.h"
#include "checkpoint/compactible_log.h"
#include "format/json_writer.h"
#include "expr/interval.h"

namespace tidemill::connector {

namespace {

constexpr char kLogFolder[] = "_spark_metadata";
constexpr int64_t kBlockSize = 33'554'432;  // what Spark reports on a local disk
constexpr size_t kFlushBytes = size_t{1} << 20;

/// One part file of one task.
class JsonPartWriter final : public SinkWriter {
 public:
  JsonPartWriter(const type::Schema& schema, const format::JsonWriterOptions& options, std::unique_ptr<fs::StagedWriter> file)
      : schema_(schema), options_(options), file_(std::move(file)) {}

  Status Write(const arrow::RecordBatch& batch) override {
    ARROW_RETURN_NOT_OK(format::AppendJsonLines(schema_, batch, options_, &buffer_));
    rows_ += batch.num_rows();
    return buffer_.size() >= kFlushBytes ? Flush() : Status::OK();
  }

  Result<WriterResult> Finish() override {
    ARROW_RETURN_NOT_OK(Flush());
    WriterResult result;
    ARROW_ASSIGN_OR_RAISE(auto staged, file_->Finish());
    result.files.push_back(std::move(staged));
    result.row_count = rows_;
    return result;
  }

 private:
  Status Flush() {
    ARROW_RETURN_NOT_OK(file_->Append(buffer_));
    buffer_.clear();
    return Status::OK();
  }

  const type::Schema& schema_;
  const format::JsonWriterOptions& options_;
  std::unique_ptr<fs::StagedWriter> file_;
  std::string buffer_;
  int64_t rows_ = 0;
};

class JsonFileSink final : public Sink {
 public:
  JsonFileSink(const SinkContext& context, std::string path, format::JsonWriterOptions options, checkpoint::CompactionOptions compaction, int64_t retention_ms)
      : file_system_(context.file_system), clock_(context.clock), schema_(context.schema), path_(std::move(path)), options_(std::move(options)),
        retention_ms_(retention_ms), log_(context.file_system, context.clock, fs::Join(path_, kLogFolder), compaction) {}

  std::string Description() const override { return "FileSink[file:" + path_ + "]"; }

  Result<bool> HasBatch(int64_t batch_id) override {
    if (!latest_known_) {
      ARROW_ASSIGN_OR_RAISE(latest_, log_.LatestId());
      if (latest_) ARROW_RETURN_NOT_OK(MakeLatestDurable());
      latest_known_ = true;
    }
    return latest_ && batch_id <= *latest_;
  }

  Result<std::unique_ptr<SinkWriter>> OpenWriter(int64_t, int32_t partition) override {
    const std::string name = fmt::format("part-{:05}-{}-c000.json", partition, NewUuid());
    ARROW_ASSIGN_OR_RAISE(auto file, file_system_.OpenStaged(fs::Join(path_, name), /*unique=*/true));
    return std::make_unique<JsonPartWriter>(schema_, options_, std::move(file));
  }

  Status Commit(int64_t batch_id, std::vector<WriterResult> results) override {
    ARROW_ASSIGN_OR_RAISE(const bool known, HasBatch(batch_id));
    if (known) return Status::OK();
    std::vector<std::string> lines;
    for (const WriterResult& result : results) {
      for (const fs::StagedFile& file : result.files) {
        ARROW_ASSIGN_OR_RAISE(std::string line, LogLine(file));
        lines.push_back(std::move(line));
      }
    }
    const int64_t oldest_ms = clock_.NowMs() - retention_ms_;
    std::function<bool(const std::string&)> keep;
    if (retention_ms_ > 0) keep = [oldest_ms](const std::string& line) { return ModificationTime(line) >= oldest_ms; };
    ARROW_ASSIGN_OR_RAISE(const bool added, log_.Add(batch_id, lines, keep));
    if (!added) {
      return UserError("CONCURRENT_STREAM_LOG_UPDATE",
                       "Race while writing batch {}: {} has an entry of that number from another query. One folder takes the output of one query only.",
                       batch_id, fs::Join(path_, kLogFolder));
    }
    latest_ = batch_id;
    return Status::OK();
  }

  void Discard(const std::vector<WriterResult>& results) override {
    for (const WriterResult& result : results) file_system_.Discard(result.files);
  }

  Status Maintain() override { return latest_ ? log_.DeleteExpired(*latest_) : Status::OK(); }

 private:
  /// A killed process may have left its last entry visible but not on disk; nothing may rely on it before it is.
  Status MakeLatestDurable() {
    const std::string plain = fs::Join(fs::Join(path_, kLogFolder), std::to_string(*latest_));
    ARROW_ASSIGN_OR_RAISE(const auto found, file_system_.Stat(plain));
    const std::vector<std::string> entry = {found ? plain : plain + ".compact"};
    return file_system_.MakeDurable(entry);
  }

  Result<std::string> LogLine(const fs::StagedFile& file) {
    ARROW_ASSIGN_OR_RAISE(const auto info, file_system_.Stat(file.path));
    if (!info) return ExternalError("PATH_NOT_FOUND", "The file {} was written by this batch and is gone: who removes files below {}?", file.path, path_).Path(file.path);
    nlohmann::ordered_json line;
    line["path"] = fs::ToFileUri(file.path);
    line["size"] = info->size_bytes;
    line["isDir"] = false;
    line["modificationTime"] = info->modified_ms;
    line["blockReplication"] = 1;
    line["blockSize"] = kBlockSize;
    line["action"] = "add";
    return line.dump();
  }

  static int64_t ModificationTime(const std::string& line) {
    const auto parsed = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    // A line that cannot be judged is kept.
    return parsed.is_object() && parsed.contains("modificationTime") && parsed["modificationTime"].is_number() ? parsed["modificationTime"].get<int64_t>()
                                                                                                              : std::numeric_limits<int64_t>::max();
  }

  fs::FileSystem& file_system_;
  Clock& clock_;
  const type::Schema schema_;
  const std::string path_;
  const format::JsonWriterOptions options_;
  const int64_t retention_ms_;
  checkpoint::CompactibleLog log_;
  bool latest_known_ = false;
  std::optional<int64_t> latest_;
};

std::optional<std::string> Find(const SinkContext& context, const std::string& key) {
  const auto found = context.options.find(key);
  return found == context.options.end() ? std::nullopt : std::optional(found->second);
}

Result<format::JsonWriterOptions> WriterOptions(const SinkContext& context) {
  format::JsonWriterOptions options;
  options.time_zone = context.config.Get(conf::kSessionTimeZone);
  if (const auto zone = Find(context, "timezone")) {
    if (!context.config.With(conf::kSessionTimeZone, *zone).ok()) {
      return UserError("INVALID_TIMEZONE",
                       "The timezone: {} is invalid. The option 'timeZone' takes a region such as 'America/Los_Angeles', or an offset such as '-08' or '+01:00'.", *zone)
          .Param("timeZone", *zone);
    }
    options.time_zone = *zone;
  }
  if (const auto text = Find(context, "ignorenullfields")) {
    std::string lower = *text;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
    if (lower != "true" && lower != "false") {
      return UserError("TIDEMILL_INVALID_OPTION", "Invalid value '{}' for option 'ignoreNullFields': true or false is needed.", *text);
    }
    options.ignore_null_fields = lower == "true";
  }
  return options;
}

}  // namespace

std::vector<std::string> JsonFileSinkOptions() { return {"path", "retention", "ignorenullfields", "timezone"}; }

Result<std::unique_ptr<Sink>> MakeJsonFileSink(const SinkContext& context) {
  const auto path_text = Find(context, "path");
  if (!path_text || path_text->empty()) {
    return UserError("_LEGACY_ERROR_TEMP_2047", "'path' is not specified: the file sink needs this option, the folder that its files go to.");
  }
  ARROW_ASSIGN_OR_RAISE(std::string path, fs::LocalPath(*path_text, context.base_directory));
  ARROW_ASSIGN_OR_RAISE(const auto info, context.file_system.Stat(path));
  if (info && !info->is_directory) {
    return UserError("TIDEMILL_INVALID_OPTION", "The file sink writes a folder, but {} is a file. Name another path.", path).Path(path);
  }
  if (!simdjson::validate_utf8(path)) {
    return UserError("TIDEMILL_INVALID_OPTION", "The file sink's path is not UTF-8, and its log is: {}. Name another path.", path).Path(path);
  }
  ARROW_RETURN_NOT_OK(format::CheckJsonColumns(context.schema));
  ARROW_ASSIGN_OR_RAISE(format::JsonWriterOptions options, WriterOptions(context));
  int64_t retention_ms = 0;
  if (const auto text = Find(context, "retention")) {
    ARROW_ASSIGN_OR_RAISE(const int64_t micros, expr::ParseIntervalMicros(*text, nullptr));
    if (micros <= 0) return UserError("TIDEMILL_INVALID_OPTION", "Invalid value '{}' for option 'retention': a time span above zero is needed.", *text);
    retention_ms = micros / 1000;
  }
  checkpoint::CompactionOptions compaction;
  compaction.compact_interval = static_cast<int>(context.config.GetInt(conf::kFileSinkCompactInterval));
  compaction.cleanup_delay_ms = context.config.GetDurationMs(conf::kFileSinkCleanupDelay);
  compaction.deletion = context.config.GetBool(conf::kFileSinkLogDeletion);
  compaction.min_batches_to_retain = static_cast<int>(context.config.GetInt(conf::kMinBatchesToRetain));
  return std::make_unique<JsonFileSink>(context, std::move(path), std::move(options), compaction, retention_ms);
}

}  // namespace tidemill::connector
