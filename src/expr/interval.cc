// Interval texts: "10 seconds", "1 hour 30 minutes", "INTERVAL '5' SECOND". Source: Spark IntervalUtils.stringToInterval.

#include <cctype>
#include <string>

#include "expr/civil_time.h"
#include "expr/interval.h"
#include "expr/timestamp.h"

namespace tidemill::expr {

namespace {

struct Unit {
  std::string_view name;  // singular; a plural s may follow
  int64_t micros;
  int64_t months;
};

constexpr Unit kUnits[] = {
    {"year", 0, 12},
    {"month", 0, 1},
    {"week", 7 * kMicrosPerDay, 0},
    {"day", kMicrosPerDay, 0},
    {"hour", kMicrosPerHour, 0},
    {"minute", kMicrosPerMinute, 0},
    {"second", kMicrosPerSecond, 0},
    {"millisecond", 1000, 0},
    {"microsecond", 1, 0},
};

// Spark's rule for delays: a month has 31 days.
constexpr int64_t kMicrosPerMonth = 31 * kMicrosPerDay;

const Unit* FindUnit(std::string_view name) {
  for (const Unit& unit : kUnits) {
    if (name == unit.name || (name.size() == unit.name.size() + 1 && name.back() == 's' && name.substr(0, unit.name.size()) == unit.name))
      return &unit;
  }
  return nullptr;
}

Error CannotParse(std::string_view text) {
  return UserError("CANNOT_PARSE_INTERVAL",
                   "Unable to parse '{}' as an interval. Numbers and units are expected, as in '1 hour 30 minutes'.", text)
      .Param("intervalString", "'" + std::string(text) + "'");
}

class IntervalParser {
 public:
  explicit IntervalParser(std::string_view text) : original_(text), text_(TrimWhitespace(text)) {
    for (char& c : text_) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }

  Result<int64_t> Parse(bool* has_months) {
    if (has_months != nullptr) *has_months = false;
    if (text_.rfind("interval", 0) == 0 && (text_.size() == 8 || IsSpaceOrQuote(text_[8]))) at_ = 8;
    SkipSpace();
    if (at_ == text_.size()) return CannotParse(original_);
    int64_t total = 0;
    while (at_ < text_.size()) {
      int64_t micros = 0;
      bool months = false;
      if (!ParseOne(&micros, &months)) return CannotParse(original_);
      if (months && has_months == nullptr) {
        return UserError("_LEGACY_ERROR_TEMP_3231", "Intervals greater than a month is not supported ({}).", original_)
            .Param("interval", std::string(original_));
      }
      if (months) *has_months = true;
      if (__builtin_add_overflow(total, micros, &total)) return CannotParse(original_);
      SkipSpace();
    }
    return total;
  }

 private:
  static bool IsSpace(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
  static bool IsSpaceOrQuote(char c) { return IsSpace(c) || c == '\'' || c == '-' || c == '+'; }
  void SkipSpace() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }
  bool Take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  // [sign] number[.fraction] unit, the number perhaps in quotes; a fraction belongs to seconds alone.
  bool ParseOne(int64_t* micros, bool* months) {
    const bool quoted = Take('\'');
    bool negative = false;
    if (Take('-')) {
      negative = true;
    } else {
      Take('+');
    }
    SkipSpace();
    int64_t number = 0;
    size_t begin = at_;
    for (; at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0; ++at_) {
      if (__builtin_mul_overflow(number, int64_t{10}, &number) || __builtin_add_overflow(number, int64_t{text_[at_] - '0'}, &number))
        return false;
    }
    size_t digits = at_ - begin;
    int64_t fraction = 0;
    bool has_fraction = false;
    if (Take('.')) {
      has_fraction = true;
      begin = at_;
      int64_t unit = 100'000;
      for (; at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0; ++at_, unit /= 10)
        fraction += (text_[at_] - '0') * unit;
      if (at_ - begin > 9) return false;
      digits += at_ - begin;
    }
    if (digits == 0) return false;
    if (quoted && !Take('\'')) return false;
    if (at_ < text_.size() && !IsSpace(text_[at_])) return false;
    SkipSpace();
    begin = at_;
    while (at_ < text_.size() && std::isalpha(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    const Unit* unit = FindUnit(std::string_view(text_).substr(begin, at_ - begin));
    if (unit == nullptr || (has_fraction && unit->name != "second")) return false;
    *months = unit->months != 0;
    const int64_t scale = *months ? unit->months * kMicrosPerMonth : unit->micros;
    if (__builtin_mul_overflow(number, scale, micros) || __builtin_add_overflow(*micros, fraction, micros)) return false;
    if (negative) *micros = -*micros;
    return true;
  }

  std::string_view original_;
  std::string text_;
  size_t at_ = 0;
};

}  // namespace

Result<int64_t> ParseIntervalMicros(std::string_view text, bool* has_months) { return IntervalParser(text).Parse(has_months); }

}  // namespace tidemill::expr
