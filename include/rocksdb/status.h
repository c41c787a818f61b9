// RocksDB's name for ashlar/status.h.
#pragma once

#include "ashlar/status.h"
#include "rocksdb/rocksdb_namespace.h"
