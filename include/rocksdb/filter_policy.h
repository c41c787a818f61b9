// RocksDB's name for ashlar/filter_policy.h, and the other names of its filter_policy.h.
#pragma once

#include "ashlar/cache.h"
#include "ashlar/filter_policy.h"
#include "ashlar/options.h"
#include "ashlar/statistics.h"
#include "rocksdb/rocksdb_namespace.h"
