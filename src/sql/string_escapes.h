#pragma once

#include <string>
#include <string_view>

namespace tidemill::sql {

/// Resolve backslash escapes of a string literal as Spark does: \n, \t, \\, \', \u0041, \101 …; `\%` and `\_` keep their backslash, for LIKE.
std::string UnescapeString(std::string_view text);

}  // namespace tidemill::sql
