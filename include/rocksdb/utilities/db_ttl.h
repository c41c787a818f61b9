// RocksDB's name for ashlar/utilities/db_ttl.h.
#pragma once

#include "ashlar/utilities/db_ttl.h"
#include "rocksdb/db.h"
#include "rocksdb/utilities/stackable_db.h"
