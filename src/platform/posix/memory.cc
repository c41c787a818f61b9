#include "platform/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace ashlar {

size_t PageBytes() {
  static const size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

void AdviseHugePages(void* start, size_t bytes) {
  const uintptr_t mask = PageBytes() - 1;
  const uintptr_t first = (reinterpret_cast<uintptr_t>(start) + mask) & ~mask;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(start) + bytes) & ~mask;
  if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

}  // namespace ashlar
