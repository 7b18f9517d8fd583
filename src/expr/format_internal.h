#pragma once

#include <arrow/type_fwd.h>

#include <string>

#include "base/status.h"
#include "expr/civil_time_internal.h"
#include "type/data_type.h"

namespace tidemill::expr {

/// Append one value, which is not null, as CAST(… AS STRING) shows it.
Status AppendValue(const arrow::Array& array, int64_t row, const type::DataType& type, ZoneRules& zone, std::string* out);

}  // namespace tidemill::expr
