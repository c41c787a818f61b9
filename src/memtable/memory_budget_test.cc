#include "memtable/memory_budget.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/write_buffer_manager.h"
#include "memtable/arena.h"
#include "memtable/memtable.h"
#include "tests/support/test_epochs.h"

namespace ashlar {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kStep = MemoryBudget::kChargeBytes;

// ---- The public class.

TEST(WriteBufferManagerTest, CountsMemoryUntilItIsGivenBack) {
  WriteBufferManager manager(kMiB);
  EXPECT_TRUE(manager.enabled());
  EXPECT_FALSE(manager.cost_to_cache());
  EXPECT_EQ(manager.buffer_size(), kMiB);
  manager.ReserveMem(1000);
  manager.ReserveMem(500);
  EXPECT_EQ(manager.memory_usage(), 1500u);
  EXPECT_EQ(manager.mutable_memtable_memory_usage(), 1500u);
  manager.ScheduleFreeMem(1000);
  EXPECT_EQ(manager.memory_usage(), 1500u);
  EXPECT_EQ(manager.mutable_memtable_memory_usage(), 500u);
  manager.FreeMem(1000);
  EXPECT_EQ(manager.memory_usage(), 500u);
  EXPECT_EQ(manager.dummy_entries_in_cache_usage(), 0u);
}

TEST(WriteBufferManagerTest, AsksForAFlushAboveSevenEighthsOfTheLimit) {
  WriteBufferManager manager(8 * kMiB);
  manager.ReserveMem(7 * kMiB);
  EXPECT_FALSE(manager.ShouldFlush());
  manager.ReserveMem(1);
  EXPECT_TRUE(manager.ShouldFlush());
  manager.ScheduleFreeMem(1);
  EXPECT_FALSE(manager.ShouldFlush()) << "a memtable that is being flushed takes no writes";
}

TEST(WriteBufferManagerTest, AsksForAFlushOfHalfTheLimitWhenItIsReached) {
  WriteBufferManager manager(8 * kMiB);
  manager.ReserveMem(4 * kMiB);
  manager.ScheduleFreeMem(4 * kMiB);
  manager.ReserveMem(4 * kMiB - 1);
  EXPECT_FALSE(manager.ShouldFlush());
  manager.ReserveMem(1);
  EXPECT_TRUE(manager.ShouldFlush());
  manager.ScheduleFreeMem(1);
  EXPECT_FALSE(manager.ShouldFlush()) << "more than half is being flushed";
}

TEST(WriteBufferManagerTest, WithoutALimitMemoryIsOnlyCounted) {
  WriteBufferManager manager(0, nullptr, /*allow_stall=*/true);
  manager.ReserveMem(kMiB);
  EXPECT_FALSE(manager.enabled());
  EXPECT_EQ(manager.memory_usage(), kMiB);
  EXPECT_FALSE(manager.ShouldFlush());
  EXPECT_FALSE(manager.ShouldStall());
  manager.SetBufferSize(kMiB);
  EXPECT_TRUE(manager.enabled());
  EXPECT_TRUE(manager.ShouldFlush());
  EXPECT_TRUE(manager.ShouldStall());
}

TEST(WriteBufferManagerTest, ShouldStallFollowsTheLimitAndTheSwitch) {
  WriteBufferManager manager(kMiB);
  manager.ReserveMem(kMiB);
  EXPECT_TRUE(manager.IsStallThresholdExceeded());
  EXPECT_FALSE(manager.ShouldStall());
  manager.SetAllowStall(true);
  EXPECT_TRUE(manager.ShouldStall());
  EXPECT_FALSE(manager.IsStallActive()) << "no writer waits";
  manager.SetBufferSize(kMiB + 1);
  EXPECT_FALSE(manager.ShouldStall());
}

TEST(WriteBufferManagerTest, TheCacheIsChargedInSteps) {
  const std::shared_ptr<Cache> cache = NewLRUCache(64 * kMiB);
  {
    WriteBufferManager manager(8 * kMiB, cache);
    EXPECT_TRUE(manager.cost_to_cache());
    EXPECT_EQ(cache->GetUsage(), 0u);
    manager.ReserveMem(1);
    EXPECT_EQ(manager.dummy_entries_in_cache_usage(), kStep);
    manager.ReserveMem(kStep);
    EXPECT_EQ(manager.dummy_entries_in_cache_usage(), 2 * kStep);
    EXPECT_EQ(cache->GetUsage(), 2 * kStep);
    EXPECT_EQ(cache->GetPinnedUsage(), 2 * kStep);
    manager.ScheduleFreeMem(kStep);
    EXPECT_EQ(cache->GetUsage(), 2 * kStep) << "until the memory is free";
    manager.FreeMem(kStep);
    EXPECT_EQ(cache->GetUsage(), kStep);
  }
  EXPECT_EQ(cache->GetUsage(), 0u) << "the end of the manager gives the rest back";
}

TEST(WriteBufferManagerTest, ACacheWithoutRoomIsChargedForWhatFits) {
  const std::shared_ptr<Cache> cache = NewLRUCache(2 * kStep);
  WriteBufferManager manager(0, cache);
  manager.ReserveMem(10 * kStep);
  EXPECT_EQ(manager.memory_usage(), 10 * kStep);
  EXPECT_EQ(manager.dummy_entries_in_cache_usage(), 2 * kStep);
  cache->SetCapacity(5 * kStep);
  manager.ReserveMem(1);
  EXPECT_EQ(manager.dummy_entries_in_cache_usage(), 5 * kStep);
  manager.FreeMem(10 * kStep);
  EXPECT_EQ(manager.dummy_entries_in_cache_usage(), kStep);
}

TEST(WriteBufferManagerTest, ThreadsThatReserveAndFreeLeaveNoCharge) {
  const std::shared_ptr<Cache> cache = NewLRUCache(64 * kMiB);
  WriteBufferManager manager(8 * kMiB, cache);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&manager, t] {
      const size_t bytes = kStep / 2 + static_cast<size_t>(t) * 1000;
      for (int i = 0; i < 2000; ++i) {
        manager.ReserveMem(bytes);
        manager.ScheduleFreeMem(bytes);
        manager.FreeMem(bytes);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(manager.memory_usage(), 0u);
  EXPECT_EQ(manager.mutable_memtable_memory_usage(), 0u);
  EXPECT_EQ(manager.dummy_entries_in_cache_usage(), 0u);
  EXPECT_EQ(cache->GetUsage(), 0u);
}

// ---- The databases of a manager.

class DatabaseMemoryTest : public ::testing::Test {
 protected:
  static bool Take(std::atomic<bool>* flag) { return flag->exchange(false); }

  WriteBufferManager manager_{8 * kMiB, nullptr, /*allow_stall=*/true};
  std::atomic<bool> first_asked_{false};
  std::atomic<bool> second_asked_{false};
  DatabaseMemory first_{&manager_, &first_asked_};
  DatabaseMemory second_{&manager_, &second_asked_};
  MemoryBudget& budget_ = *first_.budget();
};

TEST_F(DatabaseMemoryTest, WithoutAManagerNothingIsCounted) {
  std::atomic<bool> asked{false};
  DatabaseMemory none(nullptr, &asked);
  EXPECT_EQ(none.budget(), nullptr);
  none.Reserve(100 * kMiB);
  const DatabaseMemory::PendingFlush flush = none.BeginFlush();
  EXPECT_EQ(flush, nullptr);
  none.ScheduleFree(100 * kMiB);
  none.Free(100 * kMiB);
  EXPECT_FALSE(asked.load());
}

TEST_F(DatabaseMemoryTest, ADatabaseIsAskedFirstAfterItsRecovery) {
  EXPECT_TRUE(Take(&first_asked_));
  EXPECT_TRUE(Take(&second_asked_));
}

TEST_F(DatabaseMemoryTest, TheDatabaseThatTakesTheMemoryIsAskedToFlush) {
  Take(&first_asked_);
  Take(&second_asked_);
  first_.Reserve(4 * kMiB);
  second_.Reserve(3 * kMiB);
  EXPECT_FALSE(first_asked_.load());
  EXPECT_FALSE(second_asked_.load());
  second_.Reserve(1);
  EXPECT_FALSE(Take(&first_asked_));
  EXPECT_TRUE(Take(&second_asked_));
  EXPECT_TRUE(budget_.WantsFlush(0));
  EXPECT_FALSE(budget_.WantsFlush(1)) << "the rest is within the limit";
}

TEST_F(DatabaseMemoryTest, WritersStopOnlyWhileAFlushIsUnderWay) {
  first_.Reserve(8 * kMiB);
  Take(&first_asked_);
  Take(&second_asked_);
  EXPECT_FALSE(budget_.StopsWriters()) << "nothing would end the wait";
  DatabaseMemory::PendingFlush flush = first_.BeginFlush();
  EXPECT_TRUE(budget_.StopsWriters());
  EXPECT_TRUE(Take(&first_asked_));
  EXPECT_TRUE(Take(&second_asked_)) << "writers of all databases stop";
  DatabaseMemory::PendingFlush other = second_.BeginFlush();
  flush.reset();
  EXPECT_TRUE(budget_.StopsWriters());
  other.reset();
  EXPECT_FALSE(budget_.StopsWriters()) << "the memory is pinned, or the flush has failed";
}

TEST_F(DatabaseMemoryTest, MemoryThatReachesTheLimitDuringAFlushStopsAllWriters) {
  const DatabaseMemory::PendingFlush flush = first_.BeginFlush();
  Take(&first_asked_);
  Take(&second_asked_);
  first_.Reserve(8 * kMiB - 1);
  EXPECT_FALSE(budget_.StopsWriters());
  Take(&first_asked_);
  EXPECT_FALSE(Take(&second_asked_));
  first_.Reserve(1);
  EXPECT_TRUE(budget_.StopsWriters());
  EXPECT_TRUE(Take(&second_asked_));
}

TEST_F(DatabaseMemoryTest, EverythingThatMayEndAWaitWakesIt) {
  first_.Reserve(8 * kMiB);
  DatabaseMemory::PendingFlush flush = first_.BeginFlush();
  const std::vector<std::function<void()>> ends = {[&] {
                                                     first_.ScheduleFree(kMiB);
                                                     first_.Free(kMiB);
                                                   },
                                                   [&] { manager_.SetBufferSize(16 * kMiB); },
                                                   [&] { manager_.SetAllowStall(false); },
                                                   [&] { flush.reset(); }, [&] { budget_.Wake(); }};
  for (const std::function<void()>& end : ends) {
    const uint64_t seen = budget_.Wakes();
    end();
    ASSERT_GT(budget_.Wakes(), seen);
    budget_.WaitForWake(seen);  // returns at once
  }
  EXPECT_FALSE(manager_.IsStallActive());
  EXPECT_FALSE(budget_.StopsWriters());
}

TEST_F(DatabaseMemoryTest, ChangedLimitsAskAllDatabases) {
  Take(&first_asked_);
  Take(&second_asked_);
  manager_.SetBufferSize(kMiB);
  EXPECT_TRUE(Take(&first_asked_));
  EXPECT_TRUE(Take(&second_asked_));
  manager_.SetAllowStall(false);
  EXPECT_TRUE(Take(&first_asked_));
  EXPECT_TRUE(Take(&second_asked_));
}

// ---- Arenas.

TEST_F(DatabaseMemoryTest, ArenasCountTheirBlocks) {
  ArenaBlockPool pool({.memory = &first_});
  {
    Arena arena(&pool);
    EXPECT_EQ(manager_.memory_usage(), 0u) << "an empty memtable has no block";
    arena.Allocate(1);
    EXPECT_EQ(manager_.memory_usage(), arena.MemoryAllocated());
    arena.Allocate(3 * kMiB);
    EXPECT_EQ(manager_.memory_usage(), arena.MemoryAllocated());
    EXPECT_EQ(manager_.mutable_memtable_memory_usage(), arena.MemoryAllocated());
    Arena sealed(&pool);
    sealed.Allocate(1);
    sealed.Seal();
    EXPECT_EQ(manager_.memory_usage(), arena.MemoryAllocated() + sealed.MemoryAllocated());
    EXPECT_EQ(manager_.mutable_memtable_memory_usage(), arena.MemoryAllocated());
  }
  EXPECT_EQ(manager_.memory_usage(), 0u);
  EXPECT_EQ(manager_.mutable_memtable_memory_usage(), 0u);
}

TEST_F(DatabaseMemoryTest, AnArenaOfADatabaseThatOnlyReadsTakesNoWrites) {
  ArenaBlockPool pool({.memory = &first_});
  first_.SetTakesWrites(false);
  {
    Arena of_reader(&pool);
    of_reader.Allocate(3 * kMiB);
    EXPECT_EQ(manager_.memory_usage(), of_reader.MemoryAllocated());
    EXPECT_EQ(manager_.mutable_memtable_memory_usage(), 0u);
    first_.SetTakesWrites(true);
    of_reader.Allocate(3 * kMiB);  // its kind does not change
    EXPECT_EQ(manager_.mutable_memtable_memory_usage(), 0u);
    Arena of_writer(&pool);
    of_writer.Allocate(1);
    EXPECT_EQ(manager_.mutable_memtable_memory_usage(), of_writer.MemoryAllocated());
    of_reader.Seal();
    EXPECT_EQ(manager_.mutable_memtable_memory_usage(), of_writer.MemoryAllocated());
  }
  EXPECT_EQ(manager_.memory_usage(), 0u);
  EXPECT_EQ(manager_.mutable_memtable_memory_usage(), 0u);
}

TEST_F(DatabaseMemoryTest, AnImmutableMemTableTakesNoWrites) {
  ArenaBlockPool pool({.memory = &first_});
  MemTable::Owner memtable = MemTable::Create({.comparator = KeyComparator(BytewiseComparator()),
                                               .arena_blocks = &pool,
                                               .epochs = &TestEpochs()});
  EXPECT_EQ(manager_.memory_usage(), 0u);
  memtable->Add(1, ValueType::kValue, "key", "value");
  const size_t bytes = memtable->ArenaBytes();
  EXPECT_GT(bytes, 0u);
  EXPECT_EQ(manager_.mutable_memtable_memory_usage(), bytes);
  memtable->MarkImmutable();
  EXPECT_EQ(manager_.memory_usage(), bytes);
  EXPECT_EQ(manager_.mutable_memtable_memory_usage(), 0u);
  memtable.reset();
  TestEpochs().Synchronize();
  EXPECT_EQ(manager_.memory_usage(), 0u);
}

TEST_F(DatabaseMemoryTest, ASmallLimitGetsSmallBlocks) {
  ArenaBlockPool pool({.memory = &first_});
  manager_.SetBufferSize(0);
  EXPECT_EQ(pool.BlockBytesMax(), ArenaBlockPool::kBlockBytesMax);
  manager_.SetBufferSize(kMiB);
  EXPECT_EQ(pool.BlockBytesMax(), ArenaBlockPool::kBlockBytesMin);
  manager_.SetBufferSize(1000 * kMiB);
  EXPECT_EQ(pool.BlockBytesMax(), ArenaBlockPool::kBlockBytesMax);
  manager_.SetBufferSize(8 * kMiB);
  EXPECT_EQ(pool.BlockBytesMax(), kMiB / 4);
  Arena arena(&pool);
  size_t largest = 0;
  size_t before = 0;
  while (arena.MemoryAllocated() < 4 * kMiB) {
    arena.Allocate(1000);
    largest = std::max(largest, arena.MemoryAllocated() - before);
    before = arena.MemoryAllocated();
  }
  EXPECT_EQ(largest, kMiB / 4);
  EXPECT_EQ(ArenaBlockPool({}).BlockBytesMax(), ArenaBlockPool::kBlockBytesMax);
}

}  // namespace
}  // namespace ashlar
