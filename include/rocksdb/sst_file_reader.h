// RocksDB's name for ashlar/sst_file_reader.h.
#pragma once

#include "ashlar/sst_file_reader.h"
#include "rocksdb/rocksdb_namespace.h"
