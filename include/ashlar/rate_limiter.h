// RateLimiter: bounds the bytes per second that background work writes (and reads), so that it does
// not starve the foreground.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>

#include "ashlar/export.h"

namespace ashlar {

// The priority of the request. Higher ones are served first. IO_TOTAL is their number, and means
// "all of them" in the statistics.
enum IORequestPriority : unsigned char {
  IO_LOW = 0,
  IO_MID = 1,
  IO_HIGH = 2,
  IO_USER = 3,
  IO_TOTAL = 4,
};

class ASHLAR_API RateLimiter {
 public:
  virtual ~RateLimiter() = default;

  // Returns when `bytes` may be transferred. A request larger than one burst is served in pieces.
  // Requests of 0 or fewer bytes return at once.
  virtual void Request(int64_t bytes, IORequestPriority priority) = 0;
  // Takes effect from the next refill. Must be positive.
  virtual void SetBytesPerSecond(int64_t bytes_per_second) = 0;
  virtual int64_t GetBytesPerSecond() const = 0;
  // Bytes that one refill period allows.
  virtual int64_t GetSingleBurstBytes() const = 0;
  virtual int64_t GetTotalBytesThrough(IORequestPriority priority = IO_TOTAL) const = 0;
  virtual int64_t GetTotalRequests(IORequestPriority priority = IO_TOTAL) const = 0;
};

// A token bucket, owned by the caller. refill_period_us: how often the bucket is filled; longer
// allows longer bursts. fairness: every fairness-th refill serves the lowest priority first. Values
// out of range (<= 0) are raised to the smallest that works.
ASHLAR_API RateLimiter* NewGenericRateLimiter(int64_t rate_bytes_per_sec,
                                              int64_t refill_period_us = 100 * 1000,
                                              int32_t fairness = 10);

}  // namespace ashlar
