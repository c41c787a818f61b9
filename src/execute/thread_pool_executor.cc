#include "execute/thread_pool_executor.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/format.h"
#include "base/out_of_memory.h"
#include "platform/clock.h"

namespace ashlar {

Result<std::unique_ptr<ThreadPoolExecutor>> ThreadPoolExecutor::Start(const Options& options) {
  std::unique_ptr<ThreadPoolExecutor> executor(new ThreadPoolExecutor(options));
  ASHLAR_RETURN_IF_ERROR(executor->SetBackgroundThreads(options.high_threads, Priority::kHigh));
  ASHLAR_RETURN_IF_ERROR(executor->SetBackgroundThreads(options.low_threads, Priority::kLow));
  return executor;
}

ThreadPoolExecutor::~ThreadPoolExecutor() { Shutdown(); }

void ThreadPoolExecutor::Lane::WakeOne() {
  if (waiting.empty()) return;
  waiting.back()->wake.Signal();
  waiting.pop_back();
}

void ThreadPoolExecutor::Lane::WakeAll() {
  while (!waiting.empty()) WakeOne();
}

void ThreadPoolExecutor::Lane::DropUnusedPlaces() {
  while (!workers.empty() && workers.back() == nullptr) workers.pop_back();
}

void ThreadPoolExecutor::Lane::CheckInvariants() const {
  int at_work = 0;
  for (const std::unique_ptr<Worker>& worker : workers) {
    if (worker == nullptr) continue;
    if (worker->runs_job) ++at_work;
    ASHLAR_ASSERT(!worker->runs_job || !worker->finished);  // a finished thread runs none
    const auto times = std::count(waiting.begin(), waiting.end(), worker.get());
    ASHLAR_ASSERT(times <= (worker->runs_job ? 0 : 1));  // I3
  }
  ASHLAR_ASSERT(at_work == running || workers.empty());  // Shutdown takes the workers first
}

bool ThreadPoolExecutor::ScheduleOf(const void* owner, Priority priority,
                                    std::function<void()> job) {
  MutexLock lock(mutex_);
  if (shutting_down_) return false;
  lane(priority).queue.push_back({.owner = owner, .run = std::move(job)});
  lane(priority).WakeOne();
  return true;
}

bool ThreadPoolExecutor::ScheduleAfter(uint64_t delay_us, Priority priority,
                                       std::function<void()> job) {
  MutexLock lock(mutex_);
  if (shutting_down_) return false;
  const uint64_t due_nanos = MonotonicNanos() + delay_us * 1000;
  std::list<Job>& delayed = lane(priority).delayed;
  // Searches from the end, because most jobs are due after the waiting ones, perhaps thousands.
  const auto earlier = std::find_if(delayed.rbegin(), delayed.rend(), [due_nanos](const Job& each) {
    return each.due_nanos <= due_nanos;
  });
  delayed.insert(earlier.base(), {.due_nanos = due_nanos, .run = std::move(job)});
  // A thread that waits without a time-out must now set one.
  lane(priority).WakeOne();
  return true;
}

void ThreadPoolExecutor::Lane::QueueDue() {
  const uint64_t now = MonotonicNanos();
  const auto later = std::find_if(delayed.begin(), delayed.end(),
                                  [now](const Job& each) { return each.due_nanos > now; });
  queue.splice(queue.end(), delayed, delayed.begin(), later);
}

int ThreadPoolExecutor::GetBackgroundThreads(Priority priority) const {
  MutexLock lock(mutex_);
  return lane(priority).wanted;
}

size_t ThreadPoolExecutor::QueuedJobs(Priority priority) const {
  MutexLock lock(mutex_);
  return lane(priority).queue.size();
}

bool ThreadPoolExecutor::IsIdle() const {
  return run_by_callers_ == 0 &&
         std::all_of(std::begin(lanes_), std::end(lanes_),
                     [](const Lane& lane) { return lane.queue.empty() && lane.running == 0; });
}

// Takes one at a time: a job may wait for another of its owner, which a thread may take meanwhile.
void ThreadPoolExecutor::RunQueuedJobs(const void* owner) {
  ASHLAR_ASSERT(owner != nullptr);  // Requires
  const auto is_owned = [owner](const Job& job) { return job.owner == owner; };
  for (;;) {
    std::list<Job> taken;
    {
      MutexLock lock(mutex_);
      for (Lane& each : lanes_) {
        const auto job = std::find_if(each.queue.begin(), each.queue.end(), is_owned);
        if (job == each.queue.end()) continue;
        taken.splice(taken.end(), each.queue, job);
        break;
      }
      if (taken.empty()) return;
      ++run_by_callers_;
    }
    // As on a thread, an exception of a job ends the process.
    [&taken]() noexcept { taken.front().run(); }();
    taken.clear();
    MutexLock lock(mutex_);
    ASHLAR_ASSERT(run_by_callers_ > 0);  // counted above
    --run_by_callers_;
    if (IsIdle()) idle_.SignalAll();
  }
}

void ThreadPoolExecutor::WaitForIdle() {
  MutexLock lock(mutex_);
  while (!IsIdle()) idle_.Wait(mutex_);
}

Status ThreadPoolExecutor::SetBackgroundThreads(int threads, Priority priority) {
  MutexLock resize_lock(resize_mutex_);
  return Resize(static_cast<size_t>(std::max(threads, 0)), priority);
}

Status ThreadPoolExecutor::RaiseBackgroundThreads(int threads, Priority priority) {
  MutexLock resize_lock(resize_mutex_);
  if (GetBackgroundThreads(priority) >= threads) return Status::OK();
  return Resize(static_cast<size_t>(threads), priority);
}

Status ThreadPoolExecutor::Resize(size_t wanted, Priority priority) {
  {
    MutexLock lock(mutex_);
    if (shutting_down_) return Status::ShutdownInProgress("set the number of background threads");
  }
  DismissWorkers(priority, wanted);
  for (size_t position = 0; position < wanted; position++) {
    const Status status = CatchBadAlloc([&]() -> Status {
      resize_mutex_.AssertHeld();
      return StartWorker(priority, position);
    });
    if (status.ok()) continue;
    DismissWorkers(priority, position);
    return status;
  }
  return Status::OK();
}

// A worker without a job only has to exit. It waits only for mutex_, so its join is short.
void ThreadPoolExecutor::DismissWorkers(Priority priority, size_t wanted) {
  std::vector<std::unique_ptr<Worker>> leaving;
  {
    MutexLock lock(mutex_);
    Lane& mine = lane(priority);
    mine.DropUnusedPlaces();
    // Reserved before anything changes, because a thread that is removed from the list must be
    // joined. After a failed start this is 0, so no memory is needed.
    leaving.reserve(mine.workers.size() - std::min(mine.workers.size(), wanted));
    mine.wanted = static_cast<int>(wanted);
    mine.WakeAll();
    for (size_t position = wanted; position < mine.workers.size(); position++) {
      std::unique_ptr<Worker>& worker = mine.workers[position];
      if (worker != nullptr && !worker->runs_job) leaving.push_back(std::move(worker));
    }
    mine.DropUnusedPlaces();
  }
  for (const std::unique_ptr<Worker>& worker : leaving) worker->thread.Join();
}

// Only the holder of resize_mutex_ changes the list of workers. It takes mutex_ as well, because
// workers access their entries under it.
Status ThreadPoolExecutor::StartWorker(Priority priority, size_t position) {
  std::unique_ptr<Worker> left;
  Worker* worker = nullptr;
  {
    MutexLock lock(mutex_);
    std::vector<std::unique_ptr<Worker>>& workers = lane(priority).workers;
    if (position == workers.size()) workers.emplace_back();
    if (workers[position] != nullptr && !workers[position]->finished) return Status::OK();
    lane(priority).waiting.reserve(workers.size());  // I5
    left = std::exchange(workers[position], std::make_unique<Worker>());
    worker = workers[position].get();
  }
  if (left != nullptr) left->thread.Join();
  const Status started = CatchBadAlloc([&]() -> Status {
    const ThreadOptions thread_options{
        .name = StrCat(priority == Priority::kHigh ? "ashlar:high" : "ashlar:low", position),
        .priority =
            priority == Priority::kHigh ? ThreadPriority::kNormal : options_.low_thread_priority};
    ASHLAR_ASSIGN_OR_RETURN(worker->thread,
                            Thread::Start(thread_options, [this, priority, worker, position] {
                              Work(priority, worker, position);
                            }));
    return Status::OK();
  });
  if (!started.ok()) {
    MutexLock lock(mutex_);
    lane(priority).workers[position] = nullptr;
  }
  return started;
}

void ThreadPoolExecutor::Work(Priority priority, Worker* worker, size_t position) {
  Lowered own;
  MutexLock lock(mutex_);
  worker->thread_id = CurrentThreadSystemId();
  Lane& mine = lane(priority);
  for (;;) {
    mine.QueueDue();
    while (position < static_cast<size_t>(mine.wanted) && mine.queue.empty() && !shutting_down_) {
      WaitForWork(&mine, worker);
      mine.QueueDue();
    }
    if (position >= static_cast<size_t>(mine.wanted) || mine.queue.empty()) break;
    std::function<void()> job = std::move(mine.queue.front().run);
    mine.queue.pop_front();
    if (!mine.queue.empty() || !mine.delayed.empty()) mine.WakeOne();  // I4
    mine.running++;
    worker->runs_job = true;
    const Lowered wanted = mine.lowered;
    lock.Unlock();
    Lower(wanted, &own);
    job();
    job = nullptr;
    lock.Lock();
    worker->runs_job = false;
    mine.running--;
    if constexpr (kDebugChecks) mine.CheckInvariants();
    if (IsIdle()) idle_.SignalAll();
  }
  worker->finished = true;
  // The signal that woke this thread may have been for a job that it leaves to other threads.
  mine.WakeOne();
}

void ThreadPoolExecutor::Lower(const Lowered& wanted, Lowered* own) {
  if (wanted.cpu_share > own->cpu_share) ashlar::LowerCpuShare(wanted.cpu_share);
  if (wanted.lowers_io && !own->lowers_io) ashlar::LowerIoPriority();
  *own = wanted;
}

void ThreadPoolExecutor::LowerCpuShare(CpuShare share, Priority priority) {
  MutexLock lock(mutex_);
  CpuShare& wanted = lane(priority).lowered.cpu_share;
  wanted = std::max(wanted, share);
}

void ThreadPoolExecutor::LowerIoPriority(Priority priority) {
  MutexLock lock(mutex_);
  lane(priority).lowered.lowers_io = true;
}

std::vector<ThreadOperations::Worker> ThreadPoolExecutor::Threads() const {
  std::vector<ThreadOperations::Worker> threads;
  MutexLock lock(mutex_);
  for (const Priority priority : {Priority::kHigh, Priority::kLow}) {
    for (const std::unique_ptr<Worker>& worker : lane(priority).workers) {
      if (worker == nullptr || worker->finished || worker->thread_id == 0) continue;
      threads.push_back({.thread_id = worker->thread_id,
                         .type = priority == Priority::kHigh ? ThreadStatus::HIGH_PRIORITY
                                                             : ThreadStatus::LOW_PRIORITY});
    }
  }
  return threads;
}

void ThreadPoolExecutor::WaitForWork(Lane* mine, Worker* worker) {
  mine->waiting.push_back(worker);
  if (mine->delayed.empty()) {
    worker->wake.Wait(mutex_);
  } else {
    const uint64_t now = MonotonicNanos();
    const uint64_t due = mine->delayed.front().due_nanos;
    if (due > now) worker->wake.TimedWait(mutex_, (due - now) / 1000 + 1);
  }
  // The worker may have woken without a signal.
  std::erase(mine->waiting, worker);
}

void ThreadPoolExecutor::Shutdown() {
  MutexLock resize_lock(resize_mutex_);
  // Allocates nothing, so that a pool that failed to start for lack of memory can shut down.
  std::vector<std::unique_ptr<Worker>> workers[kPriorities];
  {
    MutexLock lock(mutex_);
    shutting_down_ = true;
    for (int priority = 0; priority < kPriorities; ++priority) {
      lanes_[priority].delayed.clear();
      lanes_[priority].WakeAll();
      workers[priority].swap(lanes_[priority].workers);
    }
  }
  for (const std::vector<std::unique_ptr<Worker>>& lane_workers : workers) {
    for (const std::unique_ptr<Worker>& worker : lane_workers) {
      if (worker != nullptr) worker->thread.Join();
    }
  }
  // Runs the jobs that are left in lanes without threads.
  for (;;) {
    std::function<void()> job;
    {
      MutexLock lock(mutex_);
      const auto waiting = std::find_if(std::begin(lanes_), std::end(lanes_),
                                        [](const Lane& each) { return !each.queue.empty(); });
      if (waiting == std::end(lanes_)) break;
      job = std::move(waiting->queue.front().run);
      waiting->queue.pop_front();
    }
    job();
  }
  MutexLock lock(mutex_);
  idle_.SignalAll();
}

}  // namespace ashlar
