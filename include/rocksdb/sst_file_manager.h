// RocksDB's name for ashlar/sst_file_manager.h.
#pragma once

#include "ashlar/sst_file_manager.h"
#include "rocksdb/rocksdb_namespace.h"
