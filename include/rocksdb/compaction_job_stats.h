// RocksDB's name for ashlar/listener.h.
#pragma once

#include "ashlar/listener.h"
#include "rocksdb/rocksdb_namespace.h"
