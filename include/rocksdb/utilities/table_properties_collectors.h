// RocksDB's name for ashlar/table_properties_collectors.h.
#pragma once

#include "ashlar/table_properties_collectors.h"
#include "rocksdb/rocksdb_namespace.h"
