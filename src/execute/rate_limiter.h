// GenericRateLimiter: the token bucket that implements ashlar/rate_limiter.h.
//
//   each refill period adds rate * period / 1 s bytes to the bucket, up to one period's worth;
//   waiting requests are served in the order USER > HIGH > MID > LOW, first come first served
//   within a priority; every `fairness`-th refill serves them in the reverse order, so that the
//   lowest priority is not starved
//
// One of the waiters, the leader, sleeps until the next refill and distributes the bytes. The
// others wait to be woken. When the leader has its bytes, it wakes the next leader. The limiter
// therefore needs no thread of its own, and with a ManualClock nothing really sleeps.
//
// A period is long enough for one byte, so that a low rate is enforced, too.
//
// I1: granted bytes over any time t <= rate * t + one period's worth.
// I2: while requests wait, there is one leader, or a waiter has been woken to become it.
// I3: with auto_tuned, a rate that tuning chose is between rate_max_ / 20 and rate_max_.
//
// Thread safety: any thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>

#include "ashlar/rate_limiter.h"
#include "execute/clock.h"
#include "observe/recorder.h"
#include "platform/mutex.h"

namespace ashlar {

class GenericRateLimiter final : public RateLimiter {
 public:
  struct Options {
    int64_t bytes_per_second = 0;
    int64_t refill_period_us = 0;
    int32_t fairness = 0;
    Mode mode = Mode::kWritesOnly;
    bool auto_tuned = false;
    int64_t single_burst_bytes = 0;  // 0: one period's worth
    std::shared_ptr<Clock> clock;
  };
  explicit GenericRateLimiter(const Options& options);
  ~GenericRateLimiter() override = default;

  using RateLimiter::Request;
  void Request(int64_t bytes, IORequestPriority priority) override {
    Request(bytes, priority, nullptr);
  }
  void Request(int64_t bytes, IORequestPriority priority, Statistics* statistics) override;
  void SetBytesPerSecond(int64_t bytes_per_second) override;
  int64_t GetBytesPerSecond() const override;
  Status SetSingleBurstBytes(int64_t single_burst_bytes) override;
  int64_t GetSingleBurstBytes() const override;
  int64_t GetTotalBytesThrough(IORequestPriority priority) const override;
  int64_t GetTotalRequests(IORequestPriority priority) const override;
  Status GetTotalPendingRequests(int64_t* pending, IORequestPriority priority) const override;

 private:
  struct Waiter {
    int64_t bytes_wanted;
    CondVar woken;
  };

  void SetRate(int64_t bytes_per_second) ASHLAR_REQUIRES(mutex_);
  uint64_t PeriodNanos() const ASHLAR_REQUIRES(mutex_);
  int64_t BurstBytes() const ASHLAR_REQUIRES(mutex_) {
    return single_burst_bytes_ > 0 ? single_burst_bytes_ : period_bytes_;
  }
  // Returns true if it had to wait.
  bool RequestAtMostOneBurst(int64_t bytes, IORequestPriority priority) ASHLAR_REQUIRES(mutex_);
  void WaitForBytes(Waiter* self) ASHLAR_REQUIRES(mutex_);
  // Releases the mutex while sleeping.
  void SleepUntilRefill() ASHLAR_REQUIRES(mutex_);
  void RefillIfDue() ASHLAR_REQUIRES(mutex_);
  void TuneIfDue(uint64_t now) ASHLAR_REQUIRES(mutex_);
  void Grant() ASHLAR_REQUIRES(mutex_);
  void GrantQueue(size_t priority) ASHLAR_REQUIRES(mutex_);
  Waiter* FirstWaiter() ASHLAR_REQUIRES(mutex_);
  // Asserts I1 of the bucket, which is empty while requests wait.
  void CheckInvariants() const ASHLAR_REQUIRES(mutex_);

  const int64_t refill_period_us_;  // as requested
  const int32_t fairness_;
  const int64_t rate_max_;
  const bool auto_tuned_;
  const std::shared_ptr<Clock> clock_;

  mutable Mutex mutex_;
  int64_t bytes_per_second_ ASHLAR_GUARDED_BY(mutex_) = 0;  // as given; at least 1 is served
  int64_t period_us_ ASHLAR_GUARDED_BY(mutex_) = 0;
  int64_t period_bytes_ ASHLAR_GUARDED_BY(mutex_) = 0;
  int64_t single_burst_bytes_ ASHLAR_GUARDED_BY(mutex_) = 0;
  int64_t available_bytes_ ASHLAR_GUARDED_BY(mutex_) = 0;
  uint64_t next_refill_ns_ ASHLAR_GUARDED_BY(mutex_) = 0;
  int64_t refills_ ASHLAR_GUARDED_BY(mutex_) = 0;
  uint64_t tuned_ns_ ASHLAR_GUARDED_BY(mutex_) = 0;
  uint64_t drained_periods_ ASHLAR_GUARDED_BY(mutex_) = 0;  // with waiters, since tuned_ns_
  Waiter* leader_ ASHLAR_GUARDED_BY(mutex_) = nullptr;
  std::array<std::deque<Waiter*>, IO_TOTAL> waiting_ ASHLAR_GUARDED_BY(mutex_);
  std::array<int64_t, IO_TOTAL> total_bytes_ ASHLAR_GUARDED_BY(mutex_) = {};
  std::array<int64_t, IO_TOTAL> total_requests_ ASHLAR_GUARDED_BY(mutex_) = {};
};

// Returns InvalidArgument for a limiter of NewGenericRateLimiter whose rate is 0 or less: at a byte
// per second, background work would seem to hang. Returns ok for null and for a program's class.
Status CheckRateLimiter(const RateLimiter* limiter);

// The parameters with which the engine calls a limiter.
struct LimitedIo {
  RateLimiter* limiter = nullptr;  // null: no limit
  IORequestPriority priority = IO_LOW;
  RateLimiter::OpType op = RateLimiter::OpType::kWrite;
};
// Waits until `bytes` may be transferred. Requests one burst at a time and counts the waits.
void WaitForLimiter(const LimitedIo& io, size_t bytes, const Recorder& recorder);

}  // namespace ashlar
