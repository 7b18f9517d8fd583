#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace tidemill {

void CheckFailed(const char* expression, const char* file, int line) {
  std::fprintf(stderr, "tidemill: assertion failed: %s (%s:%d)\n", expression, file, line);
  std::fflush(stderr);
  std::abort();
}

}  // namespace tidemill
