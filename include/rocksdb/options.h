// RocksDB's name for ashlar/options.h, and the other names of its options.h.
#pragma once

#include "ashlar/options.h"
#include "rocksdb/cache.h"
#include "rocksdb/comparator.h"
#include "rocksdb/env.h"
#include "rocksdb/listener.h"
#include "rocksdb/version.h"
#include "rocksdb/write_buffer_manager.h"
