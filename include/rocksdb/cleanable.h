// RocksDB's name for ashlar/cleanable.h.
#pragma once

#include "ashlar/cleanable.h"
#include "rocksdb/rocksdb_namespace.h"
