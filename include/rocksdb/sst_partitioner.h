// RocksDB's name for ashlar/sst_partitioner.h.
#pragma once

#include "ashlar/sst_partitioner.h"
#include "rocksdb/rocksdb_namespace.h"
#include "rocksdb/slice.h"
