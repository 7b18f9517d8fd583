#pragma once

// The log on stderr. Call sites: `log::Info("Batch {} committed", id)`. Control characters in values are escaped; secrets never reach it.

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace tidemill::log {

enum class Level { kDebug, kInfo, kWarning, kError, kOff };

/// "debug", "info", "warn", "error", "off", in any case.
Result<Level> ParseLevel(std::string_view name);
void SetLevel(Level level);
void Write(Level level, std::string_view message);

template <typename... Args>
void Debug(fmt::format_string<Args...> format, Args&&... args) {
  Write(Level::kDebug, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void Info(fmt::format_string<Args...> format, Args&&... args) {
  Write(Level::kInfo, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void Warning(fmt::format_string<Args...> format, Args&&... args) {
  Write(Level::kWarning, fmt::format(format, std::forward<Args>(args)...));
}
template <typename... Args>
void Error(fmt::format_string<Args...> format, Args&&... args) {
  Write(Level::kError, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace tidemill::log
