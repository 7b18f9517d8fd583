#include "testing/disk_image.h"

#include <cerrno>
#include <random>
#include <set>

namespace tidemill::testing {

namespace {

constexpr DiskImage::Id kRoot = 0;

bool IsAtOrBelow(const std::string& path, const std::string& folder) {
  return path == folder || folder == "/" || path.starts_with(folder + "/");
}

}  // namespace

DiskImage::DiskImage() { NewInode(/*directory=*/true, 0); }

DiskImage::Id DiskImage::NewInode(bool directory, int64_t now_ms) {
  const Id id = next_id_++;
  Inode& inode = inodes_[id];
  inode.directory = directory;
  inode.modified_ms = now_ms;
  return id;
}

DiskImage::Id DiskImage::Find(const std::string& path) const {
  Id id = kRoot;
  for (size_t start = 1; start < path.size();) {
    const size_t end = std::min(path.find('/', start), path.size());
    if (!at(id).directory) return -ENOTDIR;
    const auto entry = at(id).entries.find(path.substr(start, end - start));
    if (entry == at(id).entries.end()) return -ENOENT;
    id = entry->second;
    start = end + 1;
  }
  return id;
}

int DiskImage::Locate(const std::string& path, Place* place) const {
  if (path.size() < 2 || path[0] != '/') return -EINVAL;
  const Id folder = Find(fs::Parent(path));
  if (folder < 0) return static_cast<int>(folder);
  if (!at(folder).directory) return -ENOTDIR;
  *place = {folder, fs::BaseName(path)};
  return 0;
}

DiskImage::Id DiskImage::Lookup(const Place& place) const {
  const auto entry = at(place.folder).entries.find(place.name);
  return entry == at(place.folder).entries.end() ? -ENOENT : entry->second;
}

DiskImage::Id DiskImage::CreateFile(const std::string& path, int64_t now_ms) {
  Place place;
  if (const int code = Locate(path, &place); code < 0) return code;
  if (Lookup(place) >= 0) return -EEXIST;
  const Id id = NewInode(/*directory=*/false, now_ms);
  at(place.folder).entries[place.name] = id;
  return id;
}

int DiskImage::MakeDirectory(const std::string& path, int64_t now_ms) {
  Place place;
  if (const int code = Locate(path, &place); code < 0) return code;
  if (Lookup(place) >= 0) return -EEXIST;
  const Id id = NewInode(/*directory=*/true, now_ms);
  at(place.folder).entries[place.name] = id;
  return 0;
}

int DiskImage::RemoveDirectory(const std::string& path) {
  Place place;
  if (const int code = Locate(path, &place); code < 0) return code;
  const Id id = Lookup(place);
  if (id < 0) return static_cast<int>(id);
  if (!at(id).directory) return -ENOTDIR;
  if (!at(id).entries.empty()) return -ENOTEMPTY;
  at(place.folder).entries.erase(place.name);
  return 0;
}

int DiskImage::Link(const std::string& from, const std::string& to) {
  Place source;
  Place target;
  if (const int code = Locate(from, &source); code < 0) return code;
  if (const int code = Locate(to, &target); code < 0) return code;
  const Id id = Lookup(source);
  if (id < 0) return static_cast<int>(id);
  if (at(id).directory) return -EPERM;
  if (Lookup(target) >= 0) return -EEXIST;
  if (Device(from) != Device(to)) return -EXDEV;
  at(target.folder).entries[target.name] = id;
  return 0;
}

int DiskImage::Rename(const std::string& from, const std::string& to, bool exclusive) {
  Place source;
  Place target;
  if (const int code = Locate(from, &source); code < 0) return code;
  if (const int code = Locate(to, &target); code < 0) return code;
  const Id id = Lookup(source);
  if (id < 0) return static_cast<int>(id);
  if (Device(from) != Device(to)) return -EXDEV;
  const Id existing = Lookup(target);
  if (existing >= 0) {
    if (exclusive) return -EEXIST;
    if (existing == id) return 0;  // two links to one file: rename(2) does nothing
    if (at(existing).directory) return at(id).directory && at(existing).entries.empty() ? 0 : -EISDIR;
  }
  at(source.folder).entries.erase(source.name);
  at(target.folder).entries[target.name] = id;
  return 0;
}

int DiskImage::Unlink(const std::string& path) {
  Place place;
  if (const int code = Locate(path, &place); code < 0) return code;
  const Id id = Lookup(place);
  if (id < 0) return static_cast<int>(id);
  if (at(id).directory) return -EISDIR;
  at(place.folder).entries.erase(place.name);
  return 0;
}

fs::FileInfo DiskImage::InfoOf(const std::string& name, Id id) const {
  const Inode& inode = at(id);
  return {name, inode.directory, static_cast<int64_t>(inode.content.size()), inode.modified_ms};
}

int DiskImage::Stat(const std::string& path, fs::FileInfo* info) const {
  const Id id = Find(path);
  if (id < 0) return static_cast<int>(id);
  *info = InfoOf(fs::BaseName(path), id);
  return 0;
}

int DiskImage::List(const std::string& path, std::vector<fs::FileInfo>* entries) const {
  const Id id = Find(path);
  if (id < 0) return static_cast<int>(id);
  if (!at(id).directory) return -ENOTDIR;
  entries->clear();
  for (const auto& [name, child] : at(id).entries) entries->push_back(InfoOf(name, child));
  return 0;
}

const std::string& DiskImage::Content(Id id) const { return at(id).content; }

void DiskImage::Append(Id id, std::string_view bytes, int64_t now_ms) {
  at(id).content += bytes;
  at(id).modified_ms = now_ms;
}

void DiskImage::Replace(Id id, std::string_view bytes, int64_t now_ms) {
  at(id).content = bytes;
  at(id).modified_ms = now_ms;
}

bool DiskImage::IsDirectory(Id id) const { return at(id).directory; }

void DiskImage::Sync(Id id) {
  Inode& inode = at(id);
  inode.durable_entries = inode.entries;
  if (!inode.lost) inode.durable_content = inode.content;
}

void DiskImage::SyncDevice(const std::string& path) {
  for (const Id id : OnDevice(Device(path))) Sync(id);
}

void DiskImage::LoseUnsynced(Id id) {
  Inode& inode = at(id);
  if (!inode.directory && inode.content != inode.durable_content) inode.lost = true;
}

void DiskImage::LoseUnsyncedOnDevice(const std::string& path) {
  for (const Id id : OnDevice(Device(path))) LoseUnsynced(id);
}

void DiskImage::Mount(const std::string& prefix, int64_t device) { mounts_[prefix] = device; }

int64_t DiskImage::Device(const std::string& path) const {
  // The longest prefix decides, and it comes last in the order of the map.
  int64_t device = 1;
  for (const auto& [prefix, mounted] : mounts_) {
    if (IsAtOrBelow(path, prefix)) device = mounted;
  }
  return device;
}

template <typename Visit>
void DiskImage::Walk(const std::string& path, Id id, Visit&& visit) const {
  visit(path, id);
  for (const auto& [name, child] : at(id).entries) Walk(fs::Join(path, name), child, visit);
}

std::vector<DiskImage::Id> DiskImage::OnDevice(int64_t device) const {
  std::vector<Id> ids;
  Walk("/", kRoot, [&](const std::string& path, Id id) {
    if (Device(path) == device) ids.push_back(id);
  });
  return ids;
}

void DiskImage::Crash(Survival survival, uint64_t seed) {
  if (survival == Survival::kPageCache) return;
  std::mt19937_64 random(seed);
  const auto toss = [&](uint64_t sides) { return random() % sides; };
  for (auto& [id, inode] : inodes_) {
    if (survival == Survival::kEverything && !inode.lost) inode.durable_content = inode.content;
    if (survival == Survival::kEverything) inode.durable_entries = inode.entries;
    if (survival == Survival::kSeededSubset) {
      if (!inode.lost && inode.content != inode.durable_content) {
        // All of it, none of it, or a part: the size in the inode and the blocks are written at different times.
        const uint64_t side = toss(3);
        if (side == 0) inode.durable_content = inode.content;
        if (side == 1) inode.durable_content = inode.content.substr(0, toss(inode.content.size() + 1));
      }
      std::set<std::string> names;
      for (const auto& [name, child] : inode.entries) names.insert(name);
      for (const auto& [name, child] : inode.durable_entries) names.insert(name);
      for (const std::string& name : names) {
        if (toss(2) == 0) continue;
        const auto entry = inode.entries.find(name);
        if (entry == inode.entries.end()) {
          inode.durable_entries.erase(name);
        } else {
          inode.durable_entries[name] = entry->second;
        }
      }
    }
    inode.content = inode.durable_content;
    inode.entries = inode.durable_entries;
    inode.lost = false;
  }
}

int64_t DiskImage::TotalBytes() const {
  int64_t total = 0;
  for (const auto& [path, content] : Files()) total += static_cast<int64_t>(content.size());
  return total;
}

std::map<std::string, std::string> DiskImage::Files() const {
  std::map<std::string, std::string> files;
  Walk("/", kRoot, [&](const std::string& path, Id id) {
    if (!at(id).directory) files[path] = at(id).content;
  });
  return files;
}

}  // namespace tidemill::testing
