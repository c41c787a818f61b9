// RocksDB's name for ashlar/file_system.h, and the other names of its file_system.h.
#pragma once

#include "ashlar/file_system.h"
#include "rocksdb/options.h"
#include "rocksdb/rocksdb_namespace.h"
#include "rocksdb/table.h"
