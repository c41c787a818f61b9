#include "bench/driver/copies.h"

#include <atomic>

// Written without calls to the replaced functions. The build keeps the compiler from recognising
// the loops.
namespace {

std::atomic<bool> counting{false};
std::atomic<uint64_t> bytes_copied{0};
std::atomic<uint64_t> values_copied{0};
std::atomic<size_t> value_bytes_min{0};

void Count(size_t bytes) {
  if (!counting.load(std::memory_order_relaxed)) return;
  bytes_copied.fetch_add(bytes, std::memory_order_relaxed);
  if (bytes >= value_bytes_min.load(std::memory_order_relaxed))
    values_copied.fetch_add(1, std::memory_order_relaxed);
}

void* CopyForward(void* to, const void* from, size_t bytes) {
  char* const target = static_cast<char*>(to);
  const char* const source = static_cast<const char*>(from);
  for (size_t i = 0; i < bytes; i++) target[i] = source[i];
  return to;
}

void Start(size_t value_bytes) {
  bytes_copied.store(0, std::memory_order_relaxed);
  values_copied.store(0, std::memory_order_relaxed);
  value_bytes_min.store(value_bytes, std::memory_order_relaxed);
  counting.store(true, std::memory_order_relaxed);
}

void Stop(uint64_t* bytes, uint64_t* copies_of_values) {
  counting.store(false, std::memory_order_relaxed);
  *bytes = bytes_copied.load(std::memory_order_relaxed);
  *copies_of_values = values_copied.load(std::memory_order_relaxed);
}

}  // namespace

extern "C" {

extern const ashlar::bench::CopyCounter ashlar_bench_copy_counter;
const ashlar::bench::CopyCounter ashlar_bench_copy_counter = {.start = Start, .stop = Stop};

void* memcpy(void* __restrict to, const void* __restrict from, size_t bytes) noexcept {
  Count(bytes);
  return CopyForward(to, from, bytes);
}

void* memmove(void* to, const void* from, size_t bytes) noexcept {
  Count(bytes);
  if (to <= from) return CopyForward(to, from, bytes);
  char* const target = static_cast<char*>(to);
  const char* const source = static_cast<const char*>(from);
  for (size_t i = bytes; i > 0; i--) target[i - 1] = source[i - 1];
  return to;
}

}  // extern "C"
