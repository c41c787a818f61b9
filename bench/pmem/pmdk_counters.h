// Counts the calls of libpmemobj to libpmem: the functions of pmdk_counters.cc replace libpmem's
// own.
#pragma once

#include "bench/pmem/store.h"

namespace ashlar::bench {

extern bool pmdk_is_counted;
extern Durables pmdk_counted;

}  // namespace ashlar::bench
