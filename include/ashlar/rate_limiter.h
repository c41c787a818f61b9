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

// The priority of a request. Higher priorities are served first. IO_TOTAL is their number. In the
// statistics it means all of them, and a request with it is granted at once.
enum IORequestPriority : unsigned char {
  IO_LOW = 0,
  IO_MID = 1,
  IO_HIGH = 2,
  IO_USER = 3,
  IO_TOTAL = 4,
};

// A class of the program overrides one of the first three forms of Request; otherwise no request
// waits. The engine calls RequestToken, which requests at most one burst at a time.
class ASHLAR_API RateLimiter {
 public:
  enum class OpType { kRead, kWrite };
  enum class Mode { kReadsOnly = 0, kWritesOnly = 1, kAllIo = 2 };

  explicit RateLimiter(Mode mode = Mode::kWritesOnly) : mode_(mode) {}
  virtual ~RateLimiter() = default;

  // Returns when `bytes` may be transferred. NewGenericRateLimiter's grants more than one burst in
  // pieces, and returns at once if bytes is 0 or less.
  virtual void Request(int64_t /*bytes*/, IORequestPriority /*priority*/) {}
  // The same; adds to the tickers of `statistics`, which may be null.
  virtual void Request(int64_t bytes, IORequestPriority priority, Statistics* /*statistics*/) {
    Request(bytes, priority);
  }
  // The same if the mode limits `op`. Otherwise does nothing.
  virtual void Request(int64_t bytes, IORequestPriority priority, Statistics* statistics,
                       OpType op) {
    if (IsRateLimited(op)) Request(bytes, priority, statistics);
  }
  // Requests as many of `bytes` as one burst allows, and returns their number. Unless alignment is
  // 0, the number is a multiple of it, and at least alignment. An operation that is not limited
  // gets all bytes.
  virtual size_t RequestToken(size_t bytes, size_t alignment, IORequestPriority priority,
                              Statistics* statistics, OpType op);

  // Takes effect from the next refill. Requires: a positive rate. A limiter of
  // NewGenericRateLimiter ignores others.
  virtual void SetBytesPerSecond(int64_t bytes_per_second) = 0;
  virtual int64_t GetBytesPerSecond() const = 0;
  // The largest grant of one request; 0: the bytes of one refill period. InvalidArgument: below 0.
  virtual Status SetSingleBurstBytes(int64_t /*single_burst_bytes*/) {
    return Status::NotSupported("RateLimiter::SetSingleBurstBytes");
  }
  virtual int64_t GetSingleBurstBytes() const = 0;

  virtual int64_t GetTotalBytesThrough(IORequestPriority priority = IO_TOTAL) const = 0;
  virtual int64_t GetTotalRequests(IORequestPriority priority = IO_TOTAL) const = 0;
  // The number of requests that are waiting.
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

// A token bucket, owned by the caller. refill_period_us: the time between refills, at most an hour.
// A longer one allows longer bursts. It is extended while the rate is below one byte per period.
// fairness: every fairness-th refill serves the lowest priority first. single_burst_bytes: see
// RateLimiter::SetSingleBurstBytes.
//
// The first three must be positive. An open for writing, SstFileWriter and BackupEngine refuse a
// limiter whose rate is not (InvalidArgument). A refill_period_us of 0 or less counts as the
// default, a fairness of 0 or less as 1, and negative single_burst_bytes as 0.
//
// auto_tuned: the rate starts at half of rate_bytes_per_sec and stays between it and a twentieth of
// it. Every 100 refill periods it rises by 5 % if requests waited in more than 90 % of them, and
// falls by as much if they waited in fewer than 50 %. It falls to the minimum if none waited.
// SetBytesPerSecond changes the rate until the next tuning, but not the bounds.
ASHLAR_API RateLimiter* NewGenericRateLimiter(
    int64_t rate_bytes_per_sec, int64_t refill_period_us = 100 * 1000, int32_t fairness = 10,
    RateLimiter::Mode mode = RateLimiter::Mode::kWritesOnly, bool auto_tuned = false,
    int64_t single_burst_bytes = 0);

}  // namespace ashlar
