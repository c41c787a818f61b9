// Counts the calls from libpmemobj to libpmem. The functions of pmdk_counters.cc replace those of
// libpmem.
#pragma once

#include "bench/pmem/store.h"

namespace ashlar::bench {

extern bool pmdk_is_counted;
extern Durables pmdk_counted;

}  // namespace ashlar::bench
