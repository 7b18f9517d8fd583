#include "query/options.h"

#include <algorithm>

#include "base/config.h"

namespace tidemill::query {

Result<std::vector<std::string>> CheckOptions(const std::string& what, const plan::Options& options, const connector::Format& format,
                                              const std::vector<std::string>& also_known, UnknownOption policy) {
  std::vector<std::string> known = format.known_options;
  known.insert(known.end(), also_known.begin(), also_known.end());
  std::vector<std::string> warnings;
  for (const auto& [key, value] : options) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const std::string nearest = NearestName(key, known);
    if (policy == UnknownOption::kRefuseIfClose && nearest.empty()) {
      warnings.push_back(fmt::format("Property without effect, of {}: {}", what, key));
      continue;
    }
    std::string message = fmt::format("Unknown option of {}: {}", what, key);
    if (!nearest.empty()) message += fmt::format("; did you mean {}?", nearest);
    return UserError("TIDEMILL_UNKNOWN_OPTION", "{}", message).Param("option", key).Param("nearest", nearest);
  }
  return warnings;
}

std::optional<std::string> TakeOption(plan::Options& options, const std::string& key) {
  const auto found = options.find(key);
  if (found == options.end()) return std::nullopt;
  std::string value = std::move(found->second);
  options.erase(found);
  return value;
}

}  // namespace tidemill::query
