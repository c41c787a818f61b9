// RocksDB's name for ashlar/merge_operator.h.
#pragma once

#include "ashlar/merge_operator.h"
#include "rocksdb/rocksdb_namespace.h"
