// RocksDB's name for ashlar/slice_transform.h.
#pragma once

#include "ashlar/slice_transform.h"
#include "rocksdb/rocksdb_namespace.h"
