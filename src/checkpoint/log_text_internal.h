#pragma once

// What the text logs of a checkpoint share: numbered files, a version line, JSON on lines. Layout: docs/formats/logs.md. Source: Spark HDFSMetadataLog.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "fs/file_system.h"

namespace tidemill::checkpoint::internal {

/// The number that `name` spells without sign or leading zeros; nullopt for every other name.
std::optional<int64_t> ParseId(std::string_view name);
/// `text` cut at line feeds; one at the end of the text ends the last line and begins none.
std::vector<std::string_view> SplitLines(std::string_view text);
/// The number of a line `v<number>`. Errors: malformed; above `newest_supported`.
Result<int> ParseVersion(std::string_view line, int newest_supported);
/// A JSON object with its fields in order. Errors: not JSON, no object.
Result<nlohmann::ordered_json> ParseObject(std::string_view line, std::string_view what);
/// Field `name` as a whole number; `absent` when it is not there.
Result<int64_t> ReadInt(const nlohmann::ordered_json& object, const char* name, int64_t absent);
/// JSON as Spark writes it: no blanks, text as it is but for what JSON makes one escape. Errors: text that is no UTF-8.
Result<std::string> PrintJson(const nlohmann::ordered_json& value);

/// Ids of the plain numbered files in `directory`, ascending; empty when the folder is missing.
Result<std::vector<int64_t>> ListIds(fs::FileSystem& file_system, const std::string& directory);
/// Remove the numbered files below `threshold`.
Status Purge(fs::FileSystem& file_system, const std::string& directory, int64_t threshold);
/// An entry's text. A missing one is "batch N doesn't exist", with the remedy.
Result<std::string> ReadEntry(fs::FileSystem& file_system, const std::string& directory, int64_t id);
/// `status` of reading the entry `path`, with the file's name, and as a condition that fits a damaged log.
Status InFile(const Status& status, const std::string& path);
/// Add entry N; an existing one is CONCURRENT_STREAM_LOG_UPDATE.
Status AddEntry(fs::FileSystem& file_system, const std::string& directory, int64_t id, std::string_view text);
/// Spark's error for an entry that somebody else wrote.
Status ConcurrentUpdate(int64_t id, const std::string& path);

}  // namespace tidemill::checkpoint::internal
