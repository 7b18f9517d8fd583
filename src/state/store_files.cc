#include "state/store_files.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/log.h"

namespace tidemill::state {
namespace {

constexpr std::string_view kDeltaSuffix = ".delta";
constexpr std::string_view kSnapshotSuffix = ".snapshot";
constexpr char kProvider[] = "HDFSBackedStateStoreProvider";
constexpr char kRemedy[] =
    "Restore it from a backup, rewind the query to a batch whose state is whole, or start with a new checkpoint location";

std::optional<int64_t> VersionOf(std::string_view name, std::string_view suffix) {
  if (!name.ends_with(suffix)) return std::nullopt;
  name.remove_suffix(suffix.size());
  int64_t version = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), version);
  if (error != std::errc() || end != name.data() + name.size() || version < 0) return std::nullopt;
  return version;
}

bool Contains(const std::vector<int64_t>& sorted, int64_t version) { return std::binary_search(sorted.begin(), sorted.end(), version); }

/// `lost` is the file or folder whose loss is the cause; Spark would name the delta.
Status MissingDelta(const std::string& directory, int64_t missing, int64_t version, const std::string& lost, const std::string& why) {
  const std::string path = DeltaPath(directory, missing);
  return ExternalError("CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_NOT_EXISTS",
                       "Error reading delta file {} of {}[dir = {}]: {}. Version {} of the state was wanted. {}.", path, kProvider,
                       directory, why, version, kRemedy)
      .Param("fileToRead", path)
      .Param("clazz", fmt::format("{}[dir = {}]", kProvider, directory))
      .Path(lost);
}

Status MissingDelta(const std::string& directory, int64_t missing, int64_t version) {
  const std::string path = DeltaPath(directory, missing);
  return MissingDelta(directory, missing, version, path, path + " does not exist");
}

Status Apply(fs::FileSystem& file_system, const StateFileFormat& format, StateFileKind kind, const std::string& path,
             RowReceiver& receiver) {
  return ReadStateFile(file_system, format, kind, path, [&](const StateRecord& record) {
    return record.value ? receiver.Put(record.key, *record.value) : receiver.Delete(record.key);
  });
}

Status ApplyDeltas(fs::FileSystem& file_system, const std::string& directory, const LoadPlan& plan, int64_t version,
                   const StateFileFormat& format, RowReceiver& receiver) {
  for (int64_t v = plan.first_delta; v <= plan.last_delta; ++v) {
    const Status applied = Apply(file_system, format, StateFileKind::kDelta, DeltaPath(directory, v), receiver);
    if (fs::IsNotFound(applied)) return MissingDelta(directory, v, version);
    if (!applied.ok()) return WithContext(applied, fmt::format("Version {} of the state was wanted", version));
  }
  return Status::OK();
}

}  // namespace

int64_t StoreFiles::latest() const { return std::max(deltas.empty() ? 0 : deltas.back(), snapshots.empty() ? 0 : snapshots.back()); }

std::string StoreDirectory(const std::string& state_root, int64_t operator_id, int32_t partition, const std::string& store_name) {
  const std::string directory = fmt::format("{}/{}/{}", state_root, operator_id, partition);
  return store_name == "default" ? directory : fs::Join(directory, store_name);
}

std::string DeltaPath(const std::string& directory, int64_t version) { return fmt::format("{}/{}{}", directory, version, kDeltaSuffix); }
std::string SnapshotPath(const std::string& directory, int64_t version) {
  return fmt::format("{}/{}{}", directory, version, kSnapshotSuffix);
}

StoreFiles ParseStoreFiles(const std::vector<fs::FileInfo>& entries) {
  StoreFiles files;
  for (const fs::FileInfo& entry : entries) {
    if (entry.is_directory) continue;
    if (const auto version = VersionOf(entry.name, kDeltaSuffix)) files.deltas.push_back(*version);
    if (const auto version = VersionOf(entry.name, kSnapshotSuffix)) files.snapshots.push_back(*version);
  }
  std::sort(files.deltas.begin(), files.deltas.end());
  std::sort(files.snapshots.begin(), files.snapshots.end());
  return files;
}

Result<std::optional<StoreFiles>> ListStoreFiles(fs::FileSystem& file_system, const std::string& directory) {
  ARROW_ASSIGN_OR_RAISE(const auto entries, file_system.List(directory));
  if (!entries) return std::nullopt;
  return ParseStoreFiles(*entries);
}

LoadPlan PlanLoad(const StoreFiles& files, int64_t version, int64_t newest_snapshot) {
  LoadPlan plan;
  const auto after = std::upper_bound(files.snapshots.begin(), files.snapshots.end(), std::min(version, newest_snapshot));
  if (after != files.snapshots.begin()) plan.snapshot = *(after - 1);
  plan.first_delta = plan.snapshot.value_or(0) + 1;
  plan.last_delta = version;
  for (int64_t v = plan.first_delta; v <= version; ++v) {
    if (Contains(files.deltas, v)) continue;
    plan.missing_delta = v;
    break;
  }
  return plan;
}

bool SnapshotIsDue(const StoreFiles& files, int64_t version, int min_deltas) {
  const auto after = std::upper_bound(files.snapshots.begin(), files.snapshots.end(), version);
  const int64_t newest = after == files.snapshots.begin() ? 0 : *(after - 1);
  const auto first = std::upper_bound(files.deltas.begin(), files.deltas.end(), newest);
  const auto last = std::upper_bound(files.deltas.begin(), files.deltas.end(), version);
  return last - first > min_deltas;
}

int64_t OldestNeeded(const StoreFiles& files, int64_t latest, int batches_to_retain) {
  const int64_t earliest = latest - batches_to_retain;
  if (earliest <= 0) return 0;
  const LoadPlan plan = PlanLoad(files, earliest, earliest);
  // With a hole the plan is no proof of what is needed: keep everything.
  if (plan.missing_delta) return 0;
  return plan.snapshot.value_or(plan.first_delta);
}

Status LoadVersion(fs::FileSystem& file_system, const std::string& directory, int64_t version, const StateFileFormat& format,
                   RowReceiver& receiver) {
  if (version == 0) return Status::OK();
  ARROW_ASSIGN_OR_RAISE(const auto listed, ListStoreFiles(file_system, directory));
  if (!listed) return MissingDelta(directory, 1, version, directory, fmt::format("the folder {} is missing", directory));
  const StoreFiles& files = *listed;
  int64_t newest_snapshot = version;
  std::string damaged_snapshot;
  while (true) {
    const LoadPlan plan = PlanLoad(files, version, newest_snapshot);
    if (plan.missing_delta && damaged_snapshot.empty()) return MissingDelta(directory, *plan.missing_delta, version);
    if (plan.missing_delta) {
      return MissingDelta(directory, *plan.missing_delta, version, damaged_snapshot,
                          fmt::format("{} is damaged, and the delta files from which it could be built again are gone", damaged_snapshot));
    }
    if (!plan.snapshot) break;
    const std::string path = SnapshotPath(directory, *plan.snapshot);
    const Status read = Apply(file_system, format, StateFileKind::kSnapshot, path, receiver);
    if (read.ok()) break;
    // A disk that refuses now may answer later: only damage and absence make an older snapshot the better one.
    if (IsRetryable(read)) return read;
    log::Warning("Snapshot {} cannot be used and is passed over: {}", path, read.message());
    receiver.Clear();
    damaged_snapshot = path;
    newest_snapshot = *plan.snapshot - 1;
  }
  return ApplyDeltas(file_system, directory, PlanLoad(files, version, newest_snapshot), version, format, receiver);
}

Status LoadFromSnapshot(fs::FileSystem& file_system, const std::string& directory, int64_t snapshot_version, int64_t version,
                        const StateFileFormat& format, RowReceiver& receiver) {
  LoadPlan plan{.snapshot = snapshot_version, .first_delta = snapshot_version + 1, .last_delta = version};
  if (snapshot_version > 0) {
    const std::string path = SnapshotPath(directory, snapshot_version);
    const Status read = Apply(file_system, format, StateFileKind::kSnapshot, path, receiver);
    if (fs::IsNotFound(read)) {
      return ExternalError("CANNOT_LOAD_STATE_STORE.CANNOT_READ_MISSING_SNAPSHOT_FILE",
                           "Error reading snapshot file {} of {}[dir = {}]: it does not exist.", path, kProvider, directory)
          .Param("fileToRead", path)
          .Param("clazz", fmt::format("{}[dir = {}]", kProvider, directory))
          .Path(path);
    }
    ARROW_RETURN_NOT_OK(read);
  }
  return ApplyDeltas(file_system, directory, plan, version, format, receiver);
}

}  // namespace tidemill::state
