// Many column families: the cost of each, and what remains of a dropped one.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/options_util.h"
#include "base/format.h"
#include "filesystem/memory_file_system.h"
#include "tests/engine/database_fixture.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/file_damage.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

constexpr int kFamilies = 100;

// The number of families in the newest OPTIONS file.
size_t RecordedFamilies(OpenDatabase* database) {
  ConfigOptions config;
  config.env = database->env();
  DBOptions db_options;
  std::vector<ColumnFamilyDescriptor> recorded;
  EXPECT_OK(LoadLatestOptions(config, OpenDatabase::kPath, &db_options, &recorded));
  return recorded.size();
}

// Makes *written count the OPTIONS files that are written from now on.
void CountOptionsFiles(FaultFileSystem* files, uint64_t* written) {
  FaultRule count;
  count.operations = FaultOperation::kOpenForWriting;
  count.name_contains = "OPTIONS";
  count.sticky = true;
  count.effect = FaultEffect::kRunAction;
  count.action = [written] { ++*written; };
  files->AddRule(count);
}

TEST(ManyFamiliesTest, TheOptionsFileIsWrittenOncePerCall) {
  const auto files = std::make_shared<FaultFileSystem>(std::make_shared<MemoryFileSystem>());
  OpenDatabase database(files, SmallDatabaseOptions(), 1);
  ASSERT_OK(database.Open());
  DB* const db = database.db();
  std::vector<ColumnFamilyDescriptor> families;
  for (int i = 0; i < 20; ++i)
    families.emplace_back(StrCat("f", i), ColumnFamilyOptions(SmallDatabaseOptions()));
  uint64_t written = 0;
  CountOptionsFiles(files.get(), &written);
  std::vector<ColumnFamilyHandle*> handles;
  ASSERT_OK(db->CreateColumnFamilies(families, &handles));
  EXPECT_EQ(written, 1u);
  EXPECT_EQ(RecordedFamilies(&database), 21u);
  ASSERT_EQ(handles.size(), 20u);
  ASSERT_OK(db->DropColumnFamilies(handles));
  EXPECT_EQ(written, 2u);
  EXPECT_EQ(RecordedFamilies(&database), 1u);
  for (ColumnFamilyHandle* const handle : handles) EXPECT_OK(db->DestroyColumnFamilyHandle(handle));
  ASSERT_OK(database.Close());
}

TEST(ManyFamiliesTest, TheOptionsFileIsNotWrittenForEachOfMany) {
  const auto files = std::make_shared<FaultFileSystem>(std::make_shared<MemoryFileSystem>());
  uint64_t written = 0;
  CountOptionsFiles(files.get(), &written);
  OpenDatabase database(files, SmallDatabaseOptions(), 1);
  ASSERT_OK(database.Open());
  for (int i = 0; i < kFamilies; ++i) ASSERT_OK(database.CreateFamily("f" + std::to_string(i)));
  EXPECT_GT(written, 30u);
  EXPECT_LT(written, 40u);
  ASSERT_OK(database.Close());

  EXPECT_EQ(RecordedFamilies(&database), size_t{kFamilies + 1})
      << "Close has to leave a complete file";
}

// A database of 45 families, whose newest OPTIONS file lists 40.
class UnrecordedFamiliesTest : public ::testing::Test {
 protected:
  static constexpr size_t kCreated = 45;

  void SetUp() override {
    ASSERT_OK(database_.Open());
    for (size_t i = 1; i < kCreated; ++i) ASSERT_OK(database_.CreateFamily(StrCat("f", i)));
    ASSERT_EQ(RecordedFamilies(&database_), 40u);
  }

  const std::shared_ptr<MemoryFileSystem> disk_ = std::make_shared<MemoryFileSystem>();
  OpenDatabase database_{disk_, SmallDatabaseOptions(), 1};
};

TEST_F(UnrecordedFamiliesTest, AreRecordedWhenThePauseEnds) {
  ASSERT_TRUE(database_.env()->manual_executor()->RunDelayed());
  while (database_.env()->RunOneJob()) continue;
  EXPECT_EQ(RecordedFamilies(&database_), kCreated);
  // The next change starts another pause.
  ASSERT_OK(database_.DropFamily("f1"));
  EXPECT_EQ(RecordedFamilies(&database_), kCreated);
  ASSERT_TRUE(database_.env()->manual_executor()->RunDelayed());
  while (database_.env()->RunOneJob()) continue;
  EXPECT_EQ(RecordedFamilies(&database_), kCreated - 1);
  ASSERT_OK(database_.Close());
}

TEST_F(UnrecordedFamiliesTest, AreRecordedByAChangeOfOptions) {
  ASSERT_OK(database_.db()->SetOptions({{"max_bytes_for_level_multiplier", "7"}}));
  EXPECT_EQ(RecordedFamilies(&database_), kCreated);
}

TEST_F(UnrecordedFamiliesTest, AreRecordedByACancel) {
  CancelAllBackgroundWork(database_.db(), /*wait=*/true);
  EXPECT_EQ(RecordedFamilies(&database_), kCreated);
  // The earlier pause ends.
  ASSERT_TRUE(database_.env()->manual_executor()->RunDelayed());
  while (database_.env()->RunOneJob()) continue;
  EXPECT_EQ(RecordedFamilies(&database_), kCreated);
}

TEST_F(UnrecordedFamiliesTest, AreNotLeftToAJobThatACancelKeepsFromBeginning) {
  CancelAllBackgroundWork(database_.db(), /*wait=*/false);
  ASSERT_OK(database_.CreateFamily("next"));
  EXPECT_EQ(RecordedFamilies(&database_), kCreated + 1);
  ASSERT_OK(database_.DropFamily("f1"));
  EXPECT_EQ(RecordedFamilies(&database_), kCreated);
}

TEST_F(UnrecordedFamiliesTest, AreRecordedBeforeTheFilesAreListed) {
  std::vector<std::string> names;
  uint64_t manifest_bytes = 0;
  ASSERT_OK(database_.db()->GetLiveFiles(names, &manifest_bytes));
  EXPECT_EQ(RecordedFamilies(&database_), kCreated);
  ASSERT_OK(database_.CreateFamily("next"));
  EXPECT_EQ(RecordedFamilies(&database_), kCreated);
  std::vector<LiveFileStorageInfo> files;
  ASSERT_OK(database_.db()->GetLiveFilesStorageInfo(LiveFilesStorageInfoOptions(), &files));
  EXPECT_EQ(RecordedFamilies(&database_), kCreated + 1);
}

TEST_F(UnrecordedFamiliesTest, AreThereAfterACrash) {
  OpenDatabase crashed(std::make_shared<MemoryFileSystem>(disk_->Snapshot()),
                       SmallDatabaseOptions(), 2);
  ASSERT_OK(crashed.Open());
  EXPECT_EQ(crashed.families().size(), kCreated);
  EXPECT_EQ(RecordedFamilies(&crashed), kCreated);
  ASSERT_OK(crashed.Close());
}

// The executor ends a pause after its database is closed.
TEST_F(UnrecordedFamiliesTest, AreNotRecordedByAPauseAfterClose) {
  ASSERT_OK(database_.Close());
  ASSERT_EQ(RecordedFamilies(&database_), kCreated);
  const auto is_options = [](const std::string& name) { return name.starts_with("OPTIONS-"); };
  const std::vector<std::string> before = FilesIn(disk_.get(), OpenDatabase::kPath, is_options);
  while (database_.env()->manual_executor()->RunDelayed()) continue;
  while (database_.env()->RunOneJob()) continue;
  EXPECT_EQ(FilesIn(disk_.get(), OpenDatabase::kPath, is_options), before);
}

// The bytes of all OPTIONS files while this many families are created, with one job of the database
// after each.
uint64_t OptionsBytes(int families) {
  const auto disk = std::make_shared<MemoryFileSystem>();
  const auto files = std::make_shared<FaultFileSystem>(disk);
  uint64_t bytes = 0;
  FaultRule count;
  count.operations = FaultOperation::kRename;
  count.name_contains = "OPTIONS-";
  count.sticky = true;
  count.effect = FaultEffect::kRunAction;
  count.action = [&] {
    const auto is_new = [](const std::string& name) {
      return name.starts_with("OPTIONS-") && name.ends_with(".dbtmp");
    };
    for (const std::string& name : FilesIn(disk.get(), OpenDatabase::kPath, is_new))
      bytes += ContentsOf(disk.get(), StrCat(OpenDatabase::kPath, "/", name)).size();
  };
  files->AddRule(count);
  Options options = SmallDatabaseOptions();
  options.max_manifest_file_size = uint64_t{1} << 30;
  OpenDatabase database(files, options, 1);
  EXPECT_OK(database.Open());
  for (int i = 0; i < families; ++i) {
    const std::string name = StrCat("f", i);
    EXPECT_OK(database.CreateFamily(name));
    EXPECT_OK(database.db()->Put(WriteOptions(), database.family(name), "key", "value"));
    EXPECT_OK(database.Flush({name}, true));
    while (database.env()->RunOneJob()) continue;
  }
  EXPECT_OK(database.Close());
  EXPECT_EQ(RecordedFamilies(&database), static_cast<size_t>(families) + 1);
  return bytes;
}

TEST(ManyFamiliesTest, TheBytesOfOptionsFilesAreLinearInTheFamilies) {
  const uint64_t few = OptionsBytes(200);
  const uint64_t many = OptionsBytes(400);
  EXPECT_GT(few, 0u);
  EXPECT_LE(many, few * 5 / 2);
}

// The cost of creating this many families in one call and of opening their database.
struct FamilyCosts {
  uint64_t calls_to_create = 0;  // of the file system
  uint64_t bytes = 0;            // of all files
  uint64_t calls_to_open = 0;
};

FamilyCosts CostsOf(int families) {
  const auto disk = std::make_shared<MemoryFileSystem>();
  const auto files = std::make_shared<FaultFileSystem>(disk);
  Options options = SmallDatabaseOptions();
  options.max_manifest_file_size = uint64_t{1} << 30;
  std::vector<ColumnFamilyDescriptor> descriptors;
  for (int i = 0; i < families; ++i)
    descriptors.emplace_back(StrCat("f", i), ColumnFamilyOptions(options));
  FamilyCosts costs;
  OpenDatabase database(files, options, 1);
  EXPECT_OK(database.Open());
  files->ResetCounts();
  std::vector<ColumnFamilyHandle*> handles;
  EXPECT_OK(database.db()->CreateColumnFamilies(descriptors, &handles));
  costs.calls_to_create = files->CallCount(FaultOperation::kAny);
  for (ColumnFamilyHandle* const handle : handles)
    EXPECT_OK(database.db()->DestroyColumnFamilyHandle(handle));
  EXPECT_OK(database.Close());
  for (const MemoryImage::Entry& entry : disk->Snapshot().entries) {
    if (!entry.is_directory) costs.bytes += entry.bytes->size();
  }
  OpenDatabase opened(files, options, 2);
  files->ResetCounts();
  EXPECT_OK(opened.Open());
  costs.calls_to_open = files->CallCount(FaultOperation::kAny);
  EXPECT_EQ(opened.families().size(), static_cast<size_t>(families) + 1);
  EXPECT_OK(opened.Close());
  return costs;
}

TEST(ManyFamiliesTest, CreatingAndOpeningIsLinearInTheFamilies) {
  const FamilyCosts few = CostsOf(250);
  const FamilyCosts many = CostsOf(500);
  EXPECT_GE(few.calls_to_create, 250u);
  EXPECT_LE(many.calls_to_create, few.calls_to_create * 5 / 2);
  EXPECT_LE(many.bytes, few.bytes * 5 / 2);
  EXPECT_LE(many.calls_to_open, few.calls_to_open * 5 / 2);
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
    // Flush returns when the table is installed. The job holds the family until it ends.
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
