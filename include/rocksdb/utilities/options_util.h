// RocksDB's name for ashlar/options_util.h, with what its own options_util.h brings along.
#pragma once

#include "ashlar/options_util.h"
#include "rocksdb/convenience.h"
#include "rocksdb/db.h"
#include "rocksdb/env.h"
#include "rocksdb/options.h"
#include "rocksdb/status.h"
