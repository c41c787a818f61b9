// RocksDB's name for ashlar/memtablerep.h.
#pragma once

#include "ashlar/memtablerep.h"
#include "rocksdb/rocksdb_namespace.h"
