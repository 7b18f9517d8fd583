#pragma once

// Rows as the table that Spark's show() prints.

#include <arrow/type_fwd.h>

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "type/data_type.h"

namespace tidemill::connector {

struct TableOptions {
  int64_t max_rows = 20;
  /// Longest cell in characters; longer ones end in "...". 0: whole cells, left-aligned.
  int truncate = 20;
  std::string time_zone = "UTC";
};

/// The table with its last line break: an empty line, or, when rows were left out, "only showing top <n> rows".
Result<std::string> FormatTable(const type::Schema& schema, const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches, const TableOptions& options);

}  // namespace tidemill::connector
