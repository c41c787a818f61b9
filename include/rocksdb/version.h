// The release of RocksDB whose interface the headers in rocksdb/ resemble most, for programs that
// ask before they choose a form of a call. A program may rely on the declarations of these headers;
// docs/compatibility.md lists the missing ones.
#pragma once

#include "ashlar/version.h"
#include "rocksdb/rocksdb_namespace.h"

#define ROCKSDB_MAJOR 11
#define ROCKSDB_MINOR 8
#define ROCKSDB_PATCH 1

// Releases as numbers that compare.
#define ROCKSDB_MAKE_VERSION_INT(major, minor, patch) ((major) * 1000000 + (minor) * 1000 + (patch))
#define ROCKSDB_VERSION_INT ROCKSDB_MAKE_VERSION_INT(ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH)
#define ROCKSDB_VERSION_GE(major, minor, patch) \
  (ROCKSDB_VERSION_INT >= ROCKSDB_MAKE_VERSION_INT(major, minor, patch))
