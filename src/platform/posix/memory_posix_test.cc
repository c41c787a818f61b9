#include <gtest/gtest.h>

#include <cstdint>

#include "platform/memory.h"
#include "platform/posix/huge_pages.h"

namespace ashlar {
namespace {

TEST(PosixMemory, LargePiecesBeginOnAHugePage) {
  for (const size_t bytes : {kHugePageBytes, 2 * kHugePageBytes, 2 * kHugePageBytes + 4096}) {
    void* const first = MapPages(bytes);
    void* const second = MapPages(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % kHugePageBytes, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(second) % kHugePageBytes, 0u);
    UnmapPages(first, bytes);
    UnmapPages(second, bytes);
  }
}

}  // namespace
}  // namespace ashlar
