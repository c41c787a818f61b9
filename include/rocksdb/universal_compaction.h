// RocksDB's options of universal compaction are in ashlar/options.h.
#pragma once

#include "rocksdb/options.h"
