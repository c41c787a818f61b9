// RocksDB's C interface to FileCalls.
#pragma once

#include <memory>

#include "bench/driver/file_calls.h"
#include "bench/driver/rocks_api.h"

namespace ashlar::bench {

// The arguments outlive the object. folder: of the open database.
std::unique_ptr<FileCalls> NewRocksFileCalls(const RocksApi& api, RocksDb* db,
                                             const RocksOptions* options,
                                             const std::string& folder);

}  // namespace ashlar::bench
