// RocksDB's name for ashlar/metadata.h, and the other names of its metadata.h.
#pragma once

#include "ashlar/metadata.h"
#include "rocksdb/options.h"
#include "rocksdb/rocksdb_namespace.h"
