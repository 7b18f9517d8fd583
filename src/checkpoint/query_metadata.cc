#include "checkpoint/query_metadata.h"

#include <unistd.h>

#include <array>
#include <ctime>
#include <nlohmann/json.hpp>

#include "checkpoint/log_text_internal.h"

namespace tidemill::checkpoint {

namespace {

using Json = nlohmann::ordered_json;

/// Who holds the lock, for the person whose query is refused: "host alpha, pid 4711, started 2026-03-01T10:00:00Z".
std::string DescribeThisProcess() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host = {"unknown"};
  static const std::time_t started = std::time(nullptr);
  std::tm utc = {};
  ::gmtime_r(&started, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return fmt::format("host {}, pid {}, started {}", host.data(), ::getpid(), text.data());
}

}  // namespace

Result<std::optional<std::string>> ReadQueryId(fs::FileSystem& file_system, const Layout& layout) {
  const Result<std::string> text = file_system.Read(layout.metadata());
  if (!text.ok()) {
    if (fs::IsNotFound(text.status())) return std::optional<std::string>();
    return text.status();
  }
  const Json object = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  const bool found = object.is_object() && object.contains("id") && object["id"].is_string() && !object["id"].get<std::string>().empty();
  if (!found) {
    return internal::InFile(ExternalError("TIDEMILL_MALFORMED_LOG", "expected a JSON object with the query's id, found \"{}\"", text->substr(0, 80)),
                            layout.metadata());
  }
  return std::optional<std::string>(object["id"].get<std::string>());
}

Status WriteQueryId(fs::FileSystem& file_system, const Layout& layout, const std::string& id) {
  Json object;
  object["id"] = id;
  ARROW_ASSIGN_OR_RAISE(const std::string text, internal::PrintJson(object));
  ARROW_ASSIGN_OR_RAISE(const fs::CreateOutcome outcome, file_system.CreateIfAbsent(layout.metadata(), text));
  if (outcome == fs::CreateOutcome::kCreated) return Status::OK();
  return ExternalError("CONCURRENT_QUERY",
                       "{} appeared while this query was starting: another query uses the checkpoint folder {}. Only one query at a time may use a "
                       "checkpoint; stop the other one, then start this one again",
                       layout.metadata(), layout.root)
      .Path(layout.metadata());
}

Result<std::unique_ptr<fs::FileLock>> LockCheckpoint(fs::FileSystem& file_system, const Layout& layout) {
  return file_system.Lock(fs::Join(layout.fence(), "lock"), DescribeThisProcess());
}

}  // namespace tidemill::checkpoint
