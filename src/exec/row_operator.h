#pragma once

// The row operators of a pipeline: filter, project, expand, watermark statistics.

#include <arrow/type_fwd.h>

#include <functional>
#include <memory>

#include "exec/pipeline.h"

namespace tidemill::exec {

using PushBatch = std::function<Status(const std::shared_ptr<arrow::RecordBatch>&)>;

class RowOperator {
 public:
  virtual ~RowOperator() = default;
  /// Hand what becomes of `batch` to `next`, zero or more times.
  virtual Status Push(const std::shared_ptr<arrow::RecordBatch>& batch, const PushBatch& next) = 0;
};

/// `event_time` is where a watermark operator adds its statistics. `single_use` is set when an expression was given the batch's time.
Result<std::unique_ptr<RowOperator>> MakeRowOperator(const RowOperatorSpec& spec, int64_t batch_timestamp_ms,
                                                     std::vector<EventTimeStats>* event_time, bool* single_use);

/// The Arrow schema of a row of attributes.
std::shared_ptr<arrow::Schema> ArrowSchemaOf(const std::vector<expr::ExprPtr>& attributes);
/// The same as SQL schema.
type::Schema SchemaOf(const std::vector<expr::ExprPtr>& attributes);

}  // namespace tidemill::exec
