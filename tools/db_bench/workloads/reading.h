// Getting random keys.
#pragma once

#include <cstdint>
#include <string>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "tools/db_bench/worker.h"

namespace ashlar::bench {

// Gets values according to --pin_slice, and counts the found keys. One per thread.
class Getter {
 public:
  explicit Getter(Worker& worker) : worker_(worker), pin_(worker.flags.pin_slice) {}

  // Counts a read, and the bytes of key and value if there is one. An absent key is no error.
  Status Get(uint64_t number);

 private:
  Worker& worker_;
  const bool pin_;
  PinnableSlice pinned_;
  std::string copy_;
};

// Each thread gets ReadsOf(flags) keys, or for the duration, drawn from numbers 0 to count - 1.
Status ReadRandom(Worker& worker, uint64_t count);

}  // namespace ashlar::bench
