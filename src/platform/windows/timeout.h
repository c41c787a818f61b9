// Converts time-outs of waits to the system's unit. For this folder only.
#pragma once

#include <cstdint>

#include "platform/windows/windows_headers.h"

namespace ashlar {

// Rounds up to whole milliseconds. Never returns INFINITE.
inline DWORD TimeoutMillis(uint64_t timeout_us) {
  const uint64_t milliseconds = timeout_us / 1000 + (timeout_us % 1000 != 0 ? 1 : 0);
  constexpr uint64_t kLongest = INFINITE - 1;
  return static_cast<DWORD>(milliseconds < kLongest ? milliseconds : kLongest);
}

}  // namespace ashlar
