// RocksDB's name for ashlar/rate_limiter.h, and the other names of its rate_limiter.h.
#pragma once

#include "ashlar/env.h"
#include "ashlar/rate_limiter.h"
#include "ashlar/statistics.h"
#include "rocksdb/rocksdb_namespace.h"
