// RocksDB's name for ashlar/compression_type.h.
#pragma once

#include "ashlar/compression_type.h"
#include "rocksdb/rocksdb_namespace.h"
