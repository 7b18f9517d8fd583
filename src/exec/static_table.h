#pragma once

// The side of a join that does not stream: read once, held in memory, found by key.

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "exec/group_table.h"
#include "expr/function/evaluator.h"
#include "expr/expression.h"
#include "row/unsafe_row.h"

namespace tidemill::exec {

/// Filled by Load() before the first batch; then read by any number of threads.
class StaticTable {
 public:
  /// `columns`: attributes of the rows. `keys`: over these; empty: every row matches every other.
  StaticTable(std::vector<expr::ExprPtr> columns, std::vector<expr::ExprPtr> keys) : columns_(std::move(columns)), keys_(std::move(keys)) {}

  Status Load(const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches);
  bool is_loaded() const { return rows_ != nullptr; }
  const std::vector<expr::ExprPtr>& columns() const { return columns_; }
  /// All rows, one batch.
  const std::shared_ptr<arrow::RecordBatch>& rows() const { return rows_; }
  /// Numbers of the rows whose key is `key`, encoded with `hash` as its hash.
  std::span<const int64_t> Find(std::string_view key, uint64_t hash) const;
  /// Numbers of all rows, for a join without keys.
  std::span<const int64_t> all() const { return row_numbers_; }

 private:
  Status IndexByKey();

  const std::vector<expr::ExprPtr> columns_;
  const std::vector<expr::ExprPtr> keys_;
  std::shared_ptr<arrow::RecordBatch> rows_;
  GroupTable groups_;
  std::vector<int64_t> begins_;       // by group: into row_numbers_; one more at the end
  std::vector<int64_t> row_numbers_;  // rows of one key beside each other
};

/// Keys of a batch as rows; `is_null[i]`: some part of key i is null, so it equals nothing.
struct JoinKeys {
  row::RowBatch rows;
  std::vector<uint64_t> hashes;
  std::vector<uint8_t> is_null;
};

/// Encodes the keys of one side. One object serves one thread.
class JoinKeyEncoder {
 public:
  static Result<std::unique_ptr<JoinKeyEncoder>> Make(const std::vector<expr::ExprPtr>& keys, const std::vector<expr::ExprPtr>& input);
  Status Encode(const arrow::RecordBatch& batch, JoinKeys* keys);

 private:
  JoinKeyEncoder() = default;

  std::vector<std::unique_ptr<expr::Evaluator>> evaluators_;
  std::unique_ptr<row::RowEncoder> encoder_;
};

}  // namespace tidemill::exec
