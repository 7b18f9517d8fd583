#include "fs/system_error.h"

#include <cerrno>
#include <system_error>

namespace tidemill::fs {

Status SystemError(int code, std::string_view action, const std::string& path) {
  const std::string reason = std::generic_category().message(code);
  switch (code) {
    case ENOENT:
      return ExternalError("PATH_NOT_FOUND", "Cannot {} {}: no such file or folder", action, path).Param("path", path).Path(path);
    case ENOSPC:
    case EDQUOT:
      return RetryableError("TIDEMILL_DISK_FULL", "Cannot {} {}: disk full ({}). Free space, or raise the quota, on the file system of that path", action,
                            path, reason)
          .Path(path);
    case EACCES:
    case EPERM:
      return ExternalError("TIDEMILL_PERMISSION_DENIED",
                           "Cannot {} {}: permission denied. The user that runs tidemill needs rights on it, and the right to search the folders above it",
                           action, path)
          .Path(path);
    case EROFS:
      return ExternalError("TIDEMILL_PERMISSION_DENIED",
                           "Cannot {} {}: the file system is mounted read-only. Remount it writable, or choose another folder", action, path)
          .Path(path);
    case EMFILE:
    case ENFILE:
      return RetryableError("TIDEMILL_IO_ERROR", "Cannot {} {}: too many open files. Raise the limit (ulimit -n)", action, path).Path(path);
    case EIO:
    case EAGAIN:
    case EBUSY:
    case ENOMEM:
    case ESTALE:
    case ETIMEDOUT:
      return RetryableError("TIDEMILL_IO_ERROR", "Cannot {} {}: {}. Look at the system's log for the state of the disk", action, path, reason).Path(path);
    case ENOTDIR:
      return ExternalError("TIDEMILL_IO_ERROR", "Cannot {} {}: a part of the path is a file and not a folder", action, path).Path(path);
    default:
      return ExternalError("TIDEMILL_IO_ERROR", "Cannot {} {}: {}", action, path, reason).Path(path);
  }
}

}  // namespace tidemill::fs
