#pragma once

// Assertions about our own code. TIDEMILL_CHECK stays on in production where durable data is at stake; TIDEMILL_DCHECK guards hot loops.

namespace tidemill {
/// Print `expression` and its place, then abort.
[[noreturn]] void CheckFailed(const char* expression, const char* file, int line);
}  // namespace tidemill

#define TIDEMILL_CHECK(condition) \
  (__builtin_expect(!!(condition), 1) ? (void)0 : ::tidemill::CheckFailed(#condition, __FILE__, __LINE__))

#ifdef NDEBUG
#define TIDEMILL_DCHECK(condition) ((void)0)
#else
#define TIDEMILL_DCHECK(condition) TIDEMILL_CHECK(condition)
#endif
