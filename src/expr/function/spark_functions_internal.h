#pragma once

#include <string_view>

namespace tidemill::expr {

/// Does Spark 4.3 have a built-in function of this name (in lower case)?
bool IsSparkFunction(std::string_view name);

}  // namespace tidemill::expr
