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

}  // namespace
}  // namespace ashlar
