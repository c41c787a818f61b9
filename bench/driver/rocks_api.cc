#include "bench/driver/rocks_api.h"

namespace ashlar::bench {

RocksApi::RocksApi(const Library& library) {
#define ASHLAR_BENCH_REQUIRE(name, result, parameters) library.Load("rocksdb_" #name, &name);
#define ASHLAR_BENCH_FIND(name, result, parameters) \
  name = reinterpret_cast<decltype(name)>(library.Find("rocksdb_" #name));
  ASHLAR_BENCH_ROCKS_REQUIRED(ASHLAR_BENCH_REQUIRE)
  ASHLAR_BENCH_ROCKS_OPTIONAL(ASHLAR_BENCH_FIND)
#undef ASHLAR_BENCH_FIND
#undef ASHLAR_BENCH_REQUIRE
}

}  // namespace ashlar::bench
