// Programs that include only rocksdb/db.h.
#include "rocksdb/db.h"

#include <gtest/gtest.h>

#include <string>

namespace {

TEST(RocksDbHeaderOfDatabases, BringsStatisticsCachesAndTheirNames) {
  rocksdb::Options options;
  options.statistics = rocksdb::CreateDBStatistics();
  options.statistics->recordTick(rocksdb::BYTES_READ, 3);
  std::string found;
  for (const auto& [ticker, name] : rocksdb::TickersNameMap) {
    if (options.statistics->getTickerCount(ticker) != 0) found += name;
  }
  EXPECT_EQ(found, "rocksdb.bytes.read");
  EXPECT_EQ(rocksdb::TickersNameMap.at(rocksdb::BLOCK_CACHE_HIT).second, "rocksdb.block.cache.hit");
  EXPECT_EQ(rocksdb::HistogramsNameMap[rocksdb::DB_GET].second, "rocksdb.db.get.micros");
  EXPECT_NE(rocksdb::NewLRUCache(1 << 20), nullptr);
}

}  // namespace
