#include <zstd.h>

#include "state/codecs_internal.h"

namespace tidemill::state {
namespace {

constexpr int kLevel = 1;
/// A window of more would let a small file ask for gigabytes; Java's binding has the same limit.
constexpr int kMaxWindowLog = 27;

struct FreeCompression {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};
struct FreeDecompression {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

class ZstdCompressor final : public Compressor {
 public:
  ZstdCompressor() : context_(ZSTD_createCCtx()) { ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, kLevel); }

  Status Write(std::string_view bytes, std::string* out) override { return Run(bytes, ZSTD_e_continue, out); }
  Status Finish(std::string* out) override { return Run({}, ZSTD_e_end, out); }

 private:
  Status Run(std::string_view bytes, ZSTD_EndDirective directive, std::string* out) {
    ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
    buffer_.resize(ZSTD_CStreamOutSize());
    while (true) {
      ZSTD_outBuffer output{buffer_.data(), buffer_.size(), 0};
      const size_t left = ZSTD_compressStream2(context_.get(), &output, &input, directive);
      if (ZSTD_isError(left)) return InternalError("zstd: {}", ZSTD_getErrorName(left));
      out->append(buffer_.data(), output.pos);
      if (directive == ZSTD_e_end ? left == 0 : input.pos == input.size) return Status::OK();
    }
  }

  std::unique_ptr<ZSTD_CCtx, FreeCompression> context_;
  std::string buffer_;
};

class ZstdDecompressor final : public Decompressor {
 public:
  explicit ZstdDecompressor(std::string_view bytes) : context_(ZSTD_createDCtx()), input_{bytes.data(), bytes.size(), 0} {
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, kMaxWindowLog);
  }

  Result<bool> Read(std::string* out) override {
    buffer_.resize(ZSTD_DStreamOutSize());
    while (input_.pos < input_.size || inside_frame_) {
      ZSTD_outBuffer output{buffer_.data(), buffer_.size(), 0};
      const size_t before = input_.pos;
      const size_t left = ZSTD_decompressStream(context_.get(), &output, &input_);
      if (ZSTD_isError(left)) return Status::Invalid("zstd: ", ZSTD_getErrorName(left));
      inside_frame_ = left != 0;
      if (output.pos > 0) {
        out->append(buffer_.data(), output.pos);
        return true;
      }
      if (inside_frame_ && input_.pos == before) return Status::Invalid("a zstd frame without its end");
    }
    return false;
  }

 private:
  std::unique_ptr<ZSTD_DCtx, FreeDecompression> context_;
  ZSTD_inBuffer input_;
  std::string buffer_;
  bool inside_frame_ = false;
};

}  // namespace

std::unique_ptr<Compressor> MakeZstdCompressor() { return std::make_unique<ZstdCompressor>(); }
std::unique_ptr<Decompressor> MakeZstdDecompressor(std::string_view bytes) { return std::make_unique<ZstdDecompressor>(bytes); }

}  // namespace tidemill::state
