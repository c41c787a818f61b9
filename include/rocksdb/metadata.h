// RocksDB's name for ashlar/metadata.h, with what its own metadata.h brings along.
#pragma once

#include "ashlar/metadata.h"
#include "rocksdb/options.h"
#include "rocksdb/rocksdb_namespace.h"
