#include "table/block/block_buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>

namespace ashlar {
namespace {

TEST(BlockBufferTest, TheNextOneOfAboutTheSameSizeGetsTheSameMemory) {
  const char* first = nullptr;
  {
    const BlockBuffer buffer(4100);
    first = buffer.get();
    EXPECT_GE(buffer.capacity(), 4100u);
  }
  BlockBuffer next(4000);
  EXPECT_EQ(next.get(), first);
  EXPECT_EQ(next.capacity(), 4100u);
  memset(next.get(), 'x', next.capacity());
  const BlockBuffer beside(4000);
  EXPECT_NE(beside.get(), first) << "it is in use";
}

TEST(BlockBufferTest, ItIsNotGivenToOneOfAnotherSize) {
  {
    const BlockBuffer buffer(4100);
  }
  const BlockBuffer small(100);
  EXPECT_EQ(small.capacity(), 100u);
  const BlockBuffer large(100000);
  EXPECT_EQ(large.capacity(), 100000u);
}

TEST(BlockBufferTest, MovingPassesItOn) {
  BlockBuffer from(10);
  const char* const data = from.get();
  BlockBuffer to(std::move(from));
  EXPECT_EQ(to.get(), data);
  BlockBuffer other;
  EXPECT_FALSE(other);
  other = std::move(to);
  EXPECT_EQ(other.get(), data);
}

TEST(BlockBufferTest, OneThatStaysIsNotKeptByTheThread) {
  for (const size_t n : {size_t{100}, size_t{65536}, size_t{700001}}) {
    BlockBuffer buffer = BlockBuffer::OfPages(n);
    ASSERT_TRUE(buffer);
    EXPECT_EQ(buffer.capacity(), n);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.get()) % 4096 == 0, n >= 65536);
    memset(buffer.get(), 'p', n);
    BlockBuffer moved(std::move(buffer));
    buffer = BlockBuffer(50);
    std::swap(buffer, moved);
    EXPECT_EQ(buffer.get()[n - 1], 'p');
  }
  const BlockBuffer ordinary(65536);
  EXPECT_EQ(ordinary.capacity(), 65536u);
}

TEST(BlockBufferTest, AnyThreadMayGiveItBackAndEnd) {
  BlockBuffer buffer(5000);
  std::thread([taken = std::move(buffer)] { memset(taken.get(), 'y', taken.capacity()); }).join();
  std::thread([] {
    for (size_t n = 1; n < 100000; n += 997) memset(BlockBuffer(n).get(), 'z', n);
  }).join();
}

}  // namespace
}  // namespace ashlar
