#pragma once

// What a case expects of a Spark version, and where a result differs from it.

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

namespace tidemill::semantics {

using Json = nlohmann::json;

/// The recorded result of `one` on `version`; null when that version cannot run the case.
Json ExpectedFor(const Json& one, const std::string& version);
/// The first difference, as path and both values; nullopt when the results are equal. Texts of errors, Java classes and SQL states are not looked at, except
/// where they are all that Spark gives.
std::optional<std::string> FirstDifference(const Json& one, const Json& expected, const Json& actual);

}  // namespace tidemill::semantics
