// InputReads: how a compaction reads its inputs. Null in TableReadOptions, and so without a cost,
// for the reads of the program.
//
// Lifetime: outlives the cursors that have it. Thread safety: const.
#pragma once

#include "execute/rate_limiter.h"

namespace ashlar {

struct InputReads {
  bool hint = false;  // hint readahead_bytes to the file system, read in smaller pieces
  LimitedIo limit = {.op = RateLimiter::OpType::kRead};  // asked before each read of a file
};

}  // namespace ashlar
