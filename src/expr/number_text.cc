#include "expr/number_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "expr/timestamp.h"

namespace tidemill::expr {

namespace {

// Java writes plain digits for magnitudes in [10^-3, 10^7), else one digit before the point and an exponent; a fraction digit always.
template <typename T>
void AppendFloating(T value, std::string* out) {
  if (std::isnan(value)) {
    *out += "NaN";
    return;
  }
  if (std::isinf(value)) {
    *out += value < 0 ? "-Infinity" : "Infinity";
    return;
  }
  if (value == 0) {
    *out += std::signbit(value) ? "-0.0" : "0.0";
    return;
  }
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific).ptr;
  // d[.ddd]e±xx: collect digits and exponent.
  std::string_view text(buffer, static_cast<size_t>(end - buffer));
  if (text[0] == '-') {
    *out += '-';
    text.remove_prefix(1);
  }
  const size_t e = text.find('e');
  int exponent = 0;
  const char* exponent_begin = text.data() + e + 1;
  if (*exponent_begin == '+') ++exponent_begin;
  std::from_chars(exponent_begin, text.data() + text.size(), exponent);
  std::string digits(1, text[0]);
  if (e > 2) digits += text.substr(2, e - 2);
  const int count = static_cast<int>(digits.size());
  if (exponent >= 7 || exponent < -3) {
    *out += digits[0];
    *out += '.';
    *out += count > 1 ? digits.substr(1) : "0";
    *out += 'E';
    *out += std::to_string(exponent);
  } else if (exponent < 0) {
    *out += "0.";
    out->append(static_cast<size_t>(-exponent - 1), '0');
    *out += digits;
  } else {
    if (count <= exponent + 1) digits.append(static_cast<size_t>(exponent + 2 - count), '0');
    out->append(digits, 0, static_cast<size_t>(exponent) + 1);
    *out += '.';
    out->append(digits, static_cast<size_t>(exponent) + 1, std::string::npos);
  }
}

bool EqualsIgnoreCase(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; });
}

template <typename T>
std::optional<T> ParseFloating(std::string_view text) {
  text = TrimWhitespace(text);
  std::string_view body = text;
  bool negative = false;
  if (!body.empty() && (body[0] == '+' || body[0] == '-')) {
    negative = body[0] == '-';
    body.remove_prefix(1);
  }
  if (EqualsIgnoreCase(body, "infinity") || EqualsIgnoreCase(body, "inf")) {
    return negative ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
  }
  if (EqualsIgnoreCase(text, "nan")) return std::numeric_limits<T>::quiet_NaN();
  // Java's own suffixes.
  if (!body.empty() && std::string_view("dDfF").find(body.back()) != std::string_view::npos) body.remove_suffix(1);
  if (body.empty() || (body[0] != '.' && (body[0] < '0' || body[0] > '9'))) return std::nullopt;
  T value = 0;
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), value);
  if (end != body.data() + body.size() || error == std::errc::invalid_argument) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    // Too large becomes infinite, too small zero, as in Java; from_chars does not say which.
    const size_t e = body.find_first_of("eE");
    const bool small = e != std::string_view::npos ? body.substr(e + 1, 1) == "-" : body[0] == '.' || body[0] == '0';
    value = small ? T{0} : std::numeric_limits<T>::infinity();
  }
  return negative ? -value : value;
}

}  // namespace

void AppendDouble(double value, std::string* out) { AppendFloating(value, out); }
void AppendFloat(float value, std::string* out) { AppendFloating(value, out); }
std::optional<double> ParseDouble(std::string_view text) { return ParseFloating<double>(text); }
std::optional<float> ParseFloat(std::string_view text) { return ParseFloating<float>(text); }

std::optional<int64_t> ParseLong(std::string_view text, bool allow_fraction) {
  text = TrimWhitespace(text);
  if (text.empty()) return std::nullopt;
  const bool negative = text[0] == '-';
  if (text[0] == '-' || text[0] == '+') text.remove_prefix(1);
  if (allow_fraction) {
    const size_t point = text.find('.');
    if (point != std::string_view::npos) {
      for (char c : text.substr(point + 1)) {
        if (c < '0' || c > '9') return std::nullopt;
      }
      const bool bare = point == 0 && point + 1 == text.size();
      text = text.substr(0, point);
      if (text.empty() && !bare) return 0;
    }
  }
  if (text.empty()) return std::nullopt;
  int64_t value = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    // Negative throughout: the range is one larger on that side.
    if (__builtin_mul_overflow(value, int64_t{10}, &value) || __builtin_sub_overflow(value, int64_t{c - '0'}, &value)) return std::nullopt;
  }
  if (negative) return value;
  if (value == std::numeric_limits<int64_t>::min()) return std::nullopt;
  return -value;
}

DecimalParse ParseDecimal(std::string_view text, int precision, int scale, arrow::Decimal128* value) {
  text = TrimWhitespace(text);
  bool negative = false;
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  std::string digits;
  int64_t exponent = 0;  // value = digits * 10^exponent
  bool any = false;
  size_t at = 0;
  bool point = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '.' && !point) {
      point = true;
    } else if (c >= '0' && c <= '9') {
      any = true;
      if (!digits.empty() || c != '0') digits += c;
      if (point) --exponent;
    } else {
      break;
    }
  }
  if (!any) return DecimalParse::kMalformed;
  if (at < text.size()) {
    if (text[at] != 'e' && text[at] != 'E') return DecimalParse::kMalformed;
    const char* begin = text.data() + at + 1;
    const char* end = text.data() + text.size();
    if (begin != end && *begin == '+') ++begin;
    int written = 0;
    const auto [stop, error] = std::from_chars(begin, end, written);
    if (begin == end || stop != end || error != std::errc()) return DecimalParse::kMalformed;
    exponent += written;
  }
  *value = arrow::Decimal128(0);
  if (digits.empty()) return DecimalParse::kOk;
  // Digits that stay before and behind the last place kept.
  const int64_t kept = static_cast<int64_t>(digits.size()) + exponent + scale;
  if (kept > precision) return DecimalParse::kOutOfRange;
  if (kept < 0) return DecimalParse::kOk;
  bool round_up = false;
  if (kept < static_cast<int64_t>(digits.size())) {
    round_up = digits[static_cast<size_t>(kept)] >= '5';
    digits.resize(static_cast<size_t>(kept));
  } else {
    digits.append(static_cast<size_t>(kept) - digits.size(), '0');
  }
  unsigned __int128 magnitude = 0;
  for (char c : digits) magnitude = magnitude * 10 + static_cast<unsigned>(c - '0');
  if (round_up) ++magnitude;
  arrow::Decimal128 result(static_cast<int64_t>(magnitude >> 64), static_cast<uint64_t>(magnitude));
  if (!result.FitsInPrecision(precision)) return DecimalParse::kOutOfRange;
  *value = negative ? arrow::Decimal128(-result) : result;
  return DecimalParse::kOk;
}

std::string PlainDecimal(const arrow::Decimal128& value, int scale) {
  std::string text = value.ToIntegerString();
  if (scale == 0) return text;
  const size_t sign = text[0] == '-' ? 1 : 0;
  if (text.size() - sign <= static_cast<size_t>(scale)) text.insert(sign, static_cast<size_t>(scale) + 1 - (text.size() - sign), '0');
  text.insert(text.size() - static_cast<size_t>(scale), 1, '.');
  return text;
}

std::string DecimalText(const arrow::Decimal128& value, int scale) {
  std::string digits = value.ToIntegerString();
  const size_t sign = digits[0] == '-' ? 1 : 0;
  const int adjusted = static_cast<int>(digits.size() - sign) - 1 - scale;
  if (adjusted >= -6) return PlainDecimal(value, scale);
  if (digits.size() - sign > 1) digits.insert(sign + 1, 1, '.');
  return digits + "E" + std::to_string(adjusted);
}

}  // namespace tidemill::expr
