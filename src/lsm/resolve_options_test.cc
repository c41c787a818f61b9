#include "lsm/resolve_options.h"

#include <gtest/gtest.h>

#include "ashlar/table.h"

namespace ashlar {
namespace {

BlockBasedTableConfig ConfigOfReadahead(size_t initial_bytes, size_t max_bytes) {
  BlockBasedTableOptions table;
  table.initial_auto_readahead_size = initial_bytes;
  table.max_auto_readahead_size = max_bytes;
  ColumnFamilyOptions options;
  options.table_factory.reset(NewBlockBasedTableFactory(table));
  return ResolveTableConfig(options);
}

TEST(ResolveTableConfig, ReadaheadBeginsNoLargerThanItsLargestPiece) {
  EXPECT_EQ(ConfigOfReadahead(8 << 10, 256 << 10).readahead_bytes_initial, size_t{8} << 10);
  EXPECT_EQ(ConfigOfReadahead(64 << 10, 16 << 10).readahead_bytes_initial, size_t{16} << 10);
  EXPECT_EQ(ConfigOfReadahead(8 << 10, 0).readahead_bytes_initial, 0u);
}

// Which decision counts: that of the role, then that of all roles.
TEST(ResolveTableConfig, TableReadersAreChargedWhereTheirRoleIs) {
  using Decision = CacheEntryRoleOptions::Decision;
  const auto charges = [](Decision all, Decision role) {
    BlockBasedTableOptions table;
    table.cache_usage_options.options.charged = all;
    table.cache_usage_options.options_overrides[CacheEntryRole::kBlockBasedTableReader].charged =
        role;
    ColumnFamilyOptions options;
    options.table_factory.reset(NewBlockBasedTableFactory(table));
    return ResolveTableConfig(options).charge_table_readers;
  };
  for (const Decision all : {Decision::kEnabled, Decision::kDisabled, Decision::kFallback}) {
    EXPECT_TRUE(charges(all, Decision::kEnabled));
    EXPECT_FALSE(charges(all, Decision::kDisabled));
    EXPECT_EQ(charges(all, Decision::kFallback), all == Decision::kEnabled);
  }
  EXPECT_FALSE(ResolveTableConfig(ColumnFamilyOptions()).charge_table_readers);
}

}  // namespace
}  // namespace ashlar
