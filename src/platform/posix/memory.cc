#include "platform/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace ashlar {

namespace {

constexpr size_t kHugePageBytes = size_t{2} << 20;

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

void* MapPages(size_t bytes) noexcept {
  const size_t wanted = WholePages(bytes);
  const size_t slack = wanted >= kHugePageBytes ? kHugePageBytes : 0;
  if (wanted < bytes || wanted + slack < wanted) return nullptr;
  void* const mapped = ::mmap(nullptr, wanted + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  if (slack == 0) return mapped;
  char* const first = static_cast<char*>(mapped);
  const size_t before = (0 - reinterpret_cast<uintptr_t>(mapped)) & (kHugePageBytes - 1);
  if (before > 0) ::munmap(first, before);
  if (before < slack) ::munmap(first + before + wanted, slack - before);
  AdviseHugePages(first + before, wanted);
  return first + before;
}

void UnmapPages(void* start, size_t bytes) noexcept { ::munmap(start, WholePages(bytes)); }

}  // namespace ashlar
