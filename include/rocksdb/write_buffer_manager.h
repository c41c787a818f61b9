// RocksDB's name for ashlar/write_buffer_manager.h.
#pragma once

#include "ashlar/write_buffer_manager.h"
#include "rocksdb/rocksdb_namespace.h"
