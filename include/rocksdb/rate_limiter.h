// RocksDB's name for ashlar/rate_limiter.h.
#pragma once

#include "ashlar/rate_limiter.h"
#include "rocksdb/rocksdb_namespace.h"
