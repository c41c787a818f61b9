// RocksDB's name for ashlar/iterator.h, and the other names of its iterator.h.
#pragma once

#include "ashlar/iterator.h"
#include "rocksdb/options.h"
#include "rocksdb/rocksdb_namespace.h"
