// The system's locks, for mutex.h only. They are the standard library's, except on Windows, where
// each lock is one word and waits without a kernel object. The standard library waits on semaphores
// there (mingw-w64 with POSIX threads). Two alternating threads then need 167 microseconds a turn
// under Wine, but 1.8 with these locks.
#pragma once

#include <cstdint>

#if !defined(_WIN32)
#include <chrono>
#include <condition_variable>
#include <mutex>
#endif

namespace ashlar {

#if defined(_WIN32)

class NativeMutex {
 public:
  NativeMutex() = default;
  NativeMutex(const NativeMutex&) = delete;
  NativeMutex& operator=(const NativeMutex&) = delete;

  void lock();
  void unlock();
  bool try_lock();

 private:
  friend class NativeCondVar;
  void* lock_ = nullptr;  // an SRWLOCK
};

class NativeCondVar {
 public:
  NativeCondVar() = default;
  NativeCondVar(const NativeCondVar&) = delete;
  NativeCondVar& operator=(const NativeCondVar&) = delete;

  void Wait(NativeMutex& mutex);
  // Returns false if the time ran out. The time-out is rounded up to whole milliseconds.
  bool TimedWait(NativeMutex& mutex, uint64_t timeout_us);
  void Signal();
  void SignalAll();

 private:
  void* waiters_ = nullptr;  // a CONDITION_VARIABLE
};

#else

using NativeMutex = std::mutex;

class NativeCondVar {
 public:
  void Wait(NativeMutex& mutex) {
    std::unique_lock<std::mutex> lock(mutex, std::adopt_lock);
    signal_.wait(lock);
    lock.release();
  }
  // Returns false if the time ran out.
  bool TimedWait(NativeMutex& mutex, uint64_t timeout_us) {
    std::unique_lock<std::mutex> lock(mutex, std::adopt_lock);
    // The bound keeps the sum of the current time and the time-out inside the clock's range.
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

#endif

}  // namespace ashlar
