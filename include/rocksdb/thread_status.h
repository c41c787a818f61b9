// RocksDB's name for ashlar/thread_status.h.
#pragma once

#include "ashlar/thread_status.h"
#include "rocksdb/rocksdb_namespace.h"
