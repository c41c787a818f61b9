// RocksDB's name for ashlar/system_clock.h.
#pragma once

#include "ashlar/system_clock.h"
#include "rocksdb/rocksdb_namespace.h"
