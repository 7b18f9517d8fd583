#pragma once

// R/metadata, the query's id, and the shape of a checkpoint folder: paths are spelled here and nowhere else.

#include <memory>
#include <optional>
#include <string>

#include "base/status.h"
#include "fs/file_system.h"

namespace tidemill::checkpoint {

/// Folders of a checkpoint R.
struct Layout {
  std::string root;
  std::string metadata() const { return root + "/metadata"; }
  std::string offsets() const { return root + "/offsets"; }
  std::string commits() const { return root + "/commits"; }
  std::string source(int number) const { return root + "/sources/" + std::to_string(number); }
  std::string state() const { return root + "/state"; }
  std::string fence() const { return root + "/_fence"; }
};

/// The query id; nullopt when the file is missing.
Result<std::optional<std::string>> ReadQueryId(fs::FileSystem& file_system, const Layout& layout);
/// Create R/metadata with `id`; durable on return.
Status WriteQueryId(fs::FileSystem& file_system, const Layout& layout, const std::string& id);
/// Take R/_fence/lock, for the life of the handle; the error names host, pid and start time of the process that has it.
Result<std::unique_ptr<fs::FileLock>> LockCheckpoint(fs::FileSystem& file_system, const Layout& layout);

}  // namespace tidemill::checkpoint
