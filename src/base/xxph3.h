// XXPH3: the preview of XXH3 (xxHash 0.7.2) on which RocksDB built its filters before XXH3 was
// final. Both share constants and structure but give different values. A filter that is built or
// probed with the wrong one misses keys that exist.
//
// Source of the format: RocksDB's util/xxph3.h, which follows xxHash (BSD 2-Clause).
// I1. Bit-exact for every length, with seed 0 and the default secret; xxph3_test.cc holds values
//     made with RocksDB's code.
// Thread safety: a pure function.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ashlar/slice.h"

namespace ashlar {

uint64_t Xxph3Hash64(const char* data, size_t n);
inline uint64_t Xxph3Hash64(const Slice& s) { return Xxph3Hash64(s.data(), s.size()); }

}  // namespace ashlar
