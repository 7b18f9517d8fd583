#pragma once

// One state store: the keyed rows of one (operator id, partition, store name), at a version; and the provider that opens it.
//
// Version V is the state after batch V-1. An operator loads version N for batch N, touches rows, and Commit() stages version N+1;
// Abort() gives version N back
// without reading a file. Keys and values are canonical UnsafeRow bytes.
//
//   store.Load(n) → store.Touch(keys, …) / Scan / Remove → store.StageCommit() → (barrier publishes the files) → store.CommitDone()

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "fs/file_system.h"
#include "type/data_type.h"

namespace tidemill::state {

/// Identity and shape of a store; the same for all versions.
struct StoreId {
  int64_t operator_id = 0;
  int32_t partition = 0;
  std::string store_name = "default";
};

struct StoreOptions {
  type::Schema key_schema;
  type::Schema value_schema;
  /// Rows of the batch, by time: microseconds at which a key falls due (window end, event time), nullopt never. Rows are threaded by it,
  /// so that eviction costs what
  /// is evicted. Unset: no eviction by time.
  std::function<std::optional<int64_t>(std::string_view key)> due_us;
  /// Is a key of this store's partition? Asked of every row that is read from files, where those of two partitions may have been mixed up. Unset: not asked.
  std::function<bool(std::string_view key)> belongs;
  std::string codec = "lz4";  ///< spark.sql.streaming.stateStore.compression.codec
  bool row_checksum = false;
  int min_deltas_for_snapshot = 10;
  int min_batches_to_retain = 100;
};

/// Keys of a batch with their hashes (XXH3 of the bytes).
struct KeyBatch {
  const uint8_t* bytes = nullptr;
  std::span<const uint32_t> offsets;  ///< size()+1
  std::span<const uint64_t> hashes;
  int64_t size() const { return static_cast<int64_t>(hashes.size()); }
};

/// A row of the store while a batch runs. Valid until the next StageCommit() or Abort().
using RowSlot = uint32_t;

struct StoreMetrics {
  int64_t rows_total = 0;
  int64_t memory_bytes = 0;
  int64_t cache_hits = 0;    ///< loadedMapCacheHitCount
  int64_t cache_misses = 0;  ///< loadedMapCacheMissCount
};

class StateStore {
 public:
  virtual ~StateStore() = default;

  virtual int64_t version() const = 0;

  /// Find each key, or make a row for it whose value is `initial` (a canonical row of the value schema). `slots` gets one slot a key,
  /// the same key the same slot;
  /// `created`, if given, is set to 1 for the position that made the row, else 0. The first time a batch touches a row its before-image
  /// is kept.
  virtual Status Touch(const KeyBatch& keys, std::string_view initial, std::span<RowSlot> slots, std::span<uint8_t> created) = 0;
  /// The bytes of a touched row's value; fixed-width fields may be changed in place.
  virtual uint8_t* Value(RowSlot slot) = 0;
  virtual std::string_view ValueView(RowSlot slot) const = 0;
  virtual std::string_view Key(RowSlot slot) const = 0;
  /// Replace the value of a touched row by one of another length.
  virtual Status Replace(RowSlot slot, std::string_view value) = 0;
  /// Remove a touched row (a row created in this batch leaves no trace).
  virtual Status Remove(RowSlot slot) = 0;
  /// All live rows, in no order. `visit` must not touch rows; what it is shown stays readable until the batch ends.
  virtual Status Scan(const std::function<Status(std::string_view key, std::string_view value)>& visit) = 0;
  /// Remove the rows due at or before `watermark_us`, showing each to `visit` first (may be null), as Scan() does. Returns how many.
  virtual Result<int64_t> EvictDue(int64_t watermark_us,
                                   const std::function<Status(std::string_view key, std::string_view value)>& visit) = 0;

  /// Write version+1 as a delta under a temporary name. The files must be published before CommitDone().
  virtual Result<std::vector<fs::StagedFile>> StageCommit() = 0;
  /// The staged files are durable: this object now is version+1. May ask for a snapshot in the background.
  virtual void CommitDone() = 0;
  /// Back to version(), whatever happened since, staged commit included.
  virtual void Abort() = 0;

  virtual StoreMetrics metrics() const = 0;
};

/// Opens stores and keeps them loaded between batches; maintains their files in the background.
class StateProvider {
 public:
  virtual ~StateProvider() = default;
  /// The store at `version`: the loaded one when it stands there, else read from disk. Errors: CANNOT_LOAD_STATE_STORE.* naming the file
  /// that is really lost, the
  /// version that was wanted and the remedy. Files above `version` are removed before (a batch starts or repeats).
  virtual Result<StateStore*> Open(const StoreId& id, const StoreOptions& options, int64_t version) = 0;
  /// Snapshots that are due and cleanup; called by the loop off the path after a commit, at most every maintenanceInterval. Returns at
  /// once; work goes to a background thread.
  virtual void Maintain(int64_t now_ms) = 0;
  /// Wait for background work; its errors are logged, never fatal.
  virtual void Drain() = 0;
};

/// Spark's HDFSBackedStateStoreProvider: deltas and snapshots below `state_root` (R/state), rows in memory.
std::unique_ptr<StateProvider> MakeMemoryProvider(fs::FileSystem& file_system, std::string state_root, int64_t maintenance_interval_ms);

}  // namespace tidemill::state
