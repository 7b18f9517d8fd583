// Entries of the commit log: any text is an entry or an error; an entry that was read is printed as text that reads as the same entry.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "checkpoint/commit_log.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemill::checkpoint;
  const auto entry = ParseCommitEntry(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!entry.ok()) return 0;
  const auto again = ParseCommitEntry(PrintCommitEntry(*entry));
  if (!again.ok() || again->version != entry->version || again->next_batch_watermark_ms != entry->next_batch_watermark_ms ||
      again->state_unique_ids_json != entry->state_unique_ids_json) {
    std::abort();
  }
  return 0;
}
