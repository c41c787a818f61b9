// Tests of clocks, processors and pages.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "platform/clock.h"
#include "platform/cpu.h"
#include "platform/memory.h"
#include "platform/page_allocator.h"

namespace ashlar {
namespace {

TEST(PlatformClock, MonotonicTimeNeverGoesBack) {
  uint64_t last = MonotonicNanos();
  for (int i = 0; i < 10000; i++) {
    const uint64_t now = MonotonicNanos();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(PlatformClock, SleepingTakesAtLeastTheTimeAsked) {
  const uint64_t start = MonotonicNanos();
  SleepForMicros(300);
  EXPECT_GE(MonotonicNanos() - start, 300'000u);
}

TEST(PlatformClock, WallTimeIsInMicrosecondsSince1970) {
  constexpr uint64_t kYear2020 = 1'577'836'800'000'000;
  constexpr uint64_t kYear2200 = 7'258'118'400'000'000;
  EXPECT_GT(UnixMicros(), kYear2020);
  EXPECT_LT(UnixMicros(), kYear2200);
}

TEST(PlatformCpu, ThereIsAProcessor) { EXPECT_GE(HardwareThreads(), 1u); }

TEST(PlatformMemory, AdviceIsHarmlessForAnyRange) {
  EXPECT_EQ(PageBytes() & (PageBytes() - 1), 0u);
  std::vector<char> memory(3 * PageBytes() + 100, 'x');
  AdviseHugePages(memory.data() + 1, memory.size() - 1);
  AdviseHugePages(memory.data(), 0);
  AdviseHugePages(memory.data() + 5, 10);
  for (const char c : memory) ASSERT_EQ(c, 'x');
}

TEST(PlatformMemory, PagedVectorsGrowOverTheBorderOfMappedMemory) {
  constexpr size_t kBorder = PageAllocator<uint64_t>::kMappedBytesMin / sizeof(uint64_t);
  PagedVector<uint64_t> numbers;
  for (uint64_t i = 0; i < 3 * kBorder; ++i) numbers.push_back(i * i);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(numbers.data()) % PageBytes(), 0u);
  const PagedVector<uint64_t> copy = numbers;
  numbers.resize(kBorder / 2);
  numbers.shrink_to_fit();
  for (uint64_t i = 0; i < copy.size(); ++i) ASSERT_EQ(copy[i], i * i);
  for (uint64_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], i * i);
  EXPECT_THROW(PageAllocator<uint64_t>().allocate(SIZE_MAX / 2), std::bad_alloc);
  for (const size_t n : {size_t{1}, kBorder - 1, kBorder, 3 * kBorder}) {
    ZeroedArray<uint64_t> zeros(n);
    ASSERT_EQ(zeros.size(), n);
    for (size_t i = 0; i < n; ++i)
      ASSERT_EQ(std::exchange(zeros[i], ~uint64_t{0}), 0u) << i << " of " << n;
    const ZeroedArray<uint64_t> moved(std::move(zeros));
    EXPECT_EQ(moved[n - 1], ~uint64_t{0});
  }
}

TEST(PlatformMemory, MappedPagesAreZeroAndWritable) {
  for (const size_t bytes :
       {size_t{1}, PageBytes(), size_t{1} << 20, (size_t{2} << 20) + 5, size_t{4} << 20}) {
    std::vector<char*> pieces;
    for (int i = 0; i < 5; ++i) {
      char* const piece = static_cast<char*>(MapPages(bytes));
      ASSERT_NE(piece, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(piece) % PageBytes(), 0u);
      for (size_t at = 0; at < bytes; at += 1000) ASSERT_EQ(piece[at], 0);
      memset(piece, 'a' + i, bytes);
      pieces.push_back(piece);
    }
    char expected = 'a';
    for (char* const piece : pieces) {
      EXPECT_EQ(piece[0], expected);
      EXPECT_EQ(piece[bytes - 1], expected++);
      UnmapPages(piece, bytes);
    }
  }
  EXPECT_EQ(MapPages(~size_t{0} - 5), nullptr);
}

}  // namespace
}  // namespace ashlar
