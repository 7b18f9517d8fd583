#include "sql/string_escapes.h"

#include <cstdint>

namespace tidemill::sql {

namespace {

// Out of range and lone surrogates become the replacement character: text is UTF-8 throughout.
void AppendUtf8(uint32_t code, std::string* out) {
  if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) code = 0xFFFD;
  if (code < 0x80) {
    *out += static_cast<char>(code);
  } else if (code < 0x800) {
    *out += static_cast<char>(0xC0 | (code >> 6));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    *out += static_cast<char>(0xE0 | (code >> 12));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    *out += static_cast<char>(0xF0 | (code >> 18));
    *out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    *out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

int DigitValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 16;
}

// `count` digits of `base` at `at`, or -1.
int64_t Number(std::string_view text, size_t at, size_t count, int base) {
  if (at + count > text.size()) return -1;
  int64_t value = 0;
  for (size_t i = at; i < at + count; ++i) {
    int digit = DigitValue(text[i]);
    if (digit >= base) return -1;
    value = value * base + digit;
  }
  return value;
}

// A code by number at `at` (behind the backslash): its length, or 0 when there is none.
size_t NumericEscape(std::string_view text, size_t at, int64_t* code) {
  if (text[at] == 'u' && (*code = Number(text, at + 1, 4, 16)) >= 0) return 5;
  if (text[at] == 'U' && (*code = Number(text, at + 1, 8, 16)) >= 0) return 9;
  if (text[at] >= '0' && text[at] <= '1' && (*code = Number(text, at, 3, 8)) >= 0) return 3;
  return 0;
}

char NamedEscape(char c) {
  switch (c) {
    case '0':
      return '\0';
    case 'b':
      return '\b';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'Z':
      return '\x1A';
    default:
      return c;
  }
}

}  // namespace

std::string UnescapeString(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    ++i;
    int64_t code = 0;
    if (size_t length = NumericEscape(text, i, &code); length > 0) {
      AppendUtf8(static_cast<uint32_t>(code), &out);
      i += length - 1;
    } else if (text[i] == '%' || text[i] == '_') {
      out += '\\';
      out += text[i];
    } else {
      out += NamedEscape(text[i]);
    }
  }
  return out;
}

}  // namespace tidemill::sql
