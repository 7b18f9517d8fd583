#pragma once

// The one door to storage. Everything durable goes through FileSystem, so one fault injector (testing/) can break every promise.
//
// LocalFileSystem does it over SystemCalls, the thin seam below which tests put a simulated disk that forgets what was not synced.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace tidemill::fs {

struct FileInfo {
  std::string name;  ///< Last component of the path.
  bool is_directory = false;
  int64_t size_bytes = 0;
  int64_t modified_ms = 0;  ///< Milliseconds since the epoch, UTC.
};

enum class CreateOutcome { kCreated, kTaken };

/// A file written under a temporary (or, for attempt-unique names, its final) name, not yet durable.
struct StagedFile {
  std::string path;            ///< Final name.
  std::string temporary_path;  ///< Where the bytes are now; equal to `path` when the final name is unique to this attempt.
  int64_t size_bytes = 0;
};

/// A file under construction; see FileSystem::OpenStaged.
class StagedWriter {
 public:
  virtual ~StagedWriter() = default;  // without Finish(): the temporary file is removed
  virtual Status Append(std::string_view bytes) = 0;
  /// Close the file. An error from close() is an error. Not durable before Publish().
  virtual Result<StagedFile> Finish() = 0;
};

/// A file open for reading in pieces; one thread at a time.
class FileReader {
 public:
  virtual ~FileReader() = default;
  /// Fill `buffer` from `offset` on; less than asked for only at the end of the file, 0 behind it.
  virtual Result<int64_t> ReadAt(int64_t offset, std::span<char> buffer) = 0;
};

/// Held for the life of a process; the kernel frees it at `kill -9`.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

/// How many dependent rounds of syncing a thread waited for. Counted by the file system, read by the loop for progress and tests.
struct SyncCounters {
  int64_t rounds = 0;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  /// The whole file. Errors: IOError whose detail has the path; a missing file has condition "PATH_NOT_FOUND" (see IsNotFound()).
  virtual Result<std::string> Read(const std::string& path) = 0;
  /// Open a file that may be too large to be read whole. Errors: as Read().
  virtual Result<std::unique_ptr<FileReader>> OpenReader(const std::string& path) = 0;
  /// nullopt when there is no such file.
  virtual Result<std::optional<FileInfo>> Stat(const std::string& path) = 0;
  /// Entries of a folder in no promised order; nullopt when the folder is missing. `.` and `..` are left out, hidden names are not.
  virtual Result<std::optional<std::vector<FileInfo>>> List(const std::string& directory) = 0;

  /// Create `path` with `bytes`, whole or not at all, without overwriting; missing parents are made and synced. Durable on return (temporary name,
  /// data synced, linked without overwrite, directory synced). One round.
  /// Repeating: after an error the file may be there all the same. A second call by this object with the same bytes makes it durable and says
  /// kCreated; with other bytes it replaces what the failed call left. A file that this object did not write is kTaken, and durable too.
  virtual Result<CreateOutcome> CreateIfAbsent(const std::string& path, std::string_view bytes) = 0;
  /// Open a file that will become `path` at Publish(). `unique` says that no other attempt uses that name: the bytes go there directly.
  virtual Result<std::unique_ptr<StagedWriter>> OpenStaged(const std::string& path, bool unique) = 0;
  /// Make all of `files` durable under their final names, replacing what is there: data synced (more than 16 files: one syncfs a file system),
  /// renamed, directories synced; then each is stat'ed and its size compared with what the writer reported. Leftover Hadoop `.crc` and
  /// Spark `.crc` companions of a replaced name are removed before. One round. After an error the files have to be written again, as a failed
  /// sync may have dropped their bytes: the same ones are refused.
  virtual Status Publish(std::span<const StagedFile> files) = 0;
  /// Drop staged files of an attempt that failed; best effort.
  virtual void Discard(std::span<const StagedFile> files) = 0;

  /// Make files that are there already durable, with the names of their folders: what a killed process left behind may be visible and yet not on
  /// disk, so this comes before anything relies on it. More than 16 files: one syncfs a file system. One round.
  virtual Status MakeDurable(std::span<const std::string> paths) = 0;

  /// Remove a file, its hidden Hadoop `.crc` companion and Spark's `.crc` side file; a missing file is no error. Not synced.
  virtual Status Remove(const std::string& path) = 0;
  virtual Status RemoveTree(const std::string& path) = 0;
  virtual Status CreateDirectories(const std::string& path) = 0;
  /// Take the lock file `path` for the life of the handle, writing `owner` into it. When another process has it: user error with condition
  /// TIDEMILL_CHECKPOINT_LOCKED whose message holds what that process wrote (host, pid, start time).
  virtual Result<std::unique_ptr<FileLock>> Lock(const std::string& path, std::string_view owner) = 0;

  virtual SyncCounters sync_counters() const = 0;
};

bool IsNotFound(const Status& status);
/// `directory` + "/" + `name`.
std::string Join(std::string_view directory, std::string_view name);
/// The folder of a path ("/a/b" → "/a").
std::string Parent(std::string_view path);
/// Last component.
std::string BaseName(std::string_view path);
/// A plain local path from what users write: `file:/a`, `file:///a%20b` (escapes undone), a relative path (made absolute against `base`), an absolute one.
/// Errors: a scheme other than `file` is refused by name (s3, s3a, hdfs: "come later").
Result<std::string> LocalPath(std::string_view text, const std::string& base);
/// `file:///a%20b` as Spark writes paths into its logs: space → %20, % → %25, …; `+` and non-ASCII letters stay.
std::string ToFileUri(const std::string& path);

}  // namespace tidemill::fs
