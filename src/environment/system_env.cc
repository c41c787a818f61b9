// SystemEnv: implements Env::Default() with the operating system's files, threads and time.
//
//   Schedule -> pending_ (in order) -> a job of the executor, which takes its entry out and runs it
//   UnSchedule takes entries out; their jobs find nothing and do nothing
//
// I1: of an entry of pending_, either the function or the unschedule (if it has one) runs once. The
//     thread that takes the entry out of the list makes the call.
//
// It is never destroyed, because databases may be closed, and their last jobs may run, after static
// destructors have begun. Its threads start when a database first requests the executor, so merely
// constructing DBOptions starts none.
#include <algorithm>
#include <array>
#include <atomic>
#include <list>
#include <utility>

#include "ashlar/file_system.h"
#include "ashlar/system_clock.h"
#include "base/assert.h"
#include "environment/env_over_files.h"
#include "execute/clock.h"
#include "execute/thread_pool_executor.h"
#include "platform/host.h"
#include "platform/mutex.h"
#include "platform/thread.h"

namespace ashlar {
namespace {

class SystemEnv final : public EnvOverFiles {
 public:
  SystemEnv()
      : EnvOverFiles(FileSystem::Default(), SystemClock::Default()), clock_(MachineClock()) {}

  const char* Name() const override { return kDefaultName(); }

  Status GetHostName(char* name, uint64_t bytes) override {
    const std::string found = HostName();
    if (found.empty()) return Status::IOError("the system has no name for this machine");
    if (bytes == 0) return Status::InvalidArgument("no room for the name of the machine");
    const size_t copied = std::min(found.size(), static_cast<size_t>(bytes - 1));
    std::copy_n(found.data(), copied, name);
    name[copied] = '\0';
    return Status::OK();
  }
  Clock* clock() override { return clock_.get(); }

  Executor* executor() override {
    Executor* started = executor_.load(std::memory_order_acquire);  // pairs with the release below
    return started != nullptr ? started : Start();
  }

  void Schedule(void (*function)(void* arg), void* arg, Priority pri, void* tag,
                void (*unschedule)(void* arg)) override {
    Executor* const threads = executor();
    std::list<Job> entry;
    entry.push_back({.function = function,
                     .arg = arg,
                     .pri = pri,
                     .tag = tag,
                     .unschedule = unschedule,
                     .number = 0});
    const MutexLock lock(pending_mutex_);
    const uint64_t number = entry.front().number = ++last_number_;
    // Schedule is called first, because it may throw and an entry without a job would never leave
    // the list. The job waits for the mutex.
    const bool is_taken = threads->Schedule(LaneFor(pri), [this, number] { Run(number); });
    ASHLAR_ASSERT(is_taken);  // the executor of this Env is never shut down
    pending_.splice(pending_.end(), entry);
  }

  int UnSchedule(void* tag, Priority pri) override {
    std::list<Job> taken;
    {
      const MutexLock lock(pending_mutex_);
      for (auto job = pending_.begin(); job != pending_.end();) {
        const auto next = std::next(job);
        if (job->tag == tag && job->pri == pri) taken.splice(taken.end(), pending_, job);
        job = next;
      }
    }
    for (const Job& job : taken) {
      if (job.unschedule != nullptr) job.unschedule(job.arg);
    }
    return static_cast<int>(taken.size());
  }

  void StartThread(void (*function)(void* arg), void* arg) override {
    std::list<Thread> started(1);  // allocated first, so that every thread is joined
    Result<Thread> thread =
        Thread::Start({.name = "ashlar:program"}, [function, arg] { function(arg); });
    if (!thread.ok()) {
      // The failure cannot be reported, and the program relies on the call.
      function(arg);
      return;
    }
    started.front() = std::move(thread).value();
    const MutexLock lock(threads_mutex_);
    threads_.splice(threads_.end(), started);
  }

  void WaitForJoin() override {
    std::list<Thread> started;
    {
      const MutexLock lock(threads_mutex_);
      started.swap(threads_);
    }
    for (Thread& thread : started) thread.Join();
  }

  unsigned int GetThreadPoolQueueLen(Priority pri) const override {
    const Executor* const started = executor_.load(std::memory_order_acquire);
    if (started == nullptr) return 0;
    return static_cast<unsigned int>(started->QueuedJobs(LaneFor(pri)));
  }

  void LowerThreadPoolIOPriority(Priority pool) override {
    if (pool == HIGH || pool == LOW) executor()->LowerIoPriority(LaneFor(pool));
  }
  Status LowerThreadPoolCPUPriority(Priority pool, CpuPriority pri) override {
    if (pool != HIGH && pool != LOW) return Status::OK();
    if (pri == CpuPriority::kIdle) executor()->LowerCpuShare(CpuShare::kIdle, LaneFor(pool));
    if (pri == CpuPriority::kLow) executor()->LowerCpuShare(CpuShare::kLow, LaneFor(pool));
    return Status::OK();
  }
  void LowerThreadPoolCPUPriority(Priority pool) override {
    static_cast<void>(LowerThreadPoolCPUPriority(pool, CpuPriority::kLow).ok());
  }

  void SetBackgroundThreads(int number, Priority pri) override {
    if (pri == HIGH || pri == LOW) {
      // If the system refuses new threads, work continues more slowly on the existing ones.
      static_cast<void>(executor()->SetBackgroundThreads(std::max(number, 0), LaneFor(pri)).ok());
    } else if (pri < TOTAL) {
      numbers_without_lane_[pri].store(std::max(number, 0), std::memory_order_relaxed);
    }
  }
  void IncBackgroundThreadsIfNeeded(int number, Priority pri) override {
    if (pri == HIGH || pri == LOW) {
      // As in SetBackgroundThreads.
      static_cast<void>(executor()->RaiseBackgroundThreads(number, LaneFor(pri)).ok());
    } else if (pri < TOTAL) {
      std::atomic<int>& own = numbers_without_lane_[pri];
      int before = own.load(std::memory_order_relaxed);
      while (before < number &&
             !own.compare_exchange_weak(before, number, std::memory_order_relaxed)) {
      }
    }
  }
  int GetBackgroundThreads(Priority pri) override {
    if (pri == HIGH || pri == LOW) return executor()->GetBackgroundThreads(LaneFor(pri));
    return pri < TOTAL ? numbers_without_lane_[pri].load(std::memory_order_relaxed) : 0;
  }

 private:
  struct Job {
    void (*function)(void* arg) = nullptr;
    void* arg = nullptr;
    Priority pri = LOW;
    void* tag = nullptr;
    void (*unschedule)(void* arg) = nullptr;
    uint64_t number = 0;
  };

  // Jobs of the priorities that have no threads of their own run in the lane of compactions.
  static Executor::Priority LaneFor(Priority pri) {
    return pri == HIGH ? Executor::Priority::kHigh : Executor::Priority::kLow;
  }

  void Run(uint64_t number) {
    std::list<Job> taken;
    {
      const MutexLock lock(pending_mutex_);
      const auto job = std::find_if(pending_.begin(), pending_.end(),
                                    [number](const Job& each) { return each.number == number; });
      if (job != pending_.end()) taken.splice(taken.end(), pending_, job);
    }
    for (const Job& job : taken) job.function(job.arg);
  }

  Executor* Start() {
    const MutexLock lock(start_mutex_);
    Executor* started = executor_.load(std::memory_order_relaxed);
    if (started != nullptr) return started;
    Result<std::unique_ptr<ThreadPoolExecutor>> pool = ThreadPoolExecutor::Start({});
    // A pool without threads still queues. An open requests threads again and fails without them.
    if (!pool.ok()) pool = ThreadPoolExecutor::Start({.high_threads = 0, .low_threads = 0});
    ASHLAR_ASSERT(pool.ok());  // no thread was requested
    started = pool->release();
    executor_.store(started, std::memory_order_release);
    return started;
  }

  const std::shared_ptr<Clock> clock_;
  Mutex start_mutex_;
  std::atomic<Executor*> executor_{nullptr};  // written once, by Start
  // The program's settings for priorities without a queue. Relaxed, because they are only reported.
  std::array<std::atomic<int>, TOTAL> numbers_without_lane_{};
  Mutex pending_mutex_;
  std::list<Job> pending_ ASHLAR_GUARDED_BY(pending_mutex_);  // I1
  uint64_t last_number_ ASHLAR_GUARDED_BY(pending_mutex_) = 0;
  Mutex threads_mutex_;
  std::list<Thread> threads_ ASHLAR_GUARDED_BY(threads_mutex_);  // not joined yet
};

}  // namespace

Env* Env::Default() {
  static Env* const env = new SystemEnv;
  return env;
}

}  // namespace ashlar
