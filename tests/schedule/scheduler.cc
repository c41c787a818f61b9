#include "tests/schedule/scheduler.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "base/random.h"
#include "tests/schedule/task.h"

namespace ashlar::test {
namespace schedule {

constinit thread_local Task* current = nullptr;
constinit thread_local uint32_t operations_until_point = 0;

namespace {

constexpr uint64_t kPointsMax = 3'000'000;
// A thread that runs alone for this many points may be waiting for another one in a loop.
constexpr uint64_t kPointsAlone = 5'000;
constexpr uint64_t kNanosPerPoint = 200;
constexpr uint64_t kStartNanos = 1'700'000'000'000'000'000;
// Priorities change within a number of points between 2^kLengthMin and 2^kLengthMax.
constexpr uint64_t kStallMax = 12;  // a stall lasts at most 2^kStallMax points
constexpr uint64_t kLengthMin = 9;
constexpr uint64_t kLengthMax = 15;
constexpr uint32_t kPrioritiesLow = 1 << 20;

void Stand(Task* task) {
  while (__atomic_load_n(&task->goes, __ATOMIC_ACQUIRE) == 0)
    syscall(SYS_futex, &task->goes, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
  __atomic_store_n(&task->goes, 0, __ATOMIC_RELAXED);
}

void Go(Task* task) {
  __atomic_store_n(&task->goes, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &task->goes, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

class Run {
 public:
  explicit Run(uint64_t seed) : seed_(seed), random_(seed) {
    by_priority_ = random_.OneIn(3);
    if (!by_priority_) {
      if (random_.OneIn(2)) one_in_stalls_ = 32ULL << random_.Uniform(6);
      one_in_ = 2ULL << random_.Uniform(6);
      operations_per_point_ = 1 + static_cast<uint32_t>(random_.Uniform(4) * random_.Uniform(4));
      return;
    }
    const uint64_t changes = 1 + random_.Uniform(6);
    const uint64_t length = 1ULL << (kLengthMin + random_.Uniform(kLengthMax - kLengthMin + 1));
    for (uint64_t i = 0; i < changes; ++i) change_points_.push_back(random_.Uniform(length));
    std::sort(change_points_.rbegin(), change_points_.rend());
  }

  Task* AddTask() {
    auto task = std::make_unique<Task>();
    task->id = static_cast<uint32_t>(tasks_.size());
    task->priority = kPrioritiesLow + random_.Uniform(kPrioritiesLow);
    tasks_.push_back(std::move(task));
    return tasks_.back().get();
  }

  void Point() {
    BeginPoint();
    if (by_priority_) {
      if (!change_points_.empty() && result_.points >= change_points_.back()) {
        change_points_.pop_back();
        current->priority = --lowest_priority_;
      }
    } else if (one_in_stalls_ != 0 && random_.OneIn(one_in_stalls_)) {
      current->stalled_until = result_.points + (1ULL << random_.Uniform(kStallMax + 1));
    } else if (alone_ < kPointsAlone && !random_.OneIn(one_in_)) {
      return;
    }
    if (alone_ >= kPointsAlone) current->priority = --lowest_priority_;
    GiveUp(Choose(alone_ >= kPointsAlone ? current : nullptr));
  }

  void Yield() {
    BeginPoint();
    current->priority = --lowest_priority_;
    GiveUp(Choose(current));
  }

  bool Block(const char* reason, const void* object, uint64_t deadline) {
    BeginPoint();
    current->state = Task::State::kBlocked;
    current->reason = reason;
    current->waits_for = object;
    current->deadline = deadline;
    current->timed_out = false;
    GiveUp(Choose(nullptr));
    return !current->timed_out;
  }

  void WakeAll(const void* object) {
    for (const auto& task : tasks_) {
      if (WaitsFor(*task, object)) MakeReady(task.get());
    }
  }
  void WakeOne(const void* object) {
    std::vector<Task*> waiting;
    for (const auto& task : tasks_) {
      if (WaitsFor(*task, object)) waiting.push_back(task.get());
    }
    if (!waiting.empty()) MakeReady(waiting[random_.Uniform(waiting.size())]);
  }

  void EndTask() {
    BeginPoint();
    current->state = Task::State::kEnded;
    WakeAll(current);
    Task* const next = Choose(nullptr);
    current = nullptr;
    Go(next);
  }

  Task* Find(pthread_t handle) const {
    // The newest, because a handle is reused.
    for (auto it = tasks_.rbegin(); it != tasks_.rend(); ++it) {
      if (pthread_equal((*it)->handle, handle) != 0) return it->get();
    }
    return nullptr;
  }

  uint64_t Now() { return now_ += kNanosPerPoint; }

  ScheduleResult End() {
    for (const auto& task : tasks_) {
      if (task.get() != current && task->state != Task::State::kEnded)
        Fail("a thread has not ended with the run");
    }
    return result_;
  }

 private:
  static bool WaitsFor(const Task& task, const void* object) {
    return task.state == Task::State::kBlocked && task.waits_for == object && object != nullptr;
  }
  static void MakeReady(Task* task) {
    task->state = Task::State::kReady;
    task->waits_for = nullptr;
    task->deadline = 0;
  }

  void BeginPoint() {
    ++result_.points;
    ++alone_;
    now_ += kNanosPerPoint;
    result_.hash = (result_.hash ^ current->id) * 0x100000001b3ULL;
    if (result_.points > kPointsMax) Fail("no end after so many points");
    // Time passes while a thread is stopped.
    if (random_.OneIn(256)) PassTime();
    operations_until_point =
        1 + static_cast<uint32_t>(random_.Uniform(2 * uint64_t{operations_per_point_}));
  }

  // Advances to the next deadline. Returns false if there is none.
  bool PassTime() {
    Task* earliest = nullptr;
    for (const auto& task : tasks_) {
      if (task->state == Task::State::kBlocked && task->deadline != 0 &&
          (earliest == nullptr || task->deadline < earliest->deadline))
        earliest = task.get();
    }
    if (earliest == nullptr) return false;
    now_ = std::max(now_, earliest->deadline);
    MakeReady(earliest);
    earliest->timed_out = true;
    return true;
  }

  // Returns the thread that runs next. It is `tired` only if no other thread can run.
  Task* Choose(const Task* tired) {
    for (;;) {
      std::vector<Task*>& ready = ready_;
      ready.clear();
      for (const bool stalled : {false, true}) {
        for (const auto& task : tasks_) {
          if (task->state == Task::State::kReady && task.get() != tired &&
              (task->stalled_until > result_.points) == stalled)
            ready.push_back(task.get());
        }
        if (!ready.empty()) break;
      }
      if (ready.empty()) {
        if (tired != nullptr) {
          // `tired` waits for an action of a sleeping thread.
          PassTime();
          tired = nullptr;
          continue;
        }
        if (!PassTime()) Fail("a deadlock");
        continue;
      }
      if (!by_priority_) return ready[random_.Uniform(ready.size())];
      return *std::max_element(ready.begin(), ready.end(), [](const Task* a, const Task* b) {
        return a->priority < b->priority;
      });
    }
  }

  void GiveUp(Task* next) {
    if (next == current) return;
    ++result_.switches;
    alone_ = 0;
    Task* const self = current;
    Go(next);
    Stand(self);
  }

  [[noreturn]] void Fail(const char* what) {
    std::fprintf(stderr, "schedule of seed %llu: %s (%llu points)\n",
                 static_cast<unsigned long long>(seed_), what,
                 static_cast<unsigned long long>(result_.points));
    for (const auto& task : tasks_) {
      const char* const state = task->state == Task::State::kReady   ? "is ready"
                                : task->state == Task::State::kEnded ? "has ended"
                                                                     : task->reason;
      std::fprintf(stderr, "  thread %u %s %p%s\n", task->id, state, task->waits_for,
                   task.get() == current ? " (runs)" : "");
    }
    std::abort();
  }

  const uint64_t seed_;
  Random random_;
  bool by_priority_ = false;
  uint64_t one_in_ = 2;
  uint64_t one_in_stalls_ = 0;  // 0: none
  std::vector<Task*> ready_;    // of Choose
  uint32_t operations_per_point_ = 1;
  std::vector<uint64_t> change_points_;  // descending
  uint64_t lowest_priority_ = kPrioritiesLow;
  uint64_t alone_ = 0;  // points since the last switch
  uint64_t now_ = kStartNanos;
  ScheduleResult result_;
  std::vector<std::unique_ptr<Task>> tasks_;
};

Run* run = nullptr;

// Keeps all threads of a run on one processor, which makes switches between them cheaper.
class OneProcessor {
 public:
  OneProcessor() {
    sched_getaffinity(0, sizeof(before_), &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<size_t>(sched_getcpu()), &one);
    sched_setaffinity(0, sizeof(one), &one);
  }
  ~OneProcessor() { sched_setaffinity(0, sizeof(before_), &before_); }
  OneProcessor(const OneProcessor&) = delete;
  OneProcessor& operator=(const OneProcessor&) = delete;

 private:
  cpu_set_t before_;
};

}  // namespace

void Point() { run->Point(); }
void Yield() { run->Yield(); }
bool Block(const char* reason, const void* object, uint64_t deadline) {
  return run->Block(reason, object, deadline);
}
void WakeAll(const void* object) { run->WakeAll(object); }
void WakeOne(const void* object) { run->WakeOne(object); }
uint64_t NowNanos() { return run->Now(); }
Task* AddTask() { return run->AddTask(); }
void BeginTask(Task* task) {
  current = task;
  Stand(task);
}
void EndTask() { run->EndTask(); }
Task* FindTask(pthread_t handle) { return run->Find(handle); }

}  // namespace schedule

ScheduleResult RunScheduled(uint64_t seed, const std::function<void()>& body) {
  const schedule::OneProcessor one_processor;
  schedule::Run run(seed);
  schedule::run = &run;
  schedule::Task* const task = run.AddTask();
  task->handle = pthread_self();
  schedule::current = task;
  schedule::operations_until_point = 0;
  body();
  const ScheduleResult result = run.End();
  schedule::current = nullptr;
  schedule::run = nullptr;
  return result;
}

}  // namespace ashlar::test
