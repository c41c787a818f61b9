// The system functions at which the threads of a scheduled run interact: locks, conditions,
// threads, sleeps, clocks, and the engine's futex. All other threads use the system's functions.
//
// The program's own definitions are found before the C library's, even by libstdc++. A mutex that a
// run locks is not locked in the system, because only threads of the run can request it.
#include <dlfcn.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <unordered_map>

#include "platform/futex.h"
#include "tests/schedule/task.h"

namespace {

using ashlar::test::schedule::Block;
using ashlar::test::schedule::current;
using ashlar::test::schedule::NowNanos;
using ashlar::test::schedule::Point;
using ashlar::test::schedule::Task;
using ashlar::test::schedule::WakeAll;
using ashlar::test::schedule::WakeOne;
using ashlar::test::schedule::Yield;

constexpr uint64_t kNanosPerSecond = 1'000'000'000;

template <typename Function>
Function* Real(Function* /*type*/, const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}
// The system's function of this name.
#define ASHLAR_REAL(name)                           \
  [] {                                              \
    static auto* const real = Real(&::name, #name); \
    return real;                                    \
  }()

struct Lock {
  const Task* writer = nullptr;
  uint32_t readers = 0;
};

// Locks that are held. Empty between runs.
std::unordered_map<const void*, Lock>& Held() {
  static auto& held = *new std::unordered_map<const void*, Lock>;
  return held;
}

bool TryLockWrite(const void* lock) {
  const auto [it, inserted] = Held().try_emplace(lock);
  if (!inserted) return false;
  it->second.writer = current;
  return true;
}
void LockWrite(const void* lock, const char* reason) {
  while (!TryLockWrite(lock)) Block(reason, lock, 0);
}
bool TryLockRead(const void* lock) {
  Lock& held = Held()[lock];
  if (held.writer != nullptr) return false;
  ++held.readers;
  return true;
}
void Unlock(const void* lock) {
  const auto it = Held().find(lock);
  if (it->second.writer != nullptr || --it->second.readers == 0) Held().erase(it);
  WakeAll(lock);
}

uint64_t Nanos(const timespec& time) {
  return static_cast<uint64_t>(time.tv_sec) * kNanosPerSecond + static_cast<uint64_t>(time.tv_nsec);
}
timespec TimeOf(uint64_t nanos) {
  return {static_cast<time_t>(nanos / kNanosPerSecond), static_cast<long>(nanos % kNanosPerSecond)};
}

int WaitFor(pthread_cond_t* condition, pthread_mutex_t* mutex, uint64_t deadline) {
  Unlock(mutex);
  const bool signalled = Block("waits for a condition", condition, deadline);
  LockWrite(mutex, "waits for a mutex after a condition");
  return signalled ? 0 : ETIMEDOUT;
}

// Ends the thread's part in the run after the destructors of all its thread-local objects, because
// it is constructed before them.
struct EndOfThread {
  ~EndOfThread() { ashlar::test::schedule::EndTask(); }
};

struct Start {
  Task* task;
  void* (*body)(void*);
  void* argument;
};

void* RunThread(void* argument) {
  Start start = *static_cast<Start*>(argument);
  delete static_cast<Start*>(argument);
  ashlar::test::schedule::BeginTask(start.task);
  thread_local EndOfThread end;
  static_cast<void>(&end);
  return start.body(start.argument);
}

}  // namespace

extern "C" {

int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  if (current == nullptr) return ASHLAR_REAL(pthread_mutex_lock)(mutex);
  Point();
  LockWrite(mutex, "waits for a mutex");
  return 0;
}
int pthread_mutex_trylock(pthread_mutex_t* mutex) noexcept {
  if (current == nullptr) return ASHLAR_REAL(pthread_mutex_trylock)(mutex);
  Point();
  return TryLockWrite(mutex) ? 0 : EBUSY;
}
int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  if (current == nullptr) return ASHLAR_REAL(pthread_mutex_unlock)(mutex);
  Unlock(mutex);
  Point();
  return 0;
}

int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  if (current == nullptr) return ASHLAR_REAL(pthread_rwlock_wrlock)(lock);
  Point();
  LockWrite(lock, "waits for a shared mutex");
  return 0;
}
int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  if (current == nullptr) return ASHLAR_REAL(pthread_rwlock_rdlock)(lock);
  Point();
  while (!TryLockRead(lock)) Block("waits to share a mutex", lock, 0);
  return 0;
}
int pthread_rwlock_unlock(pthread_rwlock_t* lock) noexcept {
  if (current == nullptr) return ASHLAR_REAL(pthread_rwlock_unlock)(lock);
  Unlock(lock);
  Point();
  return 0;
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  if (current == nullptr) return ASHLAR_REAL(pthread_cond_wait)(condition, mutex);
  return WaitFor(condition, mutex, 0);
}
int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                           const timespec* until) {
  if (current == nullptr) return ASHLAR_REAL(pthread_cond_timedwait)(condition, mutex, until);
  return WaitFor(condition, mutex, Nanos(*until));
}
int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* until) {
  if (current == nullptr)
    return ASHLAR_REAL(pthread_cond_clockwait)(condition, mutex, clock, until);
  return WaitFor(condition, mutex, Nanos(*until));
}
int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  if (current == nullptr) return ASHLAR_REAL(pthread_cond_signal)(condition);
  WakeOne(condition);
  Point();
  return 0;
}
int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  if (current == nullptr) return ASHLAR_REAL(pthread_cond_broadcast)(condition);
  WakeAll(condition);
  Point();
  return 0;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                   void* argument) noexcept {
  if (current == nullptr) return ASHLAR_REAL(pthread_create)(thread, attributes, body, argument);
  Task* const task = ashlar::test::schedule::AddTask();
  auto* const start = new Start{task, body, argument};
  const int error = ASHLAR_REAL(pthread_create)(thread, attributes, &RunThread, start);
  if (error != 0) {
    task->state = Task::State::kEnded;
    delete start;
    return error;
  }
  task->handle = *thread;
  Point();
  return 0;
}
int pthread_join(pthread_t thread, void** result) {
  if (current != nullptr) {
    Task* const task = ashlar::test::schedule::FindTask(thread);
    while (task != nullptr && task->state != Task::State::kEnded)
      Block("waits for the end of a thread", task, 0);
  }
  return ASHLAR_REAL(pthread_join)(thread, result);
}

int sched_yield() noexcept {
  if (current == nullptr) return ASHLAR_REAL(sched_yield)();
  Yield();
  return 0;
}
int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* left) {
  if (current == nullptr) return ASHLAR_REAL(clock_nanosleep)(clock, flags, time, left);
  const uint64_t begin = (flags & TIMER_ABSTIME) != 0 ? 0 : NowNanos();
  Block("sleeps", nullptr, begin + Nanos(*time));
  return 0;
}
int nanosleep(const timespec* time, timespec* left) {
  if (current == nullptr) return ASHLAR_REAL(nanosleep)(time, left);
  Block("sleeps", nullptr, NowNanos() + Nanos(*time));
  return 0;
}
int clock_gettime(clockid_t clock, timespec* now) noexcept {
  if (current == nullptr) return ASHLAR_REAL(clock_gettime)(clock, now);
  *now = TimeOf(NowNanos());
  return 0;
}

}  // extern "C"

namespace ashlar {

// Replaces the library's function, which the linker then does not take from the archive.

bool FutexTimedWait(const std::atomic<uint32_t>& word, uint32_t expected, uint64_t timeout_us) {
  if (test::schedule::current == nullptr) {
    const timespec timeout = TimeOf(timeout_us * 1000);
    return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, &timeout, nullptr, 0) == 0 ||
           errno != ETIMEDOUT;
  }
  Point();
  if (word.load() != expected) return true;
  return Block("waits for a futex", &word,
               timeout_us == UINT64_MAX ? 0 : NowNanos() + timeout_us * 1000);
}
void FutexWait(const std::atomic<uint32_t>& word, uint32_t expected) {
  if (test::schedule::current == nullptr) {
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
    return;
  }
  FutexTimedWait(word, expected, UINT64_MAX);
}
void FutexWakeOne(const std::atomic<uint32_t>& word) {
  if (test::schedule::current == nullptr) {
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    return;
  }
  WakeOne(&word);
  Point();
}
void FutexWakeAll(const std::atomic<uint32_t>& word) {
  if (test::schedule::current == nullptr) {
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
    return;
  }
  WakeAll(&word);
  Point();
}

}  // namespace ashlar
