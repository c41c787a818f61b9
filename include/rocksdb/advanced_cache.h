// RocksDB's name for ashlar/cache.h, with what its own advanced_cache.h brings along.
#pragma once

#include "ashlar/cache.h"
#include "rocksdb/options.h"
#include "rocksdb/rocksdb_namespace.h"
