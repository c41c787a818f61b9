// RocksDB's name for ashlar/comparator.h.
#pragma once

#include "ashlar/comparator.h"
#include "rocksdb/rocksdb_namespace.h"
