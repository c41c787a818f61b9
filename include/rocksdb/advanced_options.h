// In RocksDB the less common options stand apart; here all are in ashlar/options.h.
#pragma once

#include "rocksdb/options.h"
