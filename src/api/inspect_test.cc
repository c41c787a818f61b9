#include "ashlar/inspect.h"

#include <gtest/gtest.h>

#include "ashlar/comparator.h"
#include "ashlar/db.h"
#include "filesystem/file_helpers.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/expect_ok.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/fault_sweep.h"

namespace ashlar {
namespace {

// Orders keys in reverse, under a name that the engine does not know.
class Renamed final : public Comparator {
 public:
  const char* Name() const override { return "test.Renamed"; }
  int Compare(const Slice& a, const Slice& b) const override { return b.compare(a); }
  void FindShortestSeparator(std::string* /*start*/, const Slice& /*limit*/) const override {}
  void FindShortSuccessor(std::string* /*key*/) const override {}
};

class InspectTest : public ::testing::Test {
 protected:
  InspectTest() : files_(std::make_shared<MemoryFileSystem>()), env_(NewCompositeEnv(files_)) {
    db_options_.env = env_.get();
    db_options_.create_if_missing = true;
    db_options_.create_missing_column_families = true;
    ColumnFamilyOptions renamed;
    renamed.comparator = &order_;
    const std::vector<ColumnFamilyDescriptor> families = {
        {"default", ColumnFamilyOptions()}, {"gone", ColumnFamilyOptions()}, {"renamed", renamed}};
    std::vector<ColumnFamilyHandle*> handles;
    EXPECT_OK(DB::Open(db_options_, "/db", families, &handles, &db_));
    for (int i = 0; i < 3; ++i) {
      for (ColumnFamilyHandle* family : handles) {
        for (const char* const key : {"a", "b", "c"})
          EXPECT_OK(db_->Put(WriteOptions(), family, key, "value"));
      }
      EXPECT_OK(db_->Flush(FlushOptions(), handles));
    }
    EXPECT_OK(db_->CompactRange(CompactRangeOptions(), handles[0], nullptr, nullptr));
    EXPECT_OK(db_->DropColumnFamily(handles[1]));
    for (size_t i : {size_t{0}, size_t{2}})
      db_->GetColumnFamilyMetaData(handles[i], &expected_.emplace_back());
    EXPECT_OK(db_->GetDbIdentity(identity_));
    for (ColumnFamilyHandle* family : handles) EXPECT_OK(db_->DestroyColumnFamilyHandle(family));
    EXPECT_OK(db_->Close());
  }

  const std::shared_ptr<MemoryFileSystem> files_;
  const std::unique_ptr<Env> env_;
  const Renamed order_;
  DBOptions db_options_;
  std::unique_ptr<DB> db_;
  std::vector<ColumnFamilyMetaData> expected_;
  std::string identity_;
};

TEST_F(InspectTest, TheInventoryIsWhatTheDatabaseSaidOfItself) {
  DatabaseInventory inventory;
  ASSERT_OK(ReadInventory(db_options_, "/db", &inventory));
  EXPECT_EQ(inventory.identity, identity_);
  ASSERT_EQ(inventory.column_families.size(), 2u);
  EXPECT_EQ(inventory.column_families[0].comparator, BytewiseComparator()->Name());
  EXPECT_EQ(inventory.column_families[1].comparator, order_.Name());
  EXPECT_EQ(inventory.column_families[1].id, 2u);
  for (size_t i = 0; i < 2; ++i) {
    const ColumnFamilyMetaData& found = inventory.column_families[i].metadata;
    EXPECT_EQ(found.name, expected_[i].name);
    EXPECT_EQ(found.size, expected_[i].size);
    EXPECT_EQ(found.file_count, expected_[i].file_count);
    for (const LevelMetaData& level : expected_[i].levels) {
      if (level.files.empty()) continue;
      ASSERT_GT(found.levels.size(), static_cast<size_t>(level.level));
      const LevelMetaData& same = found.levels[static_cast<size_t>(level.level)];
      EXPECT_EQ(same.level, level.level);
      EXPECT_EQ(same.size, level.size);
      EXPECT_EQ(same.files.size(), level.files.size());
      EXPECT_EQ(same.files.front().smallestkey, level.files.front().smallestkey);
      EXPECT_EQ(same.files.front().largestkey, level.files.front().largestkey);
    }
  }
}

TEST_F(InspectTest, TablesAreVerifiedOneByOneWhateverTheirOrder) {
  DatabaseInventory inventory;
  ASSERT_OK(ReadInventory(db_options_, "/db", &inventory));
  std::vector<SstFileMetaData> tables;
  for (const LevelMetaData& level : inventory.column_families[1].metadata.levels)
    tables.insert(tables.end(), level.files.begin(), level.files.end());
  ASSERT_EQ(tables.size(), 3u);
  TableProperties properties;
  for (const SstFileMetaData& table : tables) {
    EXPECT_OK(VerifyTable(db_options_, table, order_.Name()));
    ASSERT_OK(ReadTableProperties(db_options_, table, order_.Name(), &properties));
    EXPECT_EQ(properties.num_entries, 3u);
    EXPECT_EQ(properties.comparator_name, order_.Name());
  }
  EXPECT_TRUE(VerifyTable(db_options_, tables[0], BytewiseComparator()->Name()).IsInvalidArgument())
      << "the table names another order";

  const std::string path = "/db/" + tables[1].relative_filename;
  const Result<std::string> contents = ReadFileToString(files_.get(), path, 1 << 20);
  ASSERT_TRUE(contents.ok());
  std::string damaged = *contents;
  damaged[3] ^= 1;
  ASSERT_OK(WriteStringToFile(files_.get(), damaged, path, Durability::kBuffered));
  const Status bad = VerifyTable(db_options_, tables[1], order_.Name());
  EXPECT_TRUE(bad.IsCorruption()) << bad.ToString();
  EXPECT_NE(bad.ToString().find(path + ": offset 0"), std::string::npos) << bad.ToString();
  ASSERT_OK(files_->DeleteFile(path));
  const Status missing = VerifyTable(db_options_, tables[1], order_.Name());
  EXPECT_TRUE(missing.IsCorruption()) << missing.ToString();
  EXPECT_NE(missing.ToString().find("the table is missing"), std::string::npos)
      << missing.ToString();
  EXPECT_OK(VerifyTable(db_options_, tables[2], order_.Name()));
}

// An open replaces the MANIFEST, so a CURRENT that was read before names a deleted file.
TEST_F(InspectTest, AProgramThatOpensTheDatabaseMeanwhileIsNoDamage) {
  const auto open_and_close = [this] {
    ColumnFamilyOptions renamed;
    renamed.comparator = &order_;
    const std::vector<ColumnFamilyDescriptor> families = {{"default", ColumnFamilyOptions()},
                                                          {"renamed", renamed}};
    std::vector<ColumnFamilyHandle*> handles;
    std::unique_ptr<DB> db;
    ASSERT_OK(DB::Open(db_options_, "/db", families, &handles, &db));
    for (ColumnFamilyHandle* family : handles) EXPECT_OK(db->DestroyColumnFamilyHandle(family));
    EXPECT_OK(db->Close());
  };
  const auto calls = std::make_shared<FaultFileSystem>(files_);
  const std::unique_ptr<Env> env = NewCompositeEnv(calls);
  DBOptions options;
  options.env = env.get();
  FaultRule rule;
  bool opened = true;
  for (rule.nth = 1; opened && !HasFatalFailure(); ++rule.nth) {
    SCOPED_TRACE(rule.nth);
    DatabaseInventory inventory;
    opened = RunDuring(calls.get(), rule, open_and_close,
                       [&] { EXPECT_OK(ReadInventory(options, "/db", &inventory)); });
    EXPECT_EQ(inventory.identity, identity_);
    ASSERT_EQ(inventory.column_families.size(), expected_.size());
    for (size_t i = 0; i < expected_.size(); ++i)
      EXPECT_EQ(inventory.column_families[i].metadata.file_count, expected_[i].file_count);
  }
  EXPECT_GT(rule.nth, 4U);
}

TEST_F(InspectTest, WhereNoDatabaseIsThereIsNoInventory) {
  DatabaseInventory inventory;
  EXPECT_FALSE(ReadInventory(db_options_, "/elsewhere", &inventory).ok());
  EXPECT_TRUE(inventory.column_families.empty());
}

}  // namespace
}  // namespace ashlar
