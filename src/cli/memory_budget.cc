#include "cli/memory_budget.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

namespace tidemill::cli {

namespace {

constexpr int64_t kSmallestBudget = 64LL << 20;
/// Version 1 of control groups writes "no limit" as the largest page-aligned number.
constexpr int64_t kNoLimit = 1LL << 60;

std::optional<std::string> ReadSmallFile(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The folders of the process's own control groups, as /proc/self/cgroup names them, below both places where they are mounted.
std::optional<int64_t> ControlGroupLimit() {
  std::optional<int64_t> least;
  const auto consider = [&least](const std::string& path) {
    const std::optional<std::string> text = ReadSmallFile(path);
    if (!text) return;
    const std::optional<int64_t> limit = ParseControlGroupLimit(*text);
    if (limit && (!least || *limit < *least)) least = limit;
  };
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) consider("/sys/fs/cgroup" + group + "/memory.max");
    if (controllers == "memory") consider("/sys/fs/cgroup/memory" + group + "/memory.limit_in_bytes");
  }
  // Inside a container the own group is often mounted as the root.
  consider("/sys/fs/cgroup/memory.max");
  consider("/sys/fs/cgroup/memory/memory.limit_in_bytes");
  return least;
}

}  // namespace

Result<int64_t> ParseMemoryBudget(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string unit(end, text.data() + text.size());
  std::transform(unit.begin(), unit.end(), unit.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (unit.size() == 2 && unit[1] == 'b') unit.pop_back();
  int shift = -1;
  if (unit.empty() || unit == "b") shift = 0;
  if (unit == "k") shift = 10;
  if (unit == "m") shift = 20;
  if (unit == "g") shift = 30;
  if (unit == "t") shift = 40;
  if (error != std::errc() || shift < 0 || number < 0 || number > (std::numeric_limits<int64_t>::max() >> shift)) {
    return UserError("TIDEMILL_USAGE", "--memory wants a size such as 512m or 4g, not '{}'", text);
  }
  const int64_t bytes = number << shift;
  if (bytes < kSmallestBudget) return UserError("TIDEMILL_USAGE", "--memory must be at least 64m, not '{}'", text);
  return bytes;
}

int64_t DefaultMemoryBudget() {
  const int64_t machine = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  const int64_t available = std::min(machine, ControlGroupLimit().value_or(machine));
  return std::max(kSmallestBudget, available / 10 * 7);
}

int64_t OwnResidentBytes() {
  const std::optional<std::string> text = ReadSmallFile("/proc/self/status");
  return text ? ParseAnonymousResident(*text).value_or(0) : 0;
}

std::optional<int64_t> ParseControlGroupLimit(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number >= kNoLimit) return std::nullopt;
  return number;
}

std::optional<int64_t> ParseAnonymousResident(std::string_view status_text) {
  constexpr std::string_view kName = "RssAnon:";
  size_t at = status_text.find(kName);
  if (at == std::string_view::npos) return std::nullopt;
  at = status_text.find_first_not_of(" \t", at + kName.size());
  if (at == std::string_view::npos) return std::nullopt;
  int64_t kibibytes = 0;
  const auto [end, error] = std::from_chars(status_text.data() + at, status_text.data() + status_text.size(), kibibytes);
  if (error != std::errc()) return std::nullopt;
  return kibibytes << 10;
}

}  // namespace tidemill::cli
