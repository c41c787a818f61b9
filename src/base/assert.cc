#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace ashlar {

void AssertFailed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "ashlar: assertion failed: %s, %s:%d\n", condition, file, line);
  std::fflush(stderr);
  std::abort();
}

}  // namespace ashlar
