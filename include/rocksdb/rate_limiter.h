// RocksDB's name for ashlar/rate_limiter.h, with what its own rate_limiter.h brings along.
#pragma once

#include "ashlar/env.h"
#include "ashlar/rate_limiter.h"
#include "ashlar/statistics.h"
#include "rocksdb/rocksdb_namespace.h"
