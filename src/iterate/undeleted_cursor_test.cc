// Tests UndeletedCursor over sources that are out of order. tests/model and
// src/table/blockbased/range_deletion_test.cc compare what it shows of others with a model.
#include "iterate/undeleted_cursor.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "memtable/memtable.h"
#include "tests/support/lost_cursor.h"
#include "tests/support/test_epochs.h"
#include "tests/support/vector_cursor.h"

namespace ashlar {
namespace {

// The range tombstone of a memtable covers all entries of an older source. Each seek of that source
// leads back to its first entry.
TEST(UndeletedCursorTest, ASourceOutOfOrderEndsTheWalk) {
  const KeyComparator comparator{BytewiseComparator()};
  ArenaBlockPool blocks{ArenaBlockPool::Options{}};
  MemTable::Owner memtable = MemTable::Create(
      {.comparator = comparator, .arena_blocks = &blocks, .epochs = &TestEpochs()});
  memtable->AddRangeDeletion({.begin = "b", .end = "y", .sequence = 50});
  {
    std::vector<std::string> keys;
    for (const char* const key : {"c", "d", "e"})
      keys.push_back(MakeInternalKey(key, 7, ValueType::kValue));
    auto lost = std::make_unique<LostCursor>(keys, 0, keys.size() - 1);
    const LostCursor& source = *lost;
    std::vector<std::unique_ptr<InternalCursor>> children;
    children.push_back(std::make_unique<VectorCursor>(
        comparator, std::vector<TestEntry>{{.user_key = "a", .sequence = 60, .value = "v"},
                                           {.user_key = "z", .sequence = 61, .value = "v"}}));
    children.push_back(std::move(lost));
    RangeCover cover(
        {.comparator = comparator, .tables = nullptr, .read_options = {}, .visible = 100});
    cover.AddMemTable(memtable.get());
    cover.AddFiles({});
    UndeletedCursor cursor({.comparator = comparator,
                            .children = std::move(children),
                            .cover = std::move(cover),
                            .met_ranges = std::make_unique<bool>(true)});
    MoveLimits limits(0);
    cursor.SetLimits(&limits);
    cursor.SeekToFirst();
    ASSERT_TRUE(cursor.Valid());
    EXPECT_EQ(ExtractUserKey(cursor.key()), Slice("a"));
    cursor.Next();
    EXPECT_FALSE(cursor.Valid());
    EXPECT_TRUE(cursor.status().IsCorruption()) << cursor.status().ToString();
    cursor.SeekToLast();
    ASSERT_TRUE(cursor.Valid());
    EXPECT_EQ(ExtractUserKey(cursor.key()), Slice("z"));
    cursor.Prev();
    EXPECT_FALSE(cursor.Valid());
    EXPECT_TRUE(cursor.status().IsCorruption()) << cursor.status().ToString();
    EXPECT_FALSE(source.IsTired());
  }
  memtable.reset();
  TestEpochs().Synchronize();
}

}  // namespace
}  // namespace ashlar
