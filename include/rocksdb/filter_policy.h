// RocksDB's name for ashlar/filter_policy.h, with what its own filter_policy.h brings along.
#pragma once

#include "ashlar/cache.h"
#include "ashlar/filter_policy.h"
#include "ashlar/options.h"
#include "ashlar/statistics.h"
#include "rocksdb/rocksdb_namespace.h"
