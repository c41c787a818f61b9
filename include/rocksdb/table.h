// RocksDB's name for ashlar/table.h.
#pragma once

#include "ashlar/table.h"
#include "rocksdb/rocksdb_namespace.h"
