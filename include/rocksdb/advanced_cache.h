// RocksDB's name for ashlar/cache.h.
#pragma once

#include "ashlar/cache.h"
#include "rocksdb/rocksdb_namespace.h"
