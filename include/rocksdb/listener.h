// RocksDB's name for ashlar/listener.h, with what its own listener.h brings along.
#pragma once

#include "ashlar/cache.h"
#include "ashlar/listener.h"
#include "ashlar/options.h"
#include "ashlar/statistics.h"
#include "rocksdb/rocksdb_namespace.h"
