// ASHLAR_ASSERT: checks a condition that is false only if Ashlar has a bug. It stays on in release
// builds, because stopping is better than writing the results of a bug to disk. Do not use it for
// data from a disk, a caller or the operating system; return a Status for those.
//
// ASHLAR_DCHECK: the same, but only in builds without NDEBUG, for checks on hot paths. Other builds
// compile the condition but do not evaluate it. kDebugChecks is true in builds that evaluate it.
// Use it with `if constexpr` to call a CheckInvariants that costs more than the work it checks.
#pragma once

#include "base/compiler.h"

namespace ashlar {

// Writes the condition and its location to standard error and aborts.
[[noreturn]] void AssertFailed(const char* condition, const char* file, int line) noexcept;

}  // namespace ashlar

#define ASHLAR_ASSERT(cond) \
  (ASHLAR_LIKELY(cond) ? static_cast<void>(0) : ::ashlar::AssertFailed(#cond, __FILE__, __LINE__))

#if defined(NDEBUG)
namespace ashlar {
inline constexpr bool kDebugChecks = false;
}
#define ASHLAR_DCHECK(cond) static_cast<void>(sizeof((cond) ? 1 : 0))
#else
namespace ashlar {
inline constexpr bool kDebugChecks = true;
}
#define ASHLAR_DCHECK(cond) ASHLAR_ASSERT(cond)
#endif
