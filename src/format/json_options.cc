#include "format/json_options.h"

#include <algorithm>
#include <cctype>

namespace tidemill::format {

namespace {

using Options = std::map<std::string, std::string>;

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

Result<bool> ParseBool(const Options& options, const std::string& name, bool otherwise) {
  auto found = options.find(name);
  if (found == options.end()) return otherwise;
  std::string value = Lower(found->second);
  if (value == "true") return true;
  if (value == "false") return false;
  return UserError("", "For input string: \"{}\" of option '{}'; it is true or false", found->second, name);
}

/// Options whose default is all that is supported: name and the values that mean the default.
struct DefaultOnly {
  const char* name;
  std::vector<std::string> accepted;
};

const std::vector<DefaultOnly>& DefaultOnlyOptions() {
  static const std::vector<DefaultOnly> options = {
      {"multiline", {"false"}},
      {"linesep", {"\n"}},
      {"encoding", {"utf-8", "utf8"}},
      {"charset", {"utf-8", "utf8"}},
      {"locale", {"en-us"}},
      {"dateformat", {"yyyy-mm-dd"}},
      {"timestampformat", {}},
      {"timestampntzformat", {}},
      {"allowcomments", {"false"}},
      {"allowunquotedfieldnames", {"false"}},
      {"allownumericleadingzeros", {"false"}},
      {"allowbackslashescapinganycharacter", {"false"}},
      {"allowunquotedcontrolchars", {"false"}},
      {"compression", {"none", "uncompressed"}},
      {"writenonasciicharacterascodepoint", {"false"}},
      {"pretty", {"false"}},
  };
  return options;
}

/// Options that steer schema inference; a streamed table always has a schema, so they change nothing, in Spark as here.
const std::vector<std::string>& InferenceOptions() {
  static const std::vector<std::string> options = {"primitivesasstring", "prefersdecimal", "samplingratio", "dropfieldifallnull", "infertimestamp"};
  return options;
}

Status RefuseUnsupported(const Options& options) {
  for (const DefaultOnly& option : DefaultOnlyOptions()) {
    auto found = options.find(option.name);
    if (found == options.end()) continue;
    if (std::find(option.accepted.begin(), option.accepted.end(), Lower(found->second)) != option.accepted.end()) continue;
    return UserError("TIDEMILL_UNSUPPORTED_OPTION", "JSON option '{}' = '{}' is not supported; leave it at its default", option.name, found->second)
        .Param("option", option.name)
        .Param("value", found->second);
  }
  return Status::OK();
}

}  // namespace

Result<JsonOptions> JsonOptions::Make(const Options& options, const Config& config) {
  ARROW_RETURN_NOT_OK(RefuseUnsupported(options));
  JsonOptions result;
  if (auto mode = options.find("mode"); mode != options.end()) {
    std::string name = Lower(mode->second);
    // An unknown mode means PERMISSIVE in Spark, with a warning; here it is an error, since a typing error would hide lost lines.
    if (name == "dropmalformed") result.mode = ParseMode::kDropMalformed;
    else if (name == "failfast") result.mode = ParseMode::kFailFast;
    else if (name != "permissive") return UserError("", "Unknown parse mode '{}': it is PERMISSIVE, DROPMALFORMED or FAILFAST", mode->second);
  }
  if (std::string name = config.Get(conf::kColumnNameOfCorruptRecord); !name.empty()) result.corrupt_column = name;
  if (auto name = options.find("columnnameofcorruptrecord"); name != options.end()) result.corrupt_column = name->second;
  if (std::string zone = config.Get(conf::kSessionTimeZone); !zone.empty()) result.time_zone = zone;
  if (auto zone = options.find("timezone"); zone != options.end()) result.time_zone = zone->second;
  ARROW_ASSIGN_OR_RAISE(result.syntax.single_quotes, ParseBool(options, "allowsinglequotes", true));
  ARROW_ASSIGN_OR_RAISE(result.syntax.non_numeric_numbers, ParseBool(options, "allownonnumericnumbers", true));
  ARROW_ASSIGN_OR_RAISE(result.ignore_null_fields, ParseBool(options, "ignorenullfields", true));
  return result;
}

const std::vector<std::string>& JsonOptions::Known() {
  static const std::vector<std::string> known = [] {
    std::vector<std::string> names = {"mode", "columnnameofcorruptrecord", "timezone", "allowsinglequotes", "allownonnumericnumbers", "ignorenullfields"};
    for (const DefaultOnly& option : DefaultOnlyOptions()) names.emplace_back(option.name);
    names.insert(names.end(), InferenceOptions().begin(), InferenceOptions().end());
    return names;
  }();
  return known;
}

}  // namespace tidemill::format
