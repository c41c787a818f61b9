// RocksDB's name for ashlar/experimental.h.
#pragma once

#include "ashlar/experimental.h"
#include "rocksdb/rocksdb_namespace.h"
