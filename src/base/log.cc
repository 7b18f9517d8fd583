#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cctype>
#include <memory>

namespace tidemill::log {

namespace {

spdlog::level::level_enum ToSpdlog(Level level) {
  switch (level) {
    case Level::kDebug:
      return spdlog::level::debug;
    case Level::kInfo:
      return spdlog::level::info;
    case Level::kWarning:
      return spdlog::level::warn;
    case Level::kError:
      return spdlog::level::err;
    case Level::kOff:
      break;
  }
  return spdlog::level::off;
}

spdlog::logger& Logger() {
  // Never destroyed: threads may log while the process ends.
  static auto* logger = [] {
    auto* made = new spdlog::logger("tidemill", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %L %v");
    made->flush_on(spdlog::level::debug);
    return made;
  }();
  return *logger;
}

/// `message` on one line: a value that came from outside must not forge a second log line or move the terminal's cursor.
std::string Escape(std::string_view message) {
  std::string out;
  out.reserve(message.size());
  for (const char c : message) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

Result<Level> ParseLevel(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (lower == "debug") return Level::kDebug;
  if (lower == "info") return Level::kInfo;
  if (lower == "warn" || lower == "warning") return Level::kWarning;
  if (lower == "error") return Level::kError;
  if (lower == "off") return Level::kOff;
  return UserError("TIDEMILL_INVALID_LOG_LEVEL", "Unknown log level '{}': use debug, info, warn, error or off", name);
}

void SetLevel(Level level) { Logger().set_level(ToSpdlog(level)); }

void Write(Level level, std::string_view message) { Logger().log(ToSpdlog(level), "{}", Escape(message)); }

}  // namespace tidemill::log
