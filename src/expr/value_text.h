#pragma once

#include <arrow/type_fwd.h>

#include <string>

#include "base/status.h"
#include "expr/civil_time.h"
#include "type/data_type.h"

namespace tidemill::expr {

/// Append one value, which is not null, as CAST(… AS STRING) shows it.
Status AppendValue(const arrow::Array& array, int64_t row, const type::DataType& type, ZoneRules& zone, std::string* out);

/// One value of an array as Spark's CAST(… AS STRING) shows it in `show()`/console (timestamps in `time_zone`, structs as {a, b}); nulls are the caller's.
Result<std::string> FormatValue(const arrow::Array& array, int64_t row, const type::DataType& type, const std::string& time_zone);

}  // namespace tidemill::expr
