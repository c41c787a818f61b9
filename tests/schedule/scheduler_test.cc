// The scheduler itself: a seed is a schedule, it finds the bugs it is for, and it controls time.
#include "tests/schedule/scheduler.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <set>
#include <thread>

#include "platform/clock.h"
#include "platform/mutex.h"
#include "platform/thread.h"

namespace ashlar::test {
namespace {

// Returns the sum of two threads that add without a lock.
uint64_t SumOfUnlockedAdds() {
  std::atomic<uint64_t> sum{0};
  const auto add = [&] { sum.store(sum.load() + 1); };
  std::thread first(add);
  std::thread second(add);
  first.join();
  second.join();
  return sum.load();
}

TEST(SchedulerTest, FindsALostUpdateBetweenTwoAtomicOperations) {
  std::set<uint64_t> sums;
  for (uint64_t seed = 0; seed < 100; ++seed)
    RunScheduled(seed, [&] { sums.insert(SumOfUnlockedAdds()); });
  EXPECT_EQ(sums, (std::set<uint64_t>{1, 2}));
}

TEST(SchedulerTest, OneSeedIsOneSchedule) {
  std::set<uint64_t> hashes;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const ScheduleResult first = RunScheduled(seed, [] { SumOfUnlockedAdds(); });
    const ScheduleResult second = RunScheduled(seed, [] { SumOfUnlockedAdds(); });
    EXPECT_EQ(first.hash, second.hash) << seed;
    EXPECT_EQ(first.points, second.points) << seed;
    hashes.insert(first.hash);
  }
  EXPECT_GT(hashes.size(), 5U);
}

TEST(SchedulerTest, AWaitEndsByItsSignalOrItsDeadline) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    RunScheduled(seed, [] {
      Mutex mutex;
      CondVar changed;
      bool is_set = false;
      std::thread setter([&] {
        SleepForMicros(3'600'000'000);
        MutexLock lock(mutex);
        is_set = true;
        changed.SignalAll();
      });
      const uint64_t begin = MonotonicNanos();
      MutexLock lock(mutex);
      while (!is_set) {
        const bool signalled = changed.TimedWait(mutex, 60'000'000'000);
        EXPECT_TRUE(signalled || MonotonicNanos() - begin >= 60'000'000'000'000);
      }
      EXPECT_GE(MonotonicNanos() - begin, 3'600'000'000'000U);
      lock.Unlock();
      setter.join();
    });
  }
}

using SchedulerDeathTest = ::testing::Test;

TEST(SchedulerDeathTest, NamesTheThreadsOfADeadlock) {
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto two_locks_in_two_orders = [] {
    for (uint64_t seed = 0; seed < 100; ++seed) {
      RunScheduled(seed, [] {
        Mutex first, second;
        std::thread other([&]() ASHLAR_NO_THREAD_SAFETY_ANALYSIS {
          second.Lock();
          first.Lock();
          first.Unlock();
          second.Unlock();
        });
        const MutexLock lock(first);
        {
          const MutexLock nested(second);
        }
        other.join();
      });
    }
  };
  EXPECT_DEATH(two_locks_in_two_orders(), "a deadlock(.|\n)*waits for a mutex");
}

}  // namespace
}  // namespace ashlar::test
