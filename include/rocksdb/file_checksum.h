// RocksDB's name for ashlar/file_checksum.h.
#pragma once

#include "ashlar/file_checksum.h"
#include "rocksdb/rocksdb_namespace.h"
#include "rocksdb/status.h"
