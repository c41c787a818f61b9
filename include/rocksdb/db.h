// RocksDB's name for ashlar/db.h, and the other names of its db.h.
#pragma once

#include "ashlar/db.h"
#include "rocksdb/iterator.h"
#include "rocksdb/metadata.h"
#include "rocksdb/options.h"
#include "rocksdb/snapshot.h"
#include "rocksdb/version.h"
