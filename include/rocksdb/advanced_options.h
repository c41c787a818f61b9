// In RocksDB the less common options have a header of their own; here all are in ashlar/options.h.
#pragma once

#include "rocksdb/options.h"
