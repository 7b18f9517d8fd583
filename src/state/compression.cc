#include "state/compression.h"

#include <algorithm>
#include <cctype>

#include "state/codecs_internal.h"

namespace tidemill::state {
namespace {

enum class Codec { kLz4, kZstd, kSnappy, kLzf };

Result<Codec> ParseCodec(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const std::string_view class_prefix = "org.apache.spark.io.";
  std::string short_name = lower;
  if (lower.starts_with(class_prefix) && lower.ends_with("compressioncodec")) {
    short_name = lower.substr(class_prefix.size(), lower.size() - class_prefix.size() - 16);
  }
  if (short_name == "lz4") return Codec::kLz4;
  if (short_name == "zstd" || short_name == "zstandard") return Codec::kZstd;
  if (short_name == "snappy") return Codec::kSnappy;
  if (short_name == "lzf") return Codec::kLzf;
  return UserError("CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION",
                   "The codec {} is not available. Available codecs are lz4, zstd, snappy, lzf "
                   "(spark.sql.streaming.stateStore.compression.codec).",
                   name)
      .Param("codecName", std::string(name))
      .Param("availableCodecs", "lz4, zstd, snappy, lzf");
}

}  // namespace

void BlockCompressor::BeginOnce(std::string* out) {
  if (!begun_) Begin(out);
  begun_ = true;
}

Status BlockCompressor::Write(std::string_view bytes, std::string* out) {
  BeginOnce(out);
  while (!bytes.empty()) {
    // A whole block that is already there needs no copy.
    if (pending_.empty() && bytes.size() >= block_bytes_) {
      ARROW_RETURN_NOT_OK(WriteBlock(bytes.substr(0, block_bytes_), out));
      bytes.remove_prefix(block_bytes_);
      continue;
    }
    const size_t take = std::min(bytes.size(), block_bytes_ - pending_.size());
    pending_.append(bytes.substr(0, take));
    bytes.remove_prefix(take);
    if (pending_.size() < block_bytes_) return Status::OK();
    ARROW_RETURN_NOT_OK(WriteBlock(pending_, out));
    pending_.clear();
  }
  return Status::OK();
}

Status BlockCompressor::Finish(std::string* out) {
  BeginOnce(out);
  if (!pending_.empty()) ARROW_RETURN_NOT_OK(WriteBlock(pending_, out));
  pending_.clear();
  End(out);
  return Status::OK();
}

Result<std::unique_ptr<Compressor>> MakeCompressor(std::string_view codec) {
  ARROW_ASSIGN_OR_RAISE(const Codec parsed, ParseCodec(codec));
  switch (parsed) {
    case Codec::kLz4:
      return MakeLz4Compressor();
    case Codec::kZstd:
      return MakeZstdCompressor();
    case Codec::kSnappy:
      return MakeSnappyCompressor();
    case Codec::kLzf:
      return MakeLzfCompressor();
  }
  return InternalError("no compressor for codec {}", codec);
}

Result<std::unique_ptr<Decompressor>> MakeDecompressor(std::string_view codec, std::string_view bytes) {
  ARROW_ASSIGN_OR_RAISE(const Codec parsed, ParseCodec(codec));
  switch (parsed) {
    case Codec::kLz4:
      return MakeLz4Decompressor(bytes);
    case Codec::kZstd:
      return MakeZstdDecompressor(bytes);
    case Codec::kSnappy:
      return MakeSnappyDecompressor(bytes);
    case Codec::kLzf:
      return MakeLzfDecompressor(bytes);
  }
  return InternalError("no decompressor for codec {}", codec);
}

Result<std::string> Compress(std::string_view codec, std::string_view bytes) {
  ARROW_ASSIGN_OR_RAISE(auto compressor, MakeCompressor(codec));
  std::string out;
  ARROW_RETURN_NOT_OK(compressor->Write(bytes, &out));
  ARROW_RETURN_NOT_OK(compressor->Finish(&out));
  return out;
}

Result<std::string> Decompress(std::string_view codec, std::string_view bytes, uint64_t limit_bytes) {
  ARROW_ASSIGN_OR_RAISE(auto decompressor, MakeDecompressor(codec, bytes));
  std::string out;
  while (true) {
    ARROW_ASSIGN_OR_RAISE(const bool more, decompressor->Read(&out));
    if (out.size() > limit_bytes) return Status::Invalid("the content is larger than the limit of ", limit_bytes, " bytes");
    if (!more) return out;
  }
}

}  // namespace tidemill::state
