// ThreadPoolExecutor: the Executor for production, with a fixed number of threads per priority.
//
// One mutex guards both queues. Jobs take milliseconds to minutes, and there are a few hundred a
// second at most.
//
// I1: a thread of priority p takes only the oldest job of queue p, and only while its position is
//     below `wanted`. RunQueuedJobs takes the jobs of one owner from both queues.
// I2: SetBackgroundThreads joins each surplus thread, unless the thread runs a job. Such a
//     thread leaves at the end of its job, and the next SetBackgroundThreads or Shutdown joins
//     it.
// I3: a job wakes the waiting thread that worked last, because its caches are warm and its earlier
//     jobs freed memory into the allocator's cache of that thread. With threads taking turns, each
//     one would keep the memory of a job.
// I4: a job with a delay waits in its lane's `delayed`. An idle thread of the lane wakes up when
//     the first one is due. A thread that takes a job wakes another thread if jobs are left,
//     because that thread may have begun to wait before those jobs arrived.
// I5: a thread of the pool allocates nothing itself, because it has no caller to whom it could
//     report that an allocation failed.
#pragma once

#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"
#include "execute/executor.h"
#include "platform/mutex.h"
#include "platform/thread.h"

namespace ashlar {

class ThreadPoolExecutor final : public Executor {
 public:
  struct Options {
    int high_threads = 1;
    int low_threads = 1;
    ThreadPriority low_thread_priority = ThreadPriority::kNormal;
  };
  static Result<std::unique_ptr<ThreadPoolExecutor>> Start(const Options& options);
  ~ThreadPoolExecutor() override;

  [[nodiscard]] bool Schedule(Priority priority, std::function<void()> job) override {
    return ScheduleOf(nullptr, priority, std::move(job));
  }
  [[nodiscard]] bool ScheduleOf(const void* owner, Priority priority,
                                std::function<void()> job) override;
  [[nodiscard]] bool ScheduleAfter(uint64_t delay_us, Priority priority,
                                   std::function<void()> job) override;
  Status SetBackgroundThreads(int threads, Priority priority) override;
  Status RaiseBackgroundThreads(int threads, Priority priority) override;
  int GetBackgroundThreads(Priority priority) const override;
  size_t QueuedJobs(Priority priority) const override;
  void WaitForIdle() override;
  void Shutdown() override;
  bool RunJobWhileWaiting() override { return false; }
  void RunQueuedJobs(const void* owner) override;
  void LowerCpuShare(CpuShare share, Priority priority) override;
  void LowerIoPriority(Priority priority) override;
  std::vector<ThreadOperations::Worker> Threads() const override;

 private:
  // The limits for a lane's threads. A thread compares them with its own before each job.
  struct Lowered {
    CpuShare cpu_share = CpuShare::kNormal;
    bool lowers_io = false;
  };
  struct Worker {
    Thread thread;           // guarded by resize_mutex_
    uint64_t thread_id = 0;  // guarded by mutex_; 0: the thread has not begun
    bool runs_job = false;   // guarded by mutex_
    bool finished = false;   // guarded by mutex_
    CondVar wake;
  };
  struct Job {
    uint64_t due_nanos = 0;       // monotonic; for jobs with a delay
    const void* owner = nullptr;  // null: RunQueuedJobs leaves it to the threads
    std::function<void()> run;
  };
  struct Lane {
    std::list<Job> queue;
    std::list<Job> delayed;                        // ordered by the time at which each is due
    std::vector<std::unique_ptr<Worker>> workers;  // those with index >= wanted leave
    int wanted = 0;
    int running = 0;
    Lowered lowered;
    std::vector<Worker*> waiting;  // the longest waiting first; has room for all workers (I5)

    // Moves the jobs that are due to the queue.
    void QueueDue();
    void WakeOne();
    void WakeAll();
    // Removes the unused places at the end of `workers`.
    void DropUnusedPlaces();
    // Asserts that the counts agree with the workers, and I3: each waiting worker is listed once
    // and runs no job.
    void CheckInvariants() const;
  };

  explicit ThreadPoolExecutor(const Options& options) : options_(options) {}
  Lane& lane(Priority priority) ASHLAR_REQUIRES(mutex_) {
    return lanes_[static_cast<int>(priority)];
  }
  const Lane& lane(Priority priority) const ASHLAR_REQUIRES(mutex_) {
    return lanes_[static_cast<int>(priority)];
  }
  bool IsIdle() const ASHLAR_REQUIRES(mutex_);
  Status Resize(size_t wanted, Priority priority) ASHLAR_REQUIRES(resize_mutex_);
  // Sets the wanted number of threads and joins those above it that run no job (I2).
  void DismissWorkers(Priority priority, size_t wanted) ASHLAR_REQUIRES(resize_mutex_);
  Status StartWorker(Priority priority, size_t position) ASHLAR_REQUIRES(resize_mutex_);
  void Work(Priority priority, Worker* worker, size_t position);
  // Lowers the calling thread from *own to `wanted`.
  static void Lower(const Lowered& wanted, Lowered* own);
  // Waits until there may be work for this worker, which is idle.
  void WaitForWork(Lane* mine, Worker* worker) ASHLAR_REQUIRES(mutex_);

  const Options options_;
  Mutex resize_mutex_ ASHLAR_ACQUIRED_BEFORE(
      mutex_);  // one resize or shutdown at a time; held while threads start and are joined
  mutable Mutex mutex_;
  CondVar idle_;
  Lane lanes_[kPriorities] ASHLAR_GUARDED_BY(mutex_);
  int run_by_callers_ ASHLAR_GUARDED_BY(mutex_) = 0;  // jobs that RunQueuedJobs runs
  bool shutting_down_ ASHLAR_GUARDED_BY(mutex_) = false;
};

}  // namespace ashlar
