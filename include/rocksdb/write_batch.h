// RocksDB's name for ashlar/write_batch.h.
#pragma once

#include "ashlar/write_batch.h"
#include "rocksdb/rocksdb_namespace.h"
