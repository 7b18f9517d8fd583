#include "recording_sink.h"

#include <arrow/record_batch.h>

namespace tidemill::semantics {

namespace {

class RecordingWriter final : public connector::SinkWriter {
 public:
  Status Write(const arrow::RecordBatch& batch) override {
    result_.rows.push_back(batch.Slice(0));
    result_.row_count += batch.num_rows();
    return Status::OK();
  }
  Result<connector::WriterResult> Finish() override { return std::move(result_); }

 private:
  connector::WriterResult result_;
};

class RecordingSink final : public connector::Sink {
 public:
  explicit RecordingSink(std::shared_ptr<Recording> recording) : recording_(std::move(recording)) {}

  std::string Description() const override { return "ForeachBatchSink"; }
  // A function is called again for a batch that is run again.
  Result<bool> HasBatch(int64_t) override { return false; }
  Result<std::unique_ptr<connector::SinkWriter>> OpenWriter(int64_t, int32_t) override { return std::make_unique<RecordingWriter>(); }
  Status Commit(int64_t batch_id, std::vector<connector::WriterResult> results) override {
    std::vector<std::shared_ptr<arrow::RecordBatch>> rows;
    for (const connector::WriterResult& result : results) rows.insert(rows.end(), result.rows.begin(), result.rows.end());
    return recording_->Take(batch_id, std::move(rows));
  }

 private:
  std::shared_ptr<Recording> recording_;
};

}  // namespace

Status Recording::Take(int64_t batch_id, std::vector<std::shared_ptr<arrow::RecordBatch>> rows) {
  std::lock_guard lock(mutex_);
  batches_[batch_id] = std::move(rows);
  if (batch_id == fail_on_) return UserError("FOREACH_BATCH_USER_FUNCTION_ERROR", "asked to fail at batch {}", batch_id);
  return Status::OK();
}

std::optional<std::vector<std::shared_ptr<arrow::RecordBatch>>> Recording::RowsOf(int64_t batch_id) const {
  std::lock_guard lock(mutex_);
  const auto found = batches_.find(batch_id);
  if (found == batches_.end()) return std::nullopt;
  return found->second;
}

connector::Format RecordingFormat(std::shared_ptr<Recording> recording) {
  connector::Format format;
  format.make_sink = [recording](const connector::SinkContext&) -> Result<std::unique_ptr<connector::Sink>> {
    return std::make_unique<RecordingSink>(recording);
  };
  format.needs_checkpoint = false;
  return format;
}

}  // namespace tidemill::semantics
