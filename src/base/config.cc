#include "base/config.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <numeric>

#include "base/check.h"
#include "base/config_internal.h"

namespace tidemill {

namespace {

using internal::ConfigKey;
using internal::ConfigType;

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return lower;
}

std::string_view Trim(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<bool> ParseBool(std::string_view text) {
  const std::string lower = Lower(Trim(text));
  if (lower == "true") return true;
  if (lower == "false") return false;
  return std::nullopt;
}

std::optional<int64_t> ParseInt(std::string_view text) {
  text = Trim(text);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct Unit {
  std::string_view name;
  int64_t factor;
};

/// A whole number and one of `units`; a number alone has the factor 1.
std::optional<int64_t> ParseWithUnit(std::string_view text, std::span<const Unit> units) {
  const std::string lower = Lower(Trim(text));
  size_t digits = !lower.empty() && lower[0] == '-' ? 1 : 0;
  while (digits < lower.size() && std::isdigit(static_cast<unsigned char>(lower[digits]))) ++digits;
  const std::optional<int64_t> number = ParseInt(std::string_view(lower).substr(0, digits));
  if (!number) return std::nullopt;
  const std::string_view suffix = Trim(std::string_view(lower).substr(digits));
  if (suffix.empty()) return number;
  for (const Unit& unit : units) {
    int64_t value = 0;
    if (suffix == unit.name) {
      return __builtin_mul_overflow(*number, unit.factor, &value) ? std::nullopt : std::optional<int64_t>(value);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<int64_t> ParseDurationMs(std::string_view text) {
  static constexpr Unit kMicroseconds[] = {{"us", 1}};
  if (Trim(text).ends_with("us")) {
    const auto micros = ParseWithUnit(text, kMicroseconds);
    return micros ? std::optional<int64_t>(*micros / 1000) : std::nullopt;
  }
  static constexpr Unit kUnits[] = {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"min", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
  return ParseWithUnit(text, kUnits);
}

std::optional<int64_t> ParseBytes(std::string_view text) {
  static constexpr int64_t kKi = 1024;
  static constexpr Unit kUnits[] = {{"b", 1},
                                    {"k", kKi},
                                    {"kb", kKi},
                                    {"m", kKi * kKi},
                                    {"mb", kKi * kKi},
                                    {"g", kKi * kKi * kKi},
                                    {"gb", kKi * kKi * kKi},
                                    {"t", kKi * kKi * kKi * kKi},
                                    {"tb", kKi * kKi * kKi * kKi}};
  return ParseWithUnit(text, kUnits);
}

namespace {

bool IsChoice(std::string_view choices, std::string_view value) {
  const std::string wanted = Lower(Trim(value));
  while (!choices.empty()) {
    const size_t bar = std::min(choices.find('|'), choices.size());
    if (Lower(choices.substr(0, bar)) == wanted) return true;
    choices.remove_prefix(std::min(bar + 1, choices.size()));
  }
  return false;
}

Status Refuse(const ConfigKey& key, std::string_view value, std::string_view condition, const std::string& why) {
  return UserError(fmt::format("INVALID_CONF_VALUE.{}", condition), "The value '{}' in the config \"{}\" is invalid. {}", value, key.name,
                   why)
      .Param("confValue", std::string(value))
      .Param("confName", std::string(key.name));
}

Status CheckNumber(const ConfigKey& key, std::string_view value, std::optional<int64_t> number, std::string_view expected) {
  if (!number) return Refuse(key, value, "TYPE_MISMATCH", fmt::format("Expected {}", expected));
  if (*number < key.least) return Refuse(key, value, "REQUIREMENT", fmt::format("It must not be below {}", key.least));
  if (*number > key.greatest) return Refuse(key, value, "REQUIREMENT", fmt::format("It must not be above {}", key.greatest));
  return Status::OK();
}

Status Check(const ConfigKey& key, std::string_view value) {
  switch (key.type) {
    case ConfigType::kText:
      return Status::OK();
    case ConfigType::kBool:
      if (ParseBool(value)) return Status::OK();
      return Refuse(key, value, "TYPE_MISMATCH", "Expected true or false");
    case ConfigType::kInt:
      return CheckNumber(key, value, ParseInt(value), "a whole number");
    case ConfigType::kDuration:
      return CheckNumber(key, value, ParseDurationMs(value), "a duration such as 200ms, 10s, 5m, 1h");
    case ConfigType::kBytes:
      return CheckNumber(key, value, ParseBytes(value), "a size such as 512k, 64m, 2g");
    case ConfigType::kChoice:
      if (IsChoice(key.choices, value)) return Status::OK();
      return Refuse(key, value, "OUT_OF_RANGE_OF_OPTIONS", fmt::format("It should be one of {}", key.choices));
    case ConfigType::kTimeZone:
      if (internal::IsTimeZone(value)) return Status::OK();
      return Refuse(key, value, "TIME_ZONE", "No such time zone; use a region such as Europe/Paris or an offset such as +02:00");
  }
  return Status::OK();
}

/// Levenshtein's distance.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, replaced});
    }
  }
  return row.back();
}

std::string DescribeUnknown(std::string_view name) {
  if (const internal::InertKey* inert = internal::FindInertKey(name)) return fmt::format("{} has no effect: {}", name, inert->why);
  std::vector<std::string> known;
  for (const ConfigKey& key : internal::ConfigKeys()) known.emplace_back(key.name);
  const std::string nearest = NearestName(name, known);
  if (nearest.empty()) return fmt::format("{} is not a configuration key that Tidemill knows; it has no effect", name);
  return fmt::format("{} is not a configuration key that Tidemill knows; it has no effect. Did you mean {}?", name, nearest);
}

}  // namespace

Result<Config> Config::With(std::string_view key, std::string_view value) const {
  const ConfigKey* known = internal::FindConfigKey(key);
  if (known != nullptr) ARROW_RETURN_NOT_OK(Check(*known, value));
  // Spark takes any key, and so do we; but ours are all known.
  if (known == nullptr && key.starts_with("tidemill."))
    return UserError("TIDEMILL_UNKNOWN_KEY", "{}", DescribeUnknown(key)).Param("confName", std::string(key));
  Config copy = *this;
  copy.values_.insert_or_assign(std::string(key), std::string(value));
  return copy;
}

std::string Config::Get(std::string_view key) const {
  if (const auto found = values_.find(key); found != values_.end()) return found->second;
  const ConfigKey* known = internal::FindConfigKey(key);
  return known != nullptr ? internal::DefaultOf(*known) : std::string();
}

bool Config::IsSet(std::string_view key) const { return values_.find(key) != values_.end(); }

int64_t Config::GetInt(std::string_view key) const {
  const std::optional<int64_t> value = ParseInt(Get(key));
  TIDEMILL_CHECK(value.has_value());
  return *value;
}

bool Config::GetBool(std::string_view key) const {
  const std::optional<bool> value = ParseBool(Get(key));
  TIDEMILL_CHECK(value.has_value());
  return *value;
}

int64_t Config::GetDurationMs(std::string_view key) const {
  const std::optional<int64_t> value = ParseDurationMs(Get(key));
  TIDEMILL_CHECK(value.has_value());
  return *value;
}

int64_t Config::GetBytes(std::string_view key) const {
  const std::optional<int64_t> value = ParseBytes(Get(key));
  TIDEMILL_CHECK(value.has_value());
  return *value;
}

std::vector<std::string> Config::Unknown() const {
  std::vector<std::string> lines;
  for (const auto& [name, value] : values_) {
    if (internal::FindConfigKey(name) == nullptr) lines.push_back(DescribeUnknown(name));
  }
  return lines;
}

std::string NearestName(std::string_view name, const std::vector<std::string>& known) {
  // A hint that shares less than two thirds of its letters with the name misleads more than it helps.
  const std::string lower = Lower(name);
  const size_t most = std::max<size_t>(1, name.size() / 3);
  size_t best = most + 1;
  std::string nearest;
  for (const std::string& candidate : known) {
    const size_t distance = EditDistance(lower, Lower(candidate));
    if (distance < best) {
      best = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace tidemill
