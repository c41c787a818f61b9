// RocksDB's name for the class Configurable of ashlar/customizable.h.
#pragma once

#include "ashlar/customizable.h"
#include "rocksdb/rocksdb_namespace.h"
