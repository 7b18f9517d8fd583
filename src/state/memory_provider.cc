#include <condition_variable>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "base/log.h"
#include "base/thread_pool.h"
#include "state/memory_store.h"
#include "state/state_store.h"
#include "state/store_files.h"

namespace tidemill::state {
namespace {

/// What one round of maintenance does to one store's folder. It works from the durable files alone and shares nothing with the store in
/// memory: so a batch
/// never waits for it, and a snapshot can only hold what was committed.
struct MaintenanceTask {
  std::string directory;
  int64_t version = 0;  // the newest version known to be committed
  StateFileFormat format;
  int min_deltas = 0;
  int batches_to_retain = 0;
};

Status WriteSnapshot(fs::FileSystem& file_system, const MaintenanceTask& task) {
  RowSet rows;
  ARROW_RETURN_NOT_OK(LoadVersion(file_system, task.directory, task.version, task.format, rows));
  ARROW_ASSIGN_OR_RAISE(auto file, file_system.OpenStaged(SnapshotPath(task.directory, task.version), /*unique=*/false));
  ARROW_ASSIGN_OR_RAISE(auto writer, StateFileWriter::Make(task.format, std::move(file)));
  ARROW_RETURN_NOT_OK(rows.Visit([&](std::string_view key, std::string_view value) { return writer->Put(key, value); }));
  ARROW_ASSIGN_OR_RAISE(const fs::StagedFile staged, writer->Finish());
  const Status published = file_system.Publish({&staged, 1});
  if (!published.ok()) file_system.Discard({&staged, 1});
  return published;
}

Status RemoveVersions(fs::FileSystem& file_system, const std::string& directory, const StoreFiles& files,
                      const std::function<bool(int64_t)>& unwanted) {
  for (const int64_t version : files.snapshots) {
    if (unwanted(version)) ARROW_RETURN_NOT_OK(file_system.Remove(SnapshotPath(directory, version)));
  }
  for (const int64_t version : files.deltas) {
    if (unwanted(version)) ARROW_RETURN_NOT_OK(file_system.Remove(DeltaPath(directory, version)));
  }
  return Status::OK();
}

Status RunMaintenance(fs::FileSystem& file_system, const MaintenanceTask& task) {
  ARROW_ASSIGN_OR_RAISE(std::optional<StoreFiles> files, ListStoreFiles(file_system, task.directory));
  if (!files) return Status::OK();
  if (SnapshotIsDue(*files, task.version, task.min_deltas)) {
    ARROW_RETURN_NOT_OK(WriteSnapshot(file_system, task));
    ARROW_ASSIGN_OR_RAISE(files, ListStoreFiles(file_system, task.directory));
  }
  // The snapshot is durable by now, so what it replaces may go.
  const int64_t oldest = OldestNeeded(*files, task.version, task.batches_to_retain);
  return RemoveVersions(file_system, task.directory, *files, [&](int64_t version) { return version < oldest; });
}

class MemoryProvider final : public StateProvider {
 public:
  MemoryProvider(fs::FileSystem& file_system, std::string state_root, int64_t maintenance_interval_ms)
      : file_system_(file_system), state_root_(std::move(state_root)), maintenance_interval_ms_(maintenance_interval_ms), background_(1) {}

  Result<StateStore*> Open(const StoreId& id, const StoreOptions& options, int64_t version) override {
    std::unique_ptr<MemoryStore>& loaded = PlaceOf(id);
    if (loaded != nullptr && loaded->version() == version) {
      loaded->CountReuse();
      return loaded.get();
    }
    auto store =
        std::make_unique<MemoryStore>(file_system_, StoreDirectory(state_root_, id.operator_id, id.partition, id.store_name), options);
    const Status opened = Load(*store, version);
    if (!opened.ok()) return Annotate(opened, id);
    store->CountLoad();
    const std::lock_guard lock(mutex_);
    loaded = std::move(store);
    return loaded.get();
  }

  void Maintain(int64_t now_ms) override {
    const std::lock_guard lock(mutex_);
    // A round that is still under way is not joined by another: it would only list the same files again.
    if (pending_ > 0 || now_ms - last_maintenance_ms_ < maintenance_interval_ms_) return;
    last_maintenance_ms_ = now_ms;
    for (const auto& [key, store] : stores_) {
      // The newest version may belong to a batch whose commit entry is not durable yet. The one before it does not: its entry was durable
      // before the files of the newest were published.
      if (store == nullptr || store->version() < 2) continue;
      const StoreOptions& options = store->options();
      ++pending_;
      background_.Submit([this, task = MaintenanceTask{store->directory(),
                                                       store->version() - 1,
                                                       {options.codec, options.row_checksum},
                                                       options.min_deltas_for_snapshot,
                                                       options.min_batches_to_retain}] {
        const Status done = RunMaintenance(file_system_, task);
        if (!done.ok()) log::Warning("Maintenance of the state in {} failed and will be tried again: {}", task.directory, done.message());
        const std::lock_guard done_lock(mutex_);
        if (--pending_ == 0) idle_.notify_all();
      });
    }
  }

  void Drain() override {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return pending_ == 0; });
  }

 private:
  using Key = std::tuple<int64_t, int32_t, std::string>;

  /// Places are never removed, so the reference stays good while other threads open other stores.
  std::unique_ptr<MemoryStore>& PlaceOf(const StoreId& id) {
    const std::lock_guard lock(mutex_);
    return stores_[{id.operator_id, id.partition, id.store_name}];
  }

  Status Load(MemoryStore& store, int64_t version) {
    ARROW_ASSIGN_OR_RAISE(const auto files, ListStoreFiles(file_system_, store.directory()));
    if (files) {
      // Files of an attempt that was never committed. A delta would be replaced by the batch, a snapshot would not, and would be
      // believed later.
      ARROW_RETURN_NOT_OK(RemoveVersions(file_system_, store.directory(), *files, [&](int64_t found) { return found > version; }));
    } else if (version == 0) {
      ARROW_RETURN_NOT_OK(file_system_.CreateDirectories(store.directory()));
    }
    return store.Load(version);
  }

  static Status Annotate(const Status& status, const StoreId& id) {
    const ErrorDetail* detail = ErrorDetail::Of(status);
    if (detail == nullptr) return status;
    auto copy = std::make_shared<ErrorDetail>(*detail);
    copy->operator_id = id.operator_id;
    copy->partition = id.partition;
    return status.WithDetail(std::move(copy));
  }

  fs::FileSystem& file_system_;
  const std::string state_root_;
  const int64_t maintenance_interval_ms_;

  std::mutex mutex_;
  std::condition_variable idle_;
  std::map<Key, std::unique_ptr<MemoryStore>> stores_;  // the map is guarded by mutex_; a store belongs to the task that runs its partition
  int64_t last_maintenance_ms_ = 0;                     // guarded by mutex_
  int pending_ = 0;                                     // guarded by mutex_

  ThreadPool background_;  // last, so that it ends before what its tasks use
};

}  // namespace

std::unique_ptr<StateProvider> MakeMemoryProvider(fs::FileSystem& file_system, std::string state_root, int64_t maintenance_interval_ms) {
  return std::make_unique<MemoryProvider>(file_system, std::move(state_root), maintenance_interval_ms);
}

}  // namespace tidemill::state
