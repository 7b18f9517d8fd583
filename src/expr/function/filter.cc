// Rows for which a predicate is true.

#include <arrow/array.h>
#include <arrow/compute/api_vector.h>
#include <arrow/datum.h>
#include <arrow/record_batch.h>

#include "expr/function/evaluator.h"

namespace tidemill::expr {

Result<std::shared_ptr<arrow::RecordBatch>> FilterBatch(const std::shared_ptr<arrow::RecordBatch>& batch, const arrow::Array& predicate) {
  if (predicate.type_id() == arrow::Type::NA) return batch->Slice(0, 0);
  const auto& keep = static_cast<const arrow::BooleanArray&>(predicate);
  const int64_t kept = keep.true_count();  // nulls are not true
  if (kept == batch->num_rows()) return batch;
  if (kept == 0) return batch->Slice(0, 0);
  if (batch->num_columns() == 0) return arrow::RecordBatch::Make(batch->schema(), kept, arrow::ArrayVector{});
  const arrow::Datum mask(predicate.Slice(0));
  const arrow::compute::FilterOptions options(arrow::compute::FilterOptions::DROP);
  arrow::ArrayVector columns;
  columns.reserve(batch->num_columns());
  for (const auto& column : batch->columns()) {
    ARROW_ASSIGN_OR_RAISE(auto filtered, arrow::compute::Filter(column, mask, options));
    columns.push_back(filtered.make_array());
  }
  return arrow::RecordBatch::Make(batch->schema(), kept, std::move(columns));
}

}  // namespace tidemill::expr
