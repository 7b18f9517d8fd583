#pragma once

// Options of the JSON format, as Spark names them.

#include <map>
#include <string>
#include <vector>

#include "base/config.h"
#include "base/status.h"
#include "format/json_scanner.h"

namespace tidemill::format {

/// What becomes of a line that cannot be read, or not wholly.
enum class ParseMode {
  kPermissive,    ///< unreadable fields are null; the line goes to the corrupt-record column when the schema has one
  kDropMalformed, ///< the line is left out
  kFailFast       ///< the batch fails
};

struct JsonOptions {
  ParseMode mode = ParseMode::kPermissive;
  std::string corrupt_column = "_corrupt_record";
  std::string time_zone = "UTC";
  JsonSyntax syntax;
  bool ignore_null_fields = true;  ///< writing

  /// From options with keys in lower case. Errors: a value that does not parse, an option of Spark's that is not supported yet, each by name.
  static Result<JsonOptions> Make(const std::map<std::string, std::string>& options, const Config& config);
  /// Every option name that Make() looks at, in lower case.
  static const std::vector<std::string>& Known();
};

}  // namespace tidemill::format
