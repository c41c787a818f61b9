// RocksDB's name for ashlar/transaction_log.h.
#pragma once

#include "ashlar/transaction_log.h"
#include "rocksdb/rocksdb_namespace.h"
