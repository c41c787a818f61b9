// GetUpdatesSince returns every published batch once, in order, whatever happens to the logs.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/checkpoint.h"
#include "ashlar/sst_file_writer.h"
#include "base/coding.h"
#include "base/format.h"
#include "base/random.h"
#include "filesystem/memory_file_system.h"
#include "lsm/predecessor_record.h"
#include "tests/engine/database_fixture.h"
#include "tests/log_stream/batches.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/open_database.h"

namespace ashlar {
namespace {

constexpr uint64_t kHour = 3600;

class IterationTest : public DatabaseFixture {
 protected:
  IterationTest() { options_.WAL_ttl_seconds = kHour; }
  // Also waits until the job has archived or deleted the log, which it does after it wakes waiters.
  void Flush() {
    DatabaseFixture::Flush();
    EXPECT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  }
  std::unique_ptr<TransactionLogIterator> UpdatesSince(SequenceNumber sequence) {
    std::unique_ptr<TransactionLogIterator> iterator;
    EXPECT_OK(db_->GetUpdatesSince(sequence, &iterator));
    return iterator;
  }
  // Writes a file with one key.
  std::string WriteFile(const std::string& key) {
    const std::string path = scratch().File(key + ".sst");
    SstFileWriter writer(EnvOptions(), options_);
    EXPECT_OK(writer.Open(path));
    EXPECT_OK(writer.Put(key, "ingested"));
    EXPECT_OK(writer.Finish());
    return path;
  }
  // `change` adds data to the open database that are in no log. An open iterator ends at the next
  // write, and a new iterator begins after the missing sequence.
  void ExpectAGapAt(const std::function<void()>& change) {
    Put("before", "1");
    const SequenceNumber last = db_->GetLatestSequenceNumber();
    std::unique_ptr<TransactionLogIterator> iterator = UpdatesSince(last);
    EXPECT_EQ(Text(TakeBatches(iterator.get())), "before=1 ");
    change();
    EXPECT_GT(db_->GetLatestSequenceNumber(), last);
    iterator->Next();
    EXPECT_FALSE(iterator->Valid());
    EXPECT_OK(iterator->status()) << "there is no later write yet";
    Put("after", "2");
    iterator->Next();
    EXPECT_FALSE(iterator->Valid()) << "the change is passed over";
    EXPECT_TRUE(iterator->status().IsNotFound()) << iterator->status().ToString();
    const std::vector<LoggedBatch> later = AllBatches(db_.get(), last + 1);
    EXPECT_EQ(Text(later), "after=2 ");
    ASSERT_EQ(later.size(), 1u);
    EXPECT_GT(later[0].sequence, last + 1);
  }
};

TEST_F(IterationTest, EveryBatchComesOnceAcrossLogsAndRestarts) {
  std::string expected;
  Open();
  for (int i = 0; i < 40; ++i) {
    const std::string key = StrCat("key", i);
    WriteBatch batch;
    ASSERT_OK(batch.Put(key, "a"));
    ASSERT_OK(batch.Put(key, std::string(i % 10 == 9 ? 100000 : 10, 'b')));
    ASSERT_OK(batch.Delete(StrCat("key", i - 1)));
    ASSERT_OK(db_->Write(WriteOptions(), &batch));
    expected += Text({{.sequence = 0, .batch = batch}});
    if (i % 7 == 6) Flush();
    if (i % 11 == 10) Open();
  }
  EXPECT_EQ(Text(AllBatches(db_.get())), expected);
  // From a sequence in the middle of a batch, that batch is returned as a whole.
  const std::vector<LoggedBatch> rest = AllBatches(db_.get(), 62);
  ASSERT_EQ(rest.size(), 20u);
  EXPECT_EQ(rest[0].sequence, 61u);
  VectorWalPtr logs;
  ASSERT_OK(db_->GetSortedWalFiles(logs));
  EXPECT_GT(logs.size(), 5u);
}

TEST_F(IterationTest, CatchesUpAgainAndAgain) {
  Open();
  std::unique_ptr<TransactionLogIterator> iterator = UpdatesSince(0);
  EXPECT_FALSE(iterator->Valid());
  for (int i = 0; i < 10; ++i) {
    EXPECT_FALSE(iterator->Valid());
    EXPECT_OK(iterator->status());
    Put(StrCat("key", i), std::string(20000, 'v'));
    iterator->Next();
    const std::vector<LoggedBatch> batches = TakeBatches(iterator.get());
    ASSERT_EQ(batches.size(), 1u);
    EXPECT_EQ(batches[0].sequence, static_cast<SequenceNumber>(i + 1));
    if (i % 3 == 0) Flush();
    iterator->Next();
  }
}

TEST_F(IterationTest, ASequenceThatIsNotWrittenYetIsNotFound) {
  Open();
  Put("a", "1");
  std::unique_ptr<TransactionLogIterator> iterator;
  const Status status = db_->GetUpdatesSince(2, &iterator);
  EXPECT_TRUE(status.IsNotFound());
  EXPECT_NE(status.ToString().find("Requested sequence not yet written in the db"),
            std::string::npos);
  EXPECT_EQ(iterator, nullptr);
}

TEST_F(IterationTest, WithoutAnArchiveAFlushLeavesAGap) {
  options_.WAL_ttl_seconds = 0;
  Open();
  Put("a", "1");
  std::unique_ptr<TransactionLogIterator> iterator = UpdatesSince(1);
  ASSERT_TRUE(iterator->Valid());
  Flush();
  Put("b", "2");
  Flush();
  Put("c", "3");
  iterator->Next();
  EXPECT_FALSE(iterator->Valid());
  EXPECT_TRUE(iterator->status().IsNotFound()) << iterator->status().ToString();
  EXPECT_NE(iterator->status().ToString().find("Gap in sequence numbers"), std::string::npos);
  iterator->Next();
  EXPECT_FALSE(iterator->Valid());
  EXPECT_TRUE(iterator->status().IsNotFound());
  // A new iterator begins with the existing batches.
  EXPECT_EQ(Text(AllBatches(db_.get(), 2)), "c=3 ");
  EXPECT_FALSE(std::filesystem::exists(path() + "/archive"));
}

TEST_F(IterationTest, WritesWithoutALogAreAGap) {
  Open();
  Put("a", "1");
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  ASSERT_OK(db_->Put(unlogged, "b", "2"));
  std::unique_ptr<TransactionLogIterator> iterator = UpdatesSince(1);
  EXPECT_EQ(Text(TakeBatches(iterator.get())), "a=1 ");
  EXPECT_OK(iterator->status());
  Put("c", "3");
  iterator->Next();
  EXPECT_FALSE(iterator->Valid());
  EXPECT_TRUE(iterator->status().IsNotFound());
}

TEST_F(IterationTest, ANumberedIngestionIsAGap) {
  Open();
  for (const bool writes_number : {false, true}) {
    SCOPED_TRACE(writes_number);
    IngestExternalFileOptions options;
    options.write_global_seqno = writes_number;
    const std::string file = WriteFile(writes_number ? "b" : "a");
    ExpectAGapAt([&] { ASSERT_OK(db_->IngestExternalFile({file}, options)); });
  }
}

TEST_F(IterationTest, AnIngestionThatNeedsNoNumberIsAGap) {
  Open();
  IngestExternalFileOptions unnumbered;
  unnumbered.allow_global_seqno = false;
  const std::string first = WriteFile("a");
  ExpectAGapAt([&] { ASSERT_OK(db_->IngestExternalFile({first}, unnumbered)); });
  IngestExternalFileOptions inconsistent;
  inconsistent.snapshot_consistency = false;
  const std::string second = WriteFile("b");
  ExpectAGapAt([&] { ASSERT_OK(db_->IngestExternalFile({second}, inconsistent)); });
}

TEST_F(IterationTest, AnIngestionBehindIsAGap) {
  options_.allow_ingest_behind = true;
  Open();
  IngestExternalFileOptions options;
  options.ingest_behind = true;
  const std::string file = WriteFile("a");
  ExpectAGapAt([&] { ASSERT_OK(db_->IngestExternalFile({file}, options)); });
}

TEST_F(IterationTest, AnIngestedTableOfADatabaseIsAGap) {
  Open();
  Put("a", "1");
  Flush();
  std::vector<LiveFileMetaData> tables;
  db_->GetLiveFilesMetaData(&tables);
  ASSERT_EQ(tables.size(), 1u);
  const std::string copy = scratch().File("table.sst");
  std::filesystem::copy_file(tables[0].directory + tables[0].name, copy);
  Delete("a");
  Flush();
  CompactAll();
  IngestExternalFileOptions options;
  options.allow_db_generated_files = true;
  ExpectAGapAt([&] { ASSERT_OK(db_->IngestExternalFile({copy}, options)); });
  EXPECT_EQ(Get("a"), "1");
}

TEST_F(IterationTest, AnImportedFamilyIsAGap) {
  Open();
  Put("a", "1");
  Checkpoint* made = nullptr;
  ASSERT_OK(Checkpoint::Create(db_.get(), &made));
  const std::unique_ptr<Checkpoint> checkpoint(made);
  ExportImportFilesMetaData* exported = nullptr;
  ASSERT_OK(checkpoint->ExportColumnFamily(db_->DefaultColumnFamily(), scratch().File("exported"),
                                           &exported));
  const std::unique_ptr<ExportImportFilesMetaData> metadata(exported);
  ColumnFamilyHandle* handle = nullptr;
  ExpectAGapAt([&] {
    ASSERT_OK(db_->CreateColumnFamilyWithImport(ColumnFamilyOptions(options_), "imported",
                                                ImportColumnFamilyOptions(), *metadata, &handle));
  });
  const std::unique_ptr<ColumnFamilyHandle> imported(handle);
  EXPECT_EQ(GetFrom(imported.get(), "a"), "1");
}

// After an ingestion, follower and leader have the same sequence, even if a file needed none.
TEST_F(IterationTest, AFollowerThatIngestsTheSameFilesGoesOnAfterTheGap) {
  Open();
  std::unique_ptr<DB> follower;
  ASSERT_OK(DB::Open(options_, scratch().File("follower"), &follower));
  const auto follow = [&] {
    for (const LoggedBatch& logged :
         AllBatches(db_.get(), follower->GetLatestSequenceNumber() + 1)) {
      ASSERT_EQ(logged.sequence, follower->GetLatestSequenceNumber() + 1);
      WriteBatch batch = logged.batch;
      ASSERT_OK(follower->Write(WriteOptions(), &batch));
    }
  };
  for (const bool numbered : {true, false}) {
    SCOPED_TRACE(numbered);
    Put("k", "before");
    follow();
    const std::string file = WriteFile(numbered ? "a" : "b");
    IngestExternalFileOptions options;
    options.allow_global_seqno = numbered;
    ASSERT_OK(db_->IngestExternalFile({file}, options));
    ASSERT_OK(follower->IngestExternalFile({file}, options));
    Put("k", "after");
    follow();
    EXPECT_EQ(follower->GetLatestSequenceNumber(), db_->GetLatestSequenceNumber());
  }
  const std::unique_ptr<Iterator> followed(follower->NewIterator(ReadOptions()));
  EXPECT_EQ(test::WalkBothWays(followed.get()), Contents());
}

TEST_F(IterationTest, ABatchComesUpToItsTerminationPoint) {
  Open();
  WriteBatch batch;
  ASSERT_OK(batch.Put("a", "1"));
  batch.MarkWalTerminationPoint();
  ASSERT_OK(batch.Put("b", "2"));
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  std::unique_ptr<TransactionLogIterator> iterator = UpdatesSince(1);
  EXPECT_EQ(Text(TakeBatches(iterator.get())), "a=1 ");
  EXPECT_OK(iterator->status());
}

TEST_F(IterationTest, BatchesOfLogDataAloneComeToo) {
  Open();
  Put("a", "1");
  WriteBatch marker;
  ASSERT_OK(marker.PutLogData("marker"));
  ASSERT_OK(db_->Write(WriteOptions(), &marker));
  Flush();
  ASSERT_OK(db_->Write(WriteOptions(), &marker));
  Put("b", "2");
  EXPECT_EQ(Text(AllBatches(db_.get())), "a=1 [marker] [marker] b=2 ");
}

// An open that took them for the length of an older log would refuse the database or drop the
// records that follow.
TEST_F(IterationTest, LogDataThatReadLikeTheHeadOfALogAreData) {
  options_.avoid_flush_during_shutdown = true;
  Open();
  Put("a", "1");
  std::string expected = "a=1 ";
  std::string blob;
  for (uint64_t log = 0; log < 40; ++log) {
    blob = "ashlar.log.continues:";
    PutVarint64(&blob, log);
    PutVarint64(&blob, uint64_t{1} << 40);
    WriteBatch batch;
    ASSERT_OK(batch.PutLogData(blob));
    ASSERT_TRUE(DecodePredecessorRecord(batch.Data()).has_value());
    ASSERT_OK(db_->Write(WriteOptions(), &batch));
    expected += StrCat("[", blob, "] [] ");
  }
  Put("b", "2");
  expected += "b=2 ";
  EXPECT_EQ(Text(AllBatches(db_.get())), expected);
  WriteBatch ends_early;
  ASSERT_OK(ends_early.PutLogData(blob));
  ends_early.MarkWalTerminationPoint();
  ASSERT_OK(ends_early.Put("unlogged", "3"));
  ASSERT_OK(db_->Write(WriteOptions(), &ends_early));
  Put("c", "4");
  Open();
  EXPECT_EQ(Contents(), "a=1 b=2 c=4 ");
}

TEST_F(IterationTest, BufferedWritesAppearWhenTheLogIsFlushed) {
  options_.manual_wal_flush = true;
  Open();
  Put("a", "1");
  EXPECT_TRUE(db_->GetCurrentWalFile(nullptr).IsInvalidArgument());
  std::unique_ptr<TransactionLogIterator> iterator = UpdatesSince(1);
  EXPECT_FALSE(iterator->Valid());
  EXPECT_OK(iterator->status());
  ASSERT_OK(db_->FlushWAL(false));
  iterator->Next();
  EXPECT_EQ(Text(TakeBatches(iterator.get())), "a=1 ");
  std::unique_ptr<WalFile> current;
  ASSERT_OK(db_->GetCurrentWalFile(&current));
  const uint64_t before = current->SizeFileBytes();
  Put("b", "2");
  ASSERT_OK(db_->GetCurrentWalFile(&current));
  EXPECT_EQ(current->SizeFileBytes(), before);
  ASSERT_OK(db_->SyncWAL());
  iterator->Next();
  EXPECT_EQ(Text(TakeBatches(iterator.get())), "b=2 ");
  ASSERT_OK(db_->GetCurrentWalFile(&current));
  EXPECT_GT(current->SizeFileBytes(), before);
  Put("c", "3");
  ASSERT_OK(db_->FlushWAL(FlushWALOptions()));
  iterator->Next();
  EXPECT_EQ(Text(TakeBatches(iterator.get())), "c=3 ");
}

TEST_F(IterationTest, CloseWaitsForTheIteratorAndDeletionDoesNot) {
  Open();
  Put("a", "1");
  std::unique_ptr<TransactionLogIterator> iterator = UpdatesSince(1);
  EXPECT_TRUE(db_->Close().IsAborted());
  db_.reset();
  EXPECT_EQ(Text(TakeBatches(iterator.get())), "a=1 ");
  iterator->Next();
  EXPECT_FALSE(iterator->Valid());
  EXPECT_OK(iterator->status());
  // The open also destroys the objects of the first database that the iterator has kept alive.
  iterator.reset();
  Open();
}

TEST_F(IterationTest, AReadOnlyDatabaseShowsItsLogs) {
  Open();
  Put("a", "1");
  Flush();
  Put("b", "2");
  Close();
  ASSERT_OK(DB::OpenForReadOnly(options_, path(), &db_));
  EXPECT_EQ(Text(AllBatches(db_.get())), "a=1 b=2 ");
  std::unique_ptr<WalFile> current;
  EXPECT_TRUE(db_->GetCurrentWalFile(&current).IsNotFound());
}

TEST_F(IterationTest, DamageInAnOldLogIsNamed) {
  Open();
  for (int i = 0; i < 3; ++i) Put(StrCat("key", i), std::string(1000, 'v'));
  Flush();
  Put("later", "1");
  VectorWalPtr logs;
  ASSERT_OK(db_->GetSortedWalFiles(logs));
  ASSERT_EQ(logs.size(), 2u);
  EXPECT_EQ(logs[0]->Type(), kArchivedLogFile);
  EXPECT_EQ(logs[0]->StartSequence(), 1u);
  EXPECT_EQ(logs[1]->Type(), kAliveLogFile);
  EXPECT_EQ(logs[1]->StartSequence(), 4u);
  const std::string file = path() + logs[0]->PathName();
  EXPECT_EQ(std::filesystem::file_size(file), logs[0]->SizeFileBytes());
  {
    std::fstream log(file, std::ios::in | std::ios::out | std::ios::binary);
    log.seekp(1500);
    log << "damage";
  }
  std::unique_ptr<TransactionLogIterator> iterator = UpdatesSince(1);
  EXPECT_EQ(TakeBatches(iterator.get()).size(), 1u);
  EXPECT_TRUE(iterator->status().IsCorruption()) << iterator->status().ToString();
  EXPECT_NE(iterator->status().ToString().find(file), std::string::npos)
      << iterator->status().ToString();
}

// Otherwise a program that replicates the database would wait forever.
TEST_F(IterationTest, DamageInTheLogThatIsWrittenIsNamed) {
  Open();
  for (int i = 0; i < 3; ++i) Put(StrCat("key", i), std::string(1000, 'v'));
  std::unique_ptr<WalFile> current;
  ASSERT_OK(db_->GetCurrentWalFile(&current));
  const std::string file = path() + current->PathName();
  {
    std::fstream log(file, std::ios::in | std::ios::out | std::ios::binary);
    log.seekp(1500);
    log << "damage";
  }
  for (const SequenceNumber from : {SequenceNumber{1}, SequenceNumber{2}}) {
    SCOPED_TRACE(from);
    std::unique_ptr<TransactionLogIterator> iterator;
    Status status = db_->GetUpdatesSince(from, &iterator);
    if (status.ok()) {
      EXPECT_EQ(TakeBatches(iterator.get()).size(), 1u);
      status = iterator->status();
    }
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    EXPECT_NE(status.ToString().find(file), std::string::npos) << status.ToString();
  }
}

TEST_F(IterationTest, FollowsWritersFlushesAndSwitches) {
  constexpr int kWriters = 2;
  constexpr int kBatches = 1500;
  options_.write_buffer_size = 64 << 10;
  options_.WAL_size_limit_MB = 1000;
  Open();
  std::atomic<int> running{kWriters};
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      Random random(static_cast<uint64_t>(writer) + 1);
      for (int i = 0; i < kBatches; ++i) {
        WriteBatch batch;
        for (uint64_t n = random.Uniform(4); n < 4; ++n) {
          EXPECT_OK(batch.Put(StrCat(writer, "-", random.Uniform(100)),
                              std::string(random.Skewed(12), static_cast<char>('a' + i % 26))));
        }
        if (random.OneIn(5)) {
          EXPECT_OK(batch.Delete(StrCat(writer, "-", random.Uniform(100))));
        }
        EXPECT_OK(db_->Write(WriteOptions(), &batch));
        if (random.OneIn(300)) {
          EXPECT_OK(db_->Flush(FlushOptions()));
        }
      }
      running.fetch_sub(1);
    });
  }
  Options copy_options = options_;
  std::unique_ptr<DB> copy;
  ASSERT_OK(DB::Open(copy_options, scratch().File("copy"), &copy));
  std::unique_ptr<TransactionLogIterator> iterator = UpdatesSince(0);
  SequenceNumber next = 1;
  for (bool last_round = false;;) {
    for (; iterator->Valid(); iterator->Next()) {
      BatchResult result = iterator->GetBatch();
      ASSERT_EQ(result.sequence, next);
      next += result.writeBatchPtr->Count();
      ASSERT_LE(next, db_->GetLatestSequenceNumber() + 1);
      ASSERT_OK(copy->Write(WriteOptions(), result.writeBatchPtr.get()));
    }
    ASSERT_OK(iterator->status());
    if (last_round) break;
    last_round = running.load() == 0;
    iterator->Next();
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(next, db_->GetLatestSequenceNumber() + 1);
  const std::unique_ptr<Iterator> original_it(db_->NewIterator(ReadOptions()));
  const std::unique_ptr<Iterator> copy_it(copy->NewIterator(ReadOptions()));
  EXPECT_EQ(test::WalkBothWays(copy_it.get()), test::WalkBothWays(original_it.get()));
}

// ---- Many logs.

// Programs ask for new updates again and again.
TEST(IterationOfManyLogs, OlderLogsAreNotOpened) {
  constexpr int kLogs = 20;
  const auto faults = std::make_shared<FaultFileSystem>(std::make_shared<MemoryFileSystem>());
  Options options = SmallDatabaseOptions();
  options.WAL_ttl_seconds = kHour;
  OpenDatabase database(faults, options, 7);
  ASSERT_OK(database.Open());
  DB* const db = database.db();
  for (int i = 0; i < kLogs; ++i) {
    ASSERT_OK(db->Put(WriteOptions(), StrCat("key", i), "1"));
    ASSERT_OK(db->Flush(FlushOptions()));
  }
  ASSERT_OK(db->Put(WriteOptions(), "new", "1"));
  VectorWalPtr logs;
  ASSERT_OK(db->GetSortedWalFiles(logs));
  ASSERT_GT(logs.size(), static_cast<size_t>(kLogs));
  faults->ResetCounts();
  std::unique_ptr<TransactionLogIterator> iterator;
  ASSERT_OK(db->GetUpdatesSince(db->GetLatestSequenceNumber(), &iterator));
  EXPECT_EQ(Text(TakeBatches(iterator.get())), "new=1 ");
  EXPECT_LT(faults->CallCount(FaultOperation::kOpenForReading), 8u);
  EXPECT_EQ(AllBatches(db).size(), static_cast<size_t>(kLogs) + 1);
}

// ---- A log that fails.

struct Failure {
  const char* name;
  FaultOperation operation;
  FaultEffect effect;
};

class FailedLogIterationTest : public ::testing::TestWithParam<Failure> {};

TEST_P(FailedLogIterationTest, WhatWasNotAcknowledgedIsNeverSeen) {
  const auto disk = std::make_shared<MemoryFileSystem>();
  const auto faults = std::make_shared<FaultFileSystem>(disk);
  Options options = SmallDatabaseOptions();
  options.WAL_ttl_seconds = kHour;
  OpenDatabase database(faults, options, 7);
  ASSERT_OK(database.Open());
  DB* const db = database.db();
  WriteOptions synced;
  synced.sync = true;
  ASSERT_OK(db->Put(synced, "a", "1"));
  std::unique_ptr<TransactionLogIterator> iterator;
  ASSERT_OK(db->GetUpdatesSince(1, &iterator));
  EXPECT_EQ(Text(TakeBatches(iterator.get())), "a=1 ");

  FaultRule rule;
  rule.operations = GetParam().operation;
  rule.name_contains = ".log";
  rule.effect = GetParam().effect;
  faults->AddRule(rule);
  EXPECT_FALSE(db->Put(synced, "lost", std::string(200000, 'x')).ok());
  iterator->Next();
  EXPECT_FALSE(iterator->Valid());
  EXPECT_OK(iterator->status());
  EXPECT_EQ(Text(AllBatches(db)), "a=1 ");

  faults->ClearRules();
  ASSERT_OK(db->Resume());
  ASSERT_OK(db->Put(synced, "b", "2"));
  iterator->Next();
  EXPECT_EQ(Text(TakeBatches(iterator.get())), "b=2 ");
  EXPECT_OK(iterator->status());
  EXPECT_EQ(Text(AllBatches(db)), "a=1 b=2 ");
  iterator.reset();
  ASSERT_OK(database.Close());
  ASSERT_OK(database.Open());
  EXPECT_EQ(Text(AllBatches(database.db())), "a=1 b=2 ");
}

INSTANTIATE_TEST_SUITE_P(
    Failures, FailedLogIterationTest,
    ::testing::Values(Failure{"Append", FaultOperation::kAppend, FaultEffect::kFailBefore},
                      Failure{"HalfAnAppend", FaultOperation::kAppend, FaultEffect::kPartialAppend},
                      Failure{"AppendDone", FaultOperation::kAppend, FaultEffect::kFailAfter},
                      Failure{"Sync", FaultOperation::kSync, FaultEffect::kFailBefore},
                      Failure{"SyncDone", FaultOperation::kSync, FaultEffect::kFailAfter}),
    [](const auto& failure) { return std::string(failure.param.name); });

}  // namespace
}  // namespace ashlar
