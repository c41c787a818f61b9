// RocksDB's name for ashlar/types.h.
#pragma once

#include "ashlar/types.h"
#include "rocksdb/rocksdb_namespace.h"
