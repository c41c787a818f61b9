// ManualExecutor: an Executor without threads, for tests. Jobs wait until the test runs them on its own thread, in an order drawn from a seed, so
// that one number replays one schedule.
//
// The numbers of threads are remembered but limit nothing except that a priority with 0 threads runs no job.
#pragma once

#include <deque>

#include "base/random.h"
#include "execute/executor.h"
#include "platform/mutex.h"

namespace ashlar {

class ManualExecutor final : public Executor {
 public:
  explicit ManualExecutor(uint64_t seed) : random_(seed) {}
  ~ManualExecutor() override;

  // Runs one job, chosen by the seed among those that could start now. False when there is none.
  bool RunOne();
  // Runs the oldest job of this priority. False when there is none.
  bool RunOldest(Priority priority);
  // Runs jobs, also those that jobs schedule, until there is none; returns how many.
  size_t RunAll();

  [[nodiscard]] bool Schedule(Priority priority, std::function<void()> job) override;
  Status SetBackgroundThreads(int threads, Priority priority) override;
  int GetBackgroundThreads(Priority priority) const override;
  size_t QueuedJobs(Priority priority) const override;
  void WaitForIdle() override { RunAll(); }
  void Shutdown() override;
  bool RunJobWhileWaiting() override { return RunOne(); }

 private:
  struct Lane {
    std::deque<std::function<void()>> queue;
    int threads = 1;
  };
  mutable Mutex mutex_;
  Lane lanes_[kPriorities] ASHLAR_GUARDED_BY(mutex_);
  Random random_ ASHLAR_GUARDED_BY(mutex_);
  bool shutting_down_ ASHLAR_GUARDED_BY(mutex_) = false;
};

}  // namespace ashlar
