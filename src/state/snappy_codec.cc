#include <snappy.h>

#include <limits>

#include "state/codecs_internal.h"

namespace tidemill::state {
namespace {

// Magic, version 1 and oldest reader 1 (BE); then blocks of length (BE) and raw snappy data. No end mark.
constexpr std::string_view kMagic("\x82SNAPPY\0", 8);
constexpr size_t kHeaderBytes = 16;
constexpr uint32_t kVersion = 1;
/// Snappy makes no block smaller than about a 64th, so a longer claim is a lie.
constexpr size_t kMaxRatio = 64;

class SnappyCompressor final : public BlockCompressor {
 public:
  SnappyCompressor() : BlockCompressor(kBlockBytes) {}

 protected:
  void Begin(std::string* out) override {
    out->append(kMagic);
    AppendBig32(kVersion, out);
    AppendBig32(kVersion, out);
  }
  Status WriteBlock(std::string_view block, std::string* out) override {
    snappy::Compress(block.data(), block.size(), &scratch_);
    AppendBig32(static_cast<uint32_t>(scratch_.size()), out);
    out->append(scratch_);
    return Status::OK();
  }

 private:
  std::string scratch_;
};

class SnappyDecompressor final : public Decompressor {
 public:
  explicit SnappyDecompressor(std::string_view bytes) : reader_(bytes) {}

  Result<bool> Read(std::string* out) override {
    // Streams may be concatenated: a header can stand before any block, and must stand before the first.
    while (reader_.rest().starts_with(kMagic)) {
      ARROW_ASSIGN_OR_RAISE(const std::string_view header, reader_.Take(kHeaderBytes, "a snappy header"));
      const uint32_t oldest_reader = LoadBig32(header.data() + 12);
      if (oldest_reader > kVersion) return Status::Invalid("a snappy stream for readers of version ", oldest_reader);
      begun_ = true;
    }
    if (!begun_) return Status::Invalid("no snappy header where one should begin");
    if (reader_.left() == 0) return false;
    ARROW_ASSIGN_OR_RAISE(const std::string_view length, reader_.Take(4, "a snappy block length"));
    ARROW_ASSIGN_OR_RAISE(const std::string_view data, reader_.Take(LoadBig32(length.data()), "a snappy block"));
    size_t original = 0;
    if (!snappy::GetUncompressedLength(data.data(), data.size(), &original) || original > data.size() * kMaxRatio) {
      return Status::Invalid("a damaged snappy block");
    }
    const size_t begin = out->size();
    out->resize(begin + original);
    if (!snappy::RawUncompress(data.data(), data.size(), out->data() + begin)) return Status::Invalid("a damaged snappy block");
    return true;
  }

 private:
  ByteReader reader_;
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<Compressor> MakeSnappyCompressor() { return std::make_unique<SnappyCompressor>(); }
std::unique_ptr<Decompressor> MakeSnappyDecompressor(std::string_view bytes) { return std::make_unique<SnappyDecompressor>(bytes); }

}  // namespace tidemill::state
