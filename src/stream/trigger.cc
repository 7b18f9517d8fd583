#include "stream/trigger.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

namespace tidemill::stream {

namespace {

struct Unit {
  std::string_view name;  // singular
  int64_t microseconds;   // 0: a month or a year, which has no fixed length
};

constexpr std::array<Unit, 9> kUnits = {{{"year", 0},
                                         {"month", 0},
                                         {"week", 604'800'000'000},
                                         {"day", 86'400'000'000},
                                         {"hour", 3'600'000'000},
                                         {"minute", 60'000'000},
                                         {"second", 1'000'000},
                                         {"millisecond", 1'000},
                                         {"microsecond", 1}}};

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (char c : text) {
    if (std::isspace(static_cast<unsigned char>(c))) {
      if (!word.empty()) words.push_back(std::move(word));
      word.clear();
    } else {
      word += c;
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

Error BadInterval(std::string_view input, std::string subclass, const std::string& what) {
  return UserError("INVALID_INTERVAL_FORMAT." + subclass,
                   "Error parsing '{}' to interval. Please ensure that the value provided is in a valid format for defining an interval. You can reference the "
                   "documentation for the correct format. {}",
                   input, what)
      .Param("input", std::string(input));
}

const Unit* FindUnit(std::string_view name) {
  if (name.ends_with('s')) name.remove_suffix(1);
  const auto* found = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& unit) { return unit.name == name; });
  return found == kUnits.end() ? nullptr : found;
}

// "-1", "10", and for seconds "1.5" with up to nine digits; nullopt when `word` is no such number. In microseconds of a `unit` of that many.
std::optional<int64_t> Amount(std::string_view word, const Unit& unit) {
  const bool negative = word.starts_with('-');
  if (negative || word.starts_with('+')) word.remove_prefix(1);
  const size_t dot = word.find('.');
  const std::string_view whole = word.substr(0, dot);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(whole.data(), whole.data() + whole.size(), value);
  if (error != std::errc() || end != whole.data() + whole.size() || whole.starts_with('-')) return std::nullopt;
  int64_t microseconds = 0;
  if (__builtin_mul_overflow(value, std::max<int64_t>(unit.microseconds, 1), &microseconds)) return std::nullopt;
  if (dot != std::string_view::npos) {
    const std::string_view digits = word.substr(dot + 1);
    if (unit.name != "second" || digits.empty() || digits.size() > 9) return std::nullopt;
    int64_t scale = 1'000'000;
    for (char c : digits) {
      if (!std::isdigit(static_cast<unsigned char>(c))) return std::nullopt;
      scale /= 10;
      microseconds += (c - '0') * scale;
    }
  }
  return negative ? -microseconds : microseconds;
}

bool LooksLikeNumber(std::string_view word) {
  if (word.starts_with('-') || word.starts_with('+')) word.remove_prefix(1);
  return !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) || c == '.'; });
}

Result<int64_t> ParseIntervalMs(std::string_view text) {
  std::vector<std::string> words = Words(Lower(text));
  if (!words.empty() && words.front() == "interval") words.erase(words.begin());
  if (words.empty()) return BadInterval(text, "INPUT_IS_EMPTY", "Interval string cannot be empty.");
  int64_t total_us = 0;
  for (size_t i = 0; i < words.size(); i += 2) {
    if (!LooksLikeNumber(words[i])) {
      return BadInterval(text, "UNRECOGNIZED_NUMBER", fmt::format("Unrecognized number {}.", words[i])).Param("number", words[i]);
    }
    if (i + 1 == words.size()) {
      return BadInterval(text, "MISSING_UNIT", fmt::format("Expect a unit name after {} but hit EOL.", words[i])).Param("word", words[i]);
    }
    const Unit* unit = FindUnit(words[i + 1]);
    if (unit == nullptr) {
      return BadInterval(text, "INVALID_UNIT", fmt::format("Invalid unit {}.", words[i + 1])).Param("unit", words[i + 1]);
    }
    const std::optional<int64_t> amount = Amount(words[i], *unit);
    if (!amount) {
      return BadInterval(text, "INVALID_VALUE", fmt::format("Invalid value {}.", words[i])).Param("value", words[i]);
    }
    if (unit->microseconds == 0 && *amount != 0) {
      return UserError("_LEGACY_ERROR_TEMP_3262", "Doesn't support month or year interval: {}", text).Param("interval", std::string(text));
    }
    if (__builtin_add_overflow(total_us, *amount, &total_us)) return BadInterval(text, "ARITHMETIC_EXCEPTION", "Uncaught arithmetic exception.");
  }
  return total_us / 1000;
}

}  // namespace

Result<Trigger> ParseTrigger(std::string_view text) {
  const std::string lower = Lower(text);
  if (lower == "available-now" || lower == "availablenow") return Trigger{TriggerKind::kAvailableNow, 0};
  if (lower == "once") return Trigger{TriggerKind::kOnce, 0};
  ARROW_ASSIGN_OR_RAISE(const int64_t interval_ms, ParseIntervalMs(text));
  if (interval_ms < 0) return UserError("", "requirement failed: the interval of trigger should not be negative");
  return Trigger{TriggerKind::kProcessingTime, interval_ms};
}

int64_t NextTickMs(int64_t now_ms, int64_t interval_ms) {
  const int64_t into = ((now_ms % interval_ms) + interval_ms) % interval_ms;
  return now_ms - into + interval_ms;
}

}  // namespace tidemill::stream
