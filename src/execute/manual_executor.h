// ManualExecutor: an Executor without threads, for tests. Jobs wait until the test runs them on its
// own thread in an order drawn from a seed, so that one number replays one schedule.
//
// A job with a delay becomes due when a thread waits for background work and no other job is left.
// Time then advances. RunOne and RunAll do not run it.
//
// The numbers of threads start no threads. RunOne chooses among the first `threads` jobs of each
// queue. With 0, no job of that priority runs.
#pragma once

#include <deque>
#include <map>

#include "base/random.h"
#include "execute/executor.h"
#include "platform/mutex.h"

namespace ashlar {

class ManualExecutor final : public Executor {
 public:
  explicit ManualExecutor(uint64_t seed) : random_(seed) {}
  ~ManualExecutor() override;

  // Runs one job, chosen by the seed among those that could start now. Returns false if none can.
  bool RunOne();
  // Runs the oldest job of this priority. Returns false if there is none or threads are 0.
  bool RunOldest(Priority priority);
  // Runs jobs, also those that jobs schedule, until none is left. Returns how many ran.
  size_t RunAll();

  // Runs the job whose delay ends first, regardless of queued jobs. Returns false if there is none.
  bool RunDelayed();

  [[nodiscard]] bool Schedule(Priority priority, std::function<void()> job) override;
  [[nodiscard]] bool ScheduleAfter(uint64_t delay_us, Priority priority,
                                   std::function<void()> job) override;
  Status SetBackgroundThreads(int threads, Priority priority) override;
  Status RaiseBackgroundThreads(int threads, Priority priority) override;
  int GetBackgroundThreads(Priority priority) const override;
  size_t QueuedJobs(Priority priority) const override;
  void WaitForIdle() override { RunAll(); }
  void Shutdown() override;
  bool RunJobWhileWaiting() override { return RunOne() || RunDelayed(); }

 private:
  struct Lane {
    std::deque<std::function<void()>> queue;
    int threads = 1;
  };
  mutable Mutex mutex_;
  Lane lanes_[kPriorities] ASHLAR_GUARDED_BY(mutex_);
  std::multimap<uint64_t, std::function<void()>> delayed_
      ASHLAR_GUARDED_BY(mutex_);                   // ordered by the time at which each is due
  uint64_t now_us_ ASHLAR_GUARDED_BY(mutex_) = 0;  // advanced by RunDelayed alone
  Random random_ ASHLAR_GUARDED_BY(mutex_);
  bool shutting_down_ ASHLAR_GUARDED_BY(mutex_) = false;
};

}  // namespace ashlar
