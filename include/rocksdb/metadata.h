// RocksDB's name for ashlar/metadata.h.
#pragma once

#include "ashlar/metadata.h"
#include "rocksdb/rocksdb_namespace.h"
