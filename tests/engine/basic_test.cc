// The ordinary operations of a database that tests/scenarios does not cover. These are logs,
// sequences, flushes, compactions and files.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "ashlar/convenience.h"
#include "execute/epoch.h"
#include "platform/page_allocator.h"
#include "tests/engine/database_fixture.h"

namespace ashlar {
namespace {

using BasicTest = DatabaseFixture;

std::string Key(int i) {
  char buffer[16];
  snprintf(buffer, sizeof(buffer), "key%06d", i);
  return buffer;
}

TEST_F(BasicTest, WhatWasNotFlushedIsReplayedFromTheLog) {
  Open();
  Put("a", "1");
  Flush();
  Put("b", "2");
  Delete("a");
  const SequenceNumber sequence = db_->GetLatestSequenceNumber();
  Open();
  EXPECT_EQ(Contents(), "b=2 ");
  EXPECT_EQ(db_->GetLatestSequenceNumber(), sequence);
  Put("c", "3");
  Open();
  EXPECT_EQ(Contents(), "b=2 c=3 ");
}

TEST_F(BasicTest, NegativeTriggersNeverTrigger) {
  options_.level0_file_num_compaction_trigger = -1;
  options_.level0_slowdown_writes_trigger = -1;
  options_.level0_stop_writes_trigger = -1;
  Open();
  for (int i = 0; i < 45; ++i) {
    Put("a", std::to_string(i));
    Flush();
  }
  EXPECT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  std::string tables;
  ASSERT_TRUE(db_->GetProperty("rocksdb.num-files-at-level0", &tables));
  EXPECT_EQ(tables, "45");
  Open();
  EXPECT_EQ(Contents(), "a=44 ");
}

TEST_F(BasicTest, AFlushedMemtableIsFreedAtOnce) {
  Open();
  Put("a", "1");
  Flush();
  EXPECT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(EpochPendingObjects(), 0u);
}

TEST_F(BasicTest, AnEntryThatNoTableCanHoldIsRefusedBeforeItIsWritten) {
  constexpr size_t kLargest = size_t{512} << 20;  // bytes of key and value together
  options_.merge_operator = MergeOperators::CreateUInt64AddOperator();
  Open();
  Put("a", "1");
  const PagedVector<char> bytes(kLargest);
  const auto expect_refused = [](const Status& status) {
    EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
    EXPECT_NE(status.ToString().find("together at most 536870912 bytes"), std::string::npos)
        << status.ToString();
  };
  expect_refused(db_->Put(WriteOptions(), "b", Slice(bytes.data(), kLargest)));
  expect_refused(db_->Merge(WriteOptions(), "b", Slice(bytes.data(), kLargest)));
  expect_refused(db_->Put(WriteOptions(), Slice(bytes.data(), kLargest), "b"));
  WriteBatch batch;
  ASSERT_OK(batch.Put("c", "3"));
  ASSERT_OK(batch.Put("b", Slice(bytes.data(), kLargest)));
  expect_refused(db_->Write(WriteOptions(), &batch));
  Flush();
  Open();
  EXPECT_EQ(Contents(), "a=1 ");
}

TEST_F(BasicTest, DeletesHideOlderTables) {
  Open();
  Put("a", "1");
  Put("b", "1");
  Flush();
  Delete("a");
  EXPECT_OK(db_->SingleDelete(WriteOptions(), "b"));
  EXPECT_EQ(Contents(), "");
  Flush();
  EXPECT_EQ(Contents(), "");
  CompactAll();
  EXPECT_EQ(Contents(), "");
  EXPECT_EQ(Number("rocksdb.total-sst-files-size"), 0u);
}

TEST_F(BasicTest, EachRecordOfABatchTakesASequenceNumber) {
  Open();
  Put("b", "old");
  WriteBatch batch;
  EXPECT_OK(batch.Put("a", "1"));
  EXPECT_OK(batch.Put("a", "2"));
  EXPECT_OK(batch.Delete("b"));
  EXPECT_OK(batch.PutLogData("takes none"));
  EXPECT_OK(db_->Write(WriteOptions(), &batch));
  EXPECT_EQ(Contents(), "a=2 ");
  EXPECT_EQ(db_->GetLatestSequenceNumber(), 4u);
}

TEST_F(BasicTest, ABatchThatCannotBeAppliedChangesNothing) {
  Open();
  WriteBatch with_inverted_range;
  EXPECT_OK(with_inverted_range.Put("a", "1"));
  EXPECT_OK(with_inverted_range.DeleteRange("c", "b"));
  EXPECT_TRUE(db_->Write(WriteOptions(), &with_inverted_range).IsInvalidArgument());
  WriteBatch damaged(std::string("\0\0\0\0\0\0\0\0\2\0\0\0\1\1a\1b", 17));
  EXPECT_TRUE(db_->Write(WriteOptions(), &damaged).IsCorruption());
  WriteBatch with_merge;
  EXPECT_OK(with_merge.Put("a", "1"));
  EXPECT_OK(with_merge.Merge("a", "2"));
  EXPECT_TRUE(db_->Write(WriteOptions(), &with_merge).IsInvalidArgument());
  EXPECT_EQ(Contents(), "");
  Open();
  EXPECT_EQ(Contents(), "");
}

TEST_F(BasicTest, ABatchWhoseBytesWereChangedIsNotWritten) {
  Open();
  WriteBatch batch(0, 0, 8, 0);
  EXPECT_OK(batch.Put("a", "1"));
  EXPECT_OK(batch.Put("b", "2"));
  char* const last = const_cast<char*>(batch.Data().data()) + batch.GetDataSize() - 1;
  *last ^= 1;
  const Status refused = db_->Write(WriteOptions(), &batch);
  EXPECT_TRUE(refused.IsCorruption());
  EXPECT_NE(refused.ToString().find("checksum"), std::string::npos) << refused.ToString();
  EXPECT_EQ(Contents(), "");
  *last ^= 1;
  EXPECT_OK(db_->Write(WriteOptions(), &batch));
  EXPECT_EQ(Contents(), "a=1 b=2 ");
  // The write numbered the records.
  EXPECT_OK(batch.VerifyChecksum());
  EXPECT_OK(db_->Write(WriteOptions(), &batch));
}

TEST_F(BasicTest, AnIteratorIsASnapshotUntilItIsRefreshed) {
  Open();
  Put("a", "1");
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  Put("b", "2");
  Flush();
  Put("c", "3");
  it->SeekToFirst();
  EXPECT_EQ(it->key().ToString(), "a");
  it->Next();
  EXPECT_FALSE(it->Valid());
  EXPECT_OK(it->Refresh());
  it->SeekToLast();
  EXPECT_EQ(it->key().ToString(), "c");
  Put("d", "4");
  EXPECT_OK(it->Refresh());
  it->SeekToLast();
  EXPECT_EQ(it->key().ToString(), "d");
}

TEST_F(BasicTest, ManyTablesKeepTheirOrderThroughFlushesAndCompactions) {
  options_.write_buffer_size = 64 << 10;
  options_.target_file_size_base = 64 << 10;
  options_.max_bytes_for_level_base = 256 << 10;
  Open();
  std::map<std::string, std::string> model;
  for (int i = 0; i < 20000; ++i) {
    const std::string key = Key((i * 7919) % 10007);
    const std::string value = std::to_string(i) + std::string(80, 'v');
    Put(key, value);
    model[key] = value;
  }
  EXPECT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  std::string expected;
  for (const auto& [key, value] : model) expected += key + "=" + value + " ";
  EXPECT_EQ(Contents(), expected);
  for (const auto& [key, value] : model) ASSERT_EQ(Get(key), value);
  EXPECT_GT(FilesAtLevel(5) + FilesAtLevel(6), 1u);
  EXPECT_OK(db_->VerifyChecksum());
  CompactAll();
  EXPECT_EQ(Contents(), expected);
  Open();
  EXPECT_EQ(Contents(), expected);
}

TEST_F(BasicTest, KeyMayExistLooksAtMemoryOnly) {
  BlockBasedTableOptions table;
  table.filter_policy.reset(NewBloomFilterPolicy(10));
  options_.table_factory.reset(NewBlockBasedTableFactory(table));
  Open();
  Put("a", "1");
  std::string value;
  bool found = false;
  EXPECT_TRUE(db_->KeyMayExist(ReadOptions(), "a", &value, &found));
  EXPECT_TRUE(found);
  EXPECT_EQ(value, "1");
  Flush();
  EXPECT_EQ(Get("a"), "1");
  EXPECT_TRUE(db_->KeyMayExist(ReadOptions(), "a", &value));
  EXPECT_FALSE(db_->KeyMayExist(ReadOptions(), "certainly not there", &value));
}

TEST_F(BasicTest, ReadOnlyOpensSeeTheLogAndChangeNothing) {
  Open();
  Put("a", "1");
  Flush();
  Put("b", "2");
  Close();
  const auto listing = [&] {
    std::map<std::string, uint64_t> files;
    for (const auto& entry : std::filesystem::directory_iterator(path()))
      files[entry.path().filename().string()] = entry.file_size();
    return files;
  };
  const auto before = listing();
  ASSERT_OK(DB::OpenForReadOnly(options_, path(), &db_));
  EXPECT_EQ(Contents(), "a=1 b=2 ");
  EXPECT_TRUE(db_->Put(WriteOptions(), "c", "3").IsNotSupported());
  Close();
  EXPECT_EQ(listing(), before);
}

TEST_F(BasicTest, RefusedFamiliesWriteNoFileOfAReadOnlyDatabase) {
  Open();
  Put("a", "1");
  Close();
  const auto options_files = [&] {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path()))
      count += entry.path().filename().string().starts_with("OPTIONS-") ? 1U : 0U;
    return count;
  };
  const size_t before = options_files();
  ASSERT_OK(DB::OpenForReadOnly(options_, path(), &db_));
  std::vector<ColumnFamilyHandle*> created;
  const std::vector<ColumnFamilyDescriptor> family = {{"new", ColumnFamilyOptions()}};
  EXPECT_TRUE(db_->CreateColumnFamilies(family, &created).IsNotSupported());
  EXPECT_TRUE(created.empty());
  Close();
  EXPECT_EQ(options_files(), before);
}

TEST_F(BasicTest, ADatabaseIsOpenedOnceAndRefusedWithAReason) {
  Open();
  std::unique_ptr<DB> second;
  const Status status = DB::Open(options_, path(), &second);
  EXPECT_TRUE(status.IsIOError()) << status.ToString();
  EXPECT_NE(status.ToString().find("LOCK"), std::string::npos) << status.ToString();
  options_.error_if_exists = true;
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
  options_.error_if_exists = false;
  options_.create_if_missing = false;
  EXPECT_TRUE(DB::Open(options_, scratch().File("nothing"), &second).IsInvalidArgument());
}

// best_efforts_recovery must not treat the MANIFEST, which has no state, as a damaged database.
TEST_F(BasicTest, AnInterruptedCreationIsRepeated) {
  for (const bool best_efforts : {false, true}) {
    SCOPED_TRACE(best_efforts);
    options_.best_efforts_recovery = best_efforts;
    std::filesystem::remove_all(path());
    std::filesystem::create_directories(path());
    std::ofstream(path() + "/MANIFEST-000001").close();
    ASSERT_NO_FATAL_FAILURE(Open());
    Put("a", "1");
    ASSERT_NO_FATAL_FAILURE(Open());
    EXPECT_EQ(Contents(), "a=1 ");
    Close();
  }
}

TEST_F(BasicTest, ClosingWhileWorkIsPausedFlushesWhatNoLogHolds) {
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  Open();
  ASSERT_OK(db_->PauseBackgroundWork());
  ASSERT_OK(db_->PauseBackgroundWork());
  ASSERT_OK(db_->Put(unlogged, "a", "1"));
  ASSERT_OK(db_->Close());
  Open();
  EXPECT_EQ(Contents(), "a=1 ");

  CancelAllBackgroundWork(db_.get(), true);
  ASSERT_OK(db_->Put(unlogged, "b", "2"));
  Open();
  EXPECT_EQ(Contents(), "a=1 b=2 ");
}

TEST_F(BasicTest, AReplayEndsEachBatchAtItsTerminationPoint) {
  options_.avoid_flush_during_shutdown = true;  // unlogged writes are lost at Close
  Open();
  WriteBatch batch;
  ASSERT_OK(batch.Put("logged", "1"));
  batch.MarkWalTerminationPoint();
  ASSERT_OK(batch.Put("unlogged", "2"));
  WriteOptions sync;
  sync.sync = true;
  ASSERT_OK(db_->Write(sync, &batch));
  Put("z", "3");
  WriteBatch nothing_logged;
  nothing_logged.MarkWalTerminationPoint();
  ASSERT_OK(nothing_logged.Delete("z"));
  ASSERT_OK(db_->Write(WriteOptions(), &nothing_logged));
  EXPECT_EQ(Contents(), "logged=1 unlogged=2 ");
  EXPECT_EQ(db_->GetLatestSequenceNumber(), 4u);
  Open();
  EXPECT_EQ(Contents(), "logged=1 z=3 ");
  Put("after", "4");
  Open();
  EXPECT_EQ(Contents(), "after=4 logged=1 z=3 ");
}

TEST_F(BasicTest, ClosingFlushesWhatIsAfterATerminationPoint) {
  Open();
  WriteBatch batch;
  ASSERT_OK(batch.Put("logged", "1"));
  batch.MarkWalTerminationPoint();
  ASSERT_OK(batch.Put("unlogged", "2"));
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  Open();
  EXPECT_EQ(Contents(), "logged=1 unlogged=2 ");
}

TEST_F(BasicTest, DestroyRemovesTheDatabaseAndNothingElse) {
  Open();
  Put("a", "1");
  Flush();
  Close();
  {
    std::ofstream(path() + "/mine.txt") << "keep";
  }
  EXPECT_OK(DestroyDB(path(), options_));
  EXPECT_TRUE(std::filesystem::exists(path() + "/mine.txt"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path()),
                          std::filesystem::directory_iterator()),
            1);
}

TEST_F(BasicTest, DestroyFindsTheLogsByAnyPathOfTheirFolder) {
  const std::string logs = scratch_.File("logs");
  options_.wal_dir = logs;
  Open();
  Put("a", "1");
  Close();
  ASSERT_FALSE(std::filesystem::is_empty(logs));
  options_.wal_dir = scratch_.File("./logs");
  EXPECT_OK(DestroyDB(path(), options_));
  EXPECT_TRUE(std::filesystem::is_empty(logs));
}

TEST_F(BasicTest, AMemtableOfSmallEntriesTakesNoMoreThanItsWriteBuffer) {
  for (const size_t bytes : {size_t{1} << 20, size_t{4} << 20, size_t{12} << 20}) {
    options_.write_buffer_size = bytes;
    Open();
    uint64_t largest = 0;
    uint64_t before = 0;
    uint64_t memtables = 0;
    for (int i = 0; memtables < 3; ++i) {
      Put(Key(i), std::string(100, 'v'));
      const uint64_t now = Number("rocksdb.cur-size-active-mem-table");
      if (now < before) ++memtables;
      before = now;
      largest = std::max(largest, now);
    }
    EXPECT_LE(largest, bytes);
    EXPECT_GE(largest, bytes / 8 * 7);
    Close();
    EXPECT_OK(DestroyDB(path(), options_));
  }
}

TEST_F(BasicTest, ObsoleteFilesAreDeletedWhenTheLastReaderLetsGo) {
  Open();
  for (int i = 0; i < 100; ++i) Put(Key(i), "1");
  Flush();
  for (int i = 0; i < 100; ++i) Put(Key(i), "2");
  Flush();
  EXPECT_EQ(Tables(), 2);
  std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  CompactAll();
  EXPECT_EQ(Tables(), 3);
  it->SeekToFirst();
  EXPECT_EQ(it->value().ToString(), "2");
  it.reset();
  CompactAll();
  EXPECT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(Tables(), 1);
}

}  // namespace
}  // namespace ashlar
