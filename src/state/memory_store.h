#pragma once

// The StateStore whose rows are in memory and whose versions are Spark's delta files.

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fs/file_system.h"
#include "state/delta_file.h"
#include "state/due_index.h"
#include "state/row_set.h"
#include "state/state_store.h"

namespace tidemill::state {

class MemoryStore final : public StateStore {
 public:
  /// `file_system` outlives the store.
  MemoryStore(fs::FileSystem& file_system, std::string directory, StoreOptions options);

  /// Read `version` from the store's files. A store that failed to load is thrown away.
  Status Load(int64_t version);
  const std::string& directory() const { return directory_; }
  const StoreOptions& options() const { return options_; }
  /// Count an Open() that found the rows in memory, or that had to read them, as Spark counts.
  void CountReuse();
  void CountLoad();

  int64_t version() const override { return version_; }
  Status Touch(const KeyBatch& keys, std::string_view initial, std::span<RowSlot> slots, std::span<uint8_t> created) override;
  uint8_t* Value(RowSlot slot) override { return rows_.row(refs_[slot])->value_data(); }
  std::string_view ValueView(RowSlot slot) const override { return rows_.row(refs_[slot])->value(); }
  std::string_view Key(RowSlot slot) const override { return rows_.row(refs_[slot])->key(); }
  Status Replace(RowSlot slot, std::string_view value) override;
  Status Remove(RowSlot slot) override;
  Status Scan(const std::function<Status(std::string_view key, std::string_view value)>& visit) override { return rows_.Visit(visit); }
  Result<int64_t> EvictDue(int64_t watermark_us, const std::function<Status(std::string_view key, std::string_view value)>& visit) override;
  Result<std::vector<fs::StagedFile>> StageCommit() override;
  void CommitDone() override;
  void Abort() override;
  StoreMetrics metrics() const override;

 private:
  /// A row that the batch has read or changed, and what it was at version N.
  struct TouchedRow {
    uint32_t before_bytes = 0;
    uint64_t before_offset = 0;  // into before_images_
    bool existed = false;        // at version N
    bool removed = false;
  };
  class Loader;

  /// The slot of a row, made if the batch has not touched it yet.
  RowSlot SlotOf(RowRef ref);
  /// A slot for a row that the batch had not touched.
  RowSlot NewSlot(RowRef ref, const TouchedRow& touched);
  void Detach(RowSlot slot);
  void Reattach(RowRef ref);
  void EndBatch();
  void RewriteDeadChunks();

  fs::FileSystem& file_system_;
  const std::string directory_;
  const StoreOptions options_;
  const StateFileFormat format_;
  std::atomic<int64_t> version_ = 0;  // read by the maintenance of the provider while a batch runs
  RowSet rows_;
  DueIndex due_;
  uint32_t batch_ = 1;               // row headers name it, so no batch has to clear what an earlier one left in them
  std::vector<RowRef> refs_;         // by slot; apart from the rest, because every update of a value reads it
  std::vector<TouchedRow> touched_;  // by slot
  std::vector<RowRef> evicted_;      // rows without a slot that fell due; their bytes stay as they were until the commit
  std::vector<uint8_t> before_images_;
  std::vector<fs::StagedFile> staged_;
  int64_t cache_hits_ = 0;
  int64_t cache_misses_ = 0;
};

}  // namespace tidemill::state
