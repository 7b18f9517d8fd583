#pragma once

// The files of one store's folder and which of them make up a version: pure functions over names, and the readers on top of them.
// Rules: docs/formats/state-files.md. Source: Spark HDFSBackedStateStoreProvider.loadMap, cleanup (3.4 to 4.3).

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "fs/file_system.h"
#include "state/delta_file.h"

namespace tidemill::state {

/// Versions that have a file of each kind, ascending.
struct StoreFiles {
  std::vector<int64_t> deltas;
  std::vector<int64_t> snapshots;
  /// Newest version of any kind; 0 without files.
  int64_t latest() const;
};

/// A version's files: a snapshot (nullopt: the empty version 0), then the deltas after it up to the version.
struct LoadPlan {
  std::optional<int64_t> snapshot;
  int64_t first_delta = 1;
  int64_t last_delta = 0;
  /// The first of those deltas that is not there.
  std::optional<int64_t> missing_delta;
};

/// `R/state/<op>/<partition>[/<store name>]`.
std::string StoreDirectory(const std::string& state_root, int64_t operator_id, int32_t partition, const std::string& store_name);
std::string DeltaPath(const std::string& directory, int64_t version);
std::string SnapshotPath(const std::string& directory, int64_t version);

/// Parse `7.delta`, `10.snapshot`; other names are skipped.
StoreFiles ParseStoreFiles(const std::vector<fs::FileInfo>& entries);
/// nullopt when the folder is missing.
Result<std::optional<StoreFiles>> ListStoreFiles(fs::FileSystem& file_system, const std::string& directory);

/// How to load `version` from the newest snapshot that is at most `newest_snapshot` and `version`.
LoadPlan PlanLoad(const StoreFiles& files, int64_t version, int64_t newest_snapshot);
/// More than `min_deltas` deltas lie between the newest snapshot and `version`.
bool SnapshotIsDue(const StoreFiles& files, int64_t version, int min_deltas);
/// The version below which every file may go, so that the last `batches_to_retain` versions up to `latest` can still be loaded; 0: none.
int64_t OldestNeeded(const StoreFiles& files, int64_t latest, int batches_to_retain);

/// What a load builds up. Called from one thread.
class RowReceiver {
 public:
  virtual ~RowReceiver() = default;
  /// Forget everything: a snapshot turned out damaged and another one is tried.
  virtual void Clear() = 0;
  virtual Status Put(std::string_view key, std::string_view value) = 0;
  virtual Status Delete(std::string_view key) = 0;
};

/// Load `version` of the store in `directory` into `receiver`. A damaged snapshot is passed over for an older one with a warning, as
/// long as the deltas reach.
/// Errors: CANNOT_LOAD_STATE_STORE.* whose detail names the file that is really lost; the message has the version that was wanted and
/// what to do.
Status LoadVersion(fs::FileSystem& file_system, const std::string& directory, int64_t version, const StateFileFormat& format,
                   RowReceiver& receiver);
/// The same, but beginning at the snapshot of exactly `snapshot_version`.
Status LoadFromSnapshot(fs::FileSystem& file_system, const std::string& directory, int64_t snapshot_version, int64_t version,
                        const StateFileFormat& format, RowReceiver& receiver);

}  // namespace tidemill::state
