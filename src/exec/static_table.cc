#include "exec/static_table.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>

#include "exec/row_operator.h"

namespace tidemill::exec {

Result<std::unique_ptr<JoinKeyEncoder>> JoinKeyEncoder::Make(const std::vector<expr::ExprPtr>& keys,
                                                             const std::vector<expr::ExprPtr>& input) {
  auto made = std::unique_ptr<JoinKeyEncoder>(new JoinKeyEncoder());
  type::Schema schema;
  for (const expr::ExprPtr& key : keys) {
    ARROW_ASSIGN_OR_RAISE(auto evaluator, expr::Evaluator::Make(key, input));
    made->evaluators_.push_back(std::move(evaluator));
    schema.fields.push_back({"key", key->type});
  }
  ARROW_ASSIGN_OR_RAISE(made->encoder_, row::RowEncoder::Make(schema, /*normalize_floats=*/true));
  return made;
}

Status JoinKeyEncoder::Encode(const arrow::RecordBatch& batch, JoinKeys* keys) {
  keys->is_null.assign(batch.num_rows(), 0);
  std::vector<std::shared_ptr<arrow::Array>> columns;
  for (const auto& evaluator : evaluators_) {
    ARROW_ASSIGN_OR_RAISE(auto column, evaluator->Evaluate(batch));
    if (column->null_count() > 0) {
      for (int64_t i = 0; i < column->length(); ++i) keys->is_null[i] |= static_cast<uint8_t>(column->IsNull(i));
    }
    columns.push_back(std::move(column));
  }
  ARROW_RETURN_NOT_OK(encoder_->Encode(columns, batch.num_rows(), &keys->rows));
  HashRows(keys->rows, &keys->hashes);
  return Status::OK();
}

Status StaticTable::Load(const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches) {
  ARROW_ASSIGN_OR_RAISE(const auto table, arrow::Table::FromRecordBatches(ArrowSchemaOf(columns_), batches));
  ARROW_ASSIGN_OR_RAISE(rows_, table->CombineChunksToBatch());
  return IndexByKey();
}

Status StaticTable::IndexByKey() {
  const int64_t rows = rows_->num_rows();
  if (keys_.empty()) {
    for (int64_t i = 0; i < rows; ++i) row_numbers_.push_back(i);
    return Status::OK();
  }
  ARROW_ASSIGN_OR_RAISE(const auto encoder, JoinKeyEncoder::Make(keys_, columns_));
  JoinKeys keys;
  ARROW_RETURN_NOT_OK(encoder->Encode(*rows_, &keys));
  std::vector<uint32_t> group_of(rows);
  groups_.FindOrInsert(keys.rows, keys.hashes, group_of);
  // Counted, then placed: rows of a group keep their order.
  begins_.assign(groups_.size() + 1, 0);
  for (int64_t i = 0; i < rows; ++i) begins_[group_of[i] + 1] += keys.is_null[i] ? 0 : 1;
  for (size_t group = 1; group < begins_.size(); ++group) begins_[group] += begins_[group - 1];
  row_numbers_.resize(begins_.back());
  std::vector<int64_t> next(begins_.begin(), begins_.end() - 1);
  for (int64_t i = 0; i < rows; ++i) {
    if (!keys.is_null[i]) row_numbers_[next[group_of[i]]++] = i;
  }
  return Status::OK();
}

std::span<const int64_t> StaticTable::Find(std::string_view key, uint64_t hash) const {
  const int64_t group = groups_.Find(key, hash);
  if (group < 0) return {};
  return {row_numbers_.data() + begins_[group], static_cast<size_t>(begins_[group + 1] - begins_[group])};
}

}  // namespace tidemill::exec
