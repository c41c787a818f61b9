// RocksDB's name for ashlar/env.h.
#pragma once

#include "ashlar/env.h"
#include "rocksdb/rocksdb_namespace.h"
