// RocksDB's name for ashlar/backup_engine.h, with what its own backup_engine.h brings along.
#pragma once

#include "ashlar/backup_engine.h"
#include "rocksdb/env.h"
#include "rocksdb/metadata.h"
#include "rocksdb/options.h"
#include "rocksdb/status.h"
