#pragma once

// The registry of configuration keys: name, type, default and range of each. Only config.cc and config_keys.cc include this.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tidemill::internal {

enum class ConfigType { kText, kBool, kInt, kDuration, kBytes, kChoice, kTimeZone };

struct ConfigKey {
  std::string_view name;
  ConfigType type = ConfigType::kText;
  std::string_view default_value;  ///< Empty for a default that the machine decides, see DefaultOf().
  int64_t least = INT64_MIN;       ///< kInt, kDuration (milliseconds), kBytes.
  int64_t greatest = INT64_MAX;
  std::string_view choices;        ///< kChoice: separated by `|`, compared without case.
};

/// A key that is known and changes nothing here. A name that ends in `*` stands for all that begin with the rest.
struct InertKey {
  std::string_view name;
  std::string_view why;
};

std::span<const ConfigKey> ConfigKeys();
std::span<const InertKey> InertKeys();
/// The registered key, or nullptr.
const ConfigKey* FindConfigKey(std::string_view name);
/// The entry that explains `name`, or nullptr.
const InertKey* FindInertKey(std::string_view name);
/// The default as text; for the session time zone that of the system.
std::string DefaultOf(const ConfigKey& key);
/// The name of the system's time zone: TZ, else what /etc/localtime points to, else "UTC".
std::string SystemTimeZone();
/// Whether the system's zone files, or the rules for fixed offsets, know `name`.
bool IsTimeZone(std::string_view name);

}  // namespace tidemill::internal
