// ASHLAR_ASSERT: a condition that is false only if Ashlar has a bug. It stays on in release builds:
// a broken invariant in a storage engine is better stopped than written to disk. Never for data
// from a disk, from a caller or from the operating system: those are answered with a Status.
//
// ASHLAR_DCHECK: the same in builds without NDEBUG, for checks on hot paths; otherwise the
// condition is compiled but not evaluated. kDebugChecks is true in those builds: `if constexpr`
// with it calls a CheckInvariants that costs more than what it checks.
#pragma once

#include "base/compiler.h"

namespace ashlar {

// Writes the condition and its place to standard error and aborts.
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
