// MultiGet returns the same as Get for any mix of keys, families, versions and tables.
#include <random>

#include "tests/engine/database_fixture.h"

namespace ashlar {
namespace {

struct Shape {
  const char* name;
  bool filter;
  size_t cache_bytes;  // 0: no cache
  bool mmap;
};

class MultiGetTest : public DatabaseFixture, public ::testing::WithParamInterface<Shape> {
 protected:
  static constexpr uint32_t kSeed = 20261121;
  static constexpr uint64_t kKeys = 600;

  MultiGetTest() {
    BlockBasedTableOptions table;
    table.block_size = 256;
    if (GetParam().filter) table.filter_policy.reset(NewBloomFilterPolicy(10));
    table.no_block_cache = GetParam().cache_bytes == 0;
    if (GetParam().cache_bytes > 0) table.block_cache = NewLRUCache(GetParam().cache_bytes);
    options_.table_factory.reset(NewBlockBasedTableFactory(table));
    options_.allow_mmap_reads = GetParam().mmap;
    options_.merge_operator = MergeOperators::CreateStringAppendOperator();
    options_.disable_auto_compactions = true;
    options_.create_missing_column_families = true;
    options_.target_file_size_base = 4096;
  }

  static std::string Key(uint64_t i) { return "key" + std::to_string(i * 7919 % 100003); }

  void WriteSome(std::mt19937* random, size_t writes) {
    for (size_t i = 0; i < writes; ++i) {
      ColumnFamilyHandle* const family = handles_[(*random)() % handles_.size()];
      const std::string key = Key((*random)() % kKeys);
      const std::string value = "v" + std::to_string((*random)() % 1000);
      switch ((*random)() % 4) {
        case 0: EXPECT_OK(db_->Delete(WriteOptions(), family, key)); break;
        case 1: EXPECT_OK(db_->Merge(WriteOptions(), family, key, value)); break;
        default: EXPECT_OK(db_->Put(WriteOptions(), family, key, value)); break;
      }
    }
  }

  void ExpectSameAsGet(std::mt19937* random, size_t n, const Snapshot* snapshot) {
    std::vector<ColumnFamilyHandle*> families(n);
    std::vector<std::string> bytes(n);
    std::vector<Slice> keys(n);
    for (size_t i = 0; i < n; ++i) {
      families[i] =
          i > 0 && (*random)() % 8 != 0 ? families[i - 1] : handles_[(*random)() % handles_.size()];
      bytes[i] = Key((*random)() % (kKeys + 100));
      keys[i] = bytes[i];
    }
    ReadOptions options;
    options.snapshot = snapshot;
    std::vector<PinnableSlice> values(n);
    std::vector<Status> statuses(n);
    db_->MultiGet(options, n, families.data(), keys.data(), values.data(), statuses.data());
    for (size_t i = 0; i < n; ++i) {
      const std::string expected = GetFrom(families[i], keys[i], snapshot);
      const std::string found = statuses[i].ok()           ? values[i].ToString()
                                : statuses[i].IsNotFound() ? "NOT_FOUND"
                                                           : statuses[i].ToString();
      ASSERT_EQ(found, expected) << "seed " << kSeed << ", key " << i << " of " << n << ": "
                                 << bytes[i];
    }
  }
};

TEST_P(MultiGetTest, AnswersAsGetDoesOverMemTablesLevelsAndFamilies) {
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  OpenFamilies({kDefaultColumnFamilyName, "one", "two"});
  WriteSome(&random, 3000);
  for (ColumnFamilyHandle* family : handles_)
    EXPECT_OK(db_->CompactRange(CompactRangeOptions(), family, nullptr, nullptr));
  for (int flushes = 0; flushes < 3; ++flushes) {
    WriteSome(&random, 400);
    for (ColumnFamilyHandle* family : handles_) EXPECT_OK(db_->Flush(FlushOptions(), family));
  }
  OpenFamilies({kDefaultColumnFamilyName, "one", "two"});
  // At first nothing is cached and no table is open. In the end everything is.
  const Snapshot* const before = db_->GetSnapshot();
  WriteSome(&random, 300);
  for (const size_t n : {1u, 2u, 31u, 32u, 33u, 64u, 100u, 500u}) {
    ExpectSameAsGet(&random, n, nullptr);
    ExpectSameAsGet(&random, n, before);
  }
  db_->ReleaseSnapshot(before);
}

TEST_P(MultiGetTest, StopsWithAbortedBeyondTheSoftLimit) {
  OpenFamilies({kDefaultColumnFamilyName});
  for (uint32_t i = 0; i < 100; ++i) Put(Key(i), std::string(100, 'v'));
  Flush();
  std::vector<std::string> bytes;
  for (uint32_t i = 0; i < 100; ++i) bytes.push_back(Key(i));
  const std::vector<Slice> keys(bytes.begin(), bytes.end());
  ReadOptions options;
  options.value_size_soft_limit = 4950;  // exceeded at the fiftieth value
  std::vector<PinnableSlice> values(100);
  std::vector<Status> statuses(100);
  db_->MultiGet(options, db_->DefaultColumnFamily(), 100, keys.data(), values.data(),
                statuses.data());
  for (size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(statuses[i].ok(), i < 50) << i << ' ' << statuses[i].ToString();
    EXPECT_EQ(statuses[i].IsAborted(), i >= 50);
    EXPECT_EQ(values[i].size(), i < 50 ? 100u : 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, MultiGetTest,
                         ::testing::Values(Shape{"filter_and_cache", true, 1 << 20, false},
                                           Shape{"no_filter", false, 1 << 20, false},
                                           Shape{"small_cache", true, 4 << 10, false},
                                           Shape{"no_cache", true, 0, false},
                                           Shape{"mapped", true, 0, true}),
                         [](const auto& shape) { return shape.param.name; });

}  // namespace
}  // namespace ashlar
