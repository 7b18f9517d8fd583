#include "connector/registry.h"

namespace tidemill::connector {

void Registry::Add(const std::string& name, Format format) { formats_[name] = std::move(format); }

Result<const Format*> Registry::Find(const std::string& name) const {
  const auto found = formats_.find(name);
  if (found != formats_.end()) return &found->second;
  const std::string nearest = NearestName(name, Names());
  return UserError("DATA_SOURCE_NOT_FOUND", "Failed to find the data source: {}.{} Known here: {}.", name,
                   nearest.empty() ? "" : " Did you mean `" + nearest + "`?", fmt::join(Names(), ", "))
      .Param("provider", name);
}

std::vector<std::string> Registry::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, format] : formats_) names.push_back(name);
  return names;
}

}  // namespace tidemill::connector
