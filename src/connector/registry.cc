#include "connector/registry.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/config.h"

namespace tidemill::connector {

namespace {

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

}  // namespace

void Registry::Add(const std::string& name, Format format) { formats_[Lower(name)] = std::move(format); }

Result<const Format*> Registry::Find(const std::string& name) const {
  if (auto found = formats_.find(Lower(name)); found != formats_.end()) return &found->second;
  std::string hint;
  if (std::string nearest = NearestName(Lower(name), Names()); !nearest.empty()) hint = fmt::format(" Did you mean `{}`?", nearest);
  return UserError("DATA_SOURCE_NOT_FOUND", "Failed to find the data source: {}.{} Known here: {}.", name, hint, fmt::join(Names(), ", "))
      .Param("provider", name);
}

std::vector<std::string> Registry::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, format] : formats_) names.push_back(name);
  return names;
}

}  // namespace tidemill::connector
