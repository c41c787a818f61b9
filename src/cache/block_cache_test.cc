#include "cache/block_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "base/random.h"
#include "execute/epoch.h"
#include "platform/thread.h"
#include "tests/support/test_epochs.h"

namespace ashlar {
namespace {

struct TestEntry : CacheEntry {
  TestEntry(uint64_t value_in, size_t charge)
      : CacheEntry(&TestEntry::Destroy, charge), value(value_in) {
    ++alive;
  }
  static void Destroy(CacheEntry* entry) {
    auto* const self = static_cast<TestEntry*>(entry);
    self->value = ~uint64_t{0};
    --alive;
    delete self;
  }
  static std::atomic<int> alive;
  uint64_t value;
};
std::atomic<int> TestEntry::alive{0};

// Puts an entry into the slot. Returns false if the cache has no room.
bool Put(BlockCache* cache, BlockSlot* slot, uint64_t value, size_t charge) {
  auto* const entry = new TestEntry(value, charge);
  if (cache->Insert(slot, &TestEpochs(), entry)) return true;
  entry->Release();
  return false;
}

class BlockCacheTest : public ::testing::Test {
 protected:
  void TearDown() override {
    TestEpochs().Synchronize();
    EXPECT_EQ(TestEntry::alive, 0);
  }
  std::array<BlockSlot, 1000> cells_{};
};

TEST_F(BlockCacheTest, HoldsWhatFits) {
  BlockCache cache(1000);
  for (size_t i = 0; i < 5; ++i) EXPECT_TRUE(Put(&cache, &cells_[i], i, 100));
  EXPECT_EQ(cache.GetUsage(), 500u);
  EXPECT_EQ(cache.GetOccupancyCount(), 5u);
  EXPECT_EQ(cache.GetPinnedUsage(), 0u);
  cache.CheckInvariants();
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(static_cast<TestEntry*>(cells_[i].load())->value, i);
  cache.Erase(cells_);
  TestEpochs().Synchronize();
  EXPECT_EQ(cache.GetUsage(), 0u);
  for (const BlockSlot& slot : cells_) EXPECT_EQ(slot.load(), nullptr);
}

TEST_F(BlockCacheTest, SecondLoaderOfASlotKeepsItsEntryToItself) {
  BlockCache cache(1000);
  EXPECT_TRUE(Put(&cache, &cells_[0], 1, 100));
  EXPECT_FALSE(Put(&cache, &cells_[0], 2, 100));
  EXPECT_EQ(static_cast<TestEntry*>(cells_[0].load())->value, 1u);
  EXPECT_EQ(cache.GetUsage(), 100u);
  cache.Erase(cells_);
}

TEST_F(BlockCacheTest, UsageNeverExceedsCapacity) {
  for (const size_t capacity : {0u, 50u, 1000u, 30000u}) {
    BlockCache cache(capacity);
    Random random(capacity);
    for (int i = 0; i < 20000; ++i) {
      static_cast<void>(
          Put(&cache, &cells_[random.Uniform(cells_.size())], 1, 1 + random.Uniform(120)));
      ASSERT_LE(cache.GetUsage(), capacity);
    }
    cache.CheckInvariants();
    if (capacity == 30000u) {
      EXPECT_GT(cache.GetUsage(), capacity / 2) << "eviction gives away too much";
    }
    cache.Erase(cells_);
    TestEpochs().Synchronize();
    EXPECT_EQ(cache.GetUsage(), 0u);
  }
}

TEST_F(BlockCacheTest, InsertsSucceedInsideAGuardAsLongAsTheReserveLasts) {
  BlockCache cache(16000);
  for (size_t i = 0; i < 500; ++i) {
    const EpochGuard guard(TestEpochs());
    EXPECT_TRUE(Put(&cache, &cells_[i], i, 100)) << i;
  }
  cache.Erase(cells_);
}

TEST_F(BlockCacheTest, UsedEntriesOutliveUnusedOnes) {
  BlockCache cache(20000);
  for (size_t i = 0; i < 150; ++i) ASSERT_TRUE(Put(&cache, &cells_[i], i, 100));
  int hot_survivors = 0;
  for (size_t round = 0; round < 20; ++round) {
    for (size_t i = 0; i < 50; ++i) {
      if (CacheEntry* const entry = cells_[i].load(); entry != nullptr) entry->MarkUsed();
    }
    for (size_t i = 0; i < 20; ++i)
      static_cast<void>(Put(&cache, &cells_[150 + round * 20 + i], 1, 100));
  }
  for (size_t i = 0; i < 50; ++i) hot_survivors += cells_[i].load() != nullptr ? 1 : 0;
  EXPECT_GE(hot_survivors, 45);
  cache.Erase(cells_);
}

// A guarded reader that has loaded a slot may use the entry even after its eviction.
TEST_F(BlockCacheTest, AnEvictedEntryOutlivesTheGuardsThatMayHaveFoundIt) {
  constexpr size_t kEntries = 160;
  BlockCache cache(100 * kEntries);
  for (size_t i = 0; i < kEntries; ++i) static_cast<void>(Put(&cache, &cells_[i], i, 100));
  size_t evicted = 0;
  {
    const EpochGuard guard(TestEpochs());
    std::array<const TestEntry*, kEntries> found;
    for (size_t i = 0; i < kEntries; ++i) found[i] = static_cast<TestEntry*>(cells_[i].load());
    const int alive = TestEntry::alive;
    for (size_t i = 0; i < 40; ++i) {
      auto* const entry = new TestEntry(i, 100);
      if (!cache.Insert(&cells_[kEntries + i], &TestEpochs(), entry)) entry->Release();
    }
    TestEpochs().Reclaim();
    EXPECT_GE(TestEntry::alive, alive);
    for (size_t i = 0; i < kEntries; ++i) {
      if (found[i] == nullptr || cells_[i].load() != nullptr) continue;
      ++evicted;
      EXPECT_EQ(found[i]->value, i);
    }
  }
  EXPECT_GT(evicted, 0U);
  cache.Erase(cells_);
}

// The count locks a shard for 1,024 entries at a time.
TEST_F(BlockCacheTest, PinsOfALargeCacheAreCountedOnceEach) {
  for (const size_t entries : {size_t{16} * 1024, size_t{16} * 1024 + 1, size_t{40000}}) {
    BlockCache cache(1 << 20);
    std::vector<BlockSlot> slots(entries);
    for (size_t i = 0; i < entries; ++i) ASSERT_TRUE(Put(&cache, &slots[i], i, 1));
    std::vector<Pin> pins;
    for (const size_t i : {size_t{0}, entries / 2, entries - 1})
      pins.push_back(slots[i].load()->pin_source().Acquire());
    EXPECT_EQ(cache.GetPinnedUsage(), 3u) << entries;
    pins.clear();
    EXPECT_EQ(cache.GetPinnedUsage(), 0u) << entries;
    cache.Erase(slots);
    TestEpochs().Synchronize();
  }
}

TEST_F(BlockCacheTest, PinsFillTheCacheAndReadersGoAround) {
  BlockCache cache(1000);
  std::vector<Pin> pins;
  for (size_t i = 0; i < 10; ++i) {
    ASSERT_TRUE(Put(&cache, &cells_[i], i, 100));
    pins.push_back(cells_[i].load()->pin_source().Acquire());
  }
  EXPECT_EQ(cache.GetPinnedUsage(), 1000u);
  EXPECT_FALSE(Put(&cache, &cells_[20], 20, 100));
  EXPECT_FALSE(cache.ReserveMetadata(1));
  // An erased entry stays charged until its pin is released.
  cache.Erase(std::span(cells_).first(10));
  TestEpochs().Synchronize();
  EXPECT_EQ(cache.GetOccupancyCount(), 0u);
  EXPECT_EQ(cache.GetUsage(), 1000u);
  EXPECT_FALSE(Put(&cache, &cells_[20], 20, 100));
  pins.pop_back();
  EXPECT_EQ(cache.GetUsage(), 900u);
  EXPECT_TRUE(Put(&cache, &cells_[20], 20, 100));
  pins.clear();
  cache.Erase(cells_);
}

TEST_F(BlockCacheTest, PinsOnErasedEntriesDoNotStopEviction) {
  BlockCache cache(10000);
  std::vector<Pin> pins;
  for (size_t i = 0; i < 30; ++i) {
    ASSERT_TRUE(Put(&cache, &cells_[i], i, 100));
    pins.push_back(cells_[i].load()->pin_source().Acquire());
  }
  cache.Erase(std::span(cells_).first(30));
  TestEpochs().Synchronize();
  int refused = 0;
  for (size_t i = 100; i < 1000; ++i) {
    const EpochGuard guard(TestEpochs());
    refused += Put(&cache, &cells_[i], i, 100) ? 0 : 1;
  }
  EXPECT_EQ(refused, 0);
  pins.clear();
  cache.Erase(cells_);
}

TEST_F(BlockCacheTest, PinOutlivesTheCache) {
  Pin pin;
  const TestEntry* entry;
  {
    BlockCache cache(1000);
    ASSERT_TRUE(Put(&cache, &cells_[0], 42, 100));
    entry = static_cast<TestEntry*>(cells_[0].load());
    pin = cells_[0].load()->pin_source().Acquire();
    cache.Erase(cells_);
    TestEpochs().Synchronize();
  }
  EXPECT_EQ(entry->value, 42u);
  pin.Release();
}

TEST_F(BlockCacheTest, LowerCapacityEvictsAtOnce) {
  BlockCache cache(10000);
  for (size_t i = 0; i < 90; ++i) ASSERT_TRUE(Put(&cache, &cells_[i], i, 100));
  for (size_t i = 0; i < 90; ++i) cells_[i].load()->MarkUsed();
  Pin pin = cells_[3].load()->pin_source().Acquire();
  cache.SetCapacity(1000);
  EXPECT_LE(cache.GetUsage(), 1000u);
  EXPECT_GE(cache.GetUsage(), 100u);
  cache.EraseUnRefEntries();
  EXPECT_EQ(cache.GetUsage(), 100u);
  EXPECT_EQ(cache.GetOccupancyCount(), 1u);
  cache.SetCapacity(0);
  EXPECT_EQ(cache.GetUsage(), 100u);
  pin.Release();
  cache.EraseUnRefEntries();
  EXPECT_EQ(cache.GetUsage(), 0u);
}

TEST_F(BlockCacheTest, MetadataIsChargedAndEvictsBlocks) {
  BlockCache cache(10000);
  for (size_t i = 0; i < 90; ++i) ASSERT_TRUE(Put(&cache, &cells_[i], i, 100));
  EXPECT_TRUE(cache.ReserveMetadata(5000));
  EXPECT_LE(cache.GetUsage(), 10000u);
  EXPECT_GE(cache.GetPinnedUsage(), 5000u);
  cache.ReleaseMetadata(5000);
  EXPECT_LE(cache.GetUsage(), 5000u);
  cache.Erase(cells_);
}

TEST_F(BlockCacheTest, ReadersBesideEviction) {
  constexpr int kThreads = 3;
  BlockCache cache(20000);
  std::atomic<size_t> usage_max{0};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Random random(static_cast<uint64_t>(t) + 1);
      std::vector<std::pair<Pin, TestEntry*>> pins;
      for (int i = 0; i < 8000; ++i) {
        const size_t n = random.Uniform(cells_.size());
        {
          const EpochGuard guard(TestEpochs());
          auto* const entry = static_cast<TestEntry*>(cells_[n].load(std::memory_order_acquire));
          if (entry == nullptr) {
            static_cast<void>(Put(&cache, &cells_[n], n, 60 + random.Uniform(60)));
          } else {
            entry->MarkUsed();
            if (entry->value != n) ++wrong;
            if (random.OneIn(8)) pins.emplace_back(entry->pin_source().Acquire(), entry);
          }
        }
        if (pins.size() > 10) pins.erase(pins.begin());
        for (const auto& [pin, entry] : pins) {
          if (entry->value >= cells_.size()) ++wrong;
        }
        const size_t usage = cache.GetUsage();
        if (usage > usage_max.load(std::memory_order_relaxed)) usage_max = usage;
        if (random.OneIn(500)) cache.Erase(std::span(cells_).subspan(0, 0));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(usage_max, 20000u);
  cache.Erase(cells_);
  TestEpochs().Synchronize();
  EXPECT_EQ(cache.GetUsage(), 0u);
}

// A table's slots and the domain are destroyed just after another thread has evicted the table's
// blocks. Only Erase orders the eviction before the destruction. ThreadSanitizer reports a race if
// Erase skips a slot because it is empty.
TEST_F(BlockCacheTest, SlotsAndDomainMayGoAfterEraseFoundThemEvicted) {
  constexpr int kRounds = 200;
  const auto is_empty = [](const BlockSlot& slot) {
    return slot.load(std::memory_order_relaxed) == nullptr;
  };
  for (int round = 0; round < kRounds; ++round) {
    BlockCache cache(1000);
    auto epochs = std::make_unique<EpochDomain>();
    auto slots = std::make_unique<std::array<BlockSlot, 8>>();
    for (size_t i = 0; i < slots->size(); ++i)
      ASSERT_TRUE(cache.Insert(&(*slots)[i], epochs.get(), new TestEntry(i, 100)));
    std::thread table([&] {
      while (!std::all_of(slots->begin(), slots->end(), is_empty)) YieldThread();
      cache.Erase(*slots);
      slots.reset();
      epochs.reset();
    });
    cache.EraseUnRefEntries();
    table.join();
  }
}

TEST_F(BlockCacheTest, AClockCacheIsTheSameCache) {
  const std::shared_ptr<Cache> clock = NewClockCache(5000, 2, /*strict_capacity_limit=*/true);
  EXPECT_STREQ(clock->Name(), NewLRUCache(5000)->Name());
  EXPECT_EQ(clock->GetCapacity(), 5000u);
  EXPECT_TRUE(clock->HasStrictCapacityLimit());
  clock->DisownData();
  EXPECT_EQ(clock->GetTableAddressCount(), 0u);
  EXPECT_EQ(clock->GetUsage(), 0u);
}

// Two databases that share a cache have a domain each.
TEST_F(BlockCacheTest, ABlockIsRetiredIntoTheDomainOfItsSlot) {
  EpochDomain other;
  BlockCache cache(10000);
  const auto put_both = [&] {
    ASSERT_TRUE(Put(&cache, &cells_[0], 0, 100));
    auto* const entry = new TestEntry(1, 9000);
    ASSERT_TRUE(cache.Insert(&cells_[1], &other, entry));
  };
  put_both();
  {
    const EpochGuard guard(TestEpochs());
    cache.Erase(cells_);
    EpochReclaimAll();
    EXPECT_EQ(TestEntry::alive, 1) << "the guard protects its own domain";
  }
  EpochReclaimAll();
  put_both();
  // An insert that needs room reclaims in the other domain, too.
  cache.Erase(std::span(cells_).subspan(1, 1));
  EXPECT_EQ(other.PendingObjects(), 1u);
  EXPECT_TRUE(Put(&cache, &cells_[2], 2, 9500));
  EXPECT_EQ(other.PendingObjects(), 0u);
  cache.Erase(cells_);
}

}  // namespace
}  // namespace ashlar
