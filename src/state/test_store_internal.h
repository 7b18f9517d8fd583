#pragma once

// What the tests of this folder share: a store folder on a real disk that goes away, and rows of (string key → long value).

#include <unistd.h>
#include <xxhash.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "fs/local_file_system.h"
#include "state/state_store.h"

namespace tidemill::state {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "tidemill-state-XXXXXX";
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  const std::string& path() const { return path_; }
  fs::FileSystem& file_system() { return *file_system_; }
  std::string ReadFile(const std::string& name) { return file_system_->Read(path_ + "/" + name).ValueOrDie(); }
  void WriteFile(const std::string& name, std::string_view bytes) {
    std::ofstream(path_ + "/" + name, std::ios::binary | std::ios::trunc) << bytes;
  }
  bool Exists(const std::string& name) { return std::filesystem::exists(path_ + "/" + name); }
  void Remove(const std::string& name) { std::filesystem::remove_all(path_ + "/" + name); }

 private:
  std::string path_;
  std::unique_ptr<fs::SystemCalls> calls_ = fs::MakePosixCalls();
  std::unique_ptr<fs::FileSystem> file_system_ = fs::MakeLocalFileSystem(*calls_, {.sync = false});
};

/// A one-column string row.
inline std::string KeyRow(std::string_view text) {
  const uint32_t length = static_cast<uint32_t>(text.size());
  const uint32_t offset = 16;
  std::string row(8, '\0');
  row.append(reinterpret_cast<const char*>(&length), 4);
  row.append(reinterpret_cast<const char*>(&offset), 4);
  row.append(text);
  row.resize((row.size() + 7) & ~size_t{7}, '\0');
  return row;
}
inline std::string TextOf(std::string_view key_row) {
  uint32_t length = 0;
  std::memcpy(&length, key_row.data() + 8, 4);
  return std::string(key_row.substr(16, length));
}
/// A one-column long row.
inline std::string LongRow(int64_t value) {
  std::string row(16, '\0');
  std::memcpy(row.data() + 8, &value, 8);
  return row;
}
inline int64_t LongOf(std::string_view value_row) {
  int64_t value = 0;
  std::memcpy(&value, value_row.data() + 8, 8);
  return value;
}

inline StoreOptions CountOptions() {
  StoreOptions options;
  options.key_schema.fields = {{"k", type::String()}};
  options.value_schema.fields = {{"count", type::Long()}};
  return options;
}

/// Touch one key, making it with value 0.
inline RowSlot TouchOne(StateStore& store, std::string_view text, bool* created = nullptr) {
  const std::string key = KeyRow(text);
  const uint32_t offsets[2] = {0, static_cast<uint32_t>(key.size())};
  const uint64_t hash = XXH3_64bits(key.data(), key.size());
  RowSlot slot = 0;
  uint8_t made = 0;
  const KeyBatch batch{reinterpret_cast<const uint8_t*>(key.data()), offsets, {&hash, 1}};
  if (!store.Touch(batch, LongRow(0), {&slot, 1}, {&made, 1}).ok()) std::abort();
  if (created != nullptr) *created = made != 0;
  return slot;
}
inline void Add(StateStore& store, std::string_view text, int64_t amount) {
  const RowSlot slot = TouchOne(store, text);
  const int64_t value = LongOf(store.ValueView(slot)) + amount;
  std::memcpy(store.Value(slot) + 8, &value, 8);
}

inline std::map<std::string, int64_t> Content(StateStore& store) {
  std::map<std::string, int64_t> content;
  (void)store.Scan([&](std::string_view key, std::string_view value) {
    content[TextOf(key)] = LongOf(value);
    return Status::OK();
  });
  return content;
}

/// Stage, publish and finish the batch.
inline Status Commit(fs::FileSystem& file_system, StateStore& store) {
  ARROW_ASSIGN_OR_RAISE(const auto files, store.StageCommit());
  ARROW_RETURN_NOT_OK(file_system.Publish(files));
  store.CommitDone();
  return Status::OK();
}

}  // namespace tidemill::state
