#include "connector/file/json_partition_reader.h"

#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>

#include <algorithm>
#include <cstring>

#include "base/log.h"
#include "format/json_decoder.h"

namespace tidemill::connector {

namespace {

constexpr int64_t kBatchRows = 8192;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // of UTF-8; says nothing, and is no part of the first line
constexpr int64_t kChunkBytes = int64_t{1} << 20;  // stays in the cache between reading and decoding

// A line ends with LF, CR or both. Where a chunk or split ends between the two, the next begins with an empty line, which is no row.
bool IsLineEnd(char c) { return c == '\n' || c == '\r'; }

/// The first line end of [begin, end), or nullptr.
const char* FirstLineEnd(const char* begin, const char* end) {
  const auto* feed = static_cast<const char*>(std::memchr(begin, '\n', end - begin));
  const auto* carriage = static_cast<const char*>(std::memchr(begin, '\r', (feed == nullptr ? end : feed) - begin));
  return carriage != nullptr ? carriage : feed;
}

/// The last line end of [begin, end), or nullptr.
const char* LastLineEnd(const char* begin, const char* end) {
  const auto* feed = static_cast<const char*>(memrchr(begin, '\n', end - begin));
  const char* after = feed == nullptr ? begin : feed + 1;
  const auto* carriage = static_cast<const char*>(memrchr(after, '\r', end - after));
  return carriage != nullptr ? carriage : feed;
}

/// The lines of one split, a chunk at a time. A chunk ends with a line end and has format::kJsonPadding readable bytes behind it.
class LineChunks {
 public:
  LineChunks(std::unique_ptr<fs::FileReader> file, const FileSplit& split) : file_(std::move(file)), split_(split) {
    // A line belongs to the split in which it begins; the one that begins before is the neighbour's, and found by the byte before.
    position_ = split.begin > 0 ? split.begin - 1 : 0;
    skip_first_ = split.begin > 0;
  }

  /// The next lines as [*begin, *end); false when there are none left.
  Result<bool> Next(const char** begin, const char** end) {
    while (!done_) {
      ARROW_RETURN_NOT_OK(Fill());
      const int64_t cut = CutAtLineEnd();
      if (cut == 0) {
        if (done_) break;
        continue;  // the line is longer than the buffer: read on
      }
      const char* first = buffer_.data();
      const char* last = first + cut;
      consumed_ = cut;
      if (buffer_start_ == 0 && std::string_view(first, cut).starts_with(kByteOrderMark)) first += kByteOrderMark.size();
      if (skip_first_) {
        skip_first_ = false;
        first = FirstLineEnd(first, last) + 1;  // there is one: the chunk ends with it
      }
      if (first == last) continue;
      *begin = first;
      *end = last;
      return true;
    }
    return false;
  }

 private:
  /// Move the unfinished line to the front and read behind it.
  Status Fill() {
    if (filled_ > consumed_) std::memmove(buffer_.data(), buffer_.data() + consumed_, filled_ - consumed_);
    buffer_start_ += consumed_;
    filled_ -= consumed_;
    consumed_ = 0;
    buffer_.resize(filled_ + kChunkBytes + format::kJsonPadding + 1);
    if (!at_end_) ARROW_RETURN_NOT_OK(Read());
    buffer_[filled_] = '\0';  // what lay there before must not look like the rest of a line end
    return Status::OK();
  }

  Status Read() {
    ARROW_ASSIGN_OR_RAISE(const int64_t read, file_->ReadAt(position_, {buffer_.data() + filled_, static_cast<size_t>(kChunkBytes)}));
    if (first_fill_) {
      buffer_start_ = position_;
      first_fill_ = false;
    }
    position_ += read;
    filled_ += read;
    at_end_ = read < kChunkBytes;
    if (at_end_ && filled_ > 0 && !IsLineEnd(buffer_[filled_ - 1])) buffer_[filled_++] = '\n';  // the last line may lack its end
    return Status::OK();
  }

  /// How many bytes of the buffer are whole lines of this split. Sets done_ when nothing comes after them.
  int64_t CutAtLineEnd() {
    const int64_t left = split_.end - buffer_start_;  // lines that begin from here on are the next split's
    if (left <= 0) {
      done_ = true;
      return 0;
    }
    if (left <= filled_) {
      // The last line of the split begins before `left` and may end behind it.
      const char* found = FirstLineEnd(buffer_.data() + left - 1, buffer_.data() + filled_);
      if (found != nullptr) {
        done_ = true;
        return AfterLineEnd(found);
      }
    }
    if (at_end_) {
      done_ = true;
      return filled_;
    }
    const char* found = LastLineEnd(buffer_.data(), buffer_.data() + filled_);
    return found == nullptr ? 0 : AfterLineEnd(found);
  }

  /// Where the next line begins. The decoder looks at the byte behind a CR too, so the two must not be parted inside the buffer.
  int64_t AfterLineEnd(const char* end) const { return end - buffer_.data() + (end[0] == '\r' && end[1] == '\n' ? 2 : 1); }

  std::unique_ptr<fs::FileReader> file_;
  const FileSplit split_;
  std::vector<char> buffer_;
  int64_t buffer_start_ = 0;  // offset in the file of buffer_[0]
  int64_t filled_ = 0;
  int64_t consumed_ = 0;
  int64_t position_ = 0;  // of the next read
  bool first_fill_ = true;
  bool skip_first_ = false;
  bool at_end_ = false;
  bool done_ = false;
};

class JsonPartitionReader final : public PartitionReader {
 public:
  JsonPartitionReader(fs::FileSystem& file_system, const FilePartition& partition, std::unique_ptr<format::JsonDecoder> decoder,
                      ReadTolerance tolerance, std::stop_token stop)
      : file_system_(file_system), partition_(partition), decoder_(std::move(decoder)), tolerance_(tolerance), stop_(std::move(stop)) {}

  Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    while (decoder_->row_count() < kBatchRows) {
      if (stop_.stop_requested()) return Status::Cancelled("the query was stopped");
      if (text_ == text_end_) {
        ARROW_ASSIGN_OR_RAISE(const bool more, NextChunk());
        if (!more) break;
      }
      Result<const char*> rest = decoder_->Decode(text_, text_end_, kBatchRows);
      if (!rest.ok()) return ReadFailure(rest.status(), partition_.splits()[split_ - 1].path);
      text_ = *rest;
    }
    if (decoder_->row_count() == 0) return nullptr;
    return decoder_->Finish();
  }

 private:
  // Spark wraps what goes wrong with a record into an error about its file.
  static Status ReadFailure(const Status& cause, const std::string& path) {
    const std::string uri = fs::ToFileUri(path);
    const ErrorDetail* detail = ErrorDetail::Of(cause);
    const std::string condition = detail == nullptr || detail->condition.empty() ? "" : "[" + detail->condition + "] ";
    return UserError("FAILED_READ_FILE.NO_HINT", "Encountered error while reading file {}. {}{}", uri, condition, cause.message())
        .Param("path", uri)
        .Path(path);
  }

  Result<bool> NextChunk() {
    for (;;) {
      if (chunks_ != nullptr) {
        Result<bool> more = chunks_->Next(&text_, &text_end_);
        if (!more.ok()) {
          if (!tolerance_.ignore_corrupt) return more.status();
          log::Warning("The rest of {} is left out, as ignoreCorruptFiles asks: {}", partition_.splits()[split_ - 1].path,
                       more.status().message());
        } else if (*more) {
          return true;
        }
        chunks_.reset();
        text_ = text_end_ = nullptr;
      }
      if (split_ == partition_.splits().size()) return false;
      ARROW_RETURN_NOT_OK(OpenSplit(partition_.splits()[split_++]));
    }
  }

  Status OpenSplit(const FileSplit& split) {
    Result<std::unique_ptr<fs::FileReader>> file = file_system_.OpenReader(split.path);
    if (file.ok()) {
      chunks_ = std::make_unique<LineChunks>(std::move(*file), split);
      return Status::OK();
    }
    if (!fs::IsNotFound(file.status())) return file.status();
    if (tolerance_.ignore_missing) {
      log::Warning("{} is gone since it was listed and is left out, as ignoreMissingFiles asks", split.path);
      return Status::OK();
    }
    return ExternalError("FAILED_READ_FILE.FILE_NOT_EXIST",
                         "Encountered error while reading file {}. File does not exist: it was removed after this query had listed it. "
                         "Bring it back, or set "
                         "spark.sql.files.ignoreMissingFiles=true to go on without it.",
                         fs::ToFileUri(split.path))
        .Param("path", fs::ToFileUri(split.path))
        .Path(split.path);
  }

  fs::FileSystem& file_system_;
  const FilePartition& partition_;
  std::unique_ptr<format::JsonDecoder> decoder_;
  const ReadTolerance tolerance_;
  const std::stop_token stop_;
  size_t split_ = 0;  // the next one to open
  std::unique_ptr<LineChunks> chunks_;
  const char* text_ = nullptr;
  const char* text_end_ = nullptr;
};

}  // namespace

Result<std::unique_ptr<PartitionReader>> MakeJsonPartitionReader(fs::FileSystem& file_system, const FilePartition& partition,
                                                                 std::vector<type::Field> columns, format::JsonOptions options,
                                                                 ReadTolerance tolerance, std::stop_token stop) {
  ARROW_ASSIGN_OR_RAISE(auto decoder, format::JsonDecoder::Make(std::move(columns), std::move(options), arrow::default_memory_pool()));
  return std::make_unique<JsonPartitionReader>(file_system, partition, std::move(decoder), tolerance, std::move(stop));
}

}  // namespace tidemill::connector
