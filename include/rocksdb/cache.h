// RocksDB's name for ashlar/cache.h, and the other names of its cache.h.
#pragma once

#include "ashlar/cache.h"
#include "ashlar/compression_type.h"
#include "ashlar/statistics.h"
#include "rocksdb/rocksdb_namespace.h"
