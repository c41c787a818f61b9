// How the driver ends early: one line on stderr, and an exit code that the orchestrator
// distinguishes.
#pragma once

#include <string>

namespace ashlar::bench {

inline constexpr int kExitFailed = 1;
inline constexpr int kExitNotAvailable = 3;

// Reports a failure. No number of this run may be used.
[[noreturn]] void Fail(const std::string& message);

// The library lacks a function that the workload needs, or refuses an option that it needs. The row
// is reported as not available.
[[noreturn]] void NotAvailable(const std::string& message);

}  // namespace ashlar::bench
