#include "execute/manual_executor.h"

#include <algorithm>
#include <utility>

namespace ashlar {

ManualExecutor::~ManualExecutor() { Shutdown(); }

bool ManualExecutor::RunOne() {
  std::function<void()> job;
  {
    MutexLock lock(mutex_);
    // A lane with threads could start any of its first `threads` jobs next.
    size_t startable[kPriorities];
    size_t total = 0;
    for (size_t i = 0; i < kPriorities; i++) {
      startable[i] = std::min(lanes_[i].queue.size(), static_cast<size_t>(lanes_[i].threads));
      total += startable[i];
    }
    if (total == 0) return false;
    size_t chosen = static_cast<size_t>(random_.Uniform(total));
    size_t index = 0;
    while (chosen >= startable[index]) chosen -= startable[index++];
    std::deque<std::function<void()>>& queue = lanes_[index].queue;
    job = std::move(queue[chosen]);
    queue.erase(queue.begin() + static_cast<std::ptrdiff_t>(chosen));
  }
  job();
  return true;
}

bool ManualExecutor::RunOldest(Priority priority) {
  std::function<void()> job;
  {
    MutexLock lock(mutex_);
    Lane& lane = lanes_[static_cast<int>(priority)];
    if (lane.queue.empty() || lane.threads == 0) return false;
    job = std::move(lane.queue.front());
    lane.queue.pop_front();
  }
  job();
  return true;
}

size_t ManualExecutor::RunAll() {
  size_t jobs = 0;
  while (RunOne()) jobs++;
  return jobs;
}

bool ManualExecutor::Schedule(Priority priority, std::function<void()> job) {
  MutexLock lock(mutex_);
  if (shutting_down_) return false;
  lanes_[static_cast<int>(priority)].queue.push_back(std::move(job));
  return true;
}

bool ManualExecutor::ScheduleAfter(uint64_t delay_us, Priority /*priority*/,
                                   std::function<void()> job) {
  MutexLock lock(mutex_);
  if (shutting_down_) return false;
  delayed_.emplace(now_us_ + delay_us, std::move(job));
  return true;
}

bool ManualExecutor::RunDelayed() {
  std::function<void()> job;
  {
    MutexLock lock(mutex_);
    if (delayed_.empty()) return false;
    const auto first = delayed_.begin();
    now_us_ = first->first;
    job = std::move(first->second);
    delayed_.erase(first);
  }
  job();
  return true;
}

Status ManualExecutor::SetBackgroundThreads(int threads, Priority priority) {
  MutexLock lock(mutex_);
  lanes_[static_cast<int>(priority)].threads = std::max(threads, 0);
  return Status::OK();
}

Status ManualExecutor::RaiseBackgroundThreads(int threads, Priority priority) {
  MutexLock lock(mutex_);
  int& own = lanes_[static_cast<int>(priority)].threads;
  own = std::max(own, threads);
  return Status::OK();
}

int ManualExecutor::GetBackgroundThreads(Priority priority) const {
  MutexLock lock(mutex_);
  return lanes_[static_cast<int>(priority)].threads;
}

size_t ManualExecutor::QueuedJobs(Priority priority) const {
  MutexLock lock(mutex_);
  return lanes_[static_cast<int>(priority)].queue.size();
}

void ManualExecutor::Shutdown() {
  {
    MutexLock lock(mutex_);
    shutting_down_ = true;
    delayed_.clear();
    for (Lane& lane : lanes_) lane.threads = std::max(lane.threads, 1);
  }
  RunAll();
}

}  // namespace ashlar
