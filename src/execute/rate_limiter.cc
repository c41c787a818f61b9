#include "execute/rate_limiter.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"

namespace ashlar {
namespace {

constexpr int64_t kMicrosPerSecond = 1'000'000;
constexpr int64_t kRefillPeriodMaxUs = 3600 * kMicrosPerSecond;
constexpr uint64_t kNanosPerMicro = 1000;

// rate * period / 1 s, at least 1, at most a quarter of the int64_t range, so that sums of it do
// not wrap.
int64_t BytesPerPeriod(int64_t bytes_per_second, int64_t period_us) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 4;
  const int64_t whole = bytes_per_second / kMicrosPerSecond;
  if (whole >= kMost / period_us) return kMost;
  return std::max<int64_t>(
      1, whole * period_us + bytes_per_second % kMicrosPerSecond * period_us / kMicrosPerSecond);
}

}  // namespace

RateLimiter* NewGenericRateLimiter(int64_t rate_bytes_per_sec, int64_t refill_period_us,
                                   int32_t fairness) {
  return new GenericRateLimiter({.bytes_per_second = rate_bytes_per_sec,
                                 .refill_period_us = refill_period_us,
                                 .fairness = fairness,
                                 .clock = MachineClock()});
}

GenericRateLimiter::GenericRateLimiter(const Options& options)
    : refill_period_us_(std::clamp<int64_t>(options.refill_period_us, 1, kRefillPeriodMaxUs)),
      fairness_(std::max(options.fairness, 1)),
      clock_(options.clock) {
  MutexLock lock(mutex_);
  bytes_per_second_ = std::max<int64_t>(options.bytes_per_second, 1);
  burst_bytes_ = BytesPerPeriod(bytes_per_second_, refill_period_us_);
  available_bytes_ = burst_bytes_;
  next_refill_ns_ = clock_->NowNanos() + static_cast<uint64_t>(refill_period_us_) * kNanosPerMicro;
}

void GenericRateLimiter::Request(int64_t bytes, IORequestPriority priority) {
  ASHLAR_ASSERT(priority < IO_TOTAL);
  if (bytes <= 0) return;
  MutexLock lock(mutex_);
  total_requests_[priority]++;
  total_bytes_[priority] += bytes;
  while (bytes > 0) {
    const int64_t piece = std::min(bytes, burst_bytes_);
    RequestAtMostOneBurst(piece, priority);
    bytes -= piece;
  }
}

void GenericRateLimiter::RequestAtMostOneBurst(int64_t bytes, IORequestPriority priority) {
  RefillIfDue();
  if (FirstWaiter() == nullptr && available_bytes_ >= bytes) {
    available_bytes_ -= bytes;
    return;
  }
  Waiter self{.bytes_wanted = bytes, .woken = {}};
  waiting_[priority].push_back(&self);
  WaitForBytes(&self);
}

void GenericRateLimiter::WaitForBytes(Waiter* self) {
  // The first waiter gets the rest of this period.
  Grant();
  while (self->bytes_wanted > 0) {
    if (leader_ == nullptr) leader_ = self;
    if (leader_ == self) {
      SleepUntilRefill();
      RefillIfDue();
    } else {
      self->woken.Wait(mutex_);
    }
  }
  if (leader_ != self) return;
  leader_ = nullptr;
  if (Waiter* next = FirstWaiter()) next->woken.Signal();
}

void GenericRateLimiter::SleepUntilRefill() {
  const uint64_t now = clock_->NowNanos();
  if (now >= next_refill_ns_) return;
  const uint64_t micros = (next_refill_ns_ - now + kNanosPerMicro - 1) / kNanosPerMicro;
  mutex_.Unlock();
  clock_->SleepForMicros(micros);
  mutex_.Lock();
}

void GenericRateLimiter::RefillIfDue() {
  const uint64_t now = clock_->NowNanos();
  if (now < next_refill_ns_) return;
  const uint64_t period_ns = static_cast<uint64_t>(refill_period_us_) * kNanosPerMicro;
  // A little late: keep the pace. A period or more late: the bucket holds one period's worth and no
  // more.
  next_refill_ns_ =
      now - next_refill_ns_ < period_ns ? next_refill_ns_ + period_ns : now + period_ns;
  available_bytes_ = burst_bytes_;
  refills_++;
  Grant();
}

void GenericRateLimiter::Grant() {
  const bool lowest_first = refills_ > 0 && refills_ % fairness_ == 0;
  for (size_t i = 0; i < IO_TOTAL; i++) GrantQueue(lowest_first ? i : IO_TOTAL - 1 - i);
}

void GenericRateLimiter::GrantQueue(size_t priority) {
  std::deque<Waiter*>& queue = waiting_[priority];
  while (!queue.empty() && available_bytes_ > 0) {
    Waiter* waiter = queue.front();
    const int64_t granted = std::min(waiter->bytes_wanted, available_bytes_);
    waiter->bytes_wanted -= granted;
    available_bytes_ -= granted;
    if (waiter->bytes_wanted > 0) return;
    queue.pop_front();
    waiter->woken.Signal();
  }
}

GenericRateLimiter::Waiter* GenericRateLimiter::FirstWaiter() {
  for (size_t i = IO_TOTAL; i > 0; i--) {
    if (!waiting_[i - 1].empty()) return waiting_[i - 1].front();
  }
  return nullptr;
}

void GenericRateLimiter::SetBytesPerSecond(int64_t bytes_per_second) {
  MutexLock lock(mutex_);
  bytes_per_second_ = std::max<int64_t>(bytes_per_second, 1);
  burst_bytes_ = BytesPerPeriod(bytes_per_second_, refill_period_us_);
}

int64_t GenericRateLimiter::GetBytesPerSecond() const {
  MutexLock lock(mutex_);
  return bytes_per_second_;
}

int64_t GenericRateLimiter::GetSingleBurstBytes() const {
  MutexLock lock(mutex_);
  return burst_bytes_;
}

int64_t GenericRateLimiter::GetTotalBytesThrough(IORequestPriority priority) const {
  MutexLock lock(mutex_);
  if (priority < IO_TOTAL) return total_bytes_[priority];
  int64_t total = 0;
  for (const int64_t bytes : total_bytes_) total += bytes;
  return total;
}

int64_t GenericRateLimiter::GetTotalRequests(IORequestPriority priority) const {
  MutexLock lock(mutex_);
  if (priority < IO_TOTAL) return total_requests_[priority];
  int64_t total = 0;
  for (const int64_t requests : total_requests_) total += requests;
  return total;
}

}  // namespace ashlar
