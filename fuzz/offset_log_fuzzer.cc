// Entries of the offset log: any text is an entry or an error; an entry that was read is printed as text that reads as the same entry.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "checkpoint/offset_log.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemill::checkpoint;
  const auto entry = ParseOffsetEntry(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!entry.ok()) {
    if (entry.status().message().empty()) std::abort();
    return 0;
  }
  const std::string text = PrintOffsetEntry(*entry);
  const auto again = ParseOffsetEntry(text);
  if (!again.ok() || again->version != entry->version || again->batch_watermark_ms != entry->batch_watermark_ms || again->conf != entry->conf ||
      again->source_ids != entry->source_ids || PrintOffsetEntry(*again) != text) {
    std::abort();
  }
  return 0;
}
