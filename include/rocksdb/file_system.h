// The headers of RocksDB's file_system.h.
#pragma once

#include "ashlar/vfs.h"
#include "rocksdb/options.h"
#include "rocksdb/rocksdb_namespace.h"
#include "rocksdb/table.h"
