// RocksDB's name for ashlar/filter_policy.h.
#pragma once

#include "ashlar/filter_policy.h"
#include "rocksdb/rocksdb_namespace.h"
