// Where mappings may lie so that huge pages fit. Private to src/platform/posix.
#pragma once

#include <cstddef>

namespace ashlar {

// Of x86-64, and of arm64 with pages of 4 KiB.
inline constexpr size_t kHugePageBytes = size_t{2} << 20;

// Where a mapping of so many bytes can have its huge pages whole; null: it is too small for one, or
// there is no room. A hint: the system may choose another place. Thread safety: any thread.
void* AddressForHugePages(size_t bytes) noexcept;

}  // namespace ashlar
