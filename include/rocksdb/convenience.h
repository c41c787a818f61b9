// RocksDB's name for ashlar/convenience.h, with what its own convenience.h brings along.
#pragma once

#include "ashlar/convenience.h"
#include "rocksdb/compression_type.h"
#include "rocksdb/db.h"
#include "rocksdb/status.h"
#include "rocksdb/table.h"
