#pragma once

// One pair of makers a codec, and what their files share.

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "state/compression.h"

namespace tidemill::state {

/// Uncompressed bytes a block, as Spark's executors are configured by default. Readers take any size that the stream declares and can
/// prove.
inline constexpr size_t kBlockBytes = 32 * 1024;

std::unique_ptr<Compressor> MakeLz4Compressor();
std::unique_ptr<Decompressor> MakeLz4Decompressor(std::string_view bytes);
std::unique_ptr<Compressor> MakeZstdCompressor();
std::unique_ptr<Decompressor> MakeZstdDecompressor(std::string_view bytes);
std::unique_ptr<Compressor> MakeSnappyCompressor();
std::unique_ptr<Decompressor> MakeSnappyDecompressor(std::string_view bytes);
std::unique_ptr<Compressor> MakeLzfCompressor();
std::unique_ptr<Decompressor> MakeLzfDecompressor(std::string_view bytes);

/// Collects bytes into blocks of one size; the codec says what a block becomes.
class BlockCompressor : public Compressor {
 public:
  explicit BlockCompressor(size_t block_bytes) : block_bytes_(block_bytes) {}
  Status Write(std::string_view bytes, std::string* out) final;
  Status Finish(std::string* out) final;

 protected:
  /// What comes before the first block.
  virtual void Begin(std::string* out) {}
  virtual Status WriteBlock(std::string_view block, std::string* out) = 0;
  virtual void End(std::string* out) {}

 private:
  void BeginOnce(std::string* out);

  const size_t block_bytes_;
  std::string pending_;
  bool begun_ = false;
};

/// A cursor over untrusted bytes.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  size_t left() const { return bytes_.size(); }
  std::string_view rest() const { return bytes_; }
  void Skip(size_t count) { bytes_.remove_prefix(count); }
  /// Errors: Invalid when fewer than `count` bytes are left.
  Result<std::string_view> Take(size_t count, const char* what) {
    if (count > bytes_.size()) return Status::Invalid(what, " ends after ", bytes_.size(), " bytes, ", count, " were announced");
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }

 private:
  std::string_view bytes_;
};

template <typename T>
T LoadLittle(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}
inline uint32_t LoadBig32(const char* at) { return __builtin_bswap32(LoadLittle<uint32_t>(at)); }
inline uint16_t LoadBig16(const char* at) { return __builtin_bswap16(LoadLittle<uint16_t>(at)); }
template <typename T>
void AppendLittle(T value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(T));
}
inline void AppendBig32(uint32_t value, std::string* out) { AppendLittle(__builtin_bswap32(value), out); }
inline void AppendBig16(uint16_t value, std::string* out) { AppendLittle(__builtin_bswap16(value), out); }

}  // namespace tidemill::state
