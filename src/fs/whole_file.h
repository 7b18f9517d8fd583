#pragma once

// Files read and written as a whole over SystemCalls: full loops, every error with its path, nothing left behind on failure.

#include <string>
#include <string_view>

#include "base/status.h"
#include "fs/system_calls.h"

namespace tidemill::fs {

/// The content of `path`.
Result<std::string> ReadWhole(SystemCalls& calls, const std::string& path);
/// Write all of `bytes` to `fd`; `path` is for the error.
Status WriteAll(SystemCalls& calls, int fd, std::string_view bytes, const std::string& path);
/// Create `path`, which must not exist, with `bytes`; with `sync` their data is durable on return, the name is not. On failure the file is removed.
Status CreateWhole(SystemCalls& calls, const std::string& path, std::string_view bytes, bool sync);
/// fsync `path` through a descriptor of its own. After a failure the kernel may have dropped the bytes: the file must be written again.
Status SyncFile(SystemCalls& calls, const std::string& path);

}  // namespace tidemill::fs
