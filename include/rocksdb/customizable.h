// RocksDB's name for ashlar/customizable.h.
#pragma once

#include "ashlar/customizable.h"
#include "rocksdb/rocksdb_namespace.h"
