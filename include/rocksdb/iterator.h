// RocksDB's name for ashlar/iterator.h.
#pragma once

#include "ashlar/iterator.h"
#include "rocksdb/rocksdb_namespace.h"
