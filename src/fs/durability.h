#pragma once

// What has to be synced so that a file is durable under its name: its data, its folder, and the names of the folders above it.
//
// A folder's own name is durable once its parent was synced after it was made. An earlier process may have made it and been killed before that,
// so each folder is settled once per process, up to the root, the first time that something below it has to last.

#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "fs/system_calls.h"

namespace tidemill::fs {

/// Safe to call from several threads.
class Durability {
 public:
  /// With `sync` false every Sync call does nothing.
  Durability(SystemCalls& calls, bool sync);

  bool sync() const { return sync_; }
  /// mkdir -p. Not durable before SyncNames().
  Status MakeDirectories(const std::string& directory);
  /// fsync the data of `files`; more than kFewFiles: one syncfs for each file system that holds some of them.
  Status SyncFiles(std::span<const std::string> files);
  /// Make the names in `directories`, and those of the folders themselves, durable.
  Status SyncNames(const std::set<std::string>& directories);
  /// Everything at and below `directory` was removed: what will be made there again is new.
  void Forget(const std::string& directory);

  static constexpr size_t kFewFiles = 16;

 private:
  struct Plan;
  Plan PlanNames(const std::set<std::string>& directories);
  Status SyncFolder(const std::string& directory, bool tolerant);
  Status SyncFileSystems(std::span<const std::string> paths);

  SystemCalls& calls_;
  const bool sync_;
  std::mutex mutex_;
  std::set<std::string> made_;     // by this process; guarded by mutex_
  std::set<std::string> settled_;  // their names are durable; guarded by mutex_
};

}  // namespace tidemill::fs
