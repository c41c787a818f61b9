// RocksDB's name for ashlar/table.h, with what its own table.h brings along.
#pragma once

#include "ashlar/table.h"
#include "rocksdb/options.h"
#include "rocksdb/rocksdb_namespace.h"
