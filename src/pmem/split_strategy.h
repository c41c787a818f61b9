// SplitStrategy: the treatment of the entries that move to the new leaf of a split. A tree uses
// kZeroCopySwap. The others are for tests and measurements.
#pragma once

#include <cstdint>

namespace ashlar::pmem {

enum class SplitStrategy : uint8_t {
  kZeroCopySwap,  // move the slots; no key or value is copied
  kCopyOrSwap,    // copy entries of up to 64 bytes, move the slots of others
  kNaiveCopy,     // copy every entry
};

}  // namespace ashlar::pmem
