// RocksDB's name for ashlar/file_system.h, with what its own file_system.h brings along.
#pragma once

#include "ashlar/file_system.h"
#include "rocksdb/options.h"
#include "rocksdb/rocksdb_namespace.h"
#include "rocksdb/table.h"
