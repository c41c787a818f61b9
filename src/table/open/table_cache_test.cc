#include "table/open/table_cache.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "filesystem/filename.h"
#include "table/blockbased/table_test_kit.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/test_epochs.h"

namespace ashlar::test {
namespace {

class TableCacheTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kFiles = 20;

  void SetUp() override {
    ASSERT_OK(fs_.CreateDir("db"));
    for (uint64_t n = 1; n <= kFiles; ++n) files_.push_back(MakeFile(n));
  }
  void TearDown() override {
    for (const auto& file : files_) EXPECT_EQ(file->reader.load(), nullptr);
    SettleEpochs();
    EXPECT_EQ(block_cache_->GetUsage(), 0u);
  }

  std::unique_ptr<FileMetaData> MakeFile(uint64_t number) {
    Entries entries{InternalOrder{KeyComparator(BytewiseComparator())}};
    for (int i = 0; i < 100; ++i)
      entries[MakeInternalKey("key" + std::to_string(i), 5, ValueType::kValue)] =
          ValueOf(number, i);
    TableWriteResult result;
    EXPECT_OK(WriteTable(&fs_, TableFileName("db", number), {}, entries, &result));
    auto file = std::make_unique<FileMetaData>();
    file->number = number;
    file->file_bytes = result.file_bytes;
    file->largest_sequence = 5;
    return file;
  }
  static std::string ValueOf(uint64_t number, int i) {
    return "value " + std::to_string(number) + " " + std::to_string(i);
  }

  TableCacheArgs Args(OpenTables* open_tables, bool mmap = false) {
    return {.file_system = &fs_,
            .epochs = &TestEpochs(),
            .directory = "db",
            .comparator = KeyComparator(BytewiseComparator()),
            .block_cache = block_cache_,
            .open_tables = open_tables,
            .mmap_reads = mmap};
  }
  std::string Get(TableCache* tables, FileMetaData* file, const Slice& key, PinnableSlice* value) {
    const Result<TableRef> table = tables->Acquire(file, {});
    if (!table.ok()) return table.status().ToString();
    const EpochGuard guard(TestEpochs());
    Lookup lookup({.user_key = key});
    (*table)->Get({}, &lookup);
    const Status status = lookup.Finish(value);
    return status.ok() ? value->ToString() : status.ToString();
  }

  MemoryFileSystem fs_;
  const std::shared_ptr<BlockCache> block_cache_ = std::make_shared<BlockCache>(1 << 20);
  std::vector<std::unique_ptr<FileMetaData>> files_;
};

TEST_F(TableCacheTest, OpensOnDemandAndOnce) {
  OpenTables open_tables(&TestEpochs(), 0);
  TableCache tables(Args(&open_tables));
  for (int round = 0; round < 2; ++round) {
    for (const auto& file : files_) {
      PinnableSlice value;
      EXPECT_EQ(Get(&tables, file.get(), "key7", &value), ValueOf(file->number, 7));
      EXPECT_EQ(TableCache::FindOpen(file.get()), file->reader.load());
    }
    EXPECT_EQ(open_tables.Count(), kFiles);
  }
  tables.Close();
  EXPECT_EQ(open_tables.Count(), 0u);
  EXPECT_OK(tables.Verify(files_[0].get()));
}

TEST_F(TableCacheTest, NoCursorIsMadeOverATableThatTheFilterDoesNotWant) {
  OpenTables open_tables(&TestEpochs(), 0);
  TableCache tables(Args(&open_tables));
  std::vector<uint64_t> entries;
  bool wanted = false;
  const std::function<bool(const TableProperties&)> filter = [&](const TableProperties& table) {
    entries.push_back(table.num_entries);
    return wanted;
  };
  // The table is not open in the first round. It is open in the second one.
  for (int round = 0; round < 2; ++round) {
    Result<std::unique_ptr<InternalCursor>> cursor =
        tables.NewCursor(files_[0].get(), {.table_filter = &filter});
    ASSERT_OK(cursor.status());
    EXPECT_TRUE(*cursor == nullptr);
  }
  wanted = true;
  Result<std::unique_ptr<InternalCursor>> cursor =
      tables.NewCursor(files_[0].get(), {.table_filter = &filter});
  ASSERT_OK(cursor.status());
  EXPECT_TRUE(*cursor != nullptr);
  EXPECT_EQ(entries, std::vector<uint64_t>(3, 100));
}

TEST_F(TableCacheTest, LimitClosesTablesThatAreNotInUse) {
  OpenTables open_tables(&TestEpochs(), 3);
  TableCache tables(Args(&open_tables));
  for (int round = 0; round < 3; ++round) {
    for (const auto& file : files_) {
      PinnableSlice value;
      ASSERT_EQ(Get(&tables, file.get(), "key7", &value), ValueOf(file->number, 7));
      ASSERT_LE(open_tables.Count(), 3u);
    }
  }
  open_tables.SetLimit(1);
  EXPECT_EQ(open_tables.Count(), 1u);
}

TEST_F(TableCacheTest, EvictsAnyFileAndLeavesTheOthersOpen) {
  OpenTables open_tables(&TestEpochs(), 0);
  TableCache tables(Args(&open_tables));
  for (const auto& file : files_) ASSERT_OK(tables.Acquire(file.get(), {}).status());
  std::set<size_t> open;
  for (size_t i = 0; i < files_.size(); ++i) open.insert(i);
  // The first, the last, one in the middle, one that took the place of another, and so on.
  for (const size_t i : {0u, 19u, 7u, 18u, 0u, 1u, 17u, 2u, 3u, 16u}) {
    tables.Evict(files_[i].get());  // not open any more the second time
    open.erase(i);
    EXPECT_EQ(open_tables.Count(), open.size());
    for (size_t j = 0; j < files_.size(); ++j)
      EXPECT_EQ(TableCache::FindOpen(files_[j].get()) != nullptr, open.contains(j))
          << i << " " << j;
  }
  ASSERT_OK(tables.Acquire(files_[0].get(), {}).status());
  tables.Evict(files_[4].get());
  EXPECT_NE(TableCache::FindOpen(files_[0].get()), nullptr);
  EXPECT_EQ(TableCache::FindOpen(files_[4].get()), nullptr);
}

TEST_F(TableCacheTest, CursorsAndPinsOutliveEviction) {
  for (const bool mmap : {false, true}) {
    OpenTables open_tables(&TestEpochs(), 1);
    TableCache tables(Args(&open_tables, mmap));
    std::vector<std::unique_ptr<InternalCursor>> cursors;
    std::vector<PinnableSlice> values(files_.size());
    for (size_t i = 0; i < files_.size(); ++i) {
      Result<std::unique_ptr<InternalCursor>> cursor = tables.NewCursor(files_[i].get(), {});
      ASSERT_OK(cursor.status());
      (*cursor)->SeekToFirst();
      cursors.push_back(std::move(cursor).value());
      Get(&tables, files_[i].get(), "key9", &values[i]);
      tables.Evict(files_[i].get());
      ASSERT_OK(fs_.FileExists(TableFileName("db", files_[i]->number)));
    }
    SettleEpochs();
    for (size_t i = 0; i < files_.size(); ++i) {
      int n = 0;
      for (; cursors[i]->Valid(); cursors[i]->Next()) ++n;
      EXPECT_EQ(n, 100);
      EXPECT_OK(cursors[i]->status());
      EXPECT_EQ(values[i].ToString(), ValueOf(files_[i]->number, 9));
    }
  }
}

TEST_F(TableCacheTest, MissingForeignAndResizedFilesAreNamed) {
  OpenTables open_tables(&TestEpochs(), 0);
  TableCache tables(Args(&open_tables));
  const auto expect = [&](FileMetaData* file, Status::Code code, const std::string& says) {
    const Status status = tables.Acquire(file, {}).status();
    EXPECT_EQ(status.code(), code) << status.ToString();
    EXPECT_NE(status.ToString().find(says), std::string::npos) << status.ToString();
    EXPECT_NE(status.ToString().find("00"), std::string::npos) << status.ToString();
    EXPECT_EQ(file->reader.load(), nullptr);
  };
  FileMetaData missing;
  missing.number = 99;
  missing.file_bytes = 1000;
  expect(&missing, Status::kIOError, "000099.sst");

  files_[0]->file_bytes += 1;
  expect(files_[0].get(), Status::kCorruption, "000001.sst");

  FileMetaData foreign;
  foreign.number = 100;
  ASSERT_OK(WriteStringToFile(&fs_, std::string(5000, 'x'), TableFileName("db", 100),
                              Durability::kBuffered));
  foreign.file_bytes = 5000;
  expect(&foreign, Status::kCorruption, "magic");
  ASSERT_OK(WriteStringToFile(&fs_, "short", TableFileName("db", 100), Durability::kBuffered));
  foreign.file_bytes = 5;
  expect(&foreign, Status::kCorruption, "000100.sst");

  std::string plain(5000, '\0');
  EncodeFixed64(plain.data() + plain.size() - 8, kLegacyPlainTableMagic);
  ASSERT_OK(WriteStringToFile(&fs_, plain, TableFileName("db", 100), Durability::kBuffered));
  foreign.file_bytes = 5000;
  expect(&foreign, Status::kCorruption, "000100.sst: offset 0: block too short");
}

// A read that fails must not close the pinned file, which is the only access to the bytes of a
// table that another process has deleted.
TEST_F(TableCacheTest, APinnedTableStaysReadableAfterAReadThatFailed) {
  FaultFileSystem faults(std::shared_ptr<vfs::FileSystem>(&fs_, [](vfs::FileSystem*) {}));
  PinnedTables pinned({.file_system = &faults});
  const std::string name = TableFileName("db", 1);
  uint64_t bytes = 0;
  ASSERT_OK(pinned.Pin(1, name, &bytes));
  ASSERT_OK(fs_.DeleteFile(name));

  OpenTables open_tables(&TestEpochs(), 0);
  TableCacheArgs args = Args(&open_tables);
  args.pinned_tables = &pinned;
  TableCache tables(args);
  FaultRule rule;
  rule.operations = FaultOperation::kRead;
  faults.AddRule(rule);
  EXPECT_FALSE(tables.Acquire(files_[0].get(), {}).ok());
  faults.ClearRules();
  PinnableSlice value;
  EXPECT_EQ(Get(&tables, files_[0].get(), "key7", &value), ValueOf(1, 7));
  EXPECT_EQ(pinned.Count(), 0u);
  value.Reset();
  tables.Close();
}

TEST_F(TableCacheTest, AReadOfMemoryAloneOpensNoTable) {
  OpenTables open_tables(&TestEpochs(), 0);
  TableCache tables(Args(&open_tables));
  const TableReadOptions cached_only{.cached_only = true};
  const Status status = tables.Acquire(files_[0].get(), cached_only).status();
  EXPECT_TRUE(status.IsIncomplete()) << status.ToString();
  EXPECT_NE(status.ToString().find("000001.sst"), std::string::npos) << status.ToString();
  EXPECT_TRUE(tables.NewCursor(files_[0].get(), cached_only).status().IsIncomplete());
  EXPECT_EQ(open_tables.Count(), 0u);
  EXPECT_OK(tables.Acquire(files_[0].get(), {}).status());
  EXPECT_OK(tables.Acquire(files_[0].get(), cached_only).status());
  tables.Close();
}

TEST_F(TableCacheTest, ReadsTheLegacyFileName) {
  OpenTables open_tables(&TestEpochs(), 0);
  TableCache tables(Args(&open_tables));
  ASSERT_OK(fs_.RenameFile(TableFileName("db", 3), LegacyTableFileName("db", 3)));
  PinnableSlice value;
  EXPECT_EQ(Get(&tables, files_[2].get(), "key7", &value), ValueOf(3, 7));
}

TEST_F(TableCacheTest, ColumnFamiliesShareTheLimit) {
  OpenTables open_tables(&TestEpochs(), 4);
  TableCache one(Args(&open_tables));
  TableCache two(Args(&open_tables));
  for (size_t i = 0; i < files_.size(); ++i) {
    PinnableSlice value;
    EXPECT_EQ(Get(i % 2 == 0 ? &one : &two, files_[i].get(), "key1", &value),
              ValueOf(files_[i]->number, 1));
    EXPECT_LE(open_tables.Count(), 4u);
  }
  one.Close();
  EXPECT_LE(open_tables.Count(), 4u);
  for (size_t i = 0; i < files_.size(); i += 2) EXPECT_EQ(files_[i]->reader.load(), nullptr);
}

TEST_F(TableCacheTest, ManyThreadsBesideEvictionOfTablesAndBlocks) {
  OpenTables open_tables(&TestEpochs(), 4);
  block_cache_->SetCapacity(6000);
  TableCache tables(Args(&open_tables));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      Random random(t + 1);
      std::vector<std::pair<std::string, PinnableSlice>> pinned(8);
      for (int i = 0; i < 600; ++i) {
        FileMetaData* const file = files_[random.Uniform(files_.size())].get();
        if (random.OneIn(20)) {
          Result<std::unique_ptr<InternalCursor>> cursor = tables.NewCursor(file, {});
          if (!cursor.ok()) {
            ++wrong;
            continue;
          }
          int n = 0;
          for ((*cursor)->SeekToFirst(); (*cursor)->Valid(); (*cursor)->Next()) ++n;
          if (n != 100) ++wrong;
          continue;
        }
        const int key = static_cast<int>(random.Uniform(100));
        auto& [expected, value] = pinned[random.Uniform(pinned.size())];
        if (value.ToString() != expected) ++wrong;
        value.Reset();
        expected = ValueOf(file->number, key);
        if (Get(&tables, file, "key" + std::to_string(key), &value) != expected) ++wrong;
        if (block_cache_->GetUsage() > 6000) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  tables.Close();
  SettleEpochs();
  block_cache_->CheckInvariants();
}

}  // namespace
}  // namespace ashlar::test
