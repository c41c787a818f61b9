// Clock: time as a parameter. The engine reads a Clock, never the system's clock, so that tests
// control the time.
//
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "platform/mutex.h"

namespace ashlar {

class Clock {
 public:
  virtual ~Clock() = default;
  // Monotonic. Only differences are meaningful.
  virtual uint64_t NowNanos() = 0;
  // Wall time since 1970-01-01 UTC.
  virtual uint64_t NowUnixMicros() = 0;
  virtual void SleepForMicros(uint64_t micros) = 0;
  // Waits until `condition` is signalled or the time has passed, but may return earlier. Releases
  // the mutex while it waits. This default, for clocks other than the system's, only sleeps and
  // ignores signals.
  virtual void WaitForMicros(CondVar& /*condition*/, Mutex& mutex, uint64_t micros)
      ASHLAR_REQUIRES(mutex) {
    mutex.Unlock();
    SleepForMicros(micros);
    mutex.Lock();
  }
};

// The system's clock.
std::shared_ptr<Clock> MachineClock();

// Advances when a test advances it, and when a thread sleeps: a sleep advances it by the requested
// time, so that code that waits makes progress.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(uint64_t start_unix_micros) : start_unix_micros_(start_unix_micros) {}

  void AdvanceMicros(uint64_t micros) {
    elapsed_nanos_.fetch_add(micros * 1000, std::memory_order_relaxed);
  }

  uint64_t NowNanos() override { return elapsed_nanos_.load(std::memory_order_relaxed); }
  uint64_t NowUnixMicros() override { return start_unix_micros_ + NowNanos() / 1000; }
  void SleepForMicros(uint64_t micros) override { AdvanceMicros(micros); }

 private:
  const uint64_t start_unix_micros_;
  std::atomic<uint64_t> elapsed_nanos_{0};
};

}  // namespace ashlar
