// RateLimiter: bounds the bytes per second that background work writes, reads, or both, to protect
// the foreground.
//
//   op of the request     kReadsOnly   kWritesOnly   kAllIo
//   kRead                 waits        passes        waits
//   kWrite                passes       waits         waits
//
// Reads are those of compactions and backups. Writes are those of flushes, compactions,
// SstFileWriter and backups. Mapped files are never limited.
//
// Thread safety: any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ashlar/export.h"
#include "ashlar/status.h"

namespace ashlar {

class Statistics;

// The priority of the request. Higher ones are served first. IO_TOTAL is their number. It means
// "all of them" in the statistics, and a request of it passes at once.
enum IORequestPriority : unsigned char {
  IO_LOW = 0,
  IO_MID = 1,
  IO_HIGH = 2,
  IO_USER = 3,
  IO_TOTAL = 4,
};

// A program's class overrides one of the first three forms of Request; without one, nothing waits.
// The engine calls RequestToken, with at most one burst at a time.
class ASHLAR_API RateLimiter {
 public:
  enum class OpType { kRead, kWrite };
  enum class Mode { kReadsOnly = 0, kWritesOnly = 1, kAllIo = 2 };

  explicit RateLimiter(Mode mode = Mode::kWritesOnly) : mode_(mode) {}
  virtual ~RateLimiter() = default;

  // Returns when `bytes` may be transferred. That of NewGenericRateLimiter serves more than one
  // burst in pieces, and returns at once if there are 0 or fewer bytes.
  virtual void Request(int64_t /*bytes*/, IORequestPriority /*priority*/) {}
  // The same; adds to the tickers of `statistics`, which may be null.
  virtual void Request(int64_t bytes, IORequestPriority priority, Statistics* /*statistics*/) {
    Request(bytes, priority);
  }
  // The same if the mode limits `op`, else nothing.
  virtual void Request(int64_t bytes, IORequestPriority priority, Statistics* statistics,
                       OpType op) {
    if (IsRateLimited(op)) Request(bytes, priority, statistics);
  }
  // Requests as many of `bytes` as one burst allows, and returns how many. Unless alignment is 0,
  // the number is a multiple of it, and at least one such unit. An operation that is not limited
  // gets all.
  virtual size_t RequestToken(size_t bytes, size_t alignment, IORequestPriority priority,
                              Statistics* statistics, OpType op);

  // Takes effect from the next refill. Must be positive: NewGenericRateLimiter's keeps its rate
  // otherwise.
  virtual void SetBytesPerSecond(int64_t bytes_per_second) = 0;
  virtual int64_t GetBytesPerSecond() const = 0;
  // The largest grant of one request; 0: the bytes of one refill period. InvalidArgument: below 0.
  virtual Status SetSingleBurstBytes(int64_t /*single_burst_bytes*/) {
    return Status::NotSupported("RateLimiter::SetSingleBurstBytes");
  }
  virtual int64_t GetSingleBurstBytes() const = 0;

  virtual int64_t GetTotalBytesThrough(IORequestPriority priority = IO_TOTAL) const = 0;
  virtual int64_t GetTotalRequests(IORequestPriority priority = IO_TOTAL) const = 0;
  // Requests that wait now.
  virtual Status GetTotalPendingRequests(int64_t* /*pending*/,
                                         IORequestPriority /*priority*/ = IO_TOTAL) const {
    return Status::NotSupported("RateLimiter::GetTotalPendingRequests");
  }

  virtual bool IsRateLimited(OpType op) {
    return mode_ == Mode::kAllIo || (mode_ == Mode::kReadsOnly) == (op == OpType::kRead);
  }

 protected:
  Mode GetMode() const { return mode_; }

 private:
  const Mode mode_;
};

// A token bucket, owned by the caller. refill_period_us: the time between refills; a longer one
// allows longer bursts, and it is at least the time in which the rate amounts to a byte. fairness:
// every fairness-th refill serves the lowest priority first. single_burst_bytes: see
// RateLimiter::SetSingleBurstBytes.
//
// All but the last must be positive. An open for writing, SstFileWriter and BackupEngine refuse a
// limiter whose rate is not (InvalidArgument). A refill_period_us of 0 or less counts as the
// default, a fairness of 0 or less as 1, and negative single_burst_bytes as 0.
//
// auto_tuned: the rate moves between rate_bytes_per_sec and a twentieth of it, beginning with half.
// Every 100 refill periods it rises by 5 % if requests waited in more than 90 % of them, and falls
// by as much if they waited in fewer than 50 %. It falls to the minimum if none waited.
// SetBytesPerSecond changes the rate until the next tuning, but not the bounds.
ASHLAR_API RateLimiter* NewGenericRateLimiter(
    int64_t rate_bytes_per_sec, int64_t refill_period_us = 100 * 1000, int32_t fairness = 10,
    RateLimiter::Mode mode = RateLimiter::Mode::kWritesOnly, bool auto_tuned = false,
    int64_t single_burst_bytes = 0);

}  // namespace ashlar
