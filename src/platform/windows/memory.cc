#include "platform/memory.h"

#include "platform/windows/windows_headers.h"

namespace ashlar {

size_t PageBytes() {
  static const size_t bytes = [] {
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return static_cast<size_t>(info.dwPageSize);
  }();
  return bytes;
}

// Large pages need a privilege here, cannot be advised afterwards, and are never paged out. A
// library must not request them.
void AdviseHugePages(void*, size_t) {}

void* MapPages(size_t bytes) noexcept {
  return VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void UnmapPages(void* start, size_t /*bytes*/) noexcept { VirtualFree(start, 0, MEM_RELEASE); }

}  // namespace ashlar
