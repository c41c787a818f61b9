// The scheduler's side of a run, for interposed.cc and atomics.cc. Requires: the calling thread is
// a thread of the run, so `current` is not null.
#pragma once

#include <pthread.h>

#include <cstdint>

namespace ashlar::test::schedule {

// A thread of a run.
struct Task {
  enum class State : uint8_t { kReady, kBlocked, kEnded };

  uint32_t id = 0;
  State state = State::kReady;
  const char* reason = "";          // of kBlocked, for messages
  const void* waits_for = nullptr;  // of kBlocked; null if only time ends it
  uint64_t deadline = 0;            // of kBlocked, in nanoseconds of the run's clock; 0: none
  bool timed_out = false;           // the last Block ended by its deadline
  uint64_t priority = 0;
  uint64_t stalled_until = 0;  // until this point it runs only if no other thread can
  pthread_t handle{};
  // 1: this thread runs. A futex, accessed by __atomic builtins, which are not points.
  uint32_t goes = 0;
};

// The calling thread's task, null outside runs.
extern constinit thread_local Task* current;
// Atomic operations until the next one that is a point.
extern constinit thread_local uint32_t operations_until_point;

// Another thread may run from here.
void Point();
// The same, but prefers other threads, because this one has nothing to do.
void Yield();
// Waits for a wake of the object, or until the deadline. Returns false if the deadline came first.
bool Block(const char* reason, const void* object, uint64_t deadline);
// Make ready the threads that wait for the object: all, or one drawn at random.
void WakeAll(const void* object);
void WakeOne(const void* object);
uint64_t NowNanos();

// The beginning and the end of a thread of the run.
Task* AddTask();
void BeginTask(Task* task);
void EndTask();
Task* FindTask(pthread_t handle);

}  // namespace ashlar::test::schedule
