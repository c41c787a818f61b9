// RocksDB's name for ashlar/snapshot.h.
#pragma once

#include "ashlar/snapshot.h"
#include "rocksdb/rocksdb_namespace.h"
