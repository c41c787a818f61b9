// Mutex, SharedMutex and CondVar: the standard ones, annotated so that clang checks at compile time
// that guarded members are touched under their lock. Nothing outside this folder uses std::mutex.
//
//   Mutex mutex_;
//   CondVar changed_;
//   int waiting_ ASHLAR_GUARDED_BY(mutex_) = 0;
//
//   MutexLock lock(mutex_);
//   while (waiting_ > 0) changed_.Wait(mutex_);
//
// Not recursive. A CondVar may wake without a signal: wait in a loop over the condition.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <shared_mutex>

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
  // Asserts to the analysis that the lock is held, where it cannot see that (a callback). Checks
  // nothing at run time.
  void AssertHeld() const ASHLAR_ASSERT_CAPABILITY(this) {}

 private:
  friend class CondVar;
  std::mutex mutex_;
};

// Holds a Mutex for the length of a scope. Unlock and Lock open a gap inside the scope.
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

  // Gives up the mutex while waiting; holds it again on return.
  void Wait(Mutex& mutex) ASHLAR_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    signal_.wait(lock);
    lock.release();
  }
  // The same, for at most timeout_us microseconds. False when the time ran out.
  bool TimedWait(Mutex& mutex, uint64_t timeout_us) ASHLAR_REQUIRES(mutex) {
    std::unique_lock<std::mutex> lock(mutex.mutex_, std::adopt_lock);
    // The bound keeps the sum of now and the time-out inside the clock's range.
    constexpr uint64_t kLongestUs = uint64_t{1} << 50;
    const std::chrono::microseconds timeout(
        static_cast<int64_t>(timeout_us < kLongestUs ? timeout_us : kLongestUs));
    const bool signalled = signal_.wait_for(lock, timeout) == std::cv_status::no_timeout;
    lock.release();
    return signalled;
  }
  void Signal() { signal_.notify_one(); }
  void SignalAll() { signal_.notify_all(); }

 private:
  std::condition_variable signal_;
};

class ASHLAR_CAPABILITY("shared mutex") SharedMutex {
 public:
  SharedMutex() = default;
  SharedMutex(const SharedMutex&) = delete;
  SharedMutex& operator=(const SharedMutex&) = delete;

  void Lock() ASHLAR_ACQUIRE() { mutex_.lock(); }
  void Unlock() ASHLAR_RELEASE() { mutex_.unlock(); }
  void LockShared() ASHLAR_ACQUIRE_SHARED() { mutex_.lock_shared(); }
  void UnlockShared() ASHLAR_RELEASE_SHARED() { mutex_.unlock_shared(); }

 private:
  std::shared_mutex mutex_;
};

class ASHLAR_SCOPED_CAPABILITY ReaderLock {
 public:
  explicit ReaderLock(SharedMutex& mutex) ASHLAR_ACQUIRE_SHARED(mutex) : mutex_(mutex) {
    mutex_.LockShared();
  }
  ~ReaderLock() ASHLAR_RELEASE_GENERIC() { mutex_.UnlockShared(); }
  ReaderLock(const ReaderLock&) = delete;
  ReaderLock& operator=(const ReaderLock&) = delete;

 private:
  SharedMutex& mutex_;
};

class ASHLAR_SCOPED_CAPABILITY WriterLock {
 public:
  explicit WriterLock(SharedMutex& mutex) ASHLAR_ACQUIRE(mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~WriterLock() ASHLAR_RELEASE() { mutex_.Unlock(); }
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

 private:
  SharedMutex& mutex_;
};

}  // namespace ashlar
