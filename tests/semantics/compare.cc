#include "compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

namespace tidemill::semantics {

namespace {

// Members of an error that depend on the words or the virtual machine of Spark.
const std::set<std::string> kLoose = {"causes", "message", "exception", "taskException", "phase", "sqlState", "python"};

class Comparison {
 public:
  explicit Comparison(std::set<std::string> ignored) : ignored_(std::move(ignored)) {}

  std::optional<std::string> Compare(const Json& expected, const Json& actual, const std::string& path) const {
    if (expected.is_object() && actual.is_object()) return CompareObjects(expected, actual, path);
    if (expected.is_array() && actual.is_array() && expected.size() == actual.size()) {
      for (size_t i = 0; i < expected.size(); ++i) {
        if (auto found = Compare(expected[i], actual[i], fmt::format("{}[{}]", path, i))) return found;
      }
      return std::nullopt;
    }
    if (expected == actual) return std::nullopt;
    return fmt::format("{}: expected {}, got {}", path, Shown(expected), Shown(actual));
  }

 private:
  std::optional<std::string> CompareObjects(const Json& expected, const Json& actual, const std::string& path) const {
    // Batches that never ran are explained by the error that came instead.
    if (!expected.contains("error") && actual.contains("error")) return fmt::format("{}/error: got {}", path, Shown(actual["error"]));
    std::set<std::string> keys;
    for (const Json* side : {&expected, &actual}) {
      for (const auto& item : side->items()) keys.insert(item.key());
    }
    for (const std::string& key : keys) {
      if (!IsCompared(key, expected)) continue;
      const std::string below = path + "/" + key;
      if (!expected.contains(key)) return fmt::format("{}: expected nothing, got {}", below, Shown(actual[key]));
      if (!actual.contains(key)) return fmt::format("{}: expected {}, got nothing", below, Shown(expected[key]));
      if (key == "text") {
        if (SameLines(expected[key], actual[key])) continue;
      }
      if (auto found = Compare(expected[key], actual[key], below)) return found;
    }
    return std::nullopt;
  }

  bool IsCompared(const std::string& key, const Json& expected) const {
    if (ignored_.contains(key)) return false;
    // Without a condition (and outside a task) the text is all there is to compare.
    if (key == "message") return expected.contains("phase") && !expected.contains("condition") && !expected.contains("taskException");
    if (kLoose.contains(key)) return false;
    if (key == "parameters") return IsParametersCompared(expected);
    return true;
  }

  // Those of STREAM_FAILED repeat the wrapped error's text; an exception of a Java class shows none to the program that recorded it.
  static bool IsParametersCompared(const Json& expected) {
    if (expected.value("condition", "") == "STREAM_FAILED") return false;
    return expected.contains("parameters") || expected.value("exception", "").find('.') == std::string::npos;
  }

  // A log file is its lines as JSON: members may come in another order.
  static bool SameLines(const Json& expected, const Json& actual) {
    if (!expected.is_string() || !actual.is_string()) return false;
    const auto left = Lines(expected.get<std::string>()), right = Lines(actual.get<std::string>());
    return std::equal(left.begin(), left.end(), right.begin(), right.end(), [](const std::string& a, const std::string& b) {
      const Json x = Json::parse(a, nullptr, false), y = Json::parse(b, nullptr, false);
      return a == b || (!x.is_discarded() && !y.is_discarded() && x == y);
    });
  }

  static std::vector<std::string> Lines(const std::string& text) {
    std::vector<std::string> lines;
    for (size_t at = 0; at <= text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      lines.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    return lines;
  }

  static std::string Shown(const Json& value) {
    constexpr size_t kLongest = 400;
    std::string text = value.dump();
    return text.size() <= kLongest ? text : text.substr(0, kLongest) + "…";
  }

  std::set<std::string> ignored_;
};

// Without `ordered`, rows are compared as a multiset.
void SortRows(const Json& one, Json* result) {
  if (one.value("ordered", false)) return;
  const auto by_text = [](const Json& a, const Json& b) { return a.dump() < b.dump(); };
  for (Json& run : (*result)["runs"]) {
    for (Json& batch : run["batches"]) {
      if (batch.contains("rows")) std::sort(batch["rows"].begin(), batch["rows"].end(), by_text);
    }
  }
}

}  // namespace

Json ExpectedFor(const Json& one, const std::string& version) {
  const Json& expect = one["expect"];
  Json found = expect.contains(version) ? expect[version] : expect.contains("all") ? expect["all"] : Json();
  if (found.is_null()) return found;
  for (Json& run : found["runs"]) {
    if (!run.contains("schemaOf")) continue;
    if (!run["schemaOf"].value(version, Json()).is_null()) run["schema"] = run["schemaOf"][version];
    run.erase("schemaOf");
  }
  return found;
}

std::optional<std::string> FirstDifference(const Json& one, const Json& expected, const Json& actual) {
  auto ignored = one.value("ignore", std::set<std::string>());
  Json left = expected, right = actual;
  SortRows(one, &left);
  SortRows(one, &right);
  return Comparison(std::move(ignored)).Compare(left, right, "");
}

}  // namespace tidemill::semantics
