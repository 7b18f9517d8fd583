#include "state/memory_store.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "row/unsafe_row.h"

namespace tidemill::state {
namespace {

/// Keys whose cache misses are waited for together.
constexpr int64_t kPrefetchGroup = 32;
/// Rewriting is spread over batches, so that none waits long for it: a chunk costs some 0.5 ms.
constexpr int kChunksRewrittenPerBatch = 4;

}  // namespace

/// Puts rows that were read from files into the store. Each is checked against the schema: whoever uses them later reads at fixed offsets.
class MemoryStore::Loader final : public RowReceiver {
 public:
  explicit Loader(MemoryStore& store) : store_(store) {}

  void Clear() override { store_.rows_.Clear(); }
  Status Put(std::string_view key, std::string_view value) override {
    ARROW_RETURN_NOT_OK(Check(store_.options_.key_schema, key, "KEY"));
    ARROW_RETURN_NOT_OK(Check(store_.options_.value_schema, value, "VALUE"));
    if (store_.options_.belongs && !store_.options_.belongs(key)) {
      return ExternalError("TIDEMILL_STATE_OF_ANOTHER_PARTITION",
                           "The state files of {} hold a row of another partition: files of two partitions were mixed up, or the query was started "
                           "with another number "
                           "of them. Restore the folder from a backup.",
                           store_.directory_)
          .Path(store_.directory_);
    }
    return store_.rows_.Put(key, value);
  }
  Status Delete(std::string_view key) override { return store_.rows_.Delete(key); }

 private:
  Status Check(const type::Schema& schema, std::string_view row, const char* part) const {
    const Status valid = row::ValidateRow(schema, row);
    if (valid.ok()) return valid;
    return ExternalError(
               fmt::format("STATE_STORE_{}_ROW_FORMAT_VALIDATION_FAILURE", part),
               "A row in the state files of {} does not fit the schema {}: {}. The query was changed, or the files belong to another one.",
               store_.directory_, schema.AsStruct()->ToString(), valid.message())
        .Param("errorMsg", valid.message())
        .Path(store_.directory_);
  }

  MemoryStore& store_;
};

MemoryStore::MemoryStore(fs::FileSystem& file_system, std::string directory, StoreOptions options)
    : file_system_(file_system),
      directory_(std::move(directory)),
      options_(std::move(options)),
      format_{options_.codec, options_.row_checksum},
      due_(rows_, options_.due_us) {}

Status MemoryStore::Load(int64_t version) {
  Loader loader(*this);
  ARROW_RETURN_NOT_OK(LoadVersion(file_system_, directory_, version, format_, loader));
  // Threaded only now: while files are replayed rows come, go and move.
  for (int64_t chunk = 0; chunk < rows_.arena().chunks(); ++chunk) {
    ARROW_RETURN_NOT_OK(rows_.arena().VisitChunk(chunk, [&](RowRef ref, RowHeader*) {
      due_.Link(ref);
      return Status::OK();
    }));
  }
  version_ = version;
  return Status::OK();
}

// Spark opens the store of an aggregation twice a batch, to read and to write: a load is a miss and a hit, a reuse two hits.
void MemoryStore::CountReuse() { cache_hits_ += version_ > 0 ? 2 : 0; }
void MemoryStore::CountLoad() {
  if (version_ == 0) return;
  ++cache_misses_;
  ++cache_hits_;
}

RowSlot MemoryStore::NewSlot(RowRef ref, const TouchedRow& touched) {
  const auto slot = static_cast<RowSlot>(refs_.size());
  RowHeader* row = rows_.row(ref);
  row->slot = slot;
  row->batch = batch_;
  refs_.push_back(ref);
  touched_.push_back(touched);
  return slot;
}

RowSlot MemoryStore::SlotOf(RowRef ref) {
  RowHeader* row = rows_.row(ref);
  if (row->batch == batch_) return row->slot;
  const uint64_t offset = before_images_.size();
  before_images_.insert(before_images_.end(), row->value_data(), row->value_data() + row->value_bytes);
  return NewSlot(ref, {.before_bytes = row->value_bytes, .before_offset = offset, .existed = true});
}

Status MemoryStore::Touch(const KeyBatch& keys, std::string_view initial, std::span<RowSlot> slots, std::span<uint8_t> created) {
  if (!created.empty()) std::fill(created.begin(), created.end(), uint8_t{0});
  for (int64_t begin = 0; begin < keys.size(); begin += kPrefetchGroup) {
    const int64_t end = std::min(begin + kPrefetchGroup, keys.size());
    for (int64_t i = begin; i < end; ++i) rows_.PrefetchSlot(TableHash(keys.hashes[i]));
    for (int64_t i = begin; i < end; ++i) rows_.PrefetchRow(TableHash(keys.hashes[i]));
    for (int64_t i = begin; i < end; ++i) {
      const std::string_view key(reinterpret_cast<const char*>(keys.bytes) + keys.offsets[i], keys.offsets[i + 1] - keys.offsets[i]);
      const uint32_t hash = TableHash(keys.hashes[i]);
      if (const RowRef ref = rows_.Find(key, hash)) {
        slots[i] = SlotOf(ref);
        continue;
      }
      ARROW_ASSIGN_OR_RAISE(const RowRef ref, rows_.Insert(key, hash, initial));
      due_.Link(ref);
      slots[i] = NewSlot(ref, {});
      if (!created.empty()) created[i] = 1;
    }
  }
  return Status::OK();
}

Status MemoryStore::Replace(RowSlot slot, std::string_view value) {
  const RowRef from = refs_[slot];
  ARROW_ASSIGN_OR_RAISE(refs_[slot], rows_.SetValue(from, value));
  if (refs_[slot] != from) due_.Moved(from, refs_[slot]);
  return Status::OK();
}

void MemoryStore::Detach(RowSlot slot) {
  rows_.Detach(refs_[slot]);
  due_.Unlink(refs_[slot]);
  touched_[slot].removed = true;
}

void MemoryStore::Reattach(RowRef ref) {
  rows_.Attach(ref);
  due_.Link(ref);
}

Status MemoryStore::Remove(RowSlot slot) {
  if (!touched_[slot].removed) Detach(slot);
  return Status::OK();
}

Result<int64_t> MemoryStore::EvictDue(int64_t watermark_us, const std::function<Status(std::string_view, std::string_view)>& visit) {
  const std::vector<RowRef> due = due_.Due(watermark_us);
  for (size_t begin = 0; begin < due.size(); begin += kPrefetchGroup) {
    const std::span<const RowRef> group(due.data() + begin, std::min<size_t>(kPrefetchGroup, due.size() - begin));
    for (const RowRef ref : group) rows_.PrefetchSlot(rows_.row(ref)->hash);
    for (const RowRef ref : group) {
      RowHeader* row = rows_.row(ref);
      if (visit) ARROW_RETURN_NOT_OK(visit(row->key(), row->value()));
      if (row->batch == batch_) {
        Detach(row->slot);
      } else {
        rows_.Detach(ref);
        due_.Unlink(ref);
        evicted_.push_back(ref);
      }
    }
  }
  return static_cast<int64_t>(due.size());
}

Result<std::vector<fs::StagedFile>> MemoryStore::StageCommit() {
  ARROW_ASSIGN_OR_RAISE(auto file, file_system_.OpenStaged(DeltaPath(directory_, version_ + 1), /*unique=*/false));
  ARROW_ASSIGN_OR_RAISE(auto writer, StateFileWriter::Make(format_, std::move(file)));
  // Deletes first: a key that fell due may have been made again since.
  for (const RowRef ref : evicted_) ARROW_RETURN_NOT_OK(writer->Delete(rows_.row(ref)->key()));
  for (RowSlot slot = 0; slot < refs_.size(); ++slot) {
    RowHeader* row = rows_.row(refs_[slot]);
    if (!touched_[slot].removed) {
      ARROW_RETURN_NOT_OK(writer->Put(row->key(), row->value()));
    } else if (touched_[slot].existed) {
      ARROW_RETURN_NOT_OK(writer->Delete(row->key()));
    }
  }
  ARROW_ASSIGN_OR_RAISE(fs::StagedFile staged, writer->Finish());
  staged_.assign(1, std::move(staged));
  return staged_;
}

void MemoryStore::CommitDone() {
  for (RowSlot slot = 0; slot < refs_.size(); ++slot) {
    if (touched_[slot].removed) rows_.FreeRow(refs_[slot]);
  }
  for (const RowRef ref : evicted_) rows_.FreeRow(ref);
  EndBatch();
  ++version_;
  RewriteDeadChunks();
  rows_.arena().Recycle();
}

void MemoryStore::Abort() {
  // Backwards: a key that was removed and made again has two entries, and the newer row has to leave the table first.
  for (auto slot = static_cast<RowSlot>(refs_.size()); slot-- > 0;) {
    const TouchedRow& touched = touched_[slot];
    if (!touched.existed) {
      if (!touched.removed) Detach(slot);
      rows_.FreeRow(refs_[slot]);
      continue;
    }
    RowHeader* row = rows_.row(refs_[slot]);
    // A row that grew lies elsewhere now, with more room: the old value always fits.
    TIDEMILL_CHECK(touched.before_bytes <= row->value_capacity);
    if (touched.before_bytes > 0) std::memcpy(row->value_data(), before_images_.data() + touched.before_offset, touched.before_bytes);
    row->value_bytes = touched.before_bytes;
    if (touched.removed) Reattach(refs_[slot]);
  }
  for (const RowRef ref : evicted_) Reattach(ref);
  if (!staged_.empty()) file_system_.Discard(staged_);
  EndBatch();
  rows_.arena().Recycle();
}

void MemoryStore::EndBatch() {
  if (++batch_ == RowHeader::kDead) batch_ = 1;
  refs_.clear();
  touched_.clear();
  evicted_.clear();
  before_images_.clear();
  staged_.clear();
}

void MemoryStore::RewriteDeadChunks() {
  RowArena& arena = rows_.arena();
  for (int i = 0; i < kChunksRewrittenPerBatch; ++i) {
    const int64_t chunk = arena.MostlyDeadChunk();
    if (chunk < 0) return;
    const Status moved = arena.VisitChunk(chunk, [&](RowRef ref, RowHeader* row) -> Status {
      ARROW_ASSIGN_OR_RAISE(const RowRef to, rows_.Move(ref, (row->value_bytes + 7) & ~7u));
      due_.Moved(ref, to);
      return Status::OK();
    });
    // Out of room for a copy: the rows stay where they are.
    if (!moved.ok()) return;
  }
}

StoreMetrics MemoryStore::metrics() const {
  return {.rows_total = rows_.size(),
          .memory_bytes = rows_.memory_bytes() + static_cast<int64_t>(before_images_.capacity() + touched_.capacity() * sizeof(TouchedRow) +
                                                                      (refs_.capacity() + evicted_.capacity()) * sizeof(RowRef)),
          .cache_hits = cache_hits_,
          .cache_misses = cache_misses_};
}

}  // namespace tidemill::state
