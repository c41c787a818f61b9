// GenericRateLimiter: the token bucket that implements ashlar/rate_limiter.h.
//
//   every refill period the bucket gets rate * period / 1 s bytes, up to one period's worth USER >
//   HIGH > MID > LOW: waiting requests are served in this order, first come first served within a
//   priority; every `fairness`-th refill serves them in the reverse order, so that the lowest is
//   not starved
//
// One of the waiters, the leader, sleeps until the next refill and hands out the bytes; the others
// wait to be woken. When the leader has its bytes, it names another waiter. So no thread of its own
// is needed, and with a ManualClock nothing really sleeps.
//
// I1: granted bytes over any time t <= rate * t + one period's worth.
// I2: while requests wait, there is one leader, or a waiter has been woken to become it.
//
// Thread safety: any thread.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>

#include "ashlar/rate_limiter.h"
#include "execute/clock.h"
#include "platform/mutex.h"

namespace ashlar {

class GenericRateLimiter final : public RateLimiter {
 public:
  struct Options {
    int64_t bytes_per_second = 0;
    int64_t refill_period_us = 0;
    int32_t fairness = 0;
    std::shared_ptr<Clock> clock;
  };
  explicit GenericRateLimiter(const Options& options);
  ~GenericRateLimiter() override = default;

  void Request(int64_t bytes, IORequestPriority priority) override;
  void SetBytesPerSecond(int64_t bytes_per_second) override;
  int64_t GetBytesPerSecond() const override;
  int64_t GetSingleBurstBytes() const override;
  int64_t GetTotalBytesThrough(IORequestPriority priority) const override;
  int64_t GetTotalRequests(IORequestPriority priority) const override;

 private:
  struct Waiter {
    int64_t bytes_wanted;
    CondVar woken;
  };

  void RequestAtMostOneBurst(int64_t bytes, IORequestPriority priority) ASHLAR_REQUIRES(mutex_);
  void WaitForBytes(Waiter* self) ASHLAR_REQUIRES(mutex_);
  // Gives up the mutex while sleeping.
  void SleepUntilRefill() ASHLAR_REQUIRES(mutex_);
  void RefillIfDue() ASHLAR_REQUIRES(mutex_);
  void Grant() ASHLAR_REQUIRES(mutex_);
  void GrantQueue(size_t priority) ASHLAR_REQUIRES(mutex_);
  Waiter* FirstWaiter() ASHLAR_REQUIRES(mutex_);

  const int64_t refill_period_us_;
  const int32_t fairness_;
  const std::shared_ptr<Clock> clock_;

  mutable Mutex mutex_;
  int64_t bytes_per_second_ ASHLAR_GUARDED_BY(mutex_) = 0;
  int64_t burst_bytes_ ASHLAR_GUARDED_BY(mutex_) = 0;
  int64_t available_bytes_ ASHLAR_GUARDED_BY(mutex_) = 0;
  uint64_t next_refill_ns_ ASHLAR_GUARDED_BY(mutex_) = 0;
  int64_t refills_ ASHLAR_GUARDED_BY(mutex_) = 0;
  Waiter* leader_ ASHLAR_GUARDED_BY(mutex_) = nullptr;
  std::array<std::deque<Waiter*>, IO_TOTAL> waiting_ ASHLAR_GUARDED_BY(mutex_);
  std::array<int64_t, IO_TOTAL> total_bytes_ ASHLAR_GUARDED_BY(mutex_) = {};
  std::array<int64_t, IO_TOTAL> total_requests_ ASHLAR_GUARDED_BY(mutex_) = {};
};

}  // namespace ashlar
