#include "fs/durability.h"

#include <cerrno>
#include <map>

#include "fs/system_error.h"
#include "fs/whole_file.h"

namespace tidemill::fs {

// Folders to sync, and those whose names are durable once that is done.
struct Durability::Plan {
  std::map<std::string, bool> folders;  // true: it may be one that we have no right to read, see SyncFolder()
  std::vector<std::string> settles;
};

Durability::Durability(SystemCalls& calls, bool sync) : calls_(calls), sync_(sync) {}

Status Durability::MakeDirectories(const std::string& directory) {
  FileInfo info;
  const int found = calls_.Stat(directory, &info);
  if (found == 0) return info.is_directory ? Status::OK() : SystemError(ENOTDIR, "create folder", directory);
  if (found != -ENOENT) return SystemError(-found, "create folder", directory);
  if (const std::string parent = Parent(directory); parent != directory) ARROW_RETURN_NOT_OK(MakeDirectories(parent));
  // Before the call, so that no other thread can take the new folder for one that was always there.
  {
    std::lock_guard lock(mutex_);
    made_.insert(directory);
    settled_.erase(directory);
  }
  const int code = calls_.MakeDirectory(directory);
  // Another thread, or another process, may have been faster.
  return code == 0 || code == -EEXIST ? Status::OK() : SystemError(-code, "create folder", directory);
}

Status Durability::SyncFiles(std::span<const std::string> files) {
  if (!sync_) return Status::OK();
  if (files.size() > kFewFiles) return SyncFileSystems(files);
  for (const std::string& file : files) ARROW_RETURN_NOT_OK(SyncFile(calls_, file));
  return Status::OK();
}

Status Durability::SyncNames(const std::set<std::string>& directories) {
  if (!sync_) return Status::OK();
  const Plan plan = PlanNames(directories);
  if (plan.folders.size() > kFewFiles) {
    ARROW_RETURN_NOT_OK(SyncFileSystems(std::vector<std::string>(directories.begin(), directories.end())));
  } else {
    for (const auto& [folder, tolerant] : plan.folders) ARROW_RETURN_NOT_OK(SyncFolder(folder, tolerant));
  }
  std::lock_guard lock(mutex_);
  settled_.insert(plan.settles.begin(), plan.settles.end());
  return Status::OK();
}

Durability::Plan Durability::PlanNames(const std::set<std::string>& directories) {
  Plan plan;
  std::lock_guard lock(mutex_);
  for (const std::string& directory : directories) {
    plan.folders[directory] = false;
    for (std::string child = directory; child != "/" && child != "." && !settled_.contains(child); child = Parent(child)) {
      plan.settles.push_back(child);
      const bool ours = made_.contains(child);
      const auto [entry, added] = plan.folders.emplace(Parent(child), !ours);
      if (!added && ours) entry->second = false;
    }
  }
  return plan;
}

// A folder above ours may be closed to us (execute permission alone is enough to pass through), or lie on a file system without a sync for
// folders. When we made nothing in it, a process like ours could not have either, so `tolerant` lets that pass.
Status Durability::SyncFolder(const std::string& directory, bool tolerant) {
  const int code = calls_.SyncDirectory(directory);
  if (code == 0) return Status::OK();
  if (tolerant && (code == -EACCES || code == -EPERM || code == -EINVAL || code == -EROFS)) return Status::OK();
  return SystemError(-code, "sync folder", directory);
}

Status Durability::SyncFileSystems(std::span<const std::string> paths) {
  std::set<int64_t> done;
  for (const std::string& path : paths) {
    const int64_t device = calls_.Device(path);
    if (device < 0) return SystemError(static_cast<int>(-device), "sync", path);
    if (!done.insert(device).second) continue;
    if (const int code = calls_.SyncFileSystem(path); code < 0) return SystemError(-code, "sync the file system of", path);
  }
  return Status::OK();
}

void Durability::Forget(const std::string& directory) {
  const std::string below = Join(directory, "");
  std::lock_guard lock(mutex_);
  std::erase_if(settled_, [&](const std::string& folder) { return folder == directory || folder.starts_with(below); });
}

}  // namespace tidemill::fs
