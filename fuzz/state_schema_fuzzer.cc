// State schema files and operator metadata.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "state/operator_metadata.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)tidemill::state::ParseStateSchema(bytes).status();
  (void)tidemill::state::ParseOperatorMetadata(bytes).status();
  return 0;
}
