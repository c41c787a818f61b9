// RocksDB's name for ashlar/table_properties.h.
#pragma once

#include "ashlar/table_properties.h"
#include "rocksdb/rocksdb_namespace.h"
