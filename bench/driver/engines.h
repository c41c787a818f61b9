// The engines of OpenEngine, one file each.
#pragma once

#include <memory>
#include <string>

#include "bench/driver/engine.h"

namespace ashlar::bench {

std::unique_ptr<Engine> OpenRocks(const std::string& library, const EngineOptions& options);
std::unique_ptr<Engine> OpenLevelDb(const std::string& library, const EngineOptions& options);
// For reading only, because unlike the other libraries, it neither logs nor syncs its writes.
std::unique_ptr<Engine> OpenLmdb(const std::string& library, const EngineOptions& options);
// Does nothing. Its cost is the driver's own.
std::unique_ptr<Engine> OpenNone(const EngineOptions& options);

}  // namespace ashlar::bench
