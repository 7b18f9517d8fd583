#include <algorithm>
#include <array>

#include "state/codecs_internal.h"

namespace tidemill::state {
namespace {

// Chunks "ZV", type, lengths (BE), data; no end mark. The data are operations: a control byte below 32 copies that many literals and one
// more; a larger one copies (control >> 5) + 2 bytes (7: the next byte adds to it) from `distance` bytes back, whose low byte comes last.
constexpr std::string_view kMagic = "ZV";
constexpr char kStored = 0;
constexpr char kCompressed = 1;
constexpr size_t kChunkBytes = 65535;
constexpr size_t kMaxLiterals = 32;
constexpr size_t kMinMatch = 3;
constexpr size_t kMaxMatch = 2 + 7 + 255;
constexpr size_t kMaxDistance = 8192;
constexpr int kHashBits = 14;

uint32_t HashOfThree(const uint8_t* at) {
  const uint32_t three = at[0] | uint32_t{at[1]} << 8 | uint32_t{at[2]} << 16;
  return (three * 2654435761u) >> (32 - kHashBits);
}

class LzfEncoder {
 public:
  /// Append the operations for `block` (at most 64 KiB) to `out`.
  void Encode(std::string_view block, std::string* out) {
    const auto* begin = reinterpret_cast<const uint8_t*>(block.data());
    const size_t size = block.size();
    last_seen_.fill(kNever);
    size_t literals = 0;  // where the literals not yet written begin
    size_t at = 0;
    while (at + kMinMatch <= size) {
      uint32_t& seen = last_seen_[HashOfThree(begin + at)];
      const uint32_t candidate = seen;
      seen = static_cast<uint32_t>(at);
      if (candidate == kNever || at - candidate > kMaxDistance || std::memcmp(begin + candidate, begin + at, kMinMatch) != 0) {
        ++at;
        continue;
      }
      size_t length = kMinMatch;
      const size_t limit = std::min(size - at, kMaxMatch);
      while (length < limit && begin[candidate + length] == begin[at + length]) ++length;
      WriteLiterals(block.substr(literals, at - literals), out);
      WriteMatch(length, at - candidate, out);
      at += length;
      literals = at;
    }
    WriteLiterals(block.substr(literals), out);
  }

 private:
  static void WriteLiterals(std::string_view bytes, std::string* out) {
    while (!bytes.empty()) {
      const size_t run = std::min(bytes.size(), kMaxLiterals);
      out->push_back(static_cast<char>(run - 1));
      out->append(bytes.substr(0, run));
      bytes.remove_prefix(run);
    }
  }
  static void WriteMatch(size_t length, size_t distance, std::string* out) {
    const size_t back = distance - 1;
    const size_t code = length - 2;
    out->push_back(static_cast<char>(std::min<size_t>(code, 7) << 5 | back >> 8));
    if (code >= 7) out->push_back(static_cast<char>(code - 7));
    out->push_back(static_cast<char>(back & 0xff));
  }

  static constexpr uint32_t kNever = ~uint32_t{0};
  std::array<uint32_t, size_t{1} << kHashBits> last_seen_;
};

class LzfCompressor final : public BlockCompressor {
 public:
  LzfCompressor() : BlockCompressor(kChunkBytes), encoder_(std::make_unique<LzfEncoder>()) {}

 protected:
  Status WriteBlock(std::string_view block, std::string* out) override {
    scratch_.clear();
    encoder_->Encode(block, &scratch_);
    out->append(kMagic);
    // A compressed chunk spends two bytes more on its header.
    if (scratch_.size() + 2 < block.size()) {
      out->push_back(kCompressed);
      AppendBig16(static_cast<uint16_t>(scratch_.size()), out);
      AppendBig16(static_cast<uint16_t>(block.size()), out);
      out->append(scratch_);
    } else {
      out->push_back(kStored);
      AppendBig16(static_cast<uint16_t>(block.size()), out);
      out->append(block);
    }
    return Status::OK();
  }

 private:
  std::unique_ptr<LzfEncoder> encoder_;
  std::string scratch_;
};

Status Decode(std::string_view data, size_t original, std::string* out) {
  const size_t begin = out->size();
  const size_t end = begin + original;
  ByteReader reader(data);
  while (reader.left() > 0) {
    ARROW_ASSIGN_OR_RAISE(const std::string_view control_byte, reader.Take(1, "an LZF chunk"));
    const auto control = static_cast<uint8_t>(control_byte[0]);
    if (control < kMaxLiterals) {
      ARROW_ASSIGN_OR_RAISE(const std::string_view literals, reader.Take(size_t{control} + 1, "an LZF chunk"));
      if (out->size() + literals.size() > end) return Status::Invalid("an LZF chunk longer than it says");
      out->append(literals);
      continue;
    }
    size_t length = (control >> 5) + 2u;
    if (control >> 5 == 7) {
      ARROW_ASSIGN_OR_RAISE(const std::string_view more, reader.Take(1, "an LZF chunk"));
      length += static_cast<uint8_t>(more[0]);
    }
    ARROW_ASSIGN_OR_RAISE(const std::string_view low, reader.Take(1, "an LZF chunk"));
    const size_t distance = (static_cast<size_t>(control & 31) << 8 | static_cast<uint8_t>(low[0])) + 1;
    if (distance > out->size() - begin || out->size() + length > end) return Status::Invalid("an LZF chunk that copies from outside");
    // Source and target may overlap: a run repeats itself byte by byte.
    for (size_t i = 0; i < length; ++i) out->push_back((*out)[out->size() - distance]);
  }
  return out->size() == end ? Status::OK() : Status::Invalid("an LZF chunk shorter than it says");
}

class LzfDecompressor final : public Decompressor {
 public:
  explicit LzfDecompressor(std::string_view bytes) : reader_(bytes) {}

  Result<bool> Read(std::string* out) override {
    if (reader_.left() == 0) return false;
    ARROW_ASSIGN_OR_RAISE(const std::string_view header, reader_.Take(5, "an LZF chunk header"));
    if (!header.starts_with(kMagic)) return Status::Invalid("no LZF chunk where one should begin");
    const size_t stored = LoadBig16(header.data() + 3);
    if (header[2] == kStored) {
      ARROW_ASSIGN_OR_RAISE(const std::string_view data, reader_.Take(stored, "an LZF chunk"));
      out->append(data);
      return true;
    }
    if (header[2] != kCompressed) return Status::Invalid("an LZF chunk of unknown type ", int{header[2]});
    ARROW_ASSIGN_OR_RAISE(const std::string_view length, reader_.Take(2, "an LZF chunk header"));
    ARROW_ASSIGN_OR_RAISE(const std::string_view data, reader_.Take(stored, "an LZF chunk"));
    ARROW_RETURN_NOT_OK(Decode(data, LoadBig16(length.data()), out));
    return true;
  }

 private:
  ByteReader reader_;
};

}  // namespace

std::unique_ptr<Compressor> MakeLzfCompressor() { return std::make_unique<LzfCompressor>(); }
std::unique_ptr<Decompressor> MakeLzfDecompressor(std::string_view bytes) { return std::make_unique<LzfDecompressor>(bytes); }

}  // namespace tidemill::state
