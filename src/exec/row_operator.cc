#include "exec/row_operator.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>
#include <limits>

#include "exec/hash_join.h"
#include "expr/function/evaluator.h"
#include "expr/function/resolve.h"

namespace tidemill::exec {

type::Schema SchemaOf(const std::vector<expr::ExprPtr>& attributes) {
  type::Schema schema;
  for (const expr::ExprPtr& attribute : attributes) {
    schema.fields.push_back({attribute->name, attribute->type, attribute->nullable, attribute->metadata_json});
  }
  return schema;
}

std::shared_ptr<arrow::Schema> ArrowSchemaOf(const std::vector<expr::ExprPtr>& attributes) { return SchemaOf(attributes).ToArrow(); }

void MergeEventTime(const EventTimeStats& from, EventTimeStats* to) {
  if (from.count == 0) return;
  to->max_ms = to->count == 0 ? from.max_ms : std::max(to->max_ms, from.max_ms);
  to->min_ms = to->count == 0 ? from.min_ms : std::min(to->min_ms, from.min_ms);
  to->sum_ms += from.sum_ms;
  to->count += from.count;
}

namespace {

/// `expression` with the batch's time in place of current_timestamp() and its kin, compiled.
Result<std::unique_ptr<expr::Evaluator>> Compile(const expr::ExprPtr& expression, const std::vector<expr::ExprPtr>& input, int64_t batch_timestamp_ms,
                                                 bool* single_use) {
  const expr::ExprPtr bound = expr::ReplaceCurrentTime(expression, batch_timestamp_ms);
  if (bound != expression) *single_use = true;
  return expr::Evaluator::Make(bound, input);
}

class FilterOperator final : public RowOperator {
 public:
  explicit FilterOperator(std::unique_ptr<expr::Evaluator> condition) : condition_(std::move(condition)) {}

  Status Push(const std::shared_ptr<arrow::RecordBatch>& batch, const PushBatch& next) override {
    ARROW_ASSIGN_OR_RAISE(const auto keep, condition_->Evaluate(*batch));
    ARROW_ASSIGN_OR_RAISE(const auto kept, expr::FilterBatch(batch, *keep));
    return kept->num_rows() == 0 ? Status::OK() : next(kept);
  }

 private:
  std::unique_ptr<expr::Evaluator> condition_;
};

/// Projections of a batch, each a batch of its own: one for a project, several for an expand.
class ProjectOperator final : public RowOperator {
 public:
  ProjectOperator(std::vector<std::vector<std::unique_ptr<expr::Evaluator>>> projections, std::shared_ptr<arrow::Schema> output)
      : projections_(std::move(projections)), output_(std::move(output)) {}

  Status Push(const std::shared_ptr<arrow::RecordBatch>& batch, const PushBatch& next) override {
    for (const auto& projection : projections_) {
      arrow::ArrayVector columns;
      columns.reserve(projection.size());
      for (const auto& evaluator : projection) {
        ARROW_ASSIGN_OR_RAISE(auto column, evaluator->Evaluate(*batch));
        columns.push_back(std::move(column));
      }
      ARROW_RETURN_NOT_OK(next(arrow::RecordBatch::Make(output_, batch->num_rows(), std::move(columns))));
    }
    return Status::OK();
  }

 private:
  std::vector<std::vector<std::unique_ptr<expr::Evaluator>>> projections_;
  std::shared_ptr<arrow::Schema> output_;
};

int64_t FloorToMillis(int64_t micros) { return micros >= 0 ? micros / 1000 : -((-micros + 999) / 1000); }

/// Passes rows through and keeps the statistics of their event times. A null time counts as the epoch, as in Spark; a window by its end.
class WatermarkOperator final : public RowOperator {
 public:
  WatermarkOperator(int column, EventTimeStats* stats) : column_(column), stats_(stats) {}

  Status Push(const std::shared_ptr<arrow::RecordBatch>& batch, const PushBatch& next) override {
    const std::shared_ptr<arrow::Array> column = batch->column(column_);
    if (column->type_id() == arrow::Type::STRUCT) {
      const auto& window = static_cast<const arrow::StructArray&>(*column);
      ARROW_ASSIGN_OR_RAISE(const auto ends, window.GetFlattenedField(1));
      Observe(static_cast<const arrow::TimestampArray&>(*ends));
    } else {
      Observe(static_cast<const arrow::TimestampArray&>(*column));
    }
    return next(batch);
  }

 private:
  void Observe(const arrow::TimestampArray& times) {
    const int64_t rows = times.length();
    if (rows == 0) return;
    const int64_t* values = times.raw_values();
    int64_t max = std::numeric_limits<int64_t>::min();
    int64_t min = std::numeric_limits<int64_t>::max();
    double sum = 0;
    const bool nulls = times.null_count() > 0;
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t micros = nulls && times.IsNull(i) ? 0 : values[i];
      max = std::max(max, micros);
      min = std::min(min, micros);
      sum += static_cast<double>(FloorToMillis(micros));
    }
    MergeEventTime({rows, FloorToMillis(max), FloorToMillis(min), sum}, stats_);
  }

  const int column_;
  EventTimeStats* const stats_;
};

}  // namespace

Result<std::unique_ptr<RowOperator>> MakeRowOperator(const RowOperatorSpec& spec, int64_t batch_timestamp_ms, std::vector<EventTimeStats>* event_time,
                                                     bool* single_use) {
  switch (spec.kind) {
    case RowOperatorKind::kFilter: {
      ARROW_ASSIGN_OR_RAISE(auto condition, Compile(spec.condition, spec.input, batch_timestamp_ms, single_use));
      return std::make_unique<FilterOperator>(std::move(condition));
    }
    case RowOperatorKind::kProject:
    case RowOperatorKind::kExpand: {
      std::vector<std::vector<std::unique_ptr<expr::Evaluator>>> projections;
      for (const auto& expressions : spec.projections) {
        auto& projection = projections.emplace_back();
        for (const expr::ExprPtr& expression : expressions) {
          ARROW_ASSIGN_OR_RAISE(auto evaluator, Compile(expression, spec.input, batch_timestamp_ms, single_use));
          projection.push_back(std::move(evaluator));
        }
      }
      return std::make_unique<ProjectOperator>(std::move(projections), ArrowSchemaOf(spec.output));
    }
    case RowOperatorKind::kHashJoin: return MakeHashJoin(spec);
    case RowOperatorKind::kWatermark: return std::make_unique<WatermarkOperator>(spec.column, &(*event_time)[spec.watermark]);
  }
  return InternalError("unknown row operator");
}

}  // namespace tidemill::exec
