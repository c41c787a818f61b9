// RocksDB's name for ashlar/cache.h, and the other names of its advanced_cache.h.
#pragma once

#include "ashlar/cache.h"
#include "rocksdb/options.h"
#include "rocksdb/rocksdb_namespace.h"
