#pragma once

// A disk in memory below LocalFileSystem: it counts and records every system call, fails or crashes at the one a test names, and forgets at a power
// cut what was not synced.
//
//   SimulatedDisk disk;
//   auto files = fs::MakeLocalFileSystem(disk);
//   disk.Inject(Fault::kCrashAfter, k);           // the walk: k = 0, 1, … until fired() stays 0
//   … run; everything fails after call k, until …
//   disk.Reboot(Survival::kSeededSubset, seed);   // … and run again, over what survived
//
// Calls are numbered from 0 since construction or the last ResetCalls(). One thread makes the numbers reproducible; with several, select by kind and
// path instead. Temporary names hold a fresh UUID, so patterns for them need a `*`.

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fs/system_calls.h"
#include "testing/disk_image.h"

namespace tidemill::testing {

/// One system call as it was made.
struct Call {
  int64_t index = 0;
  /// "open", "create", "read", "pread", "write", "fsync", "close", "link", "renameat2", "rename", "unlink", "mkdir", "rmdir", "syncdir", "syncfs", "device",
  /// "stat", "list", "lock" or "writelock".
  std::string kind;
  std::string path;    ///< Of a call on a descriptor: the path it was opened by.
  std::string to;      ///< "link", "rename", "renameat2": the second path.
  int64_t result = 0;  ///< What the caller saw.

  std::string ToString() const;
};

bool IsSync(const Call& call);

/// What happens to a call.
enum class Fault {
  kFailOnce,    ///< not carried out, an error reported
  kFailFrom,    ///< the same, for the call and all later ones
  kFailAfter,   ///< carried out, an error reported all the same: the answer was lost
  kShortWrite,  ///< "write" takes half of the bytes and says so
  kCrashBefore,
  kCrashAfter,
};

/// Which calls a fault acts on. A call has to pass all of index, kind and path; of those, `skip` pass unharmed.
struct FaultRule {
  Fault fault = Fault::kFailOnce;
  int error = 5;              ///< EIO; positive.
  int64_t call = -1;          ///< Number of the call (kFailFrom: of the first); -1: any.
  std::string kind = "*";     ///< Shell pattern.
  std::string path = "*";     ///< Shell pattern over `path` or `to`; `*` matches slashes too.
  int64_t skip = 0;
};

/// Safe to use from several threads; Reboot() when none of the dead process is left.
class SimulatedDisk final : public fs::SystemCalls {
 public:
  SimulatedDisk() = default;

  // Faults. Several may be set; the first that fits a call acts.
  void Inject(FaultRule rule);
  void Inject(Fault fault, int64_t call) { Inject(FaultRule{.fault = fault, .call = call}); }
  void ClearFaults();
  /// How many calls a fault has acted on since ClearFaults().
  int64_t fired() const;
  /// Sync calls for which this is true say OK and do nothing, across reboots: is that sync needed? Set it while no thread uses the disk.
  std::function<bool(const Call&)> ignore_sync;
  /// How many sync calls were swallowed.
  int64_t swallowed() const;
  /// Room for `bytes` more; then writes take what fits and fail with ENOSPC. nullopt: endless.
  void LimitFreeBytes(std::optional<int64_t> bytes);

  // Crash and reboot.
  bool crashed() const;
  /// Stop the process here: every later call fails with EIO.
  void Crash();
  /// Let a new process start on what `survival` leaves. Descriptors and locks of the old one are void, faults are cleared, `ignore_sync` stays.
  void Reboot(Survival survival, uint64_t seed = 0);

  // The record.
  std::vector<Call> log() const;
  int64_t call_count() const;
  void ResetCalls();
  /// Do not keep calls, only count them.
  void RecordCalls(bool record);

  // The content, past faults and records.
  /// Create or replace a file with its folders, durable at once.
  void Put(const std::string& path, std::string_view content);
  /// Every file by path, as processes see it.
  std::map<std::string, std::string> Files() const;
  std::optional<std::string> Content(const std::string& path) const;
  /// `prefix` and what is below it is another file system from now on.
  void Mount(const std::string& prefix, int64_t device);
  /// Modification times: by default each change is one millisecond after the last.
  void SetTimeSource(std::function<int64_t()> now_ms);

  int OpenForRead(const std::string& path) override;
  int CreateExclusive(const std::string& path) override;
  int64_t Read(int fd, char* buffer, int64_t size) override;
  int64_t ReadAt(int fd, char* buffer, int64_t size, int64_t offset) override;
  int64_t Write(int fd, std::string_view bytes) override;
  int Fsync(int fd) override;
  int Close(int fd) override;
  int Link(const std::string& from, const std::string& to) override;
  int RenameExclusive(const std::string& from, const std::string& to) override;
  int Rename(const std::string& from, const std::string& to) override;
  int Unlink(const std::string& path) override;
  int MakeDirectory(const std::string& path) override;
  int RemoveDirectory(const std::string& path) override;
  int SyncDirectory(const std::string& path) override;
  int SyncFileSystem(const std::string& path) override;
  int64_t Device(const std::string& path) override;
  int Stat(const std::string& path, fs::FileInfo* info) override;
  int List(const std::string& path, std::vector<fs::FileInfo>* entries) override;
  int OpenLocked(const std::string& path) override;
  int WriteLocked(int fd, std::string_view bytes) override;

 private:
  struct Descriptor {
    DiskImage::Id inode = 0;
    std::string path;
    int64_t position = 0;
    bool lock = false;
  };
  struct ArmedRule {
    FaultRule rule;
    int64_t left_to_skip = 0;
    bool spent = false;
  };

  /// Number and record a call, and carry out `work` unless a fault says otherwise. mutex_ is held.
  template <typename Work>
  int64_t Make(std::string_view kind, const std::string& path, const std::string& to, Work&& work);
  template <typename Work>
  int64_t Perform(const Call& call, Work&& work);
  const FaultRule* Match(const Call& call);
  void Damage(const Call& call);
  bool Swallows(const Call& call);
  std::string PathOf(int fd) const;
  int NewDescriptor(DiskImage::Id inode, const std::string& path, bool lock);
  int64_t Store(Descriptor& descriptor, std::string_view bytes);
  int64_t NextMs();

  mutable std::mutex mutex_;
  // All below is guarded by mutex_.
  DiskImage image_;
  std::map<int, Descriptor> descriptors_;
  std::set<DiskImage::Id> locked_;
  int next_descriptor_ = 3;  // never used twice, so that a dead process cannot close a living one's file
  std::vector<ArmedRule> rules_;
  std::optional<int64_t> free_bytes_;
  std::function<int64_t()> now_ms_;
  int64_t last_ms_ = 1'700'000'000'000;
  std::vector<Call> log_;
  bool record_ = true;
  int64_t call_count_ = 0;
  int64_t fired_ = 0;
  int64_t swallowed_ = 0;
  bool crashed_ = false;
  bool halve_write_ = false;
};

}  // namespace tidemill::testing
