// Allocation failure in the pool of threads: while its threads start and end, and on its threads.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>

#include "base/out_of_memory.h"
#include "execute/thread_pool_executor.h"
#include "tests/out_of_memory/failing_new.h"
#include "tests/support/expect_ok.h"
#include "tests/support/gate.h"

namespace ashlar {
namespace {

constexpr Executor::Priority kLane = Executor::Priority::kLow;

std::unique_ptr<ThreadPoolExecutor> MakePool(int threads) {
  return ThreadPoolExecutor::Start({.high_threads = 0, .low_threads = threads}).value();
}

// Changes the number of threads repeatedly, each time with another failing allocation, and then
// uses the pool. Returns the number of allocations.
uint64_t FailEachAllocation(int before, int after, FailingNew::Kind kind) {
  for (uint64_t number = 1;; ++number) {
    SCOPED_TRACE(number);
    const std::unique_ptr<ThreadPoolExecutor> pool = MakePool(before);
    FailingNew::Arm(number, kind);
    const Status status = CatchBadAlloc([&] {
      const FailingNew::Scope scope;
      return pool->SetBackgroundThreads(after, kLane);
    });
    const bool has_failed = FailingNew::HasFailed();
    EXPECT_TRUE(has_failed ? status.IsMemoryLimit() : status.ok()) << status.ToString();
    // A caller that finds too few threads can request more.
    EXPECT_EQ(pool->GetBackgroundThreads(kLane) == after, !has_failed);
    EXPECT_OK(pool->SetBackgroundThreads(2, kLane));
    std::atomic<int> runs{0};
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(pool->Schedule(kLane, [&] { runs.fetch_add(1); }));
    pool->Shutdown();
    EXPECT_EQ(runs.load(), 4);
    if (!has_failed) return number - 1;
  }
}

TEST(ExecutorOutOfMemory, AThreadThatCouldNotStartIsNotCounted) {
  for (const auto kind : {FailingNew::Kind::kOnce, FailingNew::Kind::kUntilEnds})
    EXPECT_GT(FailEachAllocation(/*before=*/0, /*after=*/2, kind), 4U);
}

TEST(ExecutorOutOfMemory, ThreadsThatAreNotWantedAreJoined) {
  for (const auto kind : {FailingNew::Kind::kOnce, FailingNew::Kind::kUntilEnds})
    EXPECT_GT(FailEachAllocation(/*before=*/4, /*after=*/0, kind), 0U);
}

TEST(ExecutorOutOfMemory, APoolThatCouldNotStartEnds) {
  for (const auto kind : {FailingNew::Kind::kOnce, FailingNew::Kind::kUntilEnds}) {
    bool has_failed = true;
    for (uint64_t number = 1; has_failed; ++number) {
      SCOPED_TRACE(number);
      FailingNew::Arm(number, kind);
      const Status status = CatchBadAlloc([] {
        const FailingNew::Scope scope;
        return ThreadPoolExecutor::Start({.high_threads = 2, .low_threads = 2}).status();
      });
      has_failed = FailingNew::HasFailed();
      EXPECT_TRUE(has_failed ? status.IsMemoryLimit() : status.ok()) << status.ToString();
    }
  }
}

// From its first job on, every allocation of the pool's thread fails.
TEST(ExecutorOutOfMemory, JobsWithADelayNeedNoMemoryToBecomeDue) {
  const std::unique_ptr<ThreadPoolExecutor> pool = MakePool(1);
  constexpr int kJobs = 100;
  Gate all_wait;
  Gate all_ran;
  std::atomic<int> runs{0};
  ASSERT_TRUE(pool->Schedule(kLane, [&] {
    thread_local std::optional<FailingNew::Scope> until_the_thread_ends;
    all_wait.Wait();
    FailingNew::Arm(1, FailingNew::Kind::kUntilEnds);
    until_the_thread_ends.emplace();
  }));
  for (int i = 0; i < kJobs; ++i) {
    ASSERT_TRUE(pool->ScheduleAfter(1, kLane, [&] {
      if (runs.fetch_add(1) + 1 == kJobs) all_ran.Open();
    }));
  }
  all_wait.Open();
  all_ran.Wait();
  pool->Shutdown();
  EXPECT_EQ(runs.load(), kJobs);
}

}  // namespace
}  // namespace ashlar
