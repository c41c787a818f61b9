// CopyCounter: how many bytes a library copies, seen from outside.
//
// bench_copies.so is preloaded: its memcpy and memmove replace the C library's for the driver, the
// library under test and the C++ library, and count while counting is enabled. Copies that the
// compiler expanded inline are not counted; copies of a size known only at run time, such as those
// of values, are calls. It slows the run down, so no time of such a run is used.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ashlar::bench {

struct CopyCounter {
  // Counts from zero, in all threads; copies of at least `value_bytes` are also counted one by one.
  void (*start)(size_t value_bytes);
  void (*stop)(uint64_t* bytes, uint64_t* copies_of_values);
};

inline constexpr const char* kCopyCounterName = "ashlar_bench_copy_counter";

// Null if the counter was not preloaded.
const CopyCounter* FindCopyCounter();

}  // namespace ashlar::bench
