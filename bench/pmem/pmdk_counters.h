// What libpmemobj asks of libpmem, counted: the functions of pmdk_counters.cc stand before
// libpmem's own.
#pragma once

#include "bench/pmem/store.h"

namespace ashlar::bench {

extern bool pmdk_is_counted;
extern Durables pmdk_counted;

}  // namespace ashlar::bench
