#include "platform/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "platform/posix/huge_pages.h"

namespace ashlar {

namespace {

size_t WholePages(size_t bytes) { return (bytes + PageBytes() - 1) & ~(PageBytes() - 1); }

}  // namespace

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

void* AddressForHugePages(size_t bytes) noexcept {
  const size_t room_bytes = bytes + kHugePageBytes;
  if (bytes < kHugePageBytes || room_bytes < bytes) return nullptr;
  void* const room =
      ::mmap(nullptr, room_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return nullptr;
  ::munmap(room, room_bytes);
  return reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(room) + kHugePageBytes - 1) /
                                 kHugePageBytes * kHugePageBytes);
}

void* MapPages(size_t bytes) noexcept {
  const size_t wanted = WholePages(bytes);
  if (wanted < bytes) return nullptr;
  void* const mapped = ::mmap(AddressForHugePages(wanted), wanted, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  AdviseHugePages(mapped, wanted);
  return mapped;
}

void UnmapPages(void* start, size_t bytes) noexcept { ::munmap(start, WholePages(bytes)); }

}  // namespace ashlar
