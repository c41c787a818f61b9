// RocksDB's name for ashlar/convenience.h, and the other names of its convenience.h.
#pragma once

#include "ashlar/convenience.h"
#include "rocksdb/compression_type.h"
#include "rocksdb/db.h"
#include "rocksdb/status.h"
#include "rocksdb/table.h"
