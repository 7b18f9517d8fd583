#include "testing/simulated_disk.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cerrno>

namespace tidemill::testing {

namespace {

bool Matches(const std::string& pattern, const std::string& path) { return ::fnmatch(pattern.c_str(), path.c_str(), 0) == 0; }

}  // namespace

bool IsSync(const Call& call) { return call.kind == "fsync" || call.kind == "syncdir" || call.kind == "syncfs"; }

std::string Call::ToString() const {
  return fmt::format("#{} {} {}{}{} = {}", index, kind, path, to.empty() ? "" : " -> ", to, result);
}

void SimulatedDisk::Inject(FaultRule rule) {
  std::lock_guard lock(mutex_);
  const int64_t skip = rule.skip;
  rules_.push_back({std::move(rule), skip, false});
}

void SimulatedDisk::ClearFaults() {
  std::lock_guard lock(mutex_);
  rules_.clear();
  fired_ = 0;
}

int64_t SimulatedDisk::fired() const {
  std::lock_guard lock(mutex_);
  return fired_;
}

int64_t SimulatedDisk::swallowed() const {
  std::lock_guard lock(mutex_);
  return swallowed_;
}

void SimulatedDisk::LimitFreeBytes(std::optional<int64_t> bytes) {
  std::lock_guard lock(mutex_);
  free_bytes_ = bytes;
}

bool SimulatedDisk::crashed() const {
  std::lock_guard lock(mutex_);
  return crashed_;
}

void SimulatedDisk::Crash() {
  std::lock_guard lock(mutex_);
  crashed_ = true;
}

void SimulatedDisk::Reboot(Survival survival, uint64_t seed) {
  std::lock_guard lock(mutex_);
  image_.Crash(survival, seed);
  descriptors_.clear();
  locked_.clear();
  rules_.clear();
  crashed_ = false;
}

std::vector<Call> SimulatedDisk::log() const {
  std::lock_guard lock(mutex_);
  return log_;
}

int64_t SimulatedDisk::call_count() const {
  std::lock_guard lock(mutex_);
  return call_count_;
}

void SimulatedDisk::ResetCalls() {
  std::lock_guard lock(mutex_);
  log_.clear();
  call_count_ = 0;
}

void SimulatedDisk::RecordCalls(bool record) {
  std::lock_guard lock(mutex_);
  record_ = record;
}

void SimulatedDisk::Put(const std::string& path, std::string_view content) {
  std::lock_guard lock(mutex_);
  for (size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string folder = path.substr(0, slash);
    image_.MakeDirectory(folder, NextMs());
    image_.Sync(image_.Find(fs::Parent(folder)));
  }
  DiskImage::Id id = image_.CreateFile(path, NextMs());
  if (id == -EEXIST) id = image_.Find(path);
  image_.Replace(id, content, NextMs());
  image_.Sync(id);
  image_.Sync(image_.Find(fs::Parent(path)));
}

std::map<std::string, std::string> SimulatedDisk::Files() const {
  std::lock_guard lock(mutex_);
  return image_.Files();
}

std::optional<std::string> SimulatedDisk::Content(const std::string& path) const {
  std::lock_guard lock(mutex_);
  const DiskImage::Id id = image_.Find(path);
  if (id < 0 || image_.IsDirectory(id)) return std::nullopt;
  return image_.Content(id);
}

void SimulatedDisk::Mount(const std::string& prefix, int64_t device) {
  std::lock_guard lock(mutex_);
  image_.Mount(prefix, device);
}

void SimulatedDisk::SetTimeSource(std::function<int64_t()> now_ms) {
  std::lock_guard lock(mutex_);
  now_ms_ = std::move(now_ms);
}

int64_t SimulatedDisk::NextMs() {
  last_ms_ = now_ms_ ? now_ms_() : last_ms_ + 1;
  return last_ms_;
}

const FaultRule* SimulatedDisk::Match(const Call& call) {
  for (ArmedRule& armed : rules_) {
    const FaultRule& rule = armed.rule;
    const bool lasts = rule.fault == Fault::kFailFrom;
    if (armed.spent) continue;
    if (rule.call >= 0 && (lasts ? call.index < rule.call : call.index != rule.call)) continue;
    if (!Matches(rule.kind, call.kind)) continue;
    if (!Matches(rule.path, call.path) && (call.to.empty() || !Matches(rule.path, call.to))) continue;
    if (rule.fault == Fault::kShortWrite && call.kind != "write") continue;
    if (armed.left_to_skip > 0) {
      --armed.left_to_skip;
      continue;
    }
    armed.spent = !lasts;
    return &rule;
  }
  return nullptr;
}

// A failed sync of data drops it; see DiskImage::LoseUnsynced(). A folder's names are metadata: a file system journals them or stops.
void SimulatedDisk::Damage(const Call& call) {
  if (call.kind == "syncfs") image_.LoseUnsyncedOnDevice(call.path);
  if (call.kind == "fsync") {
    if (const DiskImage::Id id = image_.Find(call.path); id >= 0) image_.LoseUnsynced(id);
  }
}

template <typename Work>
int64_t SimulatedDisk::Perform(const Call& call, Work&& work) {
  const auto carry_out = [&]() -> int64_t {
    if (!IsSync(call) || !ignore_sync || !ignore_sync(call)) return work();
    ++swallowed_;
    return 0;
  };
  const FaultRule* rule = Match(call);
  if (rule == nullptr) return carry_out();
  ++fired_;
  switch (rule->fault) {
    case Fault::kFailOnce:
    case Fault::kFailFrom:
      Damage(call);
      break;
    case Fault::kFailAfter:
      carry_out();
      break;
    case Fault::kShortWrite: {
      halve_write_ = true;
      const int64_t result = work();
      halve_write_ = false;
      return result;
    }
    case Fault::kCrashBefore:
      crashed_ = true;
      break;
    case Fault::kCrashAfter:
      carry_out();
      crashed_ = true;
      break;
  }
  return -rule->error;
}

template <typename Work>
int64_t SimulatedDisk::Make(std::string_view kind, const std::string& path, const std::string& to, Work&& work) {
  Call call{call_count_, std::string(kind), path, to, -EIO};
  // A dead process makes no calls; its threads and destructors may still try.
  if (crashed_) return -EIO;
  ++call_count_;
  call.result = Perform(call, work);
  if (record_) log_.push_back(call);
  return call.result;
}

std::string SimulatedDisk::PathOf(int fd) const {
  const auto found = descriptors_.find(fd);
  return found == descriptors_.end() ? std::string() : found->second.path;
}

int SimulatedDisk::NewDescriptor(DiskImage::Id inode, const std::string& path, bool lock) {
  const int fd = next_descriptor_++;
  descriptors_[fd] = {inode, path, 0, lock};
  return fd;
}

int SimulatedDisk::OpenForRead(const std::string& path) {
  std::lock_guard lock(mutex_);
  return static_cast<int>(Make("open", path, "", [&]() -> int64_t {
    const DiskImage::Id id = image_.Find(path);
    return id < 0 ? id : NewDescriptor(id, path, /*lock=*/false);
  }));
}

int SimulatedDisk::CreateExclusive(const std::string& path) {
  std::lock_guard lock(mutex_);
  return static_cast<int>(Make("create", path, "", [&]() -> int64_t {
    const DiskImage::Id id = image_.CreateFile(path, NextMs());
    return id < 0 ? id : NewDescriptor(id, path, /*lock=*/false);
  }));
}

int64_t SimulatedDisk::ReadAt(int fd, char* buffer, int64_t size, int64_t offset) {
  std::lock_guard lock(mutex_);
  return Make("pread", PathOf(fd), "", [&]() -> int64_t {
    const auto found = descriptors_.find(fd);
    if (found == descriptors_.end()) return -EBADF;
    if (image_.IsDirectory(found->second.inode)) return -EISDIR;
    const std::string& content = image_.Content(found->second.inode);
    if (offset >= static_cast<int64_t>(content.size())) return 0;
    const int64_t count = std::min(size, static_cast<int64_t>(content.size()) - offset);
    std::copy_n(content.data() + offset, count, buffer);
    return count;
  });
}

int64_t SimulatedDisk::Read(int fd, char* buffer, int64_t size) {
  std::lock_guard lock(mutex_);
  return Make("read", PathOf(fd), "", [&]() -> int64_t {
    const auto found = descriptors_.find(fd);
    if (found == descriptors_.end()) return -EBADF;
    Descriptor& descriptor = found->second;
    if (image_.IsDirectory(descriptor.inode)) return -EISDIR;
    const std::string& content = image_.Content(descriptor.inode);
    const int64_t left = std::max<int64_t>(0, static_cast<int64_t>(content.size()) - descriptor.position);
    const int64_t count = std::min(size, left);
    std::copy_n(content.data() + descriptor.position, count, buffer);
    descriptor.position += count;
    return count;
  });
}

int64_t SimulatedDisk::Store(Descriptor& descriptor, std::string_view bytes) {
  if (halve_write_) bytes = bytes.substr(0, (bytes.size() + 1) / 2);
  if (free_bytes_) {
    if (*free_bytes_ <= 0 && !bytes.empty()) return -ENOSPC;
    bytes = bytes.substr(0, std::min<size_t>(bytes.size(), static_cast<size_t>(*free_bytes_)));
    *free_bytes_ -= static_cast<int64_t>(bytes.size());
  }
  image_.Append(descriptor.inode, bytes, NextMs());
  return static_cast<int64_t>(bytes.size());
}

int64_t SimulatedDisk::Write(int fd, std::string_view bytes) {
  std::lock_guard lock(mutex_);
  return Make("write", PathOf(fd), "", [&]() -> int64_t {
    const auto found = descriptors_.find(fd);
    return found == descriptors_.end() ? -EBADF : Store(found->second, bytes);
  });
}

int SimulatedDisk::Fsync(int fd) {
  std::lock_guard lock(mutex_);
  return static_cast<int>(Make("fsync", PathOf(fd), "", [&]() -> int64_t {
    const auto found = descriptors_.find(fd);
    if (found == descriptors_.end()) return -EBADF;
    image_.Sync(found->second.inode);
    return 0;
  }));
}

int SimulatedDisk::Close(int fd) {
  std::lock_guard lock(mutex_);
  return static_cast<int>(Make("close", PathOf(fd), "", [&]() -> int64_t {
    const auto found = descriptors_.find(fd);
    if (found == descriptors_.end()) return -EBADF;
    if (found->second.lock) locked_.erase(found->second.inode);
    descriptors_.erase(found);
    return 0;
  }));
}

int SimulatedDisk::Link(const std::string& from, const std::string& to) {
  std::lock_guard lock(mutex_);
  return static_cast<int>(Make("link", from, to, [&]() -> int64_t { return image_.Link(from, to); }));
}

int SimulatedDisk::RenameExclusive(const std::string& from, const std::string& to) {
  std::lock_guard lock(mutex_);
  return static_cast<int>(Make("renameat2", from, to, [&]() -> int64_t { return image_.Rename(from, to, /*exclusive=*/true); }));
}

int SimulatedDisk::Rename(const std::string& from, const std::string& to) {
  std::lock_guard lock(mutex_);
  return static_cast<int>(Make("rename", from, to, [&]() -> int64_t { return image_.Rename(from, to, /*exclusive=*/false); }));
}

int SimulatedDisk::Unlink(const std::string& path) {
  std::lock_guard lock(mutex_);
  return static_cast<int>(Make("unlink", path, "", [&]() -> int64_t { return image_.Unlink(path); }));
}

int SimulatedDisk::MakeDirectory(const std::string& path) {
  std::lock_guard lock(mutex_);
  return static_cast<int>(Make("mkdir", path, "", [&]() -> int64_t { return image_.MakeDirectory(path, NextMs()); }));
}

int SimulatedDisk::RemoveDirectory(const std::string& path) {
  std::lock_guard lock(mutex_);
  return static_cast<int>(Make("rmdir", path, "", [&]() -> int64_t { return image_.RemoveDirectory(path); }));
}

int SimulatedDisk::SyncDirectory(const std::string& path) {
  std::lock_guard lock(mutex_);
  return static_cast<int>(Make("syncdir", path, "", [&]() -> int64_t {
    const DiskImage::Id id = image_.Find(path);
    if (id < 0) return id;
    if (!image_.IsDirectory(id)) return -ENOTDIR;
    image_.Sync(id);
    return 0;
  }));
}

int SimulatedDisk::SyncFileSystem(const std::string& path) {
  std::lock_guard lock(mutex_);
  return static_cast<int>(Make("syncfs", path, "", [&]() -> int64_t {
    const DiskImage::Id id = image_.Find(path);
    if (id < 0) return id;
    image_.SyncDevice(path);
    return 0;
  }));
}

int64_t SimulatedDisk::Device(const std::string& path) {
  std::lock_guard lock(mutex_);
  return Make("device", path, "", [&]() -> int64_t {
    const DiskImage::Id id = image_.Find(path);
    return id < 0 ? id : image_.Device(path);
  });
}

int SimulatedDisk::Stat(const std::string& path, fs::FileInfo* info) {
  std::lock_guard lock(mutex_);
  return static_cast<int>(Make("stat", path, "", [&]() -> int64_t { return image_.Stat(path, info); }));
}

int SimulatedDisk::List(const std::string& path, std::vector<fs::FileInfo>* entries) {
  std::lock_guard lock(mutex_);
  return static_cast<int>(Make("list", path, "", [&]() -> int64_t { return image_.List(path, entries); }));
}

int SimulatedDisk::OpenLocked(const std::string& path) {
  std::lock_guard lock(mutex_);
  return static_cast<int>(Make("lock", path, "", [&]() -> int64_t {
    DiskImage::Id id = image_.Find(path);
    if (id == -ENOENT) id = image_.CreateFile(path, NextMs());
    if (id < 0) return id;
    if (!locked_.insert(id).second) return -EAGAIN;
    return NewDescriptor(id, path, /*lock=*/true);
  }));
}

int SimulatedDisk::WriteLocked(int fd, std::string_view bytes) {
  std::lock_guard lock(mutex_);
  return static_cast<int>(Make("writelock", PathOf(fd), "", [&]() -> int64_t {
    const auto found = descriptors_.find(fd);
    if (found == descriptors_.end()) return -EBADF;
    image_.Replace(found->second.inode, bytes, NextMs());
    return 0;
  }));
}

}  // namespace tidemill::testing
