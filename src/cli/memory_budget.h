#pragma once

// How much memory the process may have, and how much it has.

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/status.h"

namespace tidemill::cli {

/// "512m", "4g", "1073741824". Errors: user error on other text and on less than 64 MiB, below which nothing runs.
Result<int64_t> ParseMemoryBudget(std::string_view text);
/// 70 % of the control group's limit, or of the machine's memory when there is no limit.
int64_t DefaultMemoryBudget();
/// Resident memory that is the process's own (not files), in bytes, from /proc/self/status; 0 when it cannot be read.
int64_t OwnResidentBytes();

/// The number of bytes in a memory limit file of a control group; nullopt for "max" and for version 1's number that stands for none.
std::optional<int64_t> ParseControlGroupLimit(std::string_view text);
/// RssAnon of the text of /proc/<pid>/status, in bytes.
std::optional<int64_t> ParseAnonymousResident(std::string_view status_text);

}  // namespace tidemill::cli
