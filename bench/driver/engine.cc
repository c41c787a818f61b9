#include "bench/driver/engine.h"

#include "bench/driver/engines.h"
#include "bench/driver/fail.h"

namespace ashlar::bench {

void Session::Delete(std::string_view /*key*/) { NotAvailable("no call deletes a key"); }

void Session::DeleteRange(std::string_view /*begin*/, std::string_view /*end*/) {
  NotAvailable("no call deletes a range");
}

void Session::SeekToFirst(Tally* /*tally*/) { NotAvailable("no call finds the first key"); }

void Session::PopFirst(Tally* /*tally*/) { NotAvailable("no call deletes the first key"); }

void Session::PutAndTail(std::string_view /*key*/, std::string_view /*value*/, Tally* /*tally*/) {
  NotAvailable("no iterator follows the writes");
}

uint64_t Engine::SortedRuns() { NotAvailable("no call counts the sorted runs"); }

uint64_t Engine::BlocksRead() { NotAvailable("no call counts the blocks that are read"); }

std::unique_ptr<Engine> OpenEngine(const std::string& name, const std::string& library,
                                   const EngineOptions& options) {
  if (name == "rocksdb") return OpenRocks(library, options);
  if (name == "leveldb") return OpenLevelDb(library, options);
  if (name == "lmdb") return OpenLmdb(library, options);
  if (name == "none") return OpenNone(options);
  Fail("no engine is called " + name);
}

}  // namespace ashlar::bench
