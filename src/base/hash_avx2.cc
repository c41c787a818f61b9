// XXH3 with AVX2. The build compiles only this file for that instruction set, so it must define
// nothing that another file could share. Called only if the processor supports it.
#include "base/hash_wide.h"

#if ASHLAR_X86_64 && defined(__AVX2__)
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ashlar {

uint64_t Hash64Avx2(const char* data, size_t n) { return XXH3_64bits(data, n); }

}  // namespace ashlar
#endif
