#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "fs/local_file_system.h"

namespace tidemill::fs {

namespace {

/// The result of a system call as the interface has it: itself, or -errno.
template <typename T>
T OrErrno(T result) {
  return result < 0 ? static_cast<T>(-errno) : result;
}

/// Repeat `call` while a signal interrupts it.
template <typename Call>
auto Uninterrupted(Call&& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return OrErrno(result);
}

FileInfo InfoOf(std::string name, const struct stat& status) {
  FileInfo info;
  info.name = std::move(name);
  info.is_directory = S_ISDIR(status.st_mode);
  info.size_bytes = status.st_size;
  info.modified_ms = static_cast<int64_t>(status.st_mtim.tv_sec) * 1000 + status.st_mtim.tv_nsec / 1'000'000;
  return info;
}

class PosixCalls final : public SystemCalls {
 public:
  int OpenForRead(const std::string& path) override {
    return Uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); });
  }

  int CreateExclusive(const std::string& path) override {
    return Uninterrupted([&] { return ::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644); });
  }

  int64_t Read(int fd, char* buffer, int64_t size) override {
    return Uninterrupted([&] { return ::read(fd, buffer, static_cast<size_t>(size)); });
  }

  int64_t ReadAt(int fd, char* buffer, int64_t size, int64_t offset) override {
    return Uninterrupted([&] { return ::pread(fd, buffer, static_cast<size_t>(size), offset); });
  }

  int64_t Write(int fd, std::string_view bytes) override {
    return Uninterrupted([&] { return ::write(fd, bytes.data(), bytes.size()); });
  }

  // An interrupted fsync has not failed; only a real error may have dropped pages.
  int Fsync(int fd) override {
    return Uninterrupted([&] { return ::fsync(fd); });
  }

  // Linux frees the descriptor even when close(2) is interrupted: a second close could hit a stranger's file.
  int Close(int fd) override {
    if (::close(fd) == 0 || errno == EINTR) return 0;
    return -errno;
  }

  int Link(const std::string& from, const std::string& to) override { return OrErrno(::link(from.c_str(), to.c_str())); }

  int RenameExclusive(const std::string& from, const std::string& to) override {
    return OrErrno(::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE));
  }

  int Rename(const std::string& from, const std::string& to) override { return OrErrno(::rename(from.c_str(), to.c_str())); }
  int Unlink(const std::string& path) override { return OrErrno(::unlink(path.c_str())); }
  int MakeDirectory(const std::string& path) override { return OrErrno(::mkdir(path.c_str(), 0755)); }
  int RemoveDirectory(const std::string& path) override { return OrErrno(::rmdir(path.c_str())); }

  int SyncDirectory(const std::string& path) override { return SyncOpened(path, O_DIRECTORY, ::fsync); }

  // Linux reports write errors from syncfs(2) since 5.8; before that a failed write-back of a file shows only in an fsync of it.
  int SyncFileSystem(const std::string& path) override { return SyncOpened(path, 0, ::syncfs); }

  int64_t Device(const std::string& path) override {
    struct stat status = {};
    if (::stat(path.c_str(), &status) != 0) return -errno;
    return static_cast<int64_t>(status.st_dev);
  }

  int Stat(const std::string& path, FileInfo* info) override {
    struct stat status = {};
    if (::stat(path.c_str(), &status) != 0) return -errno;
    *info = InfoOf(BaseName(path), status);
    return 0;
  }

  int List(const std::string& path, std::vector<FileInfo>* entries) override {
    DIR* directory = ::opendir(path.c_str());
    if (directory == nullptr) return -errno;
    entries->clear();
    int result = 0;
    for (;;) {
      errno = 0;
      const dirent* entry = ::readdir(directory);
      if (entry == nullptr) {
        result = -errno;
        break;
      }
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      struct stat status = {};
      if (::fstatat(::dirfd(directory), entry->d_name, &status, 0) != 0) {
        // Gone since, or a link to nothing: there is no file of that name to speak of.
        if (errno == ENOENT) continue;
        result = -errno;
        break;
      }
      entries->push_back(InfoOf(std::string(name), status));
    }
    ::closedir(directory);
    return result;
  }

  // An open file description lock: it belongs to the descriptor and not, like the older kind, to the process, which would lose it when any thread
  // closed any descriptor of the file.
  int OpenLocked(const std::string& path) override {
    const int fd = Uninterrupted([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644); });
    if (fd < 0) return fd;
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (::fcntl(fd, F_OFD_SETLK, &lock) == 0) return fd;
    const int code = errno == EACCES ? EAGAIN : errno;
    ::close(fd);
    return -code;
  }

  int WriteLocked(int fd, std::string_view bytes) override {
    if (::ftruncate(fd, 0) != 0) return -errno;
    int64_t done = 0;
    while (done < static_cast<int64_t>(bytes.size())) {
      const int64_t written =
          Uninterrupted([&] { return ::pwrite(fd, bytes.data() + done, bytes.size() - static_cast<size_t>(done), done); });
      if (written < 0) return static_cast<int>(written);
      done += written;
    }
    return 0;
  }

 private:
  static int SyncOpened(const std::string& path, int flags, int (*sync)(int)) {
    const int fd = Uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags); });
    if (fd < 0) return fd;
    const int synced = Uninterrupted([&] { return sync(fd); });
    const int closed = ::close(fd) == 0 || errno == EINTR ? 0 : -errno;
    return synced < 0 ? synced : closed;
  }
};

}  // namespace

std::unique_ptr<SystemCalls> MakePosixCalls() { return std::make_unique<PosixCalls>(); }

}  // namespace tidemill::fs
