#pragma once

// The system calls that LocalFileSystem makes, one method each, so tests can put a simulated disk or a fault below every one of them.
//
// All return 0 (or a value >= 0) or -errno. Descriptors are the implementation's own.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fs/file_system.h"

namespace tidemill::fs {

class SystemCalls {
 public:
  virtual ~SystemCalls() = default;
  virtual int OpenForRead(const std::string& path) = 0;
  /// O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC.
  virtual int CreateExclusive(const std::string& path) = 0;
  virtual int64_t Read(int fd, char* buffer, int64_t size) = 0;
  /// pread(2).
  virtual int64_t ReadAt(int fd, char* buffer, int64_t size, int64_t offset) = 0;
  virtual int64_t Write(int fd, std::string_view bytes) = 0;
  virtual int Fsync(int fd) = 0;
  virtual int Close(int fd) = 0;
  /// link(2): fails with -EEXIST.
  virtual int Link(const std::string& from, const std::string& to) = 0;
  /// renameat2(2) with RENAME_NOREPLACE: -EEXIST when `to` is there, -EINVAL or -ENOSYS where the file system cannot.
  virtual int RenameExclusive(const std::string& from, const std::string& to) = 0;
  virtual int Rename(const std::string& from, const std::string& to) = 0;
  virtual int Unlink(const std::string& path) = 0;
  virtual int MakeDirectory(const std::string& path) = 0;
  virtual int RemoveDirectory(const std::string& path) = 0;
  /// Open the folder, fsync, close.
  virtual int SyncDirectory(const std::string& path) = 0;
  /// syncfs(2) of the file system that holds `path`.
  virtual int SyncFileSystem(const std::string& path) = 0;
  /// st_dev of `path`, to tell file systems apart.
  virtual int64_t Device(const std::string& path) = 0;
  /// 0, or -errno (-ENOENT).
  virtual int Stat(const std::string& path, FileInfo* info) = 0;
  virtual int List(const std::string& path, std::vector<FileInfo>* entries) = 0;
  /// OFD write lock on an opened (created) file; -EAGAIN when another holds it. Returns the descriptor, which holds the lock until Close().
  virtual int OpenLocked(const std::string& path) = 0;
  /// Replace the content of the locked file.
  virtual int WriteLocked(int fd, std::string_view bytes) = 0;
};

}  // namespace tidemill::fs
