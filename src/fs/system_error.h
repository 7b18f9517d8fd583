#pragma once

// From errno to an error a user can act on: what was tried, on which path, whether to try again, and what to do.

#include <string>
#include <string_view>

#include "base/status.h"

namespace tidemill::fs {

/// `code` is an errno value, positive. `action` is a verb phrase: "read", "create", "sync".
/// ENOENT has condition PATH_NOT_FOUND; a full disk and I/O errors are retryable; permissions are not.
Status SystemError(int code, std::string_view action, const std::string& path);

}  // namespace tidemill::fs
