// RocksDB's name for ashlar/sst_file_writer.h.
#pragma once

#include "ashlar/sst_file_writer.h"
#include "rocksdb/rocksdb_namespace.h"
