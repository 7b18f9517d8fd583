// Delta and snapshot files of every codec: the first byte says which of them the rest is taken for. Whatever the bytes are, reading ends in records or in an error.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "row/unsafe_row.h"
#include "state/delta_file.h"

namespace {

const char* CodecOf(uint8_t selector) {
  constexpr const char* kCodecs[] = {"lz4", "zstd", "snappy", "lzf"};
  return kCodecs[selector % 4];
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const uint8_t selector = data[0];
  const tidemill::state::StateFileFormat format{CodecOf(selector), (selector & 4) != 0};
  const auto kind = (selector & 8) != 0 ? tidemill::state::StateFileKind::kSnapshot : tidemill::state::StateFileKind::kDelta;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  auto reader = tidemill::state::StateFileReader::Make(format, kind, "1.delta", bytes);
  if (!reader.ok()) return 0;
  // A few bytes can repeat themselves into gigabytes of good records: a bound keeps the run short.
  for (int records = 0; records < 10'000; ++records) {
    auto record = (*reader)->Next();
    if (!record.ok() || !*record) return 0;
  }
  return 0;
}
