// RocksDB's name for ashlar/compaction_filter.h.
#pragma once

#include "ashlar/compaction_filter.h"
#include "rocksdb/rocksdb_namespace.h"
