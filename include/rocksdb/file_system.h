// RocksDB's name for ashlar/file_system.h.
#pragma once

#include "ashlar/file_system.h"
#include "rocksdb/rocksdb_namespace.h"
