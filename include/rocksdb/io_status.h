// RocksDB's name for ashlar/io_status.h.
#pragma once

#include "ashlar/io_status.h"
#include "rocksdb/rocksdb_namespace.h"
