// InputReads: how a compaction reads its inputs. TableReadOptions has a null pointer to it for
// reads of the program, which therefore pay nothing.
//
// Lifetime: outlives the cursors that use it. Thread safety: const.
#pragma once

#include "execute/rate_limiter.h"

namespace ashlar {

struct InputReads {
  bool hint = false;  // hint readahead_bytes to the file system and read smaller pieces
  LimitedIo limit = {.op = RateLimiter::OpType::kRead};  // each read of a file waits for it first
};

}  // namespace ashlar
