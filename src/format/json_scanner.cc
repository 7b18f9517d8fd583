#include "format/json_scanner.h"

#include <bit>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tidemill::format {

namespace {

/// The first byte at or behind `p` that ends a plain run inside a string: the quote, a backslash, a control character or a byte above 0x7f.
inline const char* SkipPlain(const char* p, char quote) {
#if defined(__SSE2__)
  const __m128i quotes = _mm_set1_epi8(quote);
  const __m128i backslashes = _mm_set1_epi8('\\');
  const __m128i blank = _mm_set1_epi8(0x20);
  for (;; p += 16) {
    __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    // Signed comparison: bytes above 0x7f are negative, so one comparison finds them and control characters.
    __m128i stops = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(block, quotes), _mm_cmpeq_epi8(block, backslashes)), _mm_cmplt_epi8(block, blank));
    auto mask = static_cast<uint32_t>(_mm_movemask_epi8(stops));
    if (mask != 0) return p + std::countr_zero(mask);
  }
#else
  while (*p != quote && *p != '\\' && static_cast<signed char>(*p) >= 0x20) ++p;
  return p;
#endif
}

bool IsHex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWordPart(char c) { return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || (c & 0x80) != 0; }

/// The place behind the escape whose backslash is at `p`, or nullptr.
const char* SkipEscape(const char* p, bool single_quotes) {
  switch (p[1]) {
    case '"': case '\\': case '/': case 'b': case 'f': case 'n': case 'r': case 't':
      return p + 2;
    case '\'':
      return single_quotes ? p + 2 : nullptr;
    case 'u':
      for (int i = 2; i < 6; ++i) {
        if (!IsHex(p[i])) return nullptr;  // stops before a line end is crossed
      }
      return p + 6;
    default:
      return nullptr;
  }
}

const char* ScanNumber(const char* p, JsonSlice* slice) {
  slice->begin = p;
  slice->kind = JsonKind::kInteger;
  if (*p == '-') ++p;
  if (!IsDigit(*p)) return nullptr;
  if (*p == '0' && IsDigit(p[1])) return nullptr;
  while (IsDigit(*p)) ++p;
  if (*p == '.') {
    slice->kind = JsonKind::kFraction;
    if (!IsDigit(*++p)) return nullptr;
    while (IsDigit(*p)) ++p;
  }
  if (*p == 'e' || *p == 'E') {
    slice->kind = JsonKind::kFraction;
    ++p;
    if (*p == '+' || *p == '-') ++p;
    if (!IsDigit(*p)) return nullptr;
    while (IsDigit(*p)) ++p;
  }
  slice->size = static_cast<uint32_t>(p - slice->begin);
  return p;
}

const char* ScanWord(const char* p, std::string_view word, JsonKind kind, JsonSlice* slice) {
  for (size_t i = 0; i < word.size(); ++i) {
    if (p[i] != word[i]) return nullptr;  // byte by byte: never reads behind a line end
  }
  if (IsWordPart(p[word.size()])) return nullptr;
  *slice = {p, static_cast<uint32_t>(word.size()), kind, false};
  return p + word.size();
}

const char* ScanNonNumeric(const char* p, JsonSlice* slice) {
  for (std::string_view word : {"NaN", "Infinity", "+Infinity", "-Infinity", "+INF", "-INF"}) {
    if (const char* end = ScanWord(p, word, JsonKind::kNonNumeric, slice)) return end;
  }
  return nullptr;
}

const char* ScanNested(const char* p, const JsonSyntax& syntax, int depth, JsonSlice* slice, bool* non_ascii) {
  if (depth >= kJsonDepthMax) return nullptr;
  const bool is_object = *p == '{';
  const char close = is_object ? '}' : ']';
  const char* begin = p;
  JsonSlice part;
  p = SkipJsonBlanks(p + 1);
  if (*p != close) {
    for (;;) {
      if (is_object) {
        if (*p != '"' && !(*p == '\'' && syntax.single_quotes)) return nullptr;
        p = ScanJsonString(p + 1, *p, syntax, &part, non_ascii);
        if (p == nullptr) return nullptr;
        p = SkipJsonBlanks(p);
        if (*p != ':') return nullptr;
        p = SkipJsonBlanks(p + 1);
      }
      p = ScanJsonValue(p, syntax, depth + 1, &part, non_ascii);
      if (p == nullptr) return nullptr;
      p = SkipJsonBlanks(p);
      if (*p == close) break;
      if (*p != ',') return nullptr;
      p = SkipJsonBlanks(p + 1);
    }
  }
  ++p;
  *slice = {begin, static_cast<uint32_t>(p - begin), is_object ? JsonKind::kObject : JsonKind::kArray, false};
  return p;
}

void AppendUtf8(std::string& out, uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3f));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

uint32_t HexValue(std::string_view digits) {
  uint32_t value = 0;
  for (char c : digits) value = value * 16 + static_cast<uint32_t>(IsDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
  return value;
}

/// Append the character of the `\uXXXX` at `i`, with the low half of a surrogate pair when one follows; returns the index behind.
size_t AppendUnicodeEscape(std::string_view escaped, size_t i, std::string& out) {
  uint32_t code = HexValue(escaped.substr(i + 2, 4));
  i += 6;
  if (code < 0xd800 || code > 0xdfff) {
    AppendUtf8(out, code);
    return i;
  }
  if (code < 0xdc00 && i + 6 <= escaped.size() && escaped[i] == '\\' && escaped[i + 1] == 'u') {
    uint32_t low = HexValue(escaped.substr(i + 2, 4));
    if (low >= 0xdc00 && low <= 0xdfff) {
      AppendUtf8(out, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
      return i + 6;
    }
  }
  out += '?';
  return i;
}

}  // namespace

const char* ScanJsonString(const char* p, char quote, const JsonSyntax& syntax, JsonSlice* slice, bool* non_ascii) {
  slice->begin = p;
  slice->kind = JsonKind::kString;
  slice->escaped = false;
  for (;;) {
    p = SkipPlain(p, quote);
    if (*p == quote) {
      slice->size = static_cast<uint32_t>(p - slice->begin);
      return p + 1;
    }
    if (*p == '\\') {
      slice->escaped = true;
      p = SkipEscape(p, syntax.single_quotes);
      if (p == nullptr) return nullptr;
    } else if ((*p & 0x80) != 0) {
      *non_ascii = true;
      while ((*p & 0x80) != 0) ++p;
    } else {
      return nullptr;  // a control character, perhaps the line end
    }
  }
}

const char* ScanJsonValue(const char* p, const JsonSyntax& syntax, int depth, JsonSlice* slice, bool* non_ascii) {
  slice->escaped = false;
  switch (*p) {
    case '"':
      return ScanJsonString(p + 1, '"', syntax, slice, non_ascii);
    case '\'':
      return syntax.single_quotes ? ScanJsonString(p + 1, '\'', syntax, slice, non_ascii) : nullptr;
    case '{':
    case '[':
      return ScanNested(p, syntax, depth, slice, non_ascii);
    case 't':
      return ScanWord(p, "true", JsonKind::kTrue, slice);
    case 'f':
      return ScanWord(p, "false", JsonKind::kFalse, slice);
    case 'n':
      return ScanWord(p, "null", JsonKind::kNull, slice);
    case 'N':
    case 'I':
    case '+':
      return syntax.non_numeric_numbers ? ScanNonNumeric(p, slice) : nullptr;
    case '-':
      if (p[1] == 'I') return syntax.non_numeric_numbers ? ScanNonNumeric(p, slice) : nullptr;
      return ScanNumber(p, slice);
    default:
      return ScanNumber(p, slice);
  }
}

std::string UnescapeJson(std::string_view escaped) {
  std::string out;
  out.reserve(escaped.size());
  for (size_t i = 0; i < escaped.size();) {
    if (escaped[i] != '\\') {
      out += escaped[i++];
      continue;
    }
    switch (escaped[i + 1]) {
      case 'b': out += '\b'; break;
      case 'f': out += '\f'; break;
      case 'n': out += '\n'; break;
      case 'r': out += '\r'; break;
      case 't': out += '\t'; break;
      case 'u':
        i = AppendUnicodeEscape(escaped, i, out);
        continue;
      default:
        out += escaped[i + 1];
    }
    i += 2;
  }
  return out;
}

ObjectScanner::ObjectScanner(const std::vector<std::string>& names, JsonSyntax syntax) : syntax_(syntax), names_(names), slots_(names.size()) {
  for (size_t i = 0; i < names_.size(); ++i) index_[names_[i]] = static_cast<int>(i);
}

inline bool ObjectScanner::ExpectedKey::Matches(const char* p) const {
#if defined(__SSE2__)
  auto equal = [&](int at) {
    __m128i have = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + at));
    __m128i want = _mm_load_si128(reinterpret_cast<const __m128i*>(text + at));
    return static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(have, want)));
  };
  const uint32_t wanted = size == kTextMax ? ~0U : (1U << size) - 1;
  if ((equal(0) & wanted) != (wanted & 0xffff)) return false;
  return size <= 16 || (equal(16) & (wanted >> 16)) == wanted >> 16;
#else
  return std::memcmp(p, text, size) == 0;
#endif
}

void ObjectScanner::Expect(size_t field, const char* begin, const char* end, int slot, bool opens_string) {
  static constexpr size_t kFieldsMax = 4096;  // an object with more distinct places than this is not worth remembering
  if (end - begin > kTextMax || field >= kFieldsMax) return;
  if (field >= expected_.size()) expected_.resize(field + 1);
  ExpectedKey& expected = expected_[field];
  expected.size = static_cast<uint8_t>(end - begin);
  std::memcpy(expected.text, begin, expected.size);
  expected.slot = slot;
  expected.opens_string = opens_string;
}

int ObjectScanner::Find(const JsonSlice& key) const {
  auto found = key.escaped ? index_.find(UnescapeJson(key.text())) : index_.find(key.text());
  return found == index_.end() ? -1 : found->second;
}

/// The key behind the `{` or `,` at `p`, up to the first character of its value (behind the quote of a string). A closing brace instead leaves *slot at -2.
const char* ObjectScanner::ScanKey(const char* p, size_t field, int* slot, bool* opens_string, bool* non_ascii) {
  const char* begin = p;
  p = SkipJsonBlanks(p + 1);
  if (*p == '}' && *begin == '{') {
    *slot = -2;
    return p;
  }
  if (*p != '"' && !(*p == '\'' && syntax_.single_quotes)) return nullptr;
  JsonSlice key;
  bool key_non_ascii = false;
  p = ScanJsonString(p + 1, *p, syntax_, &key, &key_non_ascii);
  if (p == nullptr) return nullptr;
  p = SkipJsonBlanks(p);
  if (*p != ':') return nullptr;
  p = SkipJsonBlanks(p + 1);
  *slot = Find(key);
  *opens_string = *p == '"';
  if (*opens_string) ++p;
  // A key that may not be UTF-8 is looked at each time, so that its line is checked.
  if (key_non_ascii) *non_ascii = true;
  else Expect(field, begin, p, *slot, *opens_string);
  return p;
}

bool ObjectScanner::Scan(const char*& cursor, bool* non_ascii, int depth) {
  for (JsonSlice& slot : slots_) slot.kind = JsonKind::kMissing;
  const char* p = cursor;
  JsonSlice unwanted;
  for (size_t field = 0;; ++field) {
    int slot = -1;
    bool opens_string = false;
    if (field < expected_.size() && expected_[field].size > 0 && expected_[field].Matches(p)) {
      const ExpectedKey& expected = expected_[field];
      slot = expected.slot;
      opens_string = expected.opens_string;
      p += expected.size;
      if (!opens_string) p = SkipJsonBlanks(p);  // there may be more of them than last time
    } else {
      p = ScanKey(p, field, &slot, &opens_string, non_ascii);
      if (p == nullptr) return false;
      if (slot == -2) break;
    }
    JsonSlice* slice = slot >= 0 ? &slots_[slot] : &unwanted;
    p = opens_string ? ScanJsonString(p, '"', syntax_, slice, non_ascii) : ScanJsonValue(p, syntax_, depth + 1, slice, non_ascii);
    if (p == nullptr) return false;
    if (*p == ',') continue;
    p = SkipJsonBlanks(p);
    if (*p == '}') break;
    if (*p != ',') return false;
  }
  cursor = p + 1;
  return true;
}

}  // namespace tidemill::format
