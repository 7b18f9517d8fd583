#include <lz4.h>
#include <xxhash.h>

#include "state/codecs_internal.h"

namespace tidemill::state {
namespace {

// A block: magic, token, compressed length, length, checksum (LE), data. The last block has both lengths 0.
constexpr std::string_view kMagic = "LZ4Block";
constexpr size_t kHeaderBytes = 21;
constexpr uint32_t kChecksumSeed = 0x9747b28c;
// The Java library keeps only 28 bits of the checksum.
constexpr uint32_t kChecksumMask = 0x0fffffff;
constexpr uint8_t kMethodStored = 0x10;
constexpr uint8_t kMethodLz4 = 0x20;
constexpr int kLevelBase = 10;
constexpr uint8_t kLevel = 5;
static_assert(kBlockBytes == size_t{1} << (kLevelBase + kLevel), "the token's low nibble tells readers the largest block");

// Rows repeat themselves in steps of 8 bytes: at 8 the deltas of a windowed count are a tenth larger and take half of the time.
constexpr int kAcceleration = 8;

uint32_t Checksum(std::string_view bytes) { return XXH32(bytes.data(), bytes.size(), kChecksumSeed) & kChecksumMask; }

void AppendHeader(uint8_t method, uint32_t compressed, uint32_t original, uint32_t checksum, std::string* out) {
  out->append(kMagic);
  out->push_back(static_cast<char>(method | kLevel));
  AppendLittle(compressed, out);
  AppendLittle(original, out);
  AppendLittle(checksum, out);
}

class Lz4Compressor final : public BlockCompressor {
 public:
  Lz4Compressor() : BlockCompressor(kBlockBytes) {}

 protected:
  Status WriteBlock(std::string_view block, std::string* out) override {
    const auto original = static_cast<uint32_t>(block.size());
    scratch_.resize(static_cast<size_t>(LZ4_compressBound(static_cast<int>(block.size()))));
    const int size = LZ4_compress_fast(block.data(), scratch_.data(), static_cast<int>(block.size()), static_cast<int>(scratch_.size()), kAcceleration);
    if (size <= 0) return InternalError("LZ4 refused a block of {} bytes", block.size());
    if (static_cast<uint32_t>(size) >= original) {
      AppendHeader(kMethodStored, original, original, Checksum(block), out);
      out->append(block);
    } else {
      AppendHeader(kMethodLz4, static_cast<uint32_t>(size), original, Checksum(block), out);
      out->append(scratch_.data(), static_cast<size_t>(size));
    }
    return Status::OK();
  }
  void End(std::string* out) override { AppendHeader(kMethodStored, 0, 0, 0, out); }

 private:
  std::string scratch_;
};

class Lz4Decompressor final : public Decompressor {
 public:
  explicit Lz4Decompressor(std::string_view bytes) : reader_(bytes) {}

  Result<bool> Read(std::string* out) override {
    // Another stream may follow an end block, and Spark's reader does not ask for one: the records inside have an end mark of their own.
    while (reader_.left() > 0) {
      ARROW_ASSIGN_OR_RAISE(const std::string_view header, reader_.Take(kHeaderBytes, "an LZ4 block header"));
      if (!header.starts_with(kMagic)) return Status::Invalid("no LZ4 block where one should begin");
      const auto token = static_cast<uint8_t>(header[8]);
      const auto compressed = LoadLittle<uint32_t>(header.data() + 9);
      const auto original = LoadLittle<uint32_t>(header.data() + 13);
      const auto checksum = LoadLittle<uint32_t>(header.data() + 17);
      const uint8_t method = token & 0xf0;
      if (method != kMethodStored && method != kMethodLz4) return Status::Invalid("an LZ4 block of unknown method ", int{token});
      if (original > uint64_t{1} << (kLevelBase + (token & 0x0f))) return Status::Invalid("an LZ4 block larger than its level allows");
      if (original == 0) {
        if (compressed != 0 || checksum != 0) return Status::Invalid("a damaged LZ4 end block");
        continue;
      }
      if (compressed > static_cast<uint32_t>(LZ4_compressBound(static_cast<int>(original)))) {
        return Status::Invalid("an LZ4 block that compression made much longer");
      }
      ARROW_ASSIGN_OR_RAISE(const std::string_view data, reader_.Take(compressed, "an LZ4 block"));
      return ReadBlock(method, data, original, checksum, out);
    }
    return false;
  }

 private:
  Result<bool> ReadBlock(uint8_t method, std::string_view data, uint32_t original, uint32_t checksum, std::string* out) {
    const size_t begin = out->size();
    if (method == kMethodStored) {
      if (data.size() != original) return Status::Invalid("a stored LZ4 block with two lengths");
      out->append(data);
    } else {
      out->resize(begin + original);
      const int size = LZ4_decompress_safe(data.data(), out->data() + begin, static_cast<int>(data.size()), static_cast<int>(original));
      if (size != static_cast<int>(original)) return Status::Invalid("a damaged LZ4 block");
    }
    if (Checksum(std::string_view(*out).substr(begin)) != checksum) return Status::Invalid("an LZ4 block whose checksum is wrong");
    return true;
  }

  ByteReader reader_;
};

}  // namespace

std::unique_ptr<Compressor> MakeLz4Compressor() { return std::make_unique<Lz4Compressor>(); }
std::unique_ptr<Decompressor> MakeLz4Decompressor(std::string_view bytes) { return std::make_unique<Lz4Decompressor>(bytes); }

}  // namespace tidemill::state
