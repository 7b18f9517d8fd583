#pragma once

// JSON text to slices: finds where the values of an object are without converting them, and checks that the text is well-formed.
//
// The rules are those of the JSON parser in Spark (Jackson) with its default features: single quotes delimit strings too, NaN and ±Infinity
// stand for numbers, control characters inside strings are refused. Text must be followed by a byte below 0x20 (a line end) and by
// kJsonPadding readable bytes, so that scanning needs no length: it stops at the line end by itself.
//
//   ObjectScanner scanner({"k", "v"}, JsonSyntax{});
//   const char* cursor = text;  // R"({"k": "a", "v": 1})" and a line end
//   bool non_ascii = false;
//   if (scanner.Scan(cursor, &non_ascii)) scanner.slots()[1];  // kInteger, "1"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tidemill::format {

/// Readable bytes that must follow the text.
inline constexpr int64_t kJsonPadding = 64;
/// Deeper nesting is malformed, as in Spark.
inline constexpr int kJsonDepthMax = 1000;

struct JsonSyntax {
  bool single_quotes = true;
  bool non_numeric_numbers = true;
};

enum class JsonKind : uint8_t { kMissing, kNull, kTrue, kFalse, kInteger, kFraction, kNonNumeric, kString, kObject, kArray };

/// A value where it stands in the text; strings without their quotes. Objects and arrays are well-formed.
struct JsonSlice {
  const char* begin = nullptr;
  uint32_t size = 0;
  JsonKind kind = JsonKind::kMissing;
  bool escaped = false;  ///< kString: holds backslashes, see UnescapeJson()

  std::string_view text() const { return {begin, size}; }
};

/// Skip blanks (not line ends).
inline const char* SkipJsonBlanks(const char* p) {
  while (*p == ' ' || *p == '\t') ++p;
  return p;
}

/// Scan the value that begins at `p` (no blank before it). Returns the place behind it, or nullptr when it is malformed. Sets `*non_ascii` when a string
/// holds a byte above 0x7f: the caller checks that the line is UTF-8.
const char* ScanJsonValue(const char* p, const JsonSyntax& syntax, int depth, JsonSlice* slice, bool* non_ascii);

/// Scan the string whose opening `quote` is just before `p`.
const char* ScanJsonString(const char* p, char quote, const JsonSyntax& syntax, JsonSlice* slice, bool* non_ascii);

/// The characters of a string slice with its escapes undone; an unpaired surrogate becomes `?`, as Java's encoder has it.
std::string UnescapeJson(std::string_view escaped);

/// Finds the values of chosen keys in one object after another. It remembers, field by field, how the last object spelled keys and punctuation: objects of one
/// producer look alike, so a key costs one comparison of up to 32 bytes.
class ObjectScanner {
 public:
  ObjectScanner(const std::vector<std::string>& names, JsonSyntax syntax);

  /// Scan the object whose `{` is at `cursor`; leaves `cursor` behind its `}`. False when it is malformed. A key that appears twice counts with its last value.
  bool Scan(const char*& cursor, bool* non_ascii, int depth = 0);
  /// By index of `names`, valid until the next Scan().
  const std::vector<JsonSlice>& slots() const { return slots_; }

 private:
  static constexpr int kTextMax = 32;
  /// What stood between the previous value and this one, as `, "name": "`.
  struct ExpectedKey {
    alignas(16) char text[kTextMax] = {};
    uint8_t size = 0;  // 0: nothing to expect
    bool opens_string = false;
    int slot = -1;
    bool Matches(const char* p) const;
  };

  const char* ScanKey(const char* p, size_t field, int* slot, bool* opens_string, bool* non_ascii);
  void Expect(size_t field, const char* begin, const char* end, int slot, bool opens_string);
  int Find(const JsonSlice& key) const;

  JsonSyntax syntax_;
  std::vector<std::string> names_;
  std::unordered_map<std::string_view, int> index_;  // views of names_
  std::vector<ExpectedKey> expected_;
  std::vector<JsonSlice> slots_;
};

}  // namespace tidemill::format
