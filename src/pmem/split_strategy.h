// SplitStrategy: the treatment of the entries that move to the new leaf of a split. A tree has
// kZeroCopySwap. The others are for tests and measurements.
#pragma once

#include <cstdint>

namespace ashlar::pmem {

enum class SplitStrategy : uint8_t {
  kZeroCopySwap,  // hand the slots over; no key or value moves
  kCopyOrSwap,    // copy entries of up to 64 bytes, hand over the others
  kNaiveCopy,     // copy every entry
};

}  // namespace ashlar::pmem
