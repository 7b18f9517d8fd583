#pragma once

// Rows and errors of a run as the JSON that the recorded cases hold (README.md: Values, Error).

#include <arrow/type_fwd.h>

#include <string>

#include <nlohmann/json.hpp>

#include "base/status.h"
#include "type/data_type.h"

namespace tidemill::semantics {

using Json = nlohmann::json;

/// One value of `array`; timestamps in UTC.
Json ValueToJson(const arrow::Array& array, int64_t row, const type::DataType& type);
/// Every row of `batch` as an array in column order, appended to `rows`.
void AppendRows(const arrow::RecordBatch& batch, const type::Schema& schema, Json* rows);
/// `[[column, type, nullable], …]`.
Json SchemaToJson(const type::Schema& schema);

/// Replaces what changes from run to run: the working directory, uuids, expression ids, object hashes, batch times.
class Cleaner {
 public:
  explicit Cleaner(std::string work) : work_(std::move(work)) {}
  std::string Clean(std::string text) const;
  Json Clean(const Json& value) const;

 private:
  std::string work_;
};

/// An error in Spark's terms. `callback_sink`: the rows went to a foreachBatch function, so that a failed task surfaces inside of it, unwrapped.
Json ErrorToJson(const Status& status, const std::string& phase, bool callback_sink);

}  // namespace tidemill::semantics
