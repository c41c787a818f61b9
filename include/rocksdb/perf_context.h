// RocksDB's name for ashlar/perf_context.h.
#pragma once

#include "ashlar/perf_context.h"
#include "rocksdb/rocksdb_namespace.h"
