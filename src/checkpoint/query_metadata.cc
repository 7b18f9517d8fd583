#include "checkpoint/query_metadata.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>

#include "checkpoint/log_text_internal.h"

namespace tidemill::checkpoint {

namespace {

constexpr size_t kUuidLength = 36;

/// What a second process is told about the first.
std::string DescribeThisProcess() {
  utsname names{};
  const std::string host = uname(&names) == 0 ? names.nodename : "an unknown host";
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  gmtime_r(&now, &utc);
  char started[32];
  std::strftime(started, sizeof(started), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return fmt::format("host {}, pid {}, started {}", host, getpid(), started);
}

}  // namespace

Result<std::optional<std::string>> ReadQueryId(fs::FileSystem& file_system, const Layout& layout) {
  Result<std::string> text = file_system.Read(layout.metadata());
  if (!text.ok()) {
    if (fs::IsNotFound(text.status())) return std::nullopt;
    return text.status();
  }
  auto parsed = internal::ParseObject(*text, "the query's metadata");
  if (!parsed.ok()) return internal::InFile(parsed.status(), layout.metadata());
  const auto id = parsed->find("id");
  if (id == parsed->end() || !id->is_string() || id->get<std::string>().size() != kUuidLength) {
    return internal::InFile(ExternalError("TIDEMILL_MALFORMED_LOG", "it has no query id"), layout.metadata());
  }
  return std::optional(id->get<std::string>());
}

Status WriteQueryId(fs::FileSystem& file_system, const Layout& layout, const std::string& id) {
  nlohmann::ordered_json metadata;
  metadata["id"] = id;
  ARROW_ASSIGN_OR_RAISE(const fs::CreateOutcome outcome, file_system.CreateIfAbsent(layout.metadata(), metadata.dump()));
  if (outcome == fs::CreateOutcome::kCreated) return Status::OK();
  return ExternalError("CONCURRENT_STREAM_LOG_UPDATE", "Another query has written {}. Only one query at a time may use a checkpoint; stop the other one.",
                       layout.metadata())
      .Path(layout.metadata());
}

Result<std::unique_ptr<fs::FileLock>> LockCheckpoint(fs::FileSystem& file_system, const Layout& layout) {
  ARROW_RETURN_NOT_OK(file_system.CreateDirectories(layout.fence()));
  return file_system.Lock(layout.fence() + "/lock", DescribeThisProcess());
}

}  // namespace tidemill::checkpoint
