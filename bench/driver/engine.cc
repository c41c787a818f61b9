#include "bench/driver/engine.h"

#include "bench/driver/engines.h"
#include "bench/driver/fail.h"

namespace ashlar::bench {

std::unique_ptr<Engine> OpenEngine(const std::string& name, const std::string& library,
                                   const EngineOptions& options) {
  if (name == "rocksdb") return OpenRocks(library, options);
  if (name == "leveldb") return OpenLevelDb(library, options);
  if (name == "lmdb") return OpenLmdb(library, options);
  if (name == "none") return OpenNone(options);
  Fail("no engine is called " + name);
}

}  // namespace ashlar::bench
