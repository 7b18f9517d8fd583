// Interval texts: "10 seconds", "1 hour 30 minutes", "interval 2 days".

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "expr/civil_time_internal.h"
#include "expr/resolve.h"
#include "expr/timestamp_internal.h"

namespace tidemill::expr {

namespace {

constexpr int64_t kDaysPerMonth = 31;  // Spark's rule where a month has to be a length

struct Unit {
  int64_t micros;
  bool is_month = false;
};

const std::map<std::string, Unit, std::less<>>& Units() {
  static const std::map<std::string, Unit, std::less<>> units = {
      {"microsecond", {1}},
      {"millisecond", {1000}},
      {"second", {kMicrosPerSecond}},
      {"minute", {kMicrosPerMinute}},
      {"hour", {kMicrosPerHour}},
      {"day", {kMicrosPerDay}},
      {"week", {7 * kMicrosPerDay}},
      {"month", {kDaysPerMonth * kMicrosPerDay, true}},
      {"year", {12 * kDaysPerMonth * kMicrosPerDay, true}},
  };
  return units;
}

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c))) {
      if (!word.empty()) words.push_back(std::move(word));
      word.clear();
    } else {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

Error CannotParse(std::string_view text) {
  return UserError("CANNOT_PARSE_INTERVAL",
                   "Unable to parse '{}'. Please ensure that the value provided is in a valid format for defining an interval, such as '10 seconds'.", text)
      .Param("intervalString", "'" + std::string(text) + "'");
}

/// A decimal number of `unit`s as microseconds; only seconds may have a fraction. False when it is none or does not fit.
bool ParseAmount(std::string_view number, const Unit& unit, int64_t* micros) {
  bool negative = false;
  if (!number.empty() && (number[0] == '+' || number[0] == '-')) {
    negative = number[0] == '-';
    number.remove_prefix(1);
  }
  int64_t whole = 0;
  size_t i = 0;
  for (; i < number.size() && std::isdigit(static_cast<unsigned char>(number[i])); ++i) {
    if (__builtin_mul_overflow(whole, 10, &whole) || __builtin_add_overflow(whole, number[i] - '0', &whole)) return false;
  }
  int64_t fraction = 0;
  const bool has_whole = i > 0;
  if (i < number.size() && number[i] == '.' && unit.micros == kMicrosPerSecond) {
    const std::string_view digits = number.substr(i + 1);
    if (digits.size() > 9 || (digits.empty() && !has_whole)) return false;
    int64_t scale = kMicrosPerSecond;
    for (const char c : digits) {
      if (!std::isdigit(static_cast<unsigned char>(c))) return false;
      scale /= 10;
      fraction += (c - '0') * scale;  // digits beyond microseconds are dropped
    }
    i = number.size();
  } else if (!has_whole) {
    return false;
  }
  if (i != number.size() || __builtin_mul_overflow(whole, unit.micros, micros) || __builtin_add_overflow(*micros, fraction, micros)) return false;
  if (negative) *micros = -*micros;
  return true;
}

}  // namespace

Result<int64_t> ParseIntervalMicros(std::string_view text, bool* has_months) {
  std::vector<std::string> words = Words(text);
  if (!words.empty() && words[0] == "interval") words.erase(words.begin());
  if (words.empty()) return CannotParse(text);
  int64_t total = 0;
  for (size_t i = 0; i < words.size(); i += 2) {
    if (words[i] == "-" && i + 1 < words.size()) {  // "- 5 seconds"
      words[i + 1].insert(0, "-");
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (i + 1 >= words.size()) return CannotParse(text);
    std::string name = words[i + 1];
    if (name.size() > 1 && name.back() == 's') name.pop_back();
    const auto unit = Units().find(name);
    int64_t micros = 0;
    if (unit == Units().end() || !ParseAmount(words[i], unit->second, &micros) || __builtin_add_overflow(total, micros, &total)) return CannotParse(text);
    if (!unit->second.is_month) continue;
    if (has_months == nullptr) {
      return UserError("TIDEMILL_MONTHS_IN_DURATION", "Months and years have no fixed length and cannot be used here: '{}'.", text);
    }
    *has_months = true;
  }
  return total;
}

}  // namespace tidemill::expr
