#pragma once

// The content of a POSIX disk, twice: as processes see it, and as it is on the platter.
//
//   inode ── content, entries              what a running process sees
//      └──── durable content, entries      what a power cut leaves: set by syncing that inode, and by nothing else
//
// The name of a file belongs to its folder's inode, so syncing the file makes its bytes durable and not its name, and the other way round. This is
// less than any real file system promises, and exactly what POSIX promises.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fs/file_system.h"

namespace tidemill::testing {

/// What a crash leaves.
enum class Survival {
  kNothingUnsynced,  ///< power cut: synced bytes under synced names
  kEverything,       ///< power cut just after the kernel had written all of its own accord
  kSeededSubset,     ///< power cut: of the unsynced bytes and names a random part, names without their bytes and files cut short included
  kPageCache,        ///< the process alone died: all is still visible, what was not synced is still not durable
};

/// Functions return 0 or an id >= 0, or -errno. Paths are absolute. Not synchronised: SimulatedDisk holds a lock around it.
class DiskImage {
 public:
  using Id = int64_t;

  DiskImage();

  /// The inode behind `path`.
  Id Find(const std::string& path) const;
  Id CreateFile(const std::string& path, int64_t now_ms);
  int MakeDirectory(const std::string& path, int64_t now_ms);
  int RemoveDirectory(const std::string& path);
  int Link(const std::string& from, const std::string& to);
  int Rename(const std::string& from, const std::string& to, bool exclusive);
  int Unlink(const std::string& path);
  int Stat(const std::string& path, fs::FileInfo* info) const;
  int List(const std::string& path, std::vector<fs::FileInfo>* entries) const;

  const std::string& Content(Id id) const;
  void Append(Id id, std::string_view bytes, int64_t now_ms);
  void Replace(Id id, std::string_view bytes, int64_t now_ms);
  bool IsDirectory(Id id) const;

  /// fsync of a file or of a folder.
  void Sync(Id id);
  /// syncfs: every inode whose path lies on the device of `path`.
  void SyncDevice(const std::string& path);
  /// A failed fsync: the bytes stay visible and will never be durable, however often they are synced again, as Linux has it.
  void LoseUnsynced(Id id);
  void LoseUnsyncedOnDevice(const std::string& path);

  /// `prefix` and what is below it is another file system from now on.
  void Mount(const std::string& prefix, int64_t device);
  int64_t Device(const std::string& path) const;

  void Crash(Survival survival, uint64_t seed);

  /// Bytes of all files that processes can see.
  int64_t TotalBytes() const;
  /// Every file by path, as processes see it.
  std::map<std::string, std::string> Files() const;

 private:
  using Entries = std::map<std::string, Id>;
  struct Inode {
    bool directory = false;
    int64_t modified_ms = 0;
    std::string content;
    std::string durable_content;
    bool lost = false;  // an fsync failed: what is not durable never will be
    Entries entries;
    Entries durable_entries;
  };
  /// A place in a folder; the name need not be there.
  struct Place {
    Id folder = 0;
    std::string name;
  };

  int Locate(const std::string& path, Place* place) const;
  Id Lookup(const Place& place) const;
  fs::FileInfo InfoOf(const std::string& name, Id id) const;
  Id NewInode(bool directory, int64_t now_ms);
  template <typename Visit>
  void Walk(const std::string& path, Id id, Visit&& visit) const;
  std::vector<Id> OnDevice(int64_t device) const;

  Inode& at(Id id) { return inodes_.at(id); }
  const Inode& at(Id id) const { return inodes_.at(id); }

  std::map<Id, Inode> inodes_;
  std::map<std::string, int64_t> mounts_;
  Id next_id_ = 0;
};

}  // namespace tidemill::testing
