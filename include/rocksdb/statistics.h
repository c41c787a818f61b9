// RocksDB's name for ashlar/statistics.h.
#pragma once

#include "ashlar/statistics.h"
#include "rocksdb/rocksdb_namespace.h"
