#pragma once

// The compressed streams around Spark's state files. Layouts: docs/formats/state-files.md. Source: Spark CompressionCodec and the
// libraries behind it.
//
//   ARROW_ASSIGN_OR_RAISE(auto compressor, MakeCompressor("lz4"));
//   compressor->Write(bytes, &out);  …  compressor->Finish(&out);

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace tidemill::state {

/// Bytes in, compressed stream out, piece by piece; memory is bounded by one block.
class Compressor {
 public:
  virtual ~Compressor() = default;
  /// Take `bytes`; whole blocks are appended to `out`.
  virtual Status Write(std::string_view bytes, std::string* out) = 0;
  /// Append what is left and the end of the stream.
  virtual Status Finish(std::string* out) = 0;
};

/// A compressed stream in memory, decompressed piece by piece. No length in the stream is trusted: memory grows with bytes that are there.
class Decompressor {
 public:
  virtual ~Decompressor() = default;
  /// Append the next piece to `out`; false at the end of the stream. Errors: Invalid on damage.
  virtual Result<bool> Read(std::string* out) = 0;
};

/// `codec` is lz4, zstd, snappy or lzf, in any case, or Spark's class name of one of them. Errors: user error for any other name, "none"
/// included.
Result<std::unique_ptr<Compressor>> MakeCompressor(std::string_view codec);
/// `bytes` must outlive the result.
Result<std::unique_ptr<Decompressor>> MakeDecompressor(std::string_view codec, std::string_view bytes);

/// Whole strings at once.
Result<std::string> Compress(std::string_view codec, std::string_view bytes);
/// Errors: Invalid on damage, or when the content is larger than `limit_bytes`.
Result<std::string> Decompress(std::string_view codec, std::string_view bytes, uint64_t limit_bytes);

}  // namespace tidemill::state
