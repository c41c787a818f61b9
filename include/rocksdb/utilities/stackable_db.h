// RocksDB's name for ashlar/utilities/stackable_db.h.
#pragma once

#include "ashlar/utilities/stackable_db.h"
#include "rocksdb/db.h"
