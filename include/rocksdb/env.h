// RocksDB's name for ashlar/env.h, and ashlar/thread_status.h, which RocksDB's includes.
#pragma once

#include "ashlar/env.h"
#include "ashlar/thread_status.h"
#include "rocksdb/rocksdb_namespace.h"
