#pragma once

// Which files a file source may read: everything a path or glob names, less what is hidden or half-copied. Source: Spark FileStreamSource.fetchAllFiles.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "fs/file_system.h"

namespace tidemill::connector {

struct ListedFile {
  std::string path;  ///< absolute, local
  int64_t size_bytes = 0;
  int64_t modified_ms = 0;
};

struct ListingOptions {
  std::string path;                             ///< absolute; may hold * ? [ ] { }
  std::optional<std::string> path_glob_filter;  ///< for the file's name
  bool recursive = false;
};

/// Does `name` match a glob of * ? [a-z] [^a] {x,y} and backslash escapes?
bool MatchesGlob(std::string_view glob, std::string_view name);
bool HasGlob(std::string_view path);

/// All readable files, ordered by modification time, then path. A folder that a file sink wrote is read through the sink's log.
/// Errors: a folder that may not be read; folders `key=value`, whose columns are not supported yet.
Result<std::vector<ListedFile>> ListFiles(fs::FileSystem& file_system, Clock& clock, const ListingOptions& options);
/// Does the path (its longest part without a glob) exist?
Result<bool> SourcePathExists(fs::FileSystem& file_system, const ListingOptions& options);

}  // namespace tidemill::connector
