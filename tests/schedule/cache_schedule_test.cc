// The block cache under the scheduler. A block that was found inside a guard, or that has a count,
// stays valid despite evictions, a lower capacity and EraseUnRefEntries. All blocks are freed in
// the end.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <thread>
#include <vector>

#include "base/random.h"
#include "cache/block_cache.h"
#include "execute/epoch.h"
#include "platform/mutex.h"
#include "tests/schedule/schedules.h"

namespace ashlar::test {
namespace {

// The memory of a destroyed block is kept, so that an incorrect reader detects it.
struct Block : CacheEntry {
  static constexpr size_t kCharge = 100;

  explicit Block(uint64_t slot_number) : CacheEntry(&Block::Destroy, kCharge), slot(slot_number) {}
  static void Destroy(CacheEntry* entry) {
    EXPECT_FALSE(static_cast<Block*>(entry)->destroyed.exchange(true));
  }

  const uint64_t slot;
  std::atomic<bool> destroyed{false};
};

TEST(CacheScheduleTest, ABlockThatIsUsedIsNotDestroyed) {
  constexpr size_t kSlots = 6;
  constexpr size_t kBlocksThatFit = 3;
  ForEachSchedule(2000, [](uint64_t seed) {
    EpochDomain domain;
    std::array<BlockSlot, kSlots> slots{};
    std::deque<Block> blocks;
    Mutex blocks_mutex;
    BlockCache cache(kBlocksThatFit * Block::kCharge);
    const auto check = [](const Block& block, size_t slot) {
      EXPECT_EQ(block.slot, slot);
      EXPECT_FALSE(block.destroyed.load());
    };
    const auto load = [&](size_t slot) {
      Block* made = nullptr;
      {
        const MutexLock lock(blocks_mutex);
        made = &blocks.emplace_back(slot);
      }
      if (!cache.Insert(&slots[slot], &domain, made)) made->Release();
    };
    std::vector<std::thread> threads;
    for (uint64_t thread = 0; thread < 3; ++thread) {
      threads.emplace_back([&, thread] {
        Random random(seed * 3 + thread);
        for (int i = 0; i < 12; ++i) {
          const size_t slot = random.Uniform(kSlots);
          Block* counted = nullptr;
          bool found = false;
          {
            const EpochGuard guard(domain);
            auto* const block = static_cast<Block*>(slots[slot].load(std::memory_order_acquire));
            found = block != nullptr;
            if (found) {
              check(*block, slot);
              block->MarkUsed();
              if (random.OneIn(2)) {
                block->AddRef();
                counted = block;
              }
              check(*block, slot);
            }
          }
          if (!found) load(slot);
          if (counted == nullptr) continue;
          check(*counted, slot);
          counted->Release();
        }
      });
    }
    threads.emplace_back([&] {
      for (int i = 0; i < 5; ++i) domain.Reclaim();
    });
    threads.emplace_back([&] {
      Random random(seed);
      for (int i = 0; i < 4; ++i) {
        if (random.OneIn(3)) {
          cache.EraseUnRefEntries();
        } else {
          cache.SetCapacity(random.Uniform(kBlocksThatFit + 1) * Block::kCharge);
        }
      }
    });
    for (std::thread& thread : threads) thread.join();
    cache.CheckInvariants();
    // No block has a count any more. Every other seed leaves the rest to Erase.
    if (seed % 2 == 0) {
      cache.SetCapacity(Block::kCharge);
      EXPECT_LE(cache.GetUsage(), Block::kCharge);
      cache.EraseUnRefEntries();
      EXPECT_EQ(cache.GetUsage(), 0U);
      cache.CheckInvariants();
    }
    cache.Erase(slots);
    domain.Synchronize();
    for (const Block& block : blocks) EXPECT_TRUE(block.destroyed.load());
    EXPECT_EQ(cache.GetUsage(), 0U);
  });
}

}  // namespace
}  // namespace ashlar::test
