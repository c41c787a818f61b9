// RocksDB's name for ashlar/iterator.h, with what its own iterator.h brings along.
#pragma once

#include "ashlar/iterator.h"
#include "rocksdb/options.h"
#include "rocksdb/rocksdb_namespace.h"
