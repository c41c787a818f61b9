#include "memtable/arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.h"

namespace ashlar {
namespace {

constexpr size_t kMin = ArenaBlockPool::kBlockBytesMin;
constexpr size_t kMax = ArenaBlockPool::kBlockBytesMax;

TEST(ArenaTest, PiecesKeepTheirBytesAndAlignment) {
  constexpr uint64_t kSeed = 1;
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  Random random(kSeed);
  ArenaBlockPool pool({});
  Arena arena(&pool);
  std::vector<std::pair<char*, size_t>> pieces;
  size_t wanted = 0;
  for (size_t i = 0; i < 20000; ++i) {
    const size_t n = random.OneIn(500) ? random.Uniform(200000) : random.Uniform(300);
    const size_t alignment = size_t{1} << random.Uniform(8);
    char* piece = random.OneIn(2) ? arena.Allocate(n) : arena.AllocateAligned(n, alignment);
    ASSERT_NE(piece, nullptr);
    if (pieces.size() % 7 == 0) {
      piece = arena.AllocateAligned(n, alignment);
      ASSERT_EQ(reinterpret_cast<uintptr_t>(piece) % alignment, 0u);
      wanted += n;
    }
    memset(piece, static_cast<int>(i % 251), n);
    pieces.emplace_back(piece, n);
    wanted += n;
    ASSERT_GE(arena.MemoryUsed(), wanted);
    ASSERT_GE(arena.MemoryAllocated(), arena.MemoryUsed());
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    for (size_t at = 0; at < pieces[i].second; ++at)
      ASSERT_EQ(static_cast<unsigned char>(pieces[i].first[at]), i % 251);
  }
}

TEST(ArenaTest, BlocksGrowFromSmallToLarge) {
  ArenaBlockPool pool({});
  Arena arena(&pool);
  EXPECT_EQ(arena.MemoryAllocated(), 0u);
  arena.Allocate(1);
  EXPECT_EQ(arena.MemoryAllocated(), kMin);
  arena.Allocate(kMin);
  EXPECT_EQ(arena.MemoryAllocated(), kMin + 2 * kMin);
  size_t last = arena.MemoryAllocated();
  size_t largest = 0;
  for (int i = 0; i < 30000; ++i) {
    arena.AllocateAligned(1000);
    largest = std::max(largest, arena.MemoryAllocated() - last);
    last = arena.MemoryAllocated();
  }
  EXPECT_EQ(largest, kMax);
  EXPECT_LT(arena.MemoryAllocated(), arena.MemoryUsed() + kMax + kMin);
}

TEST(ArenaTest, ALargePieceDoesNotEndTheCurrentBlock) {
  ArenaBlockPool pool({});
  Arena arena(&pool);
  char* const first = arena.Allocate(100);
  arena.Allocate(2 * kMax);
  EXPECT_EQ(arena.Allocate(50), first + 100);
  EXPECT_EQ(arena.MemoryUsed(), 150 + 2 * kMax);
}

TEST(ArenaTest, EmptyPiecesAreNotNull) {
  ArenaBlockPool pool({});
  Arena arena(&pool);
  EXPECT_NE(arena.Allocate(0), nullptr);
  EXPECT_NE(arena.AllocateAligned(0), nullptr);
  Arena exact(&pool);
  exact.Allocate(kMin);
  EXPECT_NE(exact.Allocate(0), nullptr);
}

TEST(ArenaBlockPoolTest, TheNextArenaGetsTheSameMemory) {
  ArenaBlockPool pool({});
  std::vector<char*> first;
  for (int round = 0; round < 2; ++round) {
    Arena arena(&pool);
    std::vector<char*> pieces;
    for (int i = 0; i < 100; ++i) pieces.push_back(arena.Allocate(10000));
    if (round == 0) {
      first = pieces;
    } else {
      EXPECT_EQ(pieces, first);
      EXPECT_EQ(pool.FreeBytes(), 0u);
    }
  }
  EXPECT_GE(pool.FreeBytes(), 1000000u);
}

TEST(ArenaBlockPoolTest, KeepsNoMoreThanItMay) {
  ArenaBlockPool pool({.free_bytes_max = 3 * kMin});
  std::vector<ArenaBlock> blocks;
  for (int i = 0; i < 5; ++i) blocks.push_back(pool.Acquire(1));
  blocks.push_back(pool.Acquire(kMax + 1));
  for (const ArenaBlock& block : blocks) pool.Release(block);
  EXPECT_EQ(pool.FreeBytes(), 3 * kMin);
}

TEST(ArenaBlockPoolTest, SizesAreTheSmallestThatFit) {
  ArenaBlockPool pool({});
  const std::vector<std::pair<size_t, size_t>> cases = {{0, kMin},
                                                        {1, kMin},
                                                        {kMin, kMin},
                                                        {kMin + 1, 2 * kMin},
                                                        {3 * kMin, 4 * kMin},
                                                        {kMax, kMax},
                                                        {kMax + 1, kMax + 4096}};
  for (const auto& [wanted, expected] : cases) {
    const ArenaBlock block = pool.Acquire(wanted);
    EXPECT_EQ(block.bytes, expected);
    pool.Release(block);
  }
}

size_t mapped_bytes = 0;
size_t unmapped_bytes = 0;

TEST(ArenaBlockPoolTest, LargeBlocksComeFromTheGivenSourceAndGoBackToIt) {
  mapped_bytes = unmapped_bytes = 0;
  {
    ArenaBlockPool pool({.free_bytes_max = kMax,
                         .map = [](size_t bytes) noexcept -> void* {
                           mapped_bytes += bytes;
                           return bytes > (size_t{64} << 20)
                                      ? nullptr
                                      : ::operator new(bytes, std::align_val_t{4096});
                         },
                         .unmap =
                             [](void* start, size_t bytes) noexcept {
                               unmapped_bytes += bytes;
                               ::operator delete(start, std::align_val_t{4096});
                             }});
    for (int round = 0; round < 3; ++round) {
      const ArenaBlock small = pool.Acquire(kMin);
      const ArenaBlock large = pool.Acquire(kMax);
      const ArenaBlock to_measure = pool.Acquire(kMax + 1);
      pool.Release(large);
      pool.Release(to_measure);
      pool.Release(small);
    }
    EXPECT_EQ(mapped_bytes, kMax + 3 * (kMax + 4096)) << "one large block is used again";
    EXPECT_EQ(unmapped_bytes, 3 * (kMax + 4096));
    mapped_bytes = 0;
    EXPECT_THROW(static_cast<void>(pool.Acquire(size_t{65} << 20)), std::bad_alloc);
    EXPECT_EQ(mapped_bytes, size_t{65} << 20);
  }
  EXPECT_EQ(unmapped_bytes, kMax + 3 * (kMax + 4096));
}

TEST(ArenaBlockPoolTest, ThreadsShareIt) {
  ArenaBlockPool pool({.free_bytes_max = 4 * kMin});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, t] {
      for (int i = 0; i < 200; ++i) {
        Arena arena(&pool);
        char* const piece = arena.Allocate(1000);
        memset(piece, t, 1000);
        arena.Allocate(kMin);
        for (int at = 0; at < 1000; ++at) ASSERT_EQ(piece[at], t);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_LE(pool.FreeBytes(), 4 * kMin);
}

}  // namespace
}  // namespace ashlar
