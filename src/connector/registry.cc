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

Result<type::Schema> ColumnsOf(const Format& format, const std::map<std::string, std::string>& options, const type::Schema& declared) {
  if (!format.own_schema) return declared;
  if (declared.size() > 0) {
    return UserError("_LEGACY_ERROR_TEMP_2242", "{} source does not support user-specified schema.", format.provider).Param("provider", format.provider);
  }
  return format.own_schema(options);
}

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
