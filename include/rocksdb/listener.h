// RocksDB's name for ashlar/listener.h, and the other names of its listener.h.
#pragma once

#include "ashlar/cache.h"
#include "ashlar/listener.h"
#include "ashlar/options.h"
#include "ashlar/statistics.h"
#include "rocksdb/rocksdb_namespace.h"
