#include "fs/staged_writer.h"

#include <utility>

#include "fs/system_error.h"
#include "fs/whole_file.h"

namespace tidemill::fs {

namespace {

constexpr size_t kBufferBytes = 128 * 1024;
constexpr int kClosed = -1;

}  // namespace

LocalStagedWriter::LocalStagedWriter(SystemCalls& calls, int fd, std::string path, std::string temporary_path, bool hadoop_crc)
    : calls_(calls),
      fd_(fd),
      path_(std::move(path)),
      temporary_path_(std::move(temporary_path)),
      crc_(hadoop_crc ? std::make_unique<HadoopCrc>() : nullptr) {}

LocalStagedWriter::~LocalStagedWriter() { Abandon(); }

Status LocalStagedWriter::Append(std::string_view bytes) {
  if (fd_ == kClosed) return InternalError("{} is written to after it was finished or given up", temporary_path_);
  if (crc_ != nullptr) crc_->Append(bytes);
  size_bytes_ += static_cast<int64_t>(bytes.size());
  buffer_ += bytes;
  return buffer_.size() < kBufferBytes ? Status::OK() : Flush();
}

Result<StagedFile> LocalStagedWriter::Finish() {
  if (fd_ == kClosed) return InternalError("{} is finished twice", temporary_path_);
  ARROW_RETURN_NOT_OK(Flush());
  // close(2) is where some file systems say that an earlier write failed.
  if (const int code = calls_.Close(std::exchange(fd_, kClosed)); code < 0) {
    calls_.Unlink(temporary_path_);
    return SystemError(-code, "close", path_);
  }
  if (crc_ != nullptr) {
    // As Hadoop does, the checksum of a temporary file has a temporary name that follows it.
    const Status written = CreateWhole(calls_, HadoopCrcPath(temporary_path_), crc_->Finish(), /*sync=*/false);
    if (!written.ok()) {
      calls_.Unlink(temporary_path_);
      return written;
    }
  }
  return StagedFile{path_, temporary_path_, size_bytes_};
}

Status LocalStagedWriter::Flush() {
  const Status status = WriteAll(calls_, fd_, buffer_, path_);
  buffer_.clear();
  if (!status.ok()) Abandon();
  return status;
}

void LocalStagedWriter::Abandon() {
  if (fd_ == kClosed) return;
  calls_.Close(std::exchange(fd_, kClosed));
  calls_.Unlink(temporary_path_);
}

}  // namespace tidemill::fs
