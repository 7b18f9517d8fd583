// Files of the logs of file sources and file sinks: any text is lines or an error; what was read is printed as text that reads the same.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "checkpoint/compactible_log.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tidemill::checkpoint;
  const auto lines = ParseLogLines(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!lines.ok()) return 0;
  const auto again = ParseLogLines(PrintLogLines(*lines));
  // A last line that is empty ends the text and is none; a line's own carriage return goes with its end.
  if (!again.ok() || again->size() > lines->size()) std::abort();
  return 0;
}
