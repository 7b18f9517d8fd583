#include "format/json_scanner.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <random>

namespace tidemill::format {
namespace {

/// `text` as the scanner wants it: a line end and padding behind.
std::string Padded(std::string text) { return text + '\n' + std::string(kJsonPadding, '\0'); }

/// The slots of one object as "kind:text", or "malformed".
std::vector<std::string> ScanObject(ObjectScanner& scanner, const std::string& text) {
  const std::string padded = Padded(text);
  const char* cursor = padded.c_str();
  bool non_ascii = false;
  if (!scanner.Scan(cursor, &non_ascii)) return {"malformed"};
  std::vector<std::string> values;
  for (const JsonSlice& slot : scanner.slots()) {
    values.push_back(slot.kind == JsonKind::kMissing ? "-" : std::to_string(static_cast<int>(slot.kind)) + ":" + std::string(slot.text()));
  }
  return values;
}

using Values = std::vector<std::string>;

TEST(JsonScannerTest, FindsWantedKeysInAnyOrder) {
  ObjectScanner scanner({"k", "v"}, {});
  const Values expected = {"7:a", "4:1"};
  EXPECT_EQ(ScanObject(scanner, R"({"k":"a","v":1})"), expected);
  EXPECT_EQ(ScanObject(scanner, R"({"v":1,"k":"a"})"), expected);
  EXPECT_EQ(ScanObject(scanner, R"({ "x" : [1, {"k": "no"}], "k" : "a" , "v" : 1 })"), expected);
  EXPECT_EQ(ScanObject(scanner, R"({"k":"b","k":"a","v":2,"v":1})"), expected) << "the last value counts";
  EXPECT_EQ(ScanObject(scanner, R"({'k':'a','v':1} trailing)"), expected);
  EXPECT_EQ(ScanObject(scanner, R"({"\u006b":"a","v":1})"), expected) << "keys have escapes too";
  EXPECT_EQ(ScanObject(scanner, "{}"), (Values{"-", "-"}));
  EXPECT_EQ(ScanObject(scanner, R"({"K":"a"})"), (Values{"-", "-"}));
}

TEST(JsonScannerTest, AKnownShapeDoesNotHideAChange) {
  ObjectScanner scanner({"k", "v"}, {});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ScanObject(scanner, R"({"k": "a", "v": 1})"), (Values{"7:a", "4:1"}));
  EXPECT_EQ(ScanObject(scanner, R"({"k": 1, "v": "a"})"), (Values{"4:1", "7:a"}));
  EXPECT_EQ(ScanObject(scanner, R"({"k": "a", "vv": 1})"), (Values{"7:a", "-"}));
  EXPECT_EQ(ScanObject(scanner, R"({"k": "a", "v": {"v": 2}})"), (Values{"7:a", "8:{\"v\": 2}"}));
  EXPECT_EQ(ScanObject(scanner, R"({"k": "a")"), (Values{"malformed"}));
}

TEST(JsonScannerTest, KeysLongerThanTheRememberedTextWork) {
  const std::string name(100, 'n');
  ObjectScanner scanner({name}, {});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(ScanObject(scanner, "{\"" + name + "\": 5}"), (Values{"4:5"}));
}

TEST(JsonScannerTest, RefusesWhatIsNotJson) {
  for (const char* text : {R"({"k":01})", R"({"k":1.})", R"({"k":.5})", R"({"k":+1})", R"({"k":1e})", R"({"k":tru})", R"({"k":truex})", R"({"k":"a)", R"({"k":"\q"})",
                           R"({"k":"\u12"})", "{\"k\":\"a\tb\"}", R"({"k" 1})", R"({"k":1,})", R"({k:1})", R"({"k":[1,]})", R"({"k":[1})", R"({"k":{"a"}})", R"({"k":})",
                           R"({"k":INF})", R"({"k":"a" "v":1})", "{", R"({,"k":1})"}) {
    ObjectScanner scanner({"k"}, {});
    EXPECT_EQ(ScanObject(scanner, text), (Values{"malformed"})) << text;
  }
}

TEST(JsonScannerTest, NestingHasALimit) {
  ObjectScanner scanner({"k"}, {});
  EXPECT_NE(ScanObject(scanner, "{\"k\":" + std::string(900, '[') + std::string(900, ']') + "}"), (Values{"malformed"}));
  EXPECT_EQ(ScanObject(scanner, "{\"k\":" + std::string(100'000, '[') + "}"), (Values{"malformed"}));
}

TEST(JsonScannerTest, QuirksOfTheParserCanBeSwitchedOff) {
  ObjectScanner strict({"k"}, {.single_quotes = false, .non_numeric_numbers = false});
  ObjectScanner lax({"k"}, {});
  for (const char* text : {R"({'k':1})", R"({"k":'a'})", R"({"k":NaN})", R"({"k":-INF})", R"({"k":+Infinity})"}) {
    EXPECT_EQ(ScanObject(strict, text), (Values{"malformed"})) << text;
    EXPECT_NE(ScanObject(lax, text), (Values{"malformed"})) << text;
  }
}

TEST(JsonScannerTest, EscapesAreUndone) {
  EXPECT_EQ(UnescapeJson(R"(a\"\\\/\b\f\n\r\t\u0041\u00e9\u20ac\ud83d\ude00)"), "a\"\\/\b\f\n\r\tA\u00e9\u20ac\U0001F600");
  EXPECT_EQ(UnescapeJson(R"(\ud800x\ude00)"), "?x?") << "an unpaired surrogate";
}

/// Random JSON, valid or broken by one byte, must be judged as simdjson judges it.
class RandomJson {
 public:
  explicit RandomJson(uint32_t seed) : random_(seed) {}

  std::string Object(int depth) {
    std::string text = "{";
    for (uint32_t i = 0, fields = Below(5); i < fields; ++i) {
      text += (i > 0 ? "," : "") + Blank() + String() + Blank() + ":" + Blank() + Value(depth) + Blank();
    }
    return text + "}";
  }
  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

 private:
  std::string Blank() { return std::string(Below(4) == 0 ? Below(3) : 0, ' '); }
  std::string String() {
    static const char* kParts[] = {"a", "key", "\\n", "\\u00e9", "\u00e9", " ", "long text that crosses sixteen bytes", "'", "\\\"", "{", "]", ","};
    std::string text = "\"";
    for (uint32_t i = 0, parts = Below(4); i < parts; ++i) text += kParts[Below(std::size(kParts))];
    return text + "\"";
  }
  std::string Value(int depth) {
    static const char* kScalars[] = {"0", "-1", "12345678901", "1.5", "-0.25e-3", "1E5", "true", "false", "null"};
    const uint32_t kind = Below(depth > 3 ? 2 : 4);
    if (kind == 0) return kScalars[Below(std::size(kScalars))];
    if (kind == 1) return String();
    if (kind == 2) return Object(depth + 1);
    std::string text = "[";
    for (uint32_t i = 0, elements = Below(4); i < elements; ++i) text += (i > 0 ? "," : "") + Blank() + Value(depth + 1);
    return text + "]";
  }

  std::mt19937 random_;
};

TEST(JsonScannerTest, AgreesWithAnotherParserOnRandomText) {
  constexpr uint32_t kSeed = 20240101;
  RandomJson random(kSeed);
  simdjson::dom::parser parser;
  ObjectScanner scanner({"a", "key"}, {.single_quotes = false, .non_numeric_numbers = false});
  for (int i = 0; i < 20'000; ++i) {
    std::string text = random.Object(0);
    if (random.Below(2) == 0 && text.size() > 2) {
      // Break a byte behind the first; the quotes of a string may move, so the judgement of the other parser decides.
      text[1 + random.Below(static_cast<uint32_t>(text.size()) - 1)] = "\"{}[],:\\x0 "[random.Below(11)];
    }
    const std::string padded = Padded(text);
    const char* cursor = padded.c_str();
    bool non_ascii = false;
    bool mine = scanner.Scan(cursor, &non_ascii);
    // Text behind the object is not the scanner's business.
    if (mine) mine = SkipJsonBlanks(cursor) == padded.c_str() + text.size() && simdjson::validate_utf8(text);
    simdjson::dom::element element;
    const bool theirs = parser.parse(text).get(element) == simdjson::SUCCESS;
    ASSERT_EQ(mine, theirs) << "seed " << kSeed << ", text " << i << ": " << text;
    if (!mine) continue;
    for (size_t slot = 0; slot < 2; ++slot) {
      // The last of equal keys counts here; compare by walking all of them.
      simdjson::dom::element value;
      bool present = false;
      for (auto field : element.get_object()) {
        if (field.key == (slot == 0 ? "a" : "key")) {
          value = field.value;
          present = true;
        }
      }
      const JsonSlice& found = scanner.slots()[slot];
      ASSERT_EQ(found.kind != JsonKind::kMissing, present) << text;
      if (present && value.is_string()) {
        ASSERT_EQ(UnescapeJson(found.text()), value.get_string().value()) << text;
      }
    }
  }
}

}  // namespace
}  // namespace tidemill::format
