// RocksDB's name for ashlar/data_structure.h.
#pragma once

#include "ashlar/data_structure.h"
#include "rocksdb/rocksdb_namespace.h"
