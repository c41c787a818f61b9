// RocksDB's name for ashlar/wal_filter.h.
#pragma once

#include "ashlar/wal_filter.h"
#include "rocksdb/rocksdb_namespace.h"
