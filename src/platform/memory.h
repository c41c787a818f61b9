// Pages: their size, and advice about them.
#pragma once

#include <cstddef>

namespace ashlar {

// Bytes of an ordinary page; a power of two.
size_t PageBytes();

// Asks that [start, start + bytes) be backed by huge pages as it is touched. Advice only: never fails, and parts that do not fill a huge page are
// left alone. Its signature fits the hook of base/arena.h.
void AdviseHugePages(void* start, size_t bytes);

}  // namespace ashlar
