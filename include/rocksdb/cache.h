// RocksDB's name for ashlar/cache.h, with what its own cache.h brings along.
#pragma once

#include "ashlar/cache.h"
#include "ashlar/compression_type.h"
#include "ashlar/statistics.h"
#include "rocksdb/rocksdb_namespace.h"
