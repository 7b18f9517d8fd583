#include "exec/pipeline.h"

#include <arrow/record_batch.h>

#include "exec/row_operator.h"

namespace tidemill::exec {

Pipeline::~Pipeline() = default;

Result<std::unique_ptr<Pipeline>> Pipeline::Make(const PipelineSpec& spec, const AggregateLayout* layout, int partitions, int watermarks,
                                                 int64_t batch_timestamp_ms) {
  auto pipeline = std::unique_ptr<Pipeline>(new Pipeline());
  pipeline->event_time_.resize(watermarks);
  for (const RowOperatorSpec& row_operator : spec.operators) {
    ARROW_ASSIGN_OR_RAISE(auto made, MakeRowOperator(row_operator, batch_timestamp_ms, &pipeline->event_time_, &pipeline->single_use_));
    pipeline->operators_.push_back(std::move(made));
  }
  if (!spec.to_sink) {
    ARROW_ASSIGN_OR_RAISE(pipeline->partial_, PartialAggregate::Make(*layout, spec.target.key_columns, spec.target.arguments, partitions));
  }
  return pipeline;
}

void Pipeline::OpenSink(connector::Sink* sink, int64_t batch_id, int32_t partition) {
  sink_ = sink;
  batch_id_ = batch_id;
  partition_ = partition;
}

Status Pipeline::Push(const std::shared_ptr<arrow::RecordBatch>& batch) { return PushFrom(0, batch); }

Status Pipeline::PushFrom(size_t index, const std::shared_ptr<arrow::RecordBatch>& batch) {
  if (index == operators_.size()) return Deliver(batch);
  return operators_[index]->Push(batch, [this, index](const std::shared_ptr<arrow::RecordBatch>& next) { return PushFrom(index + 1, next); });
}

Status Pipeline::Deliver(const std::shared_ptr<arrow::RecordBatch>& batch) {
  if (partial_ != nullptr) return partial_->Push(*batch);
  if (batch->num_rows() == 0) return Status::OK();
  if (writer_ == nullptr) {
    ARROW_ASSIGN_OR_RAISE(writer_, sink_->OpenWriter(batch_id_, partition_));
  }
  output_rows_ += batch->num_rows();
  return writer_->Write(*batch);
}

Result<std::optional<connector::WriterResult>> Pipeline::FinishSink() {
  if (writer_ == nullptr) return std::nullopt;
  const auto writer = std::move(writer_);
  ARROW_ASSIGN_OR_RAISE(auto result, writer->Finish());
  return std::optional<connector::WriterResult>(std::move(result));
}

std::vector<EventTimeStats> Pipeline::TakeEventTime() {
  std::vector<EventTimeStats> taken = event_time_;
  for (EventTimeStats& stats : event_time_) stats = {};
  return taken;
}

Result<std::unique_ptr<Pipeline>> PipelinePool::Take(int64_t batch_timestamp_ms) {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto pipeline = std::move(idle_.back());
      idle_.pop_back();
      return pipeline;
    }
  }
  return Pipeline::Make(spec_, layout_, partitions_, watermarks_, batch_timestamp_ms);
}

void PipelinePool::Return(std::unique_ptr<Pipeline> pipeline) {
  if (pipeline->single_use()) return;
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(pipeline));
}

}  // namespace tidemill::exec
