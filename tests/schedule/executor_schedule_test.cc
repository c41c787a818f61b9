// The pool of threads under the scheduler.
#include <gtest/gtest.h>

#include <memory>

#include "execute/thread_pool_executor.h"
#include "platform/clock.h"
#include "tests/schedule/schedules.h"
#include "tests/support/gate.h"

namespace ashlar::test {
namespace {

constexpr Executor::Priority kLane = Executor::Priority::kLow;

// Both threads wait before the delayed job is scheduled. It wakes one of them, which also gets the
// next job. So the other thread has to learn of the delay.
TEST(ExecutorScheduleTest, AJobThatIsDueDoesNotWaitForAThreadThatIsBusy) {
  ForEachSchedule(200, [](uint64_t /*seed*/) {
    Result<std::unique_ptr<ThreadPoolExecutor>> pool =
        ThreadPoolExecutor::Start({.high_threads = 0, .low_threads = 2});
    ASSERT_TRUE(pool.ok());
    Gate due;
    SleepForMicros(10);
    ASSERT_TRUE((*pool)->ScheduleAfter(1000, kLane, [&] { due.Open(); }));
    SleepForMicros(10);
    ASSERT_TRUE((*pool)->Schedule(kLane, [&] { due.Wait(); }));
    (*pool)->WaitForIdle();
    (*pool)->Shutdown();
  });
}

}  // namespace
}  // namespace ashlar::test
