// Executor: runs background work. The engine schedules jobs and never starts a thread itself, so
// that a test can replace the pool by a deterministic executor and decide the order of the jobs.
//
// Two queues: kHigh (flushes) and kLow (compactions), each served by its own threads, first in
// first out.
//
// Thread safety: any thread, also from inside a job, unless said otherwise. Jobs run with no lock
// of the executor held. Lifetime: Shutdown (or destruction) runs everything that was queued, then
// joins. Requires: objects that a job refers to live until then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "ashlar/status.h"
#include "observe/thread_operations.h"
#include "platform/thread.h"

namespace ashlar {

class Executor {
 public:
  enum class Priority { kHigh = 0, kLow = 1 };
  static constexpr int kPriorities = 2;

  virtual ~Executor() = default;

  // Takes the job, or returns false (and drops it) if Shutdown has begun.
  [[nodiscard]] virtual bool Schedule(Priority priority, std::function<void()> job) = 0;
  // The same, for a job that RunQueuedJobs of its owner may run. Default: Schedule.
  [[nodiscard]] virtual bool ScheduleOf(const void* /*owner*/, Priority priority,
                                        std::function<void()> job) {
    return Schedule(priority, std::move(job));
  }
  // The same, for a job that is queued once delay_us microseconds have passed. Shutdown drops it if
  // that has not happened by then; WaitForIdle and QueuedJobs do not count it before.
  [[nodiscard]] virtual bool ScheduleAfter(uint64_t delay_us, Priority priority,
                                           std::function<void()> job) = 0;
  // Sets how many jobs of this priority run at once. Fewer: running jobs finish first. With 0, jobs
  // wait. TryAgain when the system refuses a thread, MemoryLimit when there is no memory for one;
  // then those that could be started stay.
  virtual Status SetBackgroundThreads(int threads, Priority priority) = 0;
  // The same if fewer run at once now. OK: at least this many do.
  virtual Status RaiseBackgroundThreads(int threads, Priority priority) = 0;
  virtual int GetBackgroundThreads(Priority priority) const = 0;
  // Jobs waiting, not counting those that run.
  virtual size_t QueuedJobs(Priority priority) const = 0;
  // Returns at a moment when nothing runs and nothing is queued. Not from inside a job.
  virtual void WaitForIdle() = 0;
  // Runs the queued jobs, refuses new ones, and joins the threads. Idempotent. Not from inside a
  // job.
  virtual void Shutdown() = 0;
  // Call this before waiting for background work, without locks, and wait only if it returns false.
  // A pool does nothing and returns false. An executor without threads runs one job here and
  // returns true.
  virtual bool RunJobWhileWaiting() = 0;
  // Runs the jobs of this owner that no thread has begun here, those of kHigh first. For an owner
  // that has told its jobs to end and waits for them: the threads may be busy with jobs of others,
  // or there may be none. Without locks. Default: nothing, because RunJobWhileWaiting runs them.
  virtual void RunQueuedJobs(const void* /*owner*/) {}
  // Limits the threads of this priority to this share of the processors, and makes their I/O wait
  // for that of others. Applies from their next job on, and to threads that start later. Default:
  // nothing, because there are no threads.
  virtual void LowerCpuShare(CpuShare /*share*/, Priority /*priority*/) {}
  virtual void LowerIoPriority(Priority /*priority*/) {}
  // The threads that have begun. Default: none.
  virtual std::vector<ThreadOperations::Worker> Threads() const { return {}; }
  // The operations that jobs of this executor run, on its threads and on others.
  ThreadOperations& operations() { return operations_; }
  const ThreadOperations& operations() const { return operations_; }

 private:
  ThreadOperations operations_;
};

}  // namespace ashlar
