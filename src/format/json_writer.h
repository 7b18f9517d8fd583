#pragma once

// Rows as JSON lines, as Spark's JSON data source writes them: columns in order, nulls left out, timestamps with milliseconds and zone.

#include <arrow/type_fwd.h>

#include <string>

#include "base/status.h"
#include "type/data_type.h"

namespace tidemill::format {

struct JsonWriterOptions {
  std::string time_zone = "UTC";
  bool ignore_null_fields = true;
};

/// Errors: a column that JSON cannot hold, by name: one with a map whose keys have no text of their own.
Status CheckJsonColumns(const type::Schema& schema);

/// Append one line a row of `batch` to `out`, each with its line break. The schema has passed CheckJsonColumns().
Status AppendJsonLines(const type::Schema& schema, const arrow::RecordBatch& batch, const JsonWriterOptions& options, std::string* out);

/// `text` in quotes, escaped as Spark's writer does: quotes, backslashes and control characters; everything else as it is.
void AppendJsonString(std::string_view text, std::string* out);

}  // namespace tidemill::format
