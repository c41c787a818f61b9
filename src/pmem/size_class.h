// The size classes of a pool's heap. An object of up to 16 KiB takes the bytes of its class.
//
//   multiples of 16 bytes up to 1 KiB, then 8 classes per doubling up to 16 KiB
//
// I1: a class holds the sizes above those of the previous class.
// I2: at most an eighth of an object above 1 KiB is unused, at most 15 bytes of a smaller one.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>

namespace ashlar::pmem {

inline constexpr uint64_t kSmallBytesMax = uint64_t{16} << 10;
inline constexpr uint32_t kSizeClasses = 96;

// The class of a size from 1 to kSmallBytesMax, and the bytes of an object of a class.
uint32_t SizeClassOf(uint64_t bytes);
uint64_t SizeClassBytes(uint32_t size_class);

}  // namespace ashlar::pmem
