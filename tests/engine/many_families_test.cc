// Many column families: the cost of each, and the rest of a dropped one.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/options_util.h"
#include "filesystem/memory_file_system.h"
#include "tests/engine/database_fixture.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

constexpr int kFamilies = 100;

TEST(ManyFamiliesTest, TheOptionsFileIsNotWrittenForEachOfMany) {
  const auto files = std::make_shared<FaultFileSystem>(std::make_shared<MemoryFileSystem>());
  uint64_t written = 0;
  FaultRule count;
  count.operations = FaultOperation::kOpenForWriting;
  count.name_contains = "OPTIONS";
  count.sticky = true;
  count.effect = FaultEffect::kRunAction;
  count.action = [&written] { ++written; };
  files->AddRule(count);
  OpenDatabase database(files, SmallDatabaseOptions(), 1);
  ASSERT_OK(database.Open());
  for (int i = 0; i < kFamilies; ++i) ASSERT_OK(database.CreateFamily("f" + std::to_string(i)));
  EXPECT_GT(written, 30u);
  EXPECT_LT(written, 40u);
  ASSERT_OK(database.Close());

  ConfigOptions config;
  config.env = database.env();
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> recorded;
  ASSERT_OK(LoadLatestOptions(config, OpenDatabase::kPath, &db_options, &recorded));
  EXPECT_EQ(recorded.size(), size_t{kFamilies + 1}) << "Close has to leave a complete file";
}

TEST(ManyFamiliesTest, AnErrorOfTheOptionsFileIsReturnedWhereTheProgramWantsToKnow) {
  const auto files = std::make_shared<FaultFileSystem>(std::make_shared<MemoryFileSystem>());
  Options options = SmallDatabaseOptions();
  options.fail_if_options_file_error = true;
  OpenDatabase database(files, options, 1);
  ASSERT_OK(database.Open());
  for (int i = 0; i < kFamilies; ++i) ASSERT_OK(database.CreateFamily("f" + std::to_string(i)));
  FaultRule rule;
  rule.operations = FaultOperation::kOpenForWriting;
  rule.name_contains = "OPTIONS";
  files->AddRule(rule);
  EXPECT_TRUE(database.CreateFamily("last").IsIOError());
}

class DroppedFamilyTest : public DatabaseFixture {};

TEST_F(DroppedFamilyTest, ItsCacheIsReleased) {
  Open();
  std::weak_ptr<Cache> cache;
  {
    BlockBasedTableOptions table;
    table.block_cache = NewLRUCache(1 << 20);
    cache = table.block_cache;
    ColumnFamilyOptions family_options(options_);
    family_options.table_factory.reset(NewBlockBasedTableFactory(table));
    ColumnFamilyHandle* family = nullptr;
    ASSERT_OK(db_->CreateColumnFamily(family_options, "f", &family));
    ASSERT_OK(db_->Put(WriteOptions(), family, "key", "value"));
    ASSERT_OK(db_->Flush(FlushOptions(), family));
    EXPECT_EQ(GetFrom(family, "key"), "value");
    // Flush returns when the table is installed. The job has the family until its end.
    ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
    ASSERT_OK(db_->DropColumnFamily(family));
    ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
  }
  ColumnFamilyHandle* next = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "next", &next));
  EXPECT_TRUE(cache.expired());
  ASSERT_OK(db_->DestroyColumnFamilyHandle(next));
}

TEST_F(DroppedFamilyTest, FamiliesAreFoundByIdAfterOthersWereDropped) {
  Open();
  std::vector<ColumnFamilyHandle*> families(20);
  for (size_t i = 0; i < families.size(); ++i) {
    ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "f" + std::to_string(i),
                                      &families[i]));
  }
  for (size_t i = 0; i < families.size(); i += 3) ASSERT_OK(db_->DropColumnFamily(families[i]));
  for (size_t i = 0; i < families.size(); ++i) {
    const Status put = db_->Put(WriteOptions(), families[i], "key", std::to_string(i));
    EXPECT_EQ(put.ok(), i % 3 != 0);
    EXPECT_EQ(put.IsColumnFamilyDropped(), i % 3 == 0) << put.ToString();
    if (put.ok()) {
      EXPECT_EQ(GetFrom(families[i], "key"), std::to_string(i));
    }
  }
  for (ColumnFamilyHandle* family : families) ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
}

TEST_F(DroppedFamilyTest, MemTablesTogetherStayWithinTheirLimit) {
  options_.db_write_buffer_size = 256 << 10;
  options_.write_buffer_size = 1 << 20;
  Open();
  std::vector<ColumnFamilyHandle*> families(8);
  for (size_t i = 0; i < families.size(); ++i) {
    ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "f" + std::to_string(i),
                                      &families[i]));
  }
  for (int round = 0; round < 100; ++round) {
    for (size_t i = 0; i < families.size(); ++i) {
      if (i == 3 && round == 50) {
        ASSERT_OK(db_->DropColumnFamily(families[i]));
      }
      if (i == 3 && round >= 50) continue;
      ASSERT_OK(
          db_->Put(WriteOptions(), families[i], std::to_string(round), std::string(4000, 'v')));
    }
  }
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  uint64_t bytes = 0;
  ASSERT_TRUE(db_->GetAggregatedIntProperty("rocksdb.cur-size-active-mem-table", &bytes));
  EXPECT_LT(bytes, 2 * options_.db_write_buffer_size);
  EXPECT_EQ(GetFrom(families[0], "99").size(), 4000u);
  for (ColumnFamilyHandle* family : families) ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
}

}  // namespace
}  // namespace ashlar
