// RocksDB's name for ashlar/options_util.h, and the other names of its options_util.h.
#pragma once

#include "ashlar/options_util.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "rocksdb/status.h"
