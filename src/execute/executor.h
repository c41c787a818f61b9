// Executor: runs background work. The engine schedules jobs and never starts a thread itself, so
// that a test can replace the pool with a deterministic executor and decide the order of the jobs.
//
// There are two queues, kHigh (flushes) and kLow (compactions). Each is first in, first out and has
// its own threads.
//
// Thread safety: any thread, also from inside a job, unless stated otherwise. Jobs run with no lock
// of the executor held. Lifetime: Shutdown (or destruction) runs all queued jobs, then joins the
// threads. Requires: objects that a job refers to live until then.
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
  // Like Schedule, but RunQueuedJobs(owner) may run the job. Default: Schedule.
  [[nodiscard]] virtual bool ScheduleOf(const void* /*owner*/, Priority priority,
                                        std::function<void()> job) {
    return Schedule(priority, std::move(job));
  }
  // Like Schedule, but queues the job after delay_us microseconds. Until then, WaitForIdle and
  // QueuedJobs do not count it, and Shutdown drops it.
  [[nodiscard]] virtual bool ScheduleAfter(uint64_t delay_us, Priority priority,
                                           std::function<void()> job) = 0;
  // Sets how many jobs of this priority may run at once. If this lowers the number, running jobs
  // finish first; with 0, jobs wait. Returns TryAgain if the system refuses a thread and
  // MemoryLimit if an allocation fails. In both cases the threads started so far remain.
  virtual Status SetBackgroundThreads(int threads, Priority priority) = 0;
  // Like SetBackgroundThreads, but only if it raises the number. OK: at least this many may run.
  virtual Status RaiseBackgroundThreads(int threads, Priority priority) = 0;
  virtual int GetBackgroundThreads(Priority priority) const = 0;
  // The number of waiting jobs, without those that run.
  virtual size_t QueuedJobs(Priority priority) const = 0;
  // Returns when nothing runs and nothing is queued. Must not be called from inside a job.
  virtual void WaitForIdle() = 0;
  // Runs the queued jobs, refuses new ones, and joins the threads. Idempotent. Must not be called
  // from inside a job.
  virtual void Shutdown() = 0;
  // Call this without locks before waiting for background work, and wait only if it returns false.
  // A pool does nothing and returns false. An executor without threads runs one job on the calling
  // thread and returns true.
  virtual bool RunJobWhileWaiting() = 0;
  // On the calling thread, runs the owner's jobs that no thread has begun, kHigh first. Used by an
  // owner that has signalled its jobs to end and waits for them, because threads may be busy with
  // other jobs or missing. Hold no locks. Default: nothing, because RunJobWhileWaiting runs them.
  virtual void RunQueuedJobs(const void* /*owner*/) {}
  // Limits the threads of this priority to this share of the processors, and makes their I/O wait
  // for that of other threads. Takes effect with a thread's next job, also for threads that start
  // later. Default: nothing, because there are no threads.
  virtual void LowerCpuShare(CpuShare /*share*/, Priority /*priority*/) {}
  virtual void LowerIoPriority(Priority /*priority*/) {}
  // The threads that run now. Default: none.
  virtual std::vector<ThreadOperations::Worker> Threads() const { return {}; }
  // The operations that jobs of this executor run, on its threads and on other threads.
  ThreadOperations& operations() { return operations_; }
  const ThreadOperations& operations() const { return operations_; }

 private:
  ThreadOperations operations_;
};

}  // namespace ashlar
