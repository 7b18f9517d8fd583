#pragma once

// Which files this process created, so that a call repeated after an ambiguous error can tell its own file from a rival's.
//
// A log entry has a fixed name and fixed text, so nothing in the file says who wrote it: the memory lies here, beside it.

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace tidemill::fs {

/// Safe to call from several threads.
class OwnCreations {
 public:
  /// `path` may have been created with `bytes` by us; the caller was not told so yet.
  void Attempted(const std::string& path, std::string_view bytes);
  /// The caller of the attempt knows.
  void Acknowledged(const std::string& path);
  /// The file is a rival's, or gone.
  void Forget(const std::string& path);

  /// Did we, in any attempt, write `bytes` to `path`?
  bool Wrote(const std::string& path, std::string_view bytes) const;
  /// Are we the only ones to know of what we wrote to `path`?
  bool Unacknowledged(const std::string& path) const;

 private:
  struct Token {
    size_t size = 0;
    size_t hash = 0;
    bool operator==(const Token&) const = default;
  };
  struct Creation {
    std::vector<Token> attempts;
    bool acknowledged = false;
  };
  // A caller repeats a create soon or never, so the acknowledged ones need not be kept for long.
  static constexpr size_t kRemembered = 256;

  mutable std::mutex mutex_;
  std::map<std::string, Creation> creations_;  // guarded by mutex_
  std::deque<std::string> acknowledged_;       // oldest first; guarded by mutex_
};

}  // namespace tidemill::fs
