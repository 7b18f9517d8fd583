#include "exec/hash_join.h"

#include <arrow/array.h>
#include <arrow/builder.h>
#include <arrow/compute/api_vector.h>
#include <arrow/record_batch.h>

#include <algorithm>

#include "exec/static_table.h"
#include "expr/function/evaluator.h"

namespace tidemill::exec {

namespace {

/// Pairs that are made before they are handed on: a row may match many.
constexpr size_t kPairs = 8192;

/// Row `stream[i]` of the batch beside row `fixed[i]` of the static table; −1: beside nothing.
struct Pairs {
  std::vector<int64_t> stream;
  std::vector<int64_t> fixed;
  size_t size() const { return stream.size(); }
  void Add(int64_t stream_row, int64_t fixed_row) {
    stream.push_back(stream_row);
    fixed.push_back(fixed_row);
  }
};

Result<std::shared_ptr<arrow::Array>> Indices(const std::vector<int64_t>& rows) {
  arrow::Int64Builder builder;
  ARROW_RETURN_NOT_OK(builder.Reserve(static_cast<int64_t>(rows.size())));
  for (const int64_t row : rows) {
    if (row < 0) {
      builder.UnsafeAppendNull();
    } else {
      builder.UnsafeAppend(row);
    }
  }
  return builder.Finish();
}

Status AppendTaken(const arrow::RecordBatch& from, const std::vector<int64_t>& rows, arrow::ArrayVector* columns) {
  ARROW_ASSIGN_OR_RAISE(const auto indices, Indices(rows));
  for (const auto& column : from.columns()) {
    ARROW_ASSIGN_OR_RAISE(auto taken, arrow::compute::Take(*column, *indices, arrow::compute::TakeOptions::NoBoundsCheck()));
    columns->push_back(std::move(taken));
  }
  return Status::OK();
}

class HashJoinOperator final : public RowOperator {
 public:
  HashJoinOperator(const RowOperatorSpec& spec, std::unique_ptr<JoinKeyEncoder> keys, std::unique_ptr<expr::Evaluator> residual)
      : table_(*spec.static_table),
        join_(spec.join),
        stream_is_left_(spec.stream_is_left),
        output_(ArrowSchemaOf(spec.output)),
        keys_(std::move(keys)),
        residual_(std::move(residual)) {
    const std::vector<expr::ExprPtr>& left = stream_is_left_ ? spec.input : table_.columns();
    const std::vector<expr::ExprPtr>& right = stream_is_left_ ? table_.columns() : spec.input;
    std::vector<expr::ExprPtr> both = left;
    both.insert(both.end(), right.begin(), right.end());
    both_ = ArrowSchemaOf(both);
  }

  Status Push(const std::shared_ptr<arrow::RecordBatch>& batch, const PushBatch& next) override {
    const int64_t rows = batch->num_rows();
    if (keys_ != nullptr) ARROW_RETURN_NOT_OK(keys_->Encode(*batch, &batch_keys_));
    matched_.assign(rows, 0);
    Pairs pairs;
    for (int64_t row = 0; row < rows; ++row) {
      for (const int64_t fixed : Candidates(row)) {
        pairs.Add(row, fixed);
        if (pairs.size() < kPairs) continue;
        ARROW_RETURN_NOT_OK(HandOn(*batch, &pairs, next));
        pairs = {};
      }
    }
    ARROW_RETURN_NOT_OK(HandOn(*batch, &pairs, next));
    return HandOnTheRest(*batch, next);
  }

 private:
  std::span<const int64_t> Candidates(int64_t row) const {
    if (keys_ == nullptr) return table_.all();
    if (batch_keys_.is_null[row]) return {};
    return table_.Find(batch_keys_.rows.row(row), batch_keys_.hashes[row]);
  }

  /// Columns of both sides, left before right.
  Result<std::shared_ptr<arrow::RecordBatch>> Combine(const arrow::RecordBatch& batch, const Pairs& pairs,
                                                      const std::shared_ptr<arrow::Schema>& schema) const {
    arrow::ArrayVector columns;
    if (!stream_is_left_) ARROW_RETURN_NOT_OK(AppendTaken(*table_.rows(), pairs.fixed, &columns));
    ARROW_RETURN_NOT_OK(AppendTaken(batch, pairs.stream, &columns));
    if (stream_is_left_) ARROW_RETURN_NOT_OK(AppendTaken(*table_.rows(), pairs.fixed, &columns));
    return arrow::RecordBatch::Make(schema, static_cast<int64_t>(pairs.size()), std::move(columns));
  }

  /// Note which rows of the batch have found a partner, and emit the pairs where the join wants them.
  Status HandOn(const arrow::RecordBatch& batch, Pairs* pairs, const PushBatch& next) {
    if (pairs->size() == 0) return Status::OK();
    if (residual_ != nullptr) ARROW_RETURN_NOT_OK(DropUnequal(batch, pairs));
    for (const int64_t row : pairs->stream) matched_[row] = 1;
    if (join_ == JoinKind::kSemi || join_ == JoinKind::kAnti || pairs->size() == 0) return Status::OK();
    ARROW_ASSIGN_OR_RAISE(const auto joined, Combine(batch, *pairs, output_));
    return next(joined);
  }

  Status DropUnequal(const arrow::RecordBatch& batch, Pairs* pairs) {
    ARROW_ASSIGN_OR_RAISE(const auto both, Combine(batch, *pairs, both_));
    ARROW_ASSIGN_OR_RAISE(const auto holds, residual_->Evaluate(*both));
    Pairs kept;
    if (holds->type_id() == arrow::Type::BOOL) {
      const auto& bits = static_cast<const arrow::BooleanArray&>(*holds);
      for (size_t i = 0; i < pairs->size(); ++i) {
        if (bits.IsValid(static_cast<int64_t>(i)) && bits.Value(static_cast<int64_t>(i))) kept.Add(pairs->stream[i], pairs->fixed[i]);
      }
    }
    *pairs = std::move(kept);
    return Status::OK();
  }

  /// Rows of the batch that go on alone: those with a partner (semi), those without one (anti, outer).
  Status HandOnTheRest(const arrow::RecordBatch& batch, const PushBatch& next) {
    if (join_ == JoinKind::kInner) return Status::OK();
    const uint8_t wanted = join_ == JoinKind::kSemi ? 1 : 0;
    Pairs alone;
    for (int64_t row = 0; row < batch.num_rows(); ++row) {
      if (matched_[row] == wanted) alone.Add(row, -1);
    }
    if (alone.size() == 0) return Status::OK();
    if (join_ == JoinKind::kOuter) {
      ARROW_ASSIGN_OR_RAISE(const auto joined, Combine(batch, alone, output_));
      return next(joined);
    }
    arrow::ArrayVector columns;
    ARROW_RETURN_NOT_OK(AppendTaken(batch, alone.stream, &columns));
    return next(arrow::RecordBatch::Make(output_, static_cast<int64_t>(alone.size()), std::move(columns)));
  }

  const StaticTable& table_;
  const JoinKind join_;
  const bool stream_is_left_;
  const std::shared_ptr<arrow::Schema> output_;
  std::shared_ptr<arrow::Schema> both_;
  std::unique_ptr<JoinKeyEncoder> keys_;       // null: no equality in the condition
  std::unique_ptr<expr::Evaluator> residual_;  // null: nothing else in the condition
  JoinKeys batch_keys_;
  std::vector<uint8_t> matched_;  // by row of the batch
};

}  // namespace

Result<std::unique_ptr<RowOperator>> MakeHashJoin(const RowOperatorSpec& spec) {
  std::unique_ptr<JoinKeyEncoder> keys;
  if (!spec.keys.empty()) {
    ARROW_ASSIGN_OR_RAISE(keys, JoinKeyEncoder::Make(spec.keys, spec.input));
  }
  std::unique_ptr<expr::Evaluator> residual;
  if (spec.condition != nullptr) {
    const std::vector<expr::ExprPtr>& fixed = spec.static_table->columns();
    std::vector<expr::ExprPtr> both = spec.stream_is_left ? spec.input : fixed;
    const std::vector<expr::ExprPtr>& right = spec.stream_is_left ? fixed : spec.input;
    both.insert(both.end(), right.begin(), right.end());
    ARROW_ASSIGN_OR_RAISE(residual, expr::Evaluator::Make(spec.condition, both));
  }
  return std::make_unique<HashJoinOperator>(spec, std::move(keys), std::move(residual));
}

}  // namespace tidemill::exec
