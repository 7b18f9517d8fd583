#include "connector/rate/counting_reader.h"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/record_batch.h>

#include <algorithm>

namespace tidemill::connector {

namespace {

constexpr int64_t kBatchRows = 8192;

class CountingReader final : public PartitionReader {
 public:
  CountingReader(const CountingPartition& partition, const std::vector<int>& columns, std::function<int64_t(int64_t)> time_ms,
                 std::stop_token stop)
      : partition_(partition),
        columns_(columns),
        time_ms_(std::move(time_ms)),
        stop_(std::move(stop)),
        next_(partition.begin + partition.number) {}

  Result<std::shared_ptr<arrow::RecordBatch>> Next() override {
    if (stop_.stop_requested()) return Status::Cancelled("the query was stopped");
    if (next_ >= partition_.end) return nullptr;
    const int64_t rows = std::min(kBatchRows, (partition_.end - next_ + partition_.stride - 1) / partition_.stride);
    const type::Schema all = CountingSchema();
    type::Schema schema;
    arrow::ArrayVector arrays;
    for (const int column : columns_) {
      schema.fields.push_back(all.fields.at(column));
      ARROW_ASSIGN_OR_RAISE(auto array, column == 0 ? Times(rows) : Values(rows));
      arrays.push_back(std::move(array));
    }
    next_ += rows * partition_.stride;
    return arrow::RecordBatch::Make(schema.ToArrow(), rows, std::move(arrays));
  }

 private:
  Result<std::shared_ptr<arrow::Array>> Times(int64_t rows) {
    arrow::TimestampBuilder builder(CountingSchema().fields[0].type->ToArrow(), arrow::default_memory_pool());
    ARROW_RETURN_NOT_OK(builder.Reserve(rows));
    for (int64_t i = 0; i < rows; ++i) builder.UnsafeAppend(time_ms_(next_ + i * partition_.stride) * 1000);
    return builder.Finish();
  }
  Result<std::shared_ptr<arrow::Array>> Values(int64_t rows) {
    arrow::Int64Builder builder;
    ARROW_RETURN_NOT_OK(builder.Reserve(rows));
    for (int64_t i = 0; i < rows; ++i) builder.UnsafeAppend(next_ + i * partition_.stride);
    return builder.Finish();
  }

  const CountingPartition partition_;
  const std::vector<int> columns_;
  const std::function<int64_t(int64_t)> time_ms_;
  const std::stop_token stop_;
  int64_t next_;
};

}  // namespace

type::Schema CountingSchema() { return {{{"timestamp", type::Timestamp()}, {"value", type::Long()}}}; }

std::vector<std::shared_ptr<InputPartition>> DealOut(int64_t begin, int64_t end, int64_t partitions) {
  std::vector<std::shared_ptr<InputPartition>> dealt;
  for (int64_t number = 0; number < partitions; ++number)
    dealt.push_back(std::make_shared<CountingPartition>(begin, end, number, partitions));
  return dealt;
}

std::unique_ptr<PartitionReader> MakeCountingReader(const InputPartition& partition, const std::vector<int>& columns,
                                                    std::function<int64_t(int64_t value)> time_ms, std::stop_token stop) {
  return std::make_unique<CountingReader>(static_cast<const CountingPartition&>(partition), columns, std::move(time_ms), std::move(stop));
}

}  // namespace tidemill::connector
