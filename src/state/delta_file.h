#pragma once

// The records inside a delta or snapshot file. All integers are big-endian:
//
//   put     i32 key length, key, i32 value length, value
//   delete  i32 key length, key, i32 -1                     (delta only)
//   end     i32 -1
//
// With row checksums a CRC-32C (LE) of key and value stands before the value, or before the key of a delete, and counts into its length.
// The
// records are one compressed stream (compression.h). Source: Spark HDFSBackedStateStoreProvider (3.4 to 4.3); docs/formats/state-files.md.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "fs/file_system.h"
#include "state/compression.h"

namespace tidemill::state {

enum class StateFileKind { kDelta, kSnapshot };

/// How the files of a query are written; pinned in its offset log.
struct StateFileFormat {
  std::string codec = "lz4";
  bool row_checksum = false;
};

/// CRC-32C (Castagnoli) of `first` followed by `second`.
uint32_t Crc32c(std::string_view first, std::string_view second = {});

/// Writes one file. Each call buffers; bytes reach `file` compressed, some 256 KiB at a time.
class StateFileWriter {
 public:
  static Result<std::unique_ptr<StateFileWriter>> Make(const StateFileFormat& format, std::unique_ptr<fs::StagedWriter> file);
  Status Put(std::string_view key, std::string_view value);
  /// Deltas only.
  Status Delete(std::string_view key);
  /// Write the end record and close the file. Not durable before FileSystem::Publish().
  Result<fs::StagedFile> Finish();

 private:
  StateFileWriter(bool row_checksum, std::unique_ptr<Compressor> compressor, std::unique_ptr<fs::StagedWriter> file);
  void AppendField(uint32_t checksum, bool with_checksum, std::string_view row);
  Status FlushIfLarge();
  Status Flush();

  const bool row_checksum_;
  std::unique_ptr<Compressor> compressor_;
  std::unique_ptr<fs::StagedWriter> file_;
  std::string records_;
  std::string compressed_;
};

/// A record of a file; views are valid until the next call of Next().
struct StateRecord {
  std::string_view key;
  std::optional<std::string_view> value;  ///< nullopt: the key is deleted.
};

/// Reads one file, all of which is in memory compressed. Lengths are believed only as far as bytes are there.
class StateFileReader {
 public:
  /// `path` names the file in errors; `bytes` must outlive the reader.
  static Result<std::unique_ptr<StateFileReader>> Make(const StateFileFormat& format, StateFileKind kind, std::string path,
                                                       std::string_view bytes);
  /// The next record; nullopt after the end record. Errors: CANNOT_LOAD_STATE_STORE.* with the file in the detail (external, never retry).
  Result<std::optional<StateRecord>> Next();

 private:
  StateFileReader(bool row_checksum, StateFileKind kind, std::string path, std::unique_ptr<Decompressor> decompressor);
  /// Have `count` bytes ahead of the cursor.
  Status Ensure(uint64_t count);
  Result<int32_t> ReadLength();
  Result<StateRecord> DeleteOf(std::string_view key_field);
  Status CheckRow(std::string_view key, std::string_view value, uint32_t expected);
  Status Damaged(const std::string& why) const;

  const bool row_checksum_;
  const StateFileKind kind_;
  const std::string path_;
  std::unique_ptr<Decompressor> decompressor_;
  std::string window_;  // decompressed bytes; those before position_ are used up
  size_t position_ = 0;
};

/// Read the whole file at `path` and show every record.
Status ReadStateFile(fs::FileSystem& file_system, const StateFileFormat& format, StateFileKind kind, const std::string& path,
                     const std::function<Status(const StateRecord&)>& visit);

}  // namespace tidemill::state
