#include "fs/local_file_system.h"

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "base/uuid.h"
#include "fs/durability.h"
#include "fs/hadoop_crc.h"
#include "fs/own_creations.h"
#include "fs/staged_writer.h"
#include "fs/system_error.h"
#include "fs/whole_file.h"

namespace tidemill::fs {

namespace {

std::string TemporaryPath(const std::string& path) { return Join(Parent(path), fmt::format(".{}.{}.tmp", BaseName(path), NewUuid())); }

/// An error after which the call may have been carried out all the same.
bool IsAmbiguous(int code) { return code == -EIO || code == -ETIMEDOUT || code == -ESTALE; }

/// The file system cannot make hard links, or not for us: FAT, some network and FUSE file systems, fs.protected_hardlinks.
bool IsLinkRefused(int code) { return code == -EPERM || code == -EOPNOTSUPP || code == -ENOSYS || code == -EMLINK; }

class LocalFileReader final : public FileReader {
 public:
  LocalFileReader(SystemCalls& calls, int fd, std::string path) : calls_(calls), fd_(fd), path_(std::move(path)) {}
  ~LocalFileReader() override { calls_.Close(fd_); }

  Result<int64_t> ReadAt(int64_t offset, std::span<char> buffer) override {
    int64_t done = 0;
    while (done < static_cast<int64_t>(buffer.size())) {
      const int64_t count = calls_.ReadAt(fd_, buffer.data() + done, static_cast<int64_t>(buffer.size()) - done, offset + done);
      if (count < 0) return SystemError(static_cast<int>(-count), "read", path_);
      if (count == 0) break;
      done += count;
    }
    return done;
  }

 private:
  SystemCalls& calls_;
  const int fd_;
  const std::string path_;
};

class LocalFileLock final : public FileLock {
 public:
  LocalFileLock(SystemCalls& calls, int fd) : calls_(calls), fd_(fd) {}
  ~LocalFileLock() override { calls_.Close(fd_); }

 private:
  SystemCalls& calls_;
  const int fd_;
};

class LocalFileSystem final : public FileSystem {
 public:
  LocalFileSystem(SystemCalls& calls, LocalOptions options) : calls_(calls), options_(options), durability_(calls, options.sync) {}

  Result<std::string> Read(const std::string& path) override;
  Result<std::unique_ptr<FileReader>> OpenReader(const std::string& path) override;
  Result<std::optional<FileInfo>> Stat(const std::string& path) override;
  Result<std::optional<std::vector<FileInfo>>> List(const std::string& directory) override;
  Result<CreateOutcome> CreateIfAbsent(const std::string& path, std::string_view bytes) override;
  Result<std::unique_ptr<StagedWriter>> OpenStaged(const std::string& path, bool unique) override;
  Status Publish(std::span<const StagedFile> files) override;
  void Discard(std::span<const StagedFile> files) override;
  Status MakeDurable(std::span<const std::string> paths) override;
  Status Remove(const std::string& path) override;
  Status RemoveTree(const std::string& path) override;
  Status CreateDirectories(const std::string& path) override;
  Result<std::unique_ptr<FileLock>> Lock(const std::string& path, std::string_view owner) override;
  SyncCounters sync_counters() const override;

 private:
  Result<CreateOutcome> LinkAbsent(const std::string& temporary, const std::string& path, std::string_view bytes);
  Result<CreateOutcome> MeetExisting(const std::string& temporary, const std::string& path, std::string_view bytes);
  int LinkOrRenameAbsent(const std::string& temporary, const std::string& path);
  Status WriteHadoopCrc(const std::string& path, std::string_view bytes);
  Status RemoveStaleCrcs(std::span<const std::string> paths);
  Status SyncStaged(std::span<const StagedFile> files);
  Status TakeFinalNames(std::span<const StagedFile> files);
  Status CheckSizes(std::span<const StagedFile> files);
  /// unlink(2) for which a missing file is no error; says whether there was one.
  Result<bool> UnlinkIfThere(const std::string& path);
  void CountRound();

  SystemCalls& calls_;
  const LocalOptions options_;
  Durability durability_;
  OwnCreations own_creations_;
  mutable std::mutex mutex_;
  std::map<std::thread::id, int64_t> rounds_;  // by the thread that waited; guarded by mutex_
  std::set<std::string> suspect_;              // staged files whose sync failed; guarded by mutex_
};

Result<std::string> LocalFileSystem::Read(const std::string& path) {
  ARROW_ASSIGN_OR_RAISE(std::string content, ReadWhole(calls_, path));
  const Result<std::string> crc = ReadWhole(calls_, HadoopCrcPath(path));
  if (!crc.ok()) return IsNotFound(crc.status()) ? Result<std::string>(std::move(content)) : crc.status();
  if (HadoopCrcMatches(*crc, content)) return content;
  return ExternalError("TIDEMILL_CHECKSUM_MISMATCH",
                       "{} does not match its checksum file {}: one of them is damaged or was changed by hand. Restore the file from a copy; when it "
                       "was edited on purpose, delete the checksum file",
                       path, HadoopCrcPath(path))
      .Path(path);
}

Result<std::unique_ptr<FileReader>> LocalFileSystem::OpenReader(const std::string& path) {
  const int fd = calls_.OpenForRead(path);
  if (fd < 0) return SystemError(-fd, "read", path);
  return std::make_unique<LocalFileReader>(calls_, fd, path);
}

Result<std::optional<FileInfo>> LocalFileSystem::Stat(const std::string& path) {
  FileInfo info;
  const int code = calls_.Stat(path, &info);
  if (code == -ENOENT || code == -ENOTDIR) return std::optional<FileInfo>();
  if (code < 0) return SystemError(-code, "read", path);
  return std::optional<FileInfo>(std::move(info));
}

Result<std::optional<std::vector<FileInfo>>> LocalFileSystem::List(const std::string& directory) {
  std::vector<FileInfo> entries;
  const int code = calls_.List(directory, &entries);
  if (code == -ENOENT) return std::optional<std::vector<FileInfo>>();
  if (code < 0) return SystemError(-code, "list", directory);
  return std::optional<std::vector<FileInfo>>(std::move(entries));
}

Result<CreateOutcome> LocalFileSystem::CreateIfAbsent(const std::string& path, std::string_view bytes) {
  ARROW_RETURN_NOT_OK(durability_.MakeDirectories(Parent(path)));
  const std::string temporary = TemporaryPath(path);
  ARROW_RETURN_NOT_OK(CreateWhole(calls_, temporary, bytes, options_.sync));
  const Result<CreateOutcome> outcome = LinkAbsent(temporary, path, bytes);
  calls_.Unlink(temporary);  // the final name, if it was won, is a link of its own; a leftover would be harmless
  ARROW_RETURN_NOT_OK(outcome);
  if (*outcome == CreateOutcome::kTaken) {
    // Whoever is told that the file is there will rely on it, and its writer may not have lived to sync it.
    ARROW_RETURN_NOT_OK(MakeDurable(std::span(&path, 1)));
    return CreateOutcome::kTaken;
  }
  if (options_.hadoop_crc) ARROW_RETURN_NOT_OK(WriteHadoopCrc(path, bytes));
  ARROW_RETURN_NOT_OK(durability_.SyncNames({Parent(path)}));
  CountRound();
  own_creations_.Acknowledged(path);
  return CreateOutcome::kCreated;
}

/// Give the synced file `temporary` the name `path`, unless a rival has it.
Result<CreateOutcome> LocalFileSystem::LinkAbsent(const std::string& temporary, const std::string& path, std::string_view bytes) {
  // A checksum file that outlived its file would condemn the new one.
  ARROW_RETURN_NOT_OK(RemoveStaleCrcs(std::span(&path, 1)));
  const int code = LinkOrRenameAbsent(temporary, path);
  if (code == -EEXIST) return MeetExisting(temporary, path, bytes);
  if (code == 0 || IsAmbiguous(code)) own_creations_.Attempted(path, bytes);
  if (code < 0) return SystemError(-code, "create", path);
  return CreateOutcome::kCreated;
}

/// `path` is there: is it what an earlier call of ours, that ended in an error, left?
Result<CreateOutcome> LocalFileSystem::MeetExisting(const std::string& temporary, const std::string& path, std::string_view bytes) {
  ARROW_ASSIGN_OR_RAISE(const std::string existing, ReadWhole(calls_, path));
  if (!own_creations_.Wrote(path, existing)) {
    own_creations_.Forget(path);
    return CreateOutcome::kTaken;
  }
  if (existing == bytes) return CreateOutcome::kCreated;
  if (!own_creations_.Unacknowledged(path)) return CreateOutcome::kTaken;
  // Nobody was told of it, so nobody relies on it.
  own_creations_.Attempted(path, bytes);
  if (const int code = calls_.Rename(temporary, path); code < 0) return SystemError(-code, "replace", path);
  return CreateOutcome::kCreated;
}

int LocalFileSystem::LinkOrRenameAbsent(const std::string& temporary, const std::string& path) {
  const int linked = calls_.Link(temporary, path);
  if (!IsLinkRefused(linked)) return linked;
  const int renamed = calls_.RenameExclusive(temporary, path);
  if (renamed != -EINVAL && renamed != -ENOSYS && renamed != -EOPNOTSUPP) return renamed;
  // A file system with neither: the lock on the checkpoint is then all that keeps rivals out.
  FileInfo info;
  const int found = calls_.Stat(path, &info);
  if (found == 0) return -EEXIST;
  return found == -ENOENT ? calls_.Rename(temporary, path) : found;
}

Status LocalFileSystem::WriteHadoopCrc(const std::string& path, std::string_view bytes) {
  HadoopCrc crc;
  crc.Append(bytes);
  const std::string crc_path = HadoopCrcPath(path);
  const std::string temporary = TemporaryPath(crc_path);
  ARROW_RETURN_NOT_OK(CreateWhole(calls_, temporary, crc.Finish(), options_.sync));
  const int code = calls_.Rename(temporary, crc_path);
  if (code == 0) return Status::OK();
  calls_.Unlink(temporary);
  return SystemError(-code, "create", crc_path);
}

/// Remove the checksum files of `paths`. Where there were some, their absence is durable before the new files appear: after a crash an old checksum
/// beside a new file would look like damage.
Status LocalFileSystem::RemoveStaleCrcs(std::span<const std::string> paths) {
  std::set<std::string> changed;
  for (const std::string& path : paths) {
    ARROW_ASSIGN_OR_RAISE(const bool hadoop, UnlinkIfThere(HadoopCrcPath(path)));
    ARROW_ASSIGN_OR_RAISE(const bool spark, UnlinkIfThere(SparkCrcPath(path)));
    if (hadoop || spark) changed.insert(Parent(path));
  }
  return changed.empty() ? Status::OK() : durability_.SyncNames(changed);
}

Result<std::unique_ptr<StagedWriter>> LocalFileSystem::OpenStaged(const std::string& path, bool unique) {
  ARROW_RETURN_NOT_OK(durability_.MakeDirectories(Parent(path)));
  std::string temporary = unique ? path : TemporaryPath(path);
  const int fd = calls_.CreateExclusive(temporary);
  if (fd < 0) return SystemError(-fd, "create", temporary);
  return std::make_unique<LocalStagedWriter>(calls_, fd, path, std::move(temporary), options_.hadoop_crc);
}

Status LocalFileSystem::Publish(std::span<const StagedFile> files) {
  if (files.empty()) return Status::OK();
  ARROW_RETURN_NOT_OK(SyncStaged(files));
  ARROW_RETURN_NOT_OK(TakeFinalNames(files));
  std::set<std::string> folders;
  for (const StagedFile& file : files) folders.insert(Parent(file.path));
  ARROW_RETURN_NOT_OK(durability_.SyncNames(folders));
  CountRound();
  return CheckSizes(files);
}

Status LocalFileSystem::SyncStaged(std::span<const StagedFile> files) {
  std::vector<std::string> paths;
  {
    std::lock_guard lock(mutex_);
    for (const StagedFile& file : files) {
      if (suspect_.contains(file.temporary_path)) {
        return RetryableError("TIDEMILL_IO_ERROR", "{} has to be written again: an earlier sync of it failed, and its bytes may be lost", file.path)
            .Path(file.path);
      }
      paths.push_back(file.temporary_path);
      if (options_.hadoop_crc) paths.push_back(HadoopCrcPath(file.temporary_path));
    }
  }
  const Status status = durability_.SyncFiles(paths);
  if (!status.ok()) {
    // After a failed fsync the kernel counts the pages as clean, and the next fsync succeeds without them.
    std::lock_guard lock(mutex_);
    for (const StagedFile& file : files) suspect_.insert(file.temporary_path);
  }
  return status;
}

Status LocalFileSystem::TakeFinalNames(std::span<const StagedFile> files) {
  std::vector<std::string> renamed;
  for (const StagedFile& file : files) {
    if (file.temporary_path != file.path) renamed.push_back(file.path);
  }
  ARROW_RETURN_NOT_OK(RemoveStaleCrcs(renamed));
  for (const StagedFile& file : files) {
    if (file.temporary_path == file.path) continue;
    if (const int code = calls_.Rename(file.temporary_path, file.path); code < 0) return SystemError(-code, "publish", file.path);
    if (!options_.hadoop_crc) continue;
    const int code = calls_.Rename(HadoopCrcPath(file.temporary_path), HadoopCrcPath(file.path));
    if (code < 0) return SystemError(-code, "publish", HadoopCrcPath(file.path));
  }
  return Status::OK();
}

Status LocalFileSystem::CheckSizes(std::span<const StagedFile> files) {
  for (const StagedFile& file : files) {
    FileInfo info;
    if (const int code = calls_.Stat(file.path, &info); code < 0) return SystemError(-code, "read", file.path);
    if (info.size_bytes == file.size_bytes) continue;
    return RetryableError("TIDEMILL_IO_ERROR", "{} has {} bytes, but {} were written: the disk lost some, or another process writes the same file",
                          file.path, info.size_bytes, file.size_bytes)
        .Path(file.path);
  }
  return Status::OK();
}

void LocalFileSystem::Discard(std::span<const StagedFile> files) {
  for (const StagedFile& file : files) {
    calls_.Unlink(file.temporary_path);
    if (options_.hadoop_crc) calls_.Unlink(HadoopCrcPath(file.temporary_path));
    std::lock_guard lock(mutex_);
    suspect_.erase(file.temporary_path);
  }
}

Status LocalFileSystem::MakeDurable(std::span<const std::string> paths) {
  if (paths.empty() || !options_.sync) return Status::OK();
  ARROW_RETURN_NOT_OK(durability_.SyncFiles(paths));
  std::set<std::string> folders;
  for (const std::string& path : paths) folders.insert(Parent(path));
  ARROW_RETURN_NOT_OK(durability_.SyncNames(folders));
  CountRound();
  return Status::OK();
}

Result<bool> LocalFileSystem::UnlinkIfThere(const std::string& path) {
  const int code = calls_.Unlink(path);
  if (code == 0) return true;
  if (code == -ENOENT || code == -ENOTDIR) return false;
  return SystemError(-code, "remove", path);
}

Status LocalFileSystem::Remove(const std::string& path) {
  ARROW_RETURN_NOT_OK(UnlinkIfThere(path));
  ARROW_RETURN_NOT_OK(UnlinkIfThere(HadoopCrcPath(path)));
  own_creations_.Forget(path);
  return UnlinkIfThere(SparkCrcPath(path)).status();
}

Status LocalFileSystem::RemoveTree(const std::string& path) {
  durability_.Forget(path);
  own_creations_.Forget(path);
  // unlink(2) first, so that a link to a folder loses the link and not what is behind it.
  const int unlinked = calls_.Unlink(path);
  if (unlinked == 0 || unlinked == -ENOENT) return Status::OK();
  if (unlinked != -EISDIR && unlinked != -EPERM) return SystemError(-unlinked, "remove", path);
  std::vector<FileInfo> entries;
  if (const int code = calls_.List(path, &entries); code < 0) {
    return code == -ENOTDIR ? SystemError(-unlinked, "remove", path) : SystemError(-code, "list", path);
  }
  for (const FileInfo& entry : entries) ARROW_RETURN_NOT_OK(RemoveTree(Join(path, entry.name)));
  const int code = calls_.RemoveDirectory(path);
  return code == 0 || code == -ENOENT ? Status::OK() : SystemError(-code, "remove", path);
}

Status LocalFileSystem::CreateDirectories(const std::string& path) {
  ARROW_RETURN_NOT_OK(durability_.MakeDirectories(path));
  return durability_.SyncNames({path});
}

Result<std::unique_ptr<FileLock>> LocalFileSystem::Lock(const std::string& path, std::string_view owner) {
  ARROW_RETURN_NOT_OK(durability_.MakeDirectories(Parent(path)));
  const int fd = calls_.OpenLocked(path);
  if (fd == -EAGAIN) {
    const Result<std::string> holder = ReadWhole(calls_, path);
    return UserError("TIDEMILL_CHECKPOINT_LOCKED", "{} is in use by {}. Only one query at a time may use a checkpoint: wait for that process, or stop it",
                     Parent(Parent(path)), holder.ok() && !holder->empty() ? *holder : "another process (it has not written down which)")
        .Path(path);
  }
  if (fd < 0) return SystemError(-fd, "lock", path);
  auto lock = std::make_unique<LocalFileLock>(calls_, fd);
  if (const int code = calls_.WriteLocked(fd, owner); code < 0) return SystemError(-code, "write", path);
  return lock;
}

SyncCounters LocalFileSystem::sync_counters() const {
  std::lock_guard lock(mutex_);
  const auto found = rounds_.find(std::this_thread::get_id());
  return SyncCounters{found == rounds_.end() ? 0 : found->second};
}

void LocalFileSystem::CountRound() {
  if (!options_.sync) return;
  std::lock_guard lock(mutex_);
  ++rounds_[std::this_thread::get_id()];
}

}  // namespace

std::unique_ptr<FileSystem> MakeLocalFileSystem(SystemCalls& calls, LocalOptions options) {
  return std::make_unique<LocalFileSystem>(calls, options);
}

}  // namespace tidemill::fs
