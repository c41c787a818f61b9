// RocksDB's name for ashlar/checkpoint.h.
#pragma once

#include "ashlar/checkpoint.h"
#include "rocksdb/rocksdb_namespace.h"
#include "rocksdb/status.h"
