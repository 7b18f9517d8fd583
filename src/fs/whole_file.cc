#include "fs/whole_file.h"

#include <algorithm>
#include <cerrno>

#include "fs/system_error.h"

namespace tidemill::fs {

namespace {

constexpr size_t kFirstReadBytes = 64 * 1024;

Status ReadToEnd(SystemCalls& calls, int fd, const std::string& path, std::string* content) {
  size_t used = 0;
  content->resize(kFirstReadBytes);
  for (;;) {
    if (used == content->size()) content->resize(content->size() * 2);
    const int64_t count = calls.Read(fd, content->data() + used, static_cast<int64_t>(content->size() - used));
    if (count < 0) return SystemError(static_cast<int>(-count), "read", path);
    if (count == 0) break;
    used += static_cast<size_t>(count);
  }
  content->resize(used);
  return Status::OK();
}

}  // namespace

Result<std::string> ReadWhole(SystemCalls& calls, const std::string& path) {
  const int fd = calls.OpenForRead(path);
  if (fd < 0) return SystemError(-fd, "read", path);
  std::string content;
  const Status status = ReadToEnd(calls, fd, path, &content);
  calls.Close(fd);  // nothing was written: there is nothing that this could lose
  ARROW_RETURN_NOT_OK(status);
  return content;
}

Status WriteAll(SystemCalls& calls, int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const int64_t count = calls.Write(fd, bytes);
    if (count < 0) return SystemError(static_cast<int>(-count), "write", path);
    // POSIX lets write(2) take nothing of a regular file only when it is broken; looping on it would never end.
    if (count == 0) return SystemError(EIO, "write", path);
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  return Status::OK();
}

Status CreateWhole(SystemCalls& calls, const std::string& path, std::string_view bytes, bool sync) {
  const int fd = calls.CreateExclusive(path);
  if (fd < 0) return SystemError(-fd, "create", path);
  Status status = WriteAll(calls, fd, bytes, path);
  if (status.ok() && sync) {
    if (const int code = calls.Fsync(fd); code < 0) status = SystemError(-code, "sync", path);
  }
  // close(2) is where some file systems say that an earlier write failed.
  if (const int code = calls.Close(fd); code < 0 && status.ok()) status = SystemError(-code, "close", path);
  if (!status.ok()) calls.Unlink(path);
  return status;
}

Status SyncFile(SystemCalls& calls, const std::string& path) {
  const int fd = calls.OpenForRead(path);
  if (fd < 0) return SystemError(-fd, "sync", path);
  const int synced = calls.Fsync(fd);
  const int closed = calls.Close(fd);
  if (synced < 0) return SystemError(-synced, "sync", path);
  if (closed < 0) return SystemError(-closed, "close", path);
  return Status::OK();
}

}  // namespace tidemill::fs
