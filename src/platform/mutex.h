// Mutex and CondVar wrap the system's locks (native_locks.h) with annotations. Clang then checks at
// compile time that guarded members are accessed under their lock. Nothing outside this folder uses
// std::mutex.
//
//   Mutex mutex_;
//   CondVar changed_;
//   int waiting_ ASHLAR_GUARDED_BY(mutex_) = 0;
//
//   MutexLock lock(mutex_);
//   while (waiting_ > 0) changed_.Wait(mutex_);
//
// Not recursive. A CondVar may wake without a signal, so wait in a loop over the condition.
#pragma once

#include <cstdint>

#include "platform/native_locks.h"
#include "platform/thread_annotations.h"

namespace ashlar {

class ASHLAR_CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void Lock() ASHLAR_ACQUIRE() { mutex_.lock(); }
  void Unlock() ASHLAR_RELEASE() { mutex_.unlock(); }
  [[nodiscard]] bool TryLock() ASHLAR_TRY_ACQUIRE(true) { return mutex_.try_lock(); }
  // Tells the analysis that the lock is held where it cannot see that (in a callback). Checks
  // nothing at run time.
  void AssertHeld() const ASHLAR_ASSERT_CAPABILITY(this) {}

 private:
  friend class CondVar;
  NativeMutex mutex_;
};

// Holds a Mutex for the duration of a scope. Unlock and Lock release it for a part of the scope.
class ASHLAR_SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) ASHLAR_ACQUIRE(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~MutexLock() ASHLAR_RELEASE() {
    if (held_) mutex_.Unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

  void Unlock() ASHLAR_RELEASE() {
    held_ = false;
    mutex_.Unlock();
  }
  void Lock() ASHLAR_ACQUIRE() {
    mutex_.Lock();
    held_ = true;
  }

 private:
  Mutex& mutex_;
  bool held_ = true;
};

class CondVar {
 public:
  CondVar() = default;
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;

  // Releases the mutex while waiting and holds it again on return.
  void Wait(Mutex& mutex) ASHLAR_REQUIRES(mutex) { signal_.Wait(mutex.mutex_); }
  // Like Wait, for at most timeout_us microseconds. Returns false if the time ran out.
  bool TimedWait(Mutex& mutex, uint64_t timeout_us) ASHLAR_REQUIRES(mutex) {
    return signal_.TimedWait(mutex.mutex_, timeout_us);
  }
  void Signal() { signal_.Signal(); }
  void SignalAll() { signal_.SignalAll(); }

 private:
  NativeCondVar signal_;
};

}  // namespace ashlar
