// Each function has the name of a libpmem function that libpmemobj calls. It counts, and calls the
// real one. The dynamic linker finds the program's functions first.
#include "bench/pmem/pmdk_counters.h"

#include <dlfcn.h>
#include <libpmem.h>

namespace ashlar::bench {

bool pmdk_is_counted = false;
Durables pmdk_counted;

namespace {

void Count(const void* start, size_t bytes, bool flushes, bool fences) {
  if (!pmdk_is_counted) return;
  constexpr uintptr_t kLine = 64;
  const auto at = reinterpret_cast<uintptr_t>(start);
  if (flushes && bytes > 0) pmdk_counted.lines += (at + bytes - 1) / kLine - at / kLine + 1;
  if (fences) pmdk_counted.fences++;
}

template <typename Function>
Function* Real(const char* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) Fail(std::string("libpmem has no ") + name);
  return reinterpret_cast<Function*>(found);
}

void CountCopy(const void* to, size_t bytes, unsigned flags) {
  Count(to, bytes, (flags & PMEM_F_MEM_NOFLUSH) == 0,
        (flags & (PMEM_F_MEM_NOFLUSH | PMEM_F_MEM_NODRAIN)) == 0);
}

}  // namespace
}  // namespace ashlar::bench

using ashlar::bench::Count;
using ashlar::bench::CountCopy;
using ashlar::bench::Real;

extern "C" {

void pmem_persist(const void* address, size_t bytes) {
  static const auto real = Real<decltype(pmem_persist)>("pmem_persist");
  Count(address, bytes, true, true);
  real(address, bytes);
}

int pmem_msync(const void* address, size_t bytes) {
  static const auto real = Real<decltype(pmem_msync)>("pmem_msync");
  Count(address, bytes, true, true);
  return real(address, bytes);
}

void pmem_flush(const void* address, size_t bytes) {
  static const auto real = Real<decltype(pmem_flush)>("pmem_flush");
  Count(address, bytes, true, false);
  real(address, bytes);
}

void pmem_drain(void) {
  static const auto real = Real<decltype(pmem_drain)>("pmem_drain");
  Count(nullptr, 0, false, true);
  real();
}

void* pmem_memcpy(void* to, const void* from, size_t bytes, unsigned flags) {
  static const auto real = Real<decltype(pmem_memcpy)>("pmem_memcpy");
  CountCopy(to, bytes, flags);
  return real(to, from, bytes, flags);
}

void* pmem_memmove(void* to, const void* from, size_t bytes, unsigned flags) {
  static const auto real = Real<decltype(pmem_memmove)>("pmem_memmove");
  CountCopy(to, bytes, flags);
  return real(to, from, bytes, flags);
}

void* pmem_memset(void* to, int c, size_t bytes, unsigned flags) {
  static const auto real = Real<decltype(pmem_memset)>("pmem_memset");
  CountCopy(to, bytes, flags);
  return real(to, c, bytes, flags);
}

}  // extern "C"
