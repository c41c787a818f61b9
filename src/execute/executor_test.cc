// Conformance tests of both executors, and tests of their differences.
#include "execute/executor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "execute/manual_executor.h"
#include "execute/thread_pool_executor.h"
#include "platform/clock.h"
#include "platform/mutex.h"
#include "platform/thread.h"

namespace ashlar {
namespace {

using Priority = Executor::Priority;

std::unique_ptr<Executor> MakePool() {
  Result<std::unique_ptr<ThreadPoolExecutor>> pool =
      ThreadPoolExecutor::Start({.high_threads = 1, .low_threads = 2});
  EXPECT_TRUE(pool.ok());
  return std::move(pool).value();
}
std::unique_ptr<Executor> MakeManual() { return std::make_unique<ManualExecutor>(7); }

class ExecutorTest : public testing::TestWithParam<std::unique_ptr<Executor> (*)()> {
 protected:
  const std::unique_ptr<Executor> executor_ = GetParam()();
};

TEST_P(ExecutorTest, RunsEveryJobOnce) {
  std::vector<std::atomic<int>> runs(200);
  for (size_t i = 0; i < runs.size(); i++) {
    ASSERT_TRUE(executor_->Schedule(i % 2 == 0 ? Priority::kHigh : Priority::kLow,
                                    [&runs, i] { runs[i].fetch_add(1); }));
  }
  executor_->WaitForIdle();
  for (const std::atomic<int>& count : runs) EXPECT_EQ(count.load(), 1);
  EXPECT_EQ(executor_->QueuedJobs(Priority::kHigh), 0u);
  EXPECT_EQ(executor_->QueuedJobs(Priority::kLow), 0u);
}

TEST_P(ExecutorTest, WaitForIdleIncludesJobsThatJobsSchedule) {
  std::atomic<int> runs{0};
  std::function<void()> job = [&] {
    if (runs.fetch_add(1) >= 20) return;
    EXPECT_TRUE(executor_->Schedule(Priority::kLow, job));
  };
  ASSERT_TRUE(executor_->Schedule(Priority::kHigh, job));
  executor_->WaitForIdle();
  EXPECT_EQ(runs.load(), 21);
}

TEST_P(ExecutorTest, ShutdownRunsWhatIsQueuedAndRefusesMore) {
  std::atomic<int> runs{0};
  for (int i = 0; i < 50; i++)
    ASSERT_TRUE(executor_->Schedule(Priority::kLow, [&] { runs.fetch_add(1); }));
  executor_->Shutdown();
  EXPECT_EQ(runs.load(), 50);
  EXPECT_FALSE(executor_->Schedule(Priority::kHigh, [&] { runs.fetch_add(1); }));
  executor_->Shutdown();
  EXPECT_EQ(runs.load(), 50);
}

TEST_P(ExecutorTest, JobsOfAPriorityWithoutThreadsWait) {
  ASSERT_TRUE(executor_->SetBackgroundThreads(0, Priority::kLow).ok());
  EXPECT_EQ(executor_->GetBackgroundThreads(Priority::kLow), 0);
  std::atomic<int> low{0};
  std::atomic<int> high{0};
  ASSERT_TRUE(executor_->Schedule(Priority::kLow, [&] { low.fetch_add(1); }));
  ASSERT_TRUE(executor_->Schedule(Priority::kHigh, [&] { high.fetch_add(1); }));
  EXPECT_EQ(executor_->QueuedJobs(Priority::kLow), 1u);
  ASSERT_TRUE(executor_->SetBackgroundThreads(1, Priority::kLow).ok());
  executor_->WaitForIdle();
  EXPECT_EQ(low.load(), 1);
  EXPECT_EQ(high.load(), 1);
}

TEST_P(ExecutorTest, ShutdownRunsJobsOfAPriorityWithoutThreads) {
  ASSERT_TRUE(executor_->SetBackgroundThreads(0, Priority::kLow).ok());
  std::atomic<int> low{0};
  ASSERT_TRUE(executor_->Schedule(Priority::kLow, [&] { low.fetch_add(1); }));
  executor_->Shutdown();
  EXPECT_EQ(low.load(), 1);
}

TEST_P(ExecutorTest, TheNumberOfThreadsMayChangeWhileJobsRun) {
  std::atomic<int> runs{0};
  for (int i = 0; i < 300; i++) {
    ASSERT_TRUE(executor_->Schedule(Priority::kLow, [&] { runs.fetch_add(1); }));
    if (i % 10 != 0) continue;
    ASSERT_TRUE(executor_->SetBackgroundThreads(1 + i / 10 % 4, Priority::kLow).ok());
  }
  executor_->WaitForIdle();
  EXPECT_EQ(runs.load(), 300);
}

TEST_P(ExecutorTest, ARaiseTakesNoThreadAway) {
  ASSERT_TRUE(executor_->SetBackgroundThreads(2, Priority::kLow).ok());
  EXPECT_TRUE(executor_->RaiseBackgroundThreads(1, Priority::kLow).ok());
  EXPECT_EQ(executor_->GetBackgroundThreads(Priority::kLow), 2);
  EXPECT_TRUE(executor_->RaiseBackgroundThreads(3, Priority::kLow).ok());
  EXPECT_EQ(executor_->GetBackgroundThreads(Priority::kLow), 3);
}

TEST_P(ExecutorTest, ShutdownDropsJobsThatAreNotDue) {
  constexpr uint64_t kAnHourUs = 3'600'000'000;
  std::atomic<int> runs{0};
  ASSERT_TRUE(executor_->ScheduleAfter(kAnHourUs, Priority::kLow, [&] { runs.fetch_add(1); }));
  executor_->WaitForIdle();
  EXPECT_EQ(executor_->QueuedJobs(Priority::kLow), 0u);
  executor_->Shutdown();
  EXPECT_EQ(runs.load(), 0);
  EXPECT_FALSE(executor_->ScheduleAfter(1, Priority::kLow, [&] { runs.fetch_add(1); }));
}

INSTANTIATE_TEST_SUITE_P(Both, ExecutorTest, testing::Values(&MakePool, &MakeManual),
                         [](const testing::TestParamInfo<ExecutorTest::ParamType>& param) {
                           return param.index == 0 ? "ThreadPool" : "Manual";
                         });

// Two jobs that wait for each other can only end if they run at the same time.
class Meeting {
 public:
  void Attend() {
    MutexLock lock(mutex_);
    present_++;
    changed_.SignalAll();
    while (present_ < 2) changed_.Wait(mutex_);
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  int present_ ASHLAR_GUARDED_BY(mutex_) = 0;
};

TEST(ThreadPoolExecutor, JobsOfOnePriorityRunSideBySide) {
  const std::unique_ptr<Executor> pool = MakePool();
  Meeting meeting;
  for (int i = 0; i < 2; i++)
    ASSERT_TRUE(pool->Schedule(Priority::kLow, [&] { meeting.Attend(); }));
  pool->WaitForIdle();
}

// Counts the threads that have called Enter and ended since.
class EndedThreads {
 public:
  void Enter() {
    thread_local Exit exit{.count = nullptr};
    exit.count = &count_;
  }
  int count() const { return count_.load(); }

 private:
  struct Exit {
    ~Exit() { count->fetch_add(1); }
    std::atomic<int>* count;
  };
  std::atomic<int> count_{0};
};

TEST(ThreadPoolExecutor, ThreadsWithoutAJobHaveEndedWhenTheirNumberIsLowered) {
  for (int round = 0; round < 20; round++) {
    EndedThreads ended;
    const std::unique_ptr<Executor> pool = MakePool();
    Meeting meeting;
    for (int i = 0; i < 2; i++) {
      ASSERT_TRUE(pool->Schedule(Priority::kLow, [&] {
        ended.Enter();
        meeting.Attend();
      }));
    }
    pool->WaitForIdle();
    ASSERT_TRUE(pool->SetBackgroundThreads(1, Priority::kLow).ok());
    EXPECT_EQ(ended.count(), 1);
    ASSERT_TRUE(pool->SetBackgroundThreads(0, Priority::kLow).ok());
    EXPECT_EQ(ended.count(), 2);
    pool->Shutdown();
  }
}

TEST(ThreadPoolExecutor, AThreadThatRunsAJobIsJoinedByALaterChange) {
  EndedThreads ended;
  const std::unique_ptr<Executor> pool = MakePool();
  Meeting meeting;
  ASSERT_TRUE(pool->Schedule(Priority::kLow, [&] {
    ended.Enter();
    // This dismisses the thread that runs the job, too.
    EXPECT_TRUE(pool->SetBackgroundThreads(0, Priority::kLow).ok());
    meeting.Attend();
  }));
  meeting.Attend();
  pool->WaitForIdle();
  ASSERT_TRUE(pool->SetBackgroundThreads(0, Priority::kLow).ok());
  EXPECT_EQ(ended.count(), 1);
  pool->Shutdown();
}

TEST(ThreadPoolExecutor, APriorityDoesNotWaitForTheOther) {
  const std::unique_ptr<Executor> pool = MakePool();
  ASSERT_TRUE(pool->SetBackgroundThreads(1, Priority::kLow).ok());
  Meeting meeting;
  ASSERT_TRUE(pool->Schedule(Priority::kLow, [&] { meeting.Attend(); }));
  ASSERT_TRUE(pool->Schedule(Priority::kHigh, [&] { meeting.Attend(); }));
  pool->WaitForIdle();
}

TEST(ThreadPoolExecutor, OneThreadRunsJobsInOrder) {
  const std::unique_ptr<Executor> pool = MakePool();
  std::vector<int> order;
  for (int i = 0; i < 100; i++)
    ASSERT_TRUE(pool->Schedule(Priority::kHigh, [&order, i] { order.push_back(i); }));
  pool->WaitForIdle();
  EXPECT_EQ(order.size(), 100u);
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(ThreadPoolExecutor, RunsJobsOnceTheyAreDueAndOthersMeanwhile) {
  const std::unique_ptr<Executor> pool = MakePool();
  const uint64_t start = MonotonicNanos();
  Mutex mutex;
  CondVar changed;
  std::vector<uint64_t> delays_us;  // of the jobs, in the order in which they ran
  const auto schedule = [&](uint64_t delay_us) {
    ASSERT_TRUE(pool->ScheduleAfter(delay_us, Priority::kHigh, [&, delay_us] {
      EXPECT_GE(MonotonicNanos() - start, delay_us * 1000);
      MutexLock lock(mutex);
      delays_us.push_back(delay_us);
      changed.SignalAll();
    }));
  };
  schedule(30000);
  schedule(10000);
  std::atomic<int> runs{0};
  ASSERT_TRUE(pool->Schedule(Priority::kHigh, [&] { runs.fetch_add(1); }));
  pool->WaitForIdle();
  EXPECT_EQ(runs.load(), 1);
  MutexLock lock(mutex);
  while (delays_us.size() < 2) changed.Wait(mutex);
  EXPECT_EQ(delays_us, (std::vector<uint64_t>{10000, 30000}));
}

// The only thread of kHigh runs a job that ends after both calls of RunQueuedJobs.
TEST(ThreadPoolExecutor, ACallerRunsTheJobsOfItsOwnerThatNoThreadHasBegun) {
  const std::unique_ptr<Executor> pool = MakePool();
  ASSERT_TRUE(pool->SetBackgroundThreads(0, Priority::kLow).ok());
  const int mine = 0;
  const int another = 0;
  Meeting begun;
  Meeting over;
  ASSERT_TRUE(pool->ScheduleOf(&mine, Priority::kHigh, [&] {
    begun.Attend();
    over.Attend();
  }));
  begun.Attend();
  std::vector<int> ran;
  ASSERT_TRUE(pool->ScheduleOf(&mine, Priority::kLow, [&] { ran.push_back(3); }));
  ASSERT_TRUE(pool->ScheduleOf(&another, Priority::kHigh, [&] { ran.push_back(5); }));
  ASSERT_TRUE(pool->ScheduleOf(&mine, Priority::kHigh, [&] { ran.push_back(1); }));
  ASSERT_TRUE(pool->Schedule(Priority::kHigh, [&] { ran.push_back(6); }));
  ASSERT_TRUE(pool->ScheduleOf(&mine, Priority::kHigh, [&] {
    ran.push_back(2);
    EXPECT_TRUE(pool->ScheduleOf(&mine, Priority::kLow, [&] { ran.push_back(4); }));
  }));
  pool->RunQueuedJobs(&mine);
  EXPECT_EQ(ran, (std::vector<int>{1, 2, 3, 4}));
  EXPECT_EQ(pool->QueuedJobs(Priority::kHigh), 2u);
  EXPECT_EQ(pool->QueuedJobs(Priority::kLow), 0u);
  pool->RunQueuedJobs(&mine);
  over.Attend();
  pool->WaitForIdle();
  EXPECT_EQ(ran, (std::vector<int>{1, 2, 3, 4, 5, 6}));
}

TEST(ThreadPoolExecutor, IsNotIdleWhileACallerRunsAJob) {
  const std::unique_ptr<Executor> pool = MakePool();
  ASSERT_TRUE(pool->SetBackgroundThreads(0, Priority::kLow).ok());
  const int owner = 0;
  Meeting begun;
  std::atomic<bool> ended{false};
  ASSERT_TRUE(pool->ScheduleOf(&owner, Priority::kLow, [&] {
    begun.Attend();
    ended.store(true);
  }));
  Result<Thread> caller = Thread::Start({.name = "caller"}, [&] { pool->RunQueuedJobs(&owner); });
  ASSERT_TRUE(caller.ok());
  begun.Attend();
  pool->WaitForIdle();
  EXPECT_TRUE(ended.load());
  caller->Join();
}

TEST(ThreadPoolExecutor, ThreadsDoNotHelpWhileWaiting) {
  const std::unique_ptr<Executor> pool = MakePool();
  EXPECT_FALSE(pool->RunJobWhileWaiting());
}

TEST(ManualExecutor, NothingRunsUntilAsked) {
  ManualExecutor executor(1);
  int runs = 0;
  ASSERT_TRUE(executor.Schedule(Priority::kLow, [&] { runs++; }));
  ASSERT_TRUE(executor.Schedule(Priority::kHigh, [&] { runs++; }));
  EXPECT_EQ(runs, 0);
  EXPECT_TRUE(executor.RunOne());
  EXPECT_EQ(runs, 1);
  EXPECT_TRUE(executor.RunJobWhileWaiting());
  EXPECT_EQ(runs, 2);
  EXPECT_FALSE(executor.RunOne());
}

std::vector<int> OrderOf(uint64_t seed) {
  ManualExecutor executor(seed);
  std::vector<int> order;
  EXPECT_TRUE(executor.SetBackgroundThreads(4, Priority::kLow).ok());
  for (int i = 0; i < 20; i++)
    EXPECT_TRUE(executor.Schedule(i % 3 == 0 ? Priority::kHigh : Priority::kLow,
                                  [&order, i] { order.push_back(i); }));
  EXPECT_EQ(executor.RunAll(), 20u);
  return order;
}

TEST(ManualExecutor, DelayedJobsRunWhenNothingElseIsLeftToWaitFor) {
  ManualExecutor executor(1);
  std::vector<int> ran;
  ASSERT_TRUE(executor.ScheduleAfter(20, Priority::kLow, [&] { ran.push_back(20); }));
  ASSERT_TRUE(executor.ScheduleAfter(10, Priority::kLow, [&] { ran.push_back(10); }));
  ASSERT_TRUE(executor.Schedule(Priority::kLow, [&] { ran.push_back(0); }));
  EXPECT_EQ(executor.RunAll(), 1u);
  EXPECT_TRUE(executor.RunJobWhileWaiting());
  EXPECT_TRUE(executor.RunJobWhileWaiting());
  EXPECT_FALSE(executor.RunJobWhileWaiting());
  EXPECT_EQ(ran, (std::vector<int>{0, 10, 20}));
}

TEST(ManualExecutor, ASeedIsASchedule) {
  EXPECT_EQ(OrderOf(5), OrderOf(5));
  EXPECT_NE(OrderOf(5), OrderOf(6));
}

TEST(ManualExecutor, WithOneThreadAPriorityKeepsItsOrder) {
  ManualExecutor executor(3);
  std::vector<int> order;
  for (int i = 0; i < 20; i++)
    ASSERT_TRUE(executor.Schedule(Priority::kLow, [&order, i] { order.push_back(i); }));
  executor.RunAll();
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(ManualExecutor, RunOldestTakesOnePriority) {
  std::vector<int> order;
  ManualExecutor executor(3);
  for (int i = 0; i < 4; i++)
    ASSERT_TRUE(executor.Schedule(i < 2 ? Priority::kLow : Priority::kHigh,
                                  [&order, i] { order.push_back(i); }));
  EXPECT_TRUE(executor.RunOldest(Priority::kHigh));
  EXPECT_TRUE(executor.RunOldest(Priority::kLow));
  EXPECT_EQ(order, (std::vector<int>{2, 0}));
}

TEST(ThreadPoolExecutor, LoweredThreadsStayLowered) {
  const std::unique_ptr<Executor> pool = MakePool();
  // This process may already have a lowered share itself.
  const CpuShare mine = CurrentCpuShare();
  pool->LowerCpuShare(CpuShare::kIdle, Priority::kLow);
  pool->LowerCpuShare(CpuShare::kLow, Priority::kLow);
  std::atomic<int> idle{0};
  std::atomic<int> as_before{0};
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(pool->Schedule(Priority::kLow,
                               [&] { idle.fetch_add(CurrentCpuShare() == CpuShare::kIdle); }));
    ASSERT_TRUE(
        pool->Schedule(Priority::kHigh, [&] { as_before.fetch_add(CurrentCpuShare() == mine); }));
  }
  pool->WaitForIdle();
  EXPECT_EQ(idle.load(), 4);
  EXPECT_EQ(as_before.load(), 4);
}

TEST(ThreadPoolExecutor, ListsTheThreadsThatHaveBegun) {
  const std::unique_ptr<Executor> pool = MakePool();
  std::atomic<uint64_t> high{0};
  std::atomic<uint64_t> low{0};
  ASSERT_TRUE(pool->Schedule(Priority::kHigh, [&] { high.store(CurrentThreadSystemId()); }));
  ASSERT_TRUE(pool->Schedule(Priority::kLow, [&] { low.store(CurrentThreadSystemId()); }));
  pool->WaitForIdle();
  const std::vector<ThreadOperations::Worker> threads = pool->Threads();
  EXPECT_LE(threads.size(), 3u);
  const auto lists = [&](uint64_t id, ThreadStatus::ThreadType type) {
    return std::count_if(threads.begin(), threads.end(), [&](const ThreadOperations::Worker& each) {
      return each.thread_id == id && each.type == type;
    });
  };
  EXPECT_EQ(lists(high.load(), ThreadStatus::HIGH_PRIORITY), 1);
  EXPECT_EQ(lists(low.load(), ThreadStatus::LOW_PRIORITY), 1);
  pool->Shutdown();
  EXPECT_TRUE(pool->Threads().empty());
}

}  // namespace
}  // namespace ashlar
