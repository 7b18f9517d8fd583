#include "fs/own_creations.h"

#include <algorithm>
#include <functional>

namespace tidemill::fs {

void OwnCreations::Attempted(const std::string& path, std::string_view bytes) {
  std::lock_guard lock(mutex_);
  Creation& creation = creations_[path];
  creation.attempts.push_back({bytes.size(), std::hash<std::string_view>()(bytes)});
  creation.acknowledged = false;
}

void OwnCreations::Acknowledged(const std::string& path) {
  std::lock_guard lock(mutex_);
  const auto found = creations_.find(path);
  if (found == creations_.end() || found->second.acknowledged) return;
  found->second.acknowledged = true;
  acknowledged_.push_back(path);
  if (acknowledged_.size() <= kRemembered) return;
  const auto oldest = creations_.find(acknowledged_.front());
  if (oldest != creations_.end() && oldest->second.acknowledged) creations_.erase(oldest);
  acknowledged_.pop_front();
}

void OwnCreations::Forget(const std::string& path) {
  std::lock_guard lock(mutex_);
  creations_.erase(path);
}

bool OwnCreations::Wrote(const std::string& path, std::string_view bytes) const {
  const Token token{bytes.size(), std::hash<std::string_view>()(bytes)};
  std::lock_guard lock(mutex_);
  const auto found = creations_.find(path);
  if (found == creations_.end()) return false;
  const std::vector<Token>& attempts = found->second.attempts;
  return std::find(attempts.begin(), attempts.end(), token) != attempts.end();
}

bool OwnCreations::Unacknowledged(const std::string& path) const {
  std::lock_guard lock(mutex_);
  const auto found = creations_.find(path);
  return found != creations_.end() && !found->second.acknowledged;
}

}  // namespace tidemill::fs
