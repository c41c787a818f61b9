#include "execute/rate_limiter.h"

#include <algorithm>
#include <limits>

#include "ashlar/statistics.h"
#include "base/assert.h"
#include "base/format.h"
#include "platform/clock.h"

namespace ashlar {
namespace {

constexpr int64_t kMicrosPerSecond = 1'000'000;
constexpr int64_t kRefillPeriodMaxUs = 3600 * kMicrosPerSecond;
constexpr int64_t kDefaultRefillPeriodUs = 100'000;
constexpr uint64_t kNanosPerMicro = 1000;

constexpr int64_t kTunedRange = 20;  // ratio of the highest rate to the lowest
constexpr uint64_t kPeriodsPerTuning = 100;
constexpr uint64_t kLowPercent = 50;
constexpr uint64_t kHighPercent = 90;

// Returns the period, or a longer one in which the rate amounts to a byte.
int64_t PeriodFor(int64_t bytes_per_second, int64_t refill_period_us) {
  return std::max(refill_period_us, (kMicrosPerSecond - 1) / bytes_per_second + 1);
}

// rate * period / 1 s, but at most a quarter of the int64_t range, so that sums do not overflow.
int64_t BytesPerPeriod(int64_t bytes_per_second, int64_t period_us) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() / 4;
  const int64_t whole = bytes_per_second / kMicrosPerSecond;
  if (whole >= kMost / period_us) return kMost;
  return whole * period_us + bytes_per_second % kMicrosPerSecond * period_us / kMicrosPerSecond;
}

int64_t TunedRate(int64_t rate, int64_t rate_max, uint64_t drained_percent) {
  const int64_t least = std::max<int64_t>(rate_max / kTunedRange, 1);
  if (drained_percent == 0) return least;
  // Raises the rate by 5 %, or lowers it to the rate of which it is 5 % more.
  if (drained_percent < kLowPercent)
    return std::clamp(rate - std::max<int64_t>(rate / 21, 1), least, rate_max);
  if (drained_percent <= kHighPercent) return rate;
  const int64_t room = rate_max - std::min(rate, rate_max);
  return std::max(rate_max - room + std::min(std::max<int64_t>(rate / 20, 1), room), least);
}

}  // namespace

size_t RateLimiter::RequestToken(size_t bytes, size_t alignment, IORequestPriority priority,
                                 Statistics* statistics, OpType op) {
  if (priority >= IO_TOTAL || !IsRateLimited(op)) return bytes;
  const int64_t burst = GetSingleBurstBytes();
  if (burst > 0) bytes = std::min(bytes, static_cast<size_t>(burst));
  if (alignment > 0) bytes = std::max(alignment, bytes / alignment * alignment);
  Request(static_cast<int64_t>(bytes), priority, statistics, op);
  return bytes;
}

RateLimiter* NewGenericRateLimiter(int64_t rate_bytes_per_sec, int64_t refill_period_us,
                                   int32_t fairness, RateLimiter::Mode mode, bool auto_tuned,
                                   int64_t single_burst_bytes) {
  return new GenericRateLimiter({.bytes_per_second = rate_bytes_per_sec,
                                 .refill_period_us = refill_period_us,
                                 .fairness = fairness,
                                 .mode = mode,
                                 .auto_tuned = auto_tuned,
                                 .single_burst_bytes = single_burst_bytes,
                                 .clock = MachineClock()});
}

Status CheckRateLimiter(const RateLimiter* limiter) {
  const auto* const generic = dynamic_cast<const GenericRateLimiter*>(limiter);
  if (generic == nullptr || generic->GetBytesPerSecond() > 0) return Status::OK();
  return Status::InvalidArgument(
      StrCat("the rate of NewGenericRateLimiter is ", generic->GetBytesPerSecond(),
             " bytes per second; set a rate above 0, or no rate limiter for none"));
}

void WaitForLimiter(const LimitedIo& io, size_t bytes, const Recorder& recorder) {
  if (io.limiter == nullptr || bytes == 0 || !io.limiter->IsRateLimited(io.op)) return;
  const bool read = io.op == RateLimiter::OpType::kRead;
  const uint64_t start_nanos = recorder.IsOn() ? MonotonicNanos() : 0;
  for (size_t left = bytes; left > 0;) {
    const size_t token =
        io.limiter->RequestToken(left, 0, io.priority, recorder.statistics(), io.op);
    // A program's class that grants nothing imposes no limit.
    if (token == 0) break;
    left -= std::min(left, token);
    recorder.Tick(read ? RATE_LIMITER_REQUESTS_READ : RATE_LIMITER_REQUESTS_WRITE);
  }
  if (!recorder.IsOn()) return;
  const uint64_t micros = (MonotonicNanos() - start_nanos) / 1000;
  // Counted also at the statistics levels without times.
  recorder.Tick(read ? RATE_LIMITER_TOTAL_WAIT_MICROS_READ : RATE_LIMITER_TOTAL_WAIT_MICROS_WRITE,
                micros);
  recorder.RecordTime(read ? RATE_LIMITER_WAIT_MICROS_READ : RATE_LIMITER_WAIT_MICROS_WRITE,
                      micros);
  recorder.Tick(read ? RATE_LIMITER_BYTES_READ : RATE_LIMITER_BYTES_WRITE, bytes);
}

GenericRateLimiter::GenericRateLimiter(const Options& options)
    : RateLimiter(options.mode),
      refill_period_us_(options.refill_period_us > 0
                            ? std::min(options.refill_period_us, kRefillPeriodMaxUs)
                            : kDefaultRefillPeriodUs),
      fairness_(std::max(options.fairness, 1)),
      rate_max_(std::max<int64_t>(options.bytes_per_second, 1)),
      auto_tuned_(options.auto_tuned),
      clock_(options.clock) {
  MutexLock lock(mutex_);
  const bool begins_in_the_middle = auto_tuned_ && options.bytes_per_second > 1;
  SetRate(begins_in_the_middle ? rate_max_ / 2 : options.bytes_per_second);
  single_burst_bytes_ = std::max<int64_t>(options.single_burst_bytes, 0);
  available_bytes_ = period_bytes_;
  tuned_ns_ = clock_->NowNanos();
  next_refill_ns_ = tuned_ns_ + PeriodNanos();
}

void GenericRateLimiter::SetRate(int64_t bytes_per_second) {
  bytes_per_second_ = bytes_per_second;
  const int64_t served = std::max<int64_t>(bytes_per_second, 1);
  period_us_ = PeriodFor(served, refill_period_us_);
  period_bytes_ = BytesPerPeriod(served, period_us_);
  ASHLAR_ASSERT(period_bytes_ > 0);  // a period is long enough for one byte
}

uint64_t GenericRateLimiter::PeriodNanos() const {
  return static_cast<uint64_t>(period_us_) * kNanosPerMicro;
}

void GenericRateLimiter::Request(int64_t bytes, IORequestPriority priority,
                                 Statistics* statistics) {
  if (bytes <= 0 || priority >= IO_TOTAL) return;
  uint64_t waits = 0;
  {
    MutexLock lock(mutex_);
    total_requests_[priority]++;
    total_bytes_[priority] += bytes;
    while (bytes > 0) {
      const int64_t piece = std::min(bytes, BurstBytes());
      if (RequestAtMostOneBurst(piece, priority)) waits++;
      bytes -= piece;
    }
  }
  if (waits > 0) Recorder(statistics).Tick(NUMBER_RATE_LIMITER_DRAINS, waits);
}

bool GenericRateLimiter::RequestAtMostOneBurst(int64_t bytes, IORequestPriority priority) {
  RefillIfDue();
  if (FirstWaiter() == nullptr && available_bytes_ >= bytes) {
    available_bytes_ -= bytes;
    return false;
  }
  Waiter self{.bytes_wanted = bytes, .woken = {}};
  waiting_[priority].push_back(&self);
  WaitForBytes(&self);
  return true;
}

void GenericRateLimiter::WaitForBytes(Waiter* self) {
  // The first waiter gets the remaining bytes of this period.
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
  const uint64_t period_ns = PeriodNanos();
  // If it is late by less than a period, keep the pace. If later, begin a new period, because the
  // bucket holds at most one period's worth.
  next_refill_ns_ =
      now - next_refill_ns_ < period_ns ? next_refill_ns_ + period_ns : now + period_ns;
  if (FirstWaiter() != nullptr) drained_periods_++;
  if (auto_tuned_) TuneIfDue(now);
  available_bytes_ = period_bytes_;
  refills_++;
  Grant();
}

void GenericRateLimiter::TuneIfDue(uint64_t now) {
  const uint64_t period_ns = PeriodNanos();
  const uint64_t periods = (now - tuned_ns_ + period_ns - 1) / period_ns;
  if (periods < kPeriodsPerTuning) return;
  const int64_t before = bytes_per_second_;
  SetRate(TunedRate(std::max<int64_t>(before, 1), rate_max_, drained_periods_ * 100 / periods));
  ASHLAR_ASSERT(bytes_per_second_ == before || bytes_per_second_ <= rate_max_);                // I3
  ASHLAR_ASSERT(bytes_per_second_ == before || bytes_per_second_ >= rate_max_ / kTunedRange);  // I3
  tuned_ns_ = now;
  drained_periods_ = 0;
}

void GenericRateLimiter::Grant() {
  const bool lowest_first = refills_ > 0 && refills_ % fairness_ == 0;
  for (size_t i = 0; i < IO_TOTAL; i++) GrantQueue(lowest_first ? i : IO_TOTAL - 1 - i);
  if constexpr (kDebugChecks) CheckInvariants();
}

void GenericRateLimiter::CheckInvariants() const {
  ASHLAR_ASSERT(period_bytes_ ==
                BytesPerPeriod(std::max<int64_t>(bytes_per_second_, 1), period_us_));  // I1
  ASHLAR_ASSERT(available_bytes_ >= 0);                                                // I1
  for (const std::deque<Waiter*>& queue : waiting_) {
    ASHLAR_ASSERT(queue.empty() || available_bytes_ == 0);                             // I1
    for (const Waiter* const waiter : queue) ASHLAR_ASSERT(waiter->bytes_wanted > 0);  // not served
  }
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
  if (bytes_per_second <= 0) return;
  MutexLock lock(mutex_);
  SetRate(bytes_per_second);
}

int64_t GenericRateLimiter::GetBytesPerSecond() const {
  MutexLock lock(mutex_);
  return bytes_per_second_;
}

Status GenericRateLimiter::SetSingleBurstBytes(int64_t single_burst_bytes) {
  if (single_burst_bytes < 0)
    return Status::InvalidArgument("RateLimiter::SetSingleBurstBytes: below 0");
  MutexLock lock(mutex_);
  single_burst_bytes_ = single_burst_bytes;
  return Status::OK();
}

int64_t GenericRateLimiter::GetSingleBurstBytes() const {
  MutexLock lock(mutex_);
  return BurstBytes();
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

Status GenericRateLimiter::GetTotalPendingRequests(int64_t* pending,
                                                   IORequestPriority priority) const {
  if (pending == nullptr)
    return Status::InvalidArgument("RateLimiter::GetTotalPendingRequests: null");
  MutexLock lock(mutex_);
  *pending = 0;
  for (size_t i = 0; i < IO_TOTAL; i++) {
    if (priority >= IO_TOTAL || priority == i) *pending += static_cast<int64_t>(waiting_[i].size());
  }
  return Status::OK();
}

}  // namespace ashlar
