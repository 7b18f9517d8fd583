#pragma once

// Options of tables and of streaming tables: which names are known, and what the engine itself takes out of them.

#include <optional>
#include <string>
#include <vector>

#include "connector/registry.h"
#include "plan/logical_plan.h"

namespace tidemill::query {

/// What to do about an option that nothing reads.
enum class UnknownOption {
  kRefuse,         ///< an option of a data source: it would change what is read or written
  kRefuseIfClose,  ///< a table property: free text is allowed, a misspelt known name is not
};

/// Check `options` against the format's own and `also_known` (lower case).
///
/// Returns a line of warning for each property that has no effect.
/// Errors: TIDEMILL_UNKNOWN_OPTION with the nearest known name; parameters `option`, `nearest`.
Result<std::vector<std::string>> CheckOptions(const std::string& what, const plan::Options& options, const connector::Format& format,
                                              const std::vector<std::string>& also_known, UnknownOption policy);

/// Take `key` out of `options`; nullopt when it is not there.
std::optional<std::string> TakeOption(plan::Options& options, const std::string& key);

}  // namespace tidemill::query
