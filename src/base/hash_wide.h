// Hash64 for processors with wide vectors, for long inputs: see hash.cc.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/compiler.h"

namespace ashlar {

#if ASHLAR_X86_64
// Returns the value of Hash64. Requires: ASHLAR_CPU_HAS_AVX2().
uint64_t Hash64Avx2(const char* data, size_t n);
#endif

}  // namespace ashlar
