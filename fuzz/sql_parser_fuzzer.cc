// Any text is either SQL or an error with a place: never a crash, never an endless loop, and never a tree too high to walk.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sql/parser.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  tidemill::Result<std::vector<tidemill::sql::Statement>> script = tidemill::sql::ParseScript(text);
  if (!script.ok()) {
    if (tidemill::ErrorDetail::Of(script.status()) == nullptr) std::abort();
    if (tidemill::sql::RenderError(script.status(), "fuzz.sql", text).empty()) std::abort();
    return 0;
  }
  for (const tidemill::sql::Statement& statement : *script) {
    const auto* query = std::get_if<tidemill::sql::QueryStatement>(&statement.node);
    if (query != nullptr && query->query->ToString().empty()) std::abort();
  }
  return 0;
}
