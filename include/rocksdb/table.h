// RocksDB's name for ashlar/table.h, and the other names of its table.h.
#pragma once

#include "ashlar/table.h"
#include "rocksdb/options.h"
#include "rocksdb/rocksdb_namespace.h"
