// The options of block-based tables that can change while the database is open.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/filter_policy.h"
#include "ashlar/options_util.h"
#include "ashlar/slice_transform.h"
#include "ashlar/statistics.h"
#include "ashlar/table.h"
#include "base/format.h"
#include "tests/engine/database_fixture.h"

namespace ashlar {
namespace {

constexpr const char* kName = "block_based_table_factory";
constexpr int kKeys = 200;  // for each table

class TableOptionsTest : public DatabaseFixture {
 protected:
  Status Set(const std::string& fields) { return db_->SetOptions({{kName, fields}}); }
  // Makes a table with the keys "<prefix>1000" and so on.
  std::shared_ptr<const TableProperties> AddTable(const std::string& prefix) {
    for (int i = 0; i < kKeys; ++i) Put(StrCat(prefix, 1000 + i), std::string(1000, 'v'));
    TablePropertiesCollection before;
    EXPECT_OK(db_->GetPropertiesOfAllTables(db_->DefaultColumnFamily(), &before));
    Flush();
    TablePropertiesCollection after;
    EXPECT_OK(db_->GetPropertiesOfAllTables(db_->DefaultColumnFamily(), &after));
    for (const auto& [file, properties] : after) {
      if (!before.contains(file)) return properties;
    }
    ADD_FAILURE() << "no table was written";
    return nullptr;
  }
  void ExpectKeys(const std::string& prefix) {
    for (int i = 0; i < kKeys; ++i)
      ASSERT_EQ(Get(StrCat(prefix, 1000 + i)), std::string(1000, 'v'));
    EXPECT_EQ(Get(prefix + "no such key"), "NOT_FOUND");
  }
  BlockBasedTableOptions Current() const {
    return *db_->GetOptions().table_factory->GetOptions<BlockBasedTableOptions>();
  }
};

TEST_F(TableOptionsTest, NewTablesHaveThem) {
  options_.disable_auto_compactions = true;
  Open();
  const Cache* const cache = Current().block_cache.get();
  const auto first = AddTable("a");
  EXPECT_EQ(first->filter_size, 0u);

  ASSERT_OK(Set("{block_size=16384;filter_policy=bloomfilter:10:false;}"));
  EXPECT_EQ(Current().block_size, 16384u);
  EXPECT_EQ(Current().filter_policy->GetId(), "bloomfilter:10:false");
  EXPECT_EQ(Current().block_cache.get(), cache);
  const auto second = AddTable("b");
  EXPECT_LT(second->num_data_blocks, first->num_data_blocks / 2);
  EXPECT_GT(second->filter_size, 0u);

  // Fields that are not given keep their values. A text without braces is a list too.
  ASSERT_OK(
      Set("index_type=kTwoLevelIndexSearch;metadata_block_size=128;format_version=4;"
          "checksum=kCRC32c;partition_filters=true"));
  const auto third = AddTable("c");
  EXPECT_EQ(third->num_data_blocks, second->num_data_blocks);
  EXPECT_GT(third->index_partitions, 1u);

  ASSERT_OK(
      Set("{filter_policy=nullptr;index_type=kBinarySearch;cache_index_and_filter_blocks="
          "true}"));
  EXPECT_EQ(AddTable("d")->filter_size, 0u);
  for (const char* const prefix : {"a", "b", "c", "d"}) ExpectKeys(prefix);
  CompactAll();
  for (const char* const prefix : {"a", "b", "c", "d"}) ExpectKeys(prefix);

  // The changed options are recorded.
  Close();
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> families;
  ASSERT_OK(LoadLatestOptions(ConfigOptions(), path(), &db_options, &families));
  const BlockBasedTableOptions& recorded =
      *families[0].options.table_factory->GetOptions<BlockBasedTableOptions>();
  EXPECT_EQ(recorded.block_size, 16384u);
  EXPECT_EQ(recorded.format_version, 4u);
  EXPECT_EQ(recorded.metadata_block_size, 128u);
  EXPECT_TRUE(recorded.cache_index_and_filter_blocks);
  EXPECT_EQ(recorded.filter_policy, nullptr);
  Open();
  for (const char* const prefix : {"a", "b", "c", "d"}) ExpectKeys(prefix);
}

TEST_F(TableOptionsTest, OneFamilyOfAFactoryChanges) {
  options_.table_factory.reset(NewBlockBasedTableFactory());
  Open();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "more", &family));
  const uint64_t block_size = Current().block_size;
  ASSERT_OK(db_->SetOptions(family, {{kName, "{block_size=8k}"}}));
  const auto size_of = [](const TableFactory& factory) {
    return factory.GetOptions<BlockBasedTableOptions>()->block_size;
  };
  EXPECT_EQ(size_of(*db_->GetOptions(family).table_factory), 8192u);
  EXPECT_EQ(Current().block_size, block_size);
  EXPECT_EQ(size_of(*options_.table_factory), block_size);
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
}

TEST_F(TableOptionsTest, FieldsMayBeNamedOneByOne) {
  Open();
  ASSERT_OK(db_->SetOptions({{"table_factory.block_size", "16384"},
                             {"write_buffer_size", "1000000"},
                             {"table_factory.block_restart_interval", "11"}}));
  EXPECT_EQ(Current().block_size, 16384u);
  EXPECT_EQ(Current().block_restart_interval, 11);
  EXPECT_EQ(db_->GetOptions().write_buffer_size, 1000000u);
  const Status refused = db_->SetOptions(
      {{"table_factory.block_size", "4096"}, {"table_factory.no_such_option", "true"}});
  EXPECT_TRUE(refused.IsInvalidArgument()) << refused.ToString();
  EXPECT_EQ(Current().block_size, 16384u);
}

TEST_F(TableOptionsTest, TablesThatAreOpenedLaterAreReadAccordingly) {
  options_.statistics = CreateDBStatistics();
  options_.disable_auto_compactions = true;
  Open();
  const auto bytes_read_ahead = [&](const std::string& prefix) {
    EXPECT_OK(options_.statistics->Reset());
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    int entries = 0;
    for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next()) ++entries;
    EXPECT_OK(it->status());
    EXPECT_EQ(entries, kKeys);
    return options_.statistics->getTickerCount(PREFETCH_BYTES);
  };
  AddTable("a");
  ASSERT_OK(Set("{max_auto_readahead_size=0}"));
  AddTable("b");
  EXPECT_EQ(bytes_read_ahead("b"), 0u);
  EXPECT_GT(bytes_read_ahead("a"), 0u) << "it was open before";
}

TEST_F(TableOptionsTest, WhatCannotChangeIsRefusedByName) {
  Open();
  const std::string before = StrCat(Current().block_size);
  for (const auto& [fields, named] : std::vector<std::pair<std::string, std::string>>{
           {"{block_size=8k;block_cache=1m}", "option block_cache: cannot change"},
           {"{block_size=8k;no_block_cache=true}", "option no_block_cache: cannot change"},
           {"{block_size=8k;no_such_option=1}", "no_such_option"},
           {"{block_size=8k;use_udi_as_primary_index=true}", "use_udi_as_primary_index"},
           {"{block_size=8k;block_restart_interval=x}", "block_restart_interval"},
           {"{block_size=8k;format_version=1}", "format_version"},
           {"{block_size=8k;index_type=kHashSearch}", "prefix_extractor"},
           {"{block_size=0}", "block_size"},
           {"{block_size=8k", ""}}) {
    SCOPED_TRACE(fields);
    const Status refused = Set(fields);
    EXPECT_TRUE(refused.IsInvalidArgument() || refused.IsNotSupported()) << refused.ToString();
    EXPECT_NE(refused.ToString().find(named), std::string::npos) << refused.ToString();
    EXPECT_EQ(StrCat(Current().block_size), before);
  }
  EXPECT_TRUE(Set("{filter_policy=of_the_program}").IsNotSupported());
  EXPECT_TRUE(
      db_->SetOptions({{"plain_table_factory", "{index_sparseness=1}"}}).IsInvalidArgument());
  EXPECT_TRUE(db_->SetOptions({{"table_factory", "PlainTable"}}).IsInvalidArgument());
  EXPECT_TRUE(
      db_->SetOptions({{kName, "{block_size=8k}"}, {"num_levels", "3"}}).IsInvalidArgument());
  EXPECT_EQ(StrCat(Current().block_size), before) << "all or none";
}

TEST_F(TableOptionsTest, AnotherKindOfTablesStays) {
  options_.table_factory.reset(NewPlainTableFactory());
  options_.prefix_extractor.reset(NewFixedPrefixTransform(1));
  Open();
  const Status refused = Set("{block_size=8k}");
  EXPECT_TRUE(refused.IsInvalidArgument()) << refused.ToString();
  EXPECT_NE(refused.ToString().find("PlainTable"), std::string::npos) << refused.ToString();
  EXPECT_STREQ(db_->GetOptions().table_factory->Name(), TableFactory::kPlainTableName());
}

}  // namespace
}  // namespace ashlar
