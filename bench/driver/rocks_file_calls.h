// FileCalls through RocksDB's C interface.
#pragma once

#include <memory>

#include "bench/driver/file_calls.h"
#include "bench/driver/rocks_api.h"

namespace ashlar::bench {

// Requires that the arguments outlive the object. `folder` is that of the open database.
std::unique_ptr<FileCalls> NewRocksFileCalls(const RocksApi& api, RocksDb* db,
                                             const RocksOptions* options,
                                             const std::string& folder);

}  // namespace ashlar::bench
