// RocksDB's name for ashlar/slice.h.
#pragma once

#include "ashlar/slice.h"
#include "rocksdb/rocksdb_namespace.h"
