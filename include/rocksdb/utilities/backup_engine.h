// RocksDB's name for ashlar/backup_engine.h, and the other names of its backup_engine.h.
#pragma once

#include "ashlar/backup_engine.h"
#include "rocksdb/env.h"
#include "rocksdb/metadata.h"
#include "rocksdb/options.h"
#include "rocksdb/status.h"
