// CopyCounter: counts the bytes that a library copies, without its help.
//
// bench_copies.so is preloaded. Its memcpy and memmove replace the C library's for the driver, the
// library under test and the C++ library, and count while counting is enabled. Copies that the
// compiler expanded inline are not counted. Copies of a size known only at run time, such as those
// of values, are calls. Counting slows the run down, so no time of such a run is used.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ashlar::bench {

struct CopyCounter {
  // Counts from zero, in all threads. Copies of at least `value_bytes` also count as values.
  void (*start)(size_t value_bytes);
  void (*stop)(uint64_t* bytes, uint64_t* copies_of_values);
};

inline constexpr const char* kCopyCounterName = "ashlar_bench_copy_counter";

// Returns null if the counter was not preloaded.
const CopyCounter* FindCopyCounter();

}  // namespace ashlar::bench
