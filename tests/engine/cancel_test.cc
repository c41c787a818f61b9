// CancelAllBackgroundWork: the calls and writers that it refuses and wakes, the flushes before it,
// the work that continues after it, and the state that Close and the next open find.
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ashlar/compaction_filter.h"
#include "ashlar/convenience.h"
#include "ashlar/env.h"
#include "ashlar/listener.h"
#include "ashlar/sst_file_writer.h"
#include "tests/engine/database_fixture.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/manual_env.h"

namespace ashlar {
namespace {

constexpr size_t kValueBytes = 1000;

class CancelTest : public DatabaseFixture {
 protected:
  CancelTest() { options_.disable_auto_compactions = true; }

  void Cancel(bool wait = true) { CancelAllBackgroundWork(db_.get(), wait); }
  void PutUnlogged(const Slice& key, const Slice& value, ColumnFamilyHandle* family = nullptr) {
    WriteOptions unlogged;
    unlogged.disableWAL = true;
    EXPECT_OK(
        db_->Put(unlogged, family != nullptr ? family : db_->DefaultColumnFamily(), key, value));
  }
  void ExpectRefused(const Status& status, const std::string& call) {
    EXPECT_TRUE(status.IsShutdownInProgress()) << call << ": " << status.ToString();
  }
  // The value in the files, which an open would find if the process ended now.
  std::string GetFromFiles(const Slice& key) {
    std::unique_ptr<DB> reader;
    EXPECT_OK(DB::OpenForReadOnly(options_, path(), &reader));
    std::string value;
    const Status status = reader->Get(ReadOptions(), key, &value);
    if (status.IsNotFound()) return "NOT_FOUND";
    return status.ok() ? value : status.ToString();
  }
  Status Ingest(const std::string& key) {
    const std::string file = scratch().File("ingested");
    std::filesystem::remove(file);
    SstFileWriter writer(EnvOptions(), options_);
    EXPECT_OK(writer.Open(file));
    EXPECT_OK(writer.Put(key, "ingested"));
    EXPECT_OK(writer.Finish());
    const Status ingested = db_->IngestExternalFile({file}, IngestExternalFileOptions());
    EXPECT_TRUE(std::filesystem::exists(file));
    return ingested;
  }

  // Limits the database to two memtables of 64 KiB.
  void UseSmallMemTables() {
    options_.write_buffer_size = 64 << 10;
    options_.max_write_buffer_number = 2;
  }
  // Puts the keys "0", "1", ... until a Put is refused. Returns that status. acknowledged_ counts
  // the successful Puts.
  Status WriteUntilRefused() {
    Status status;
    while (status.ok() && acknowledged_ < 1000) {
      status =
          db_->Put(WriteOptions(), std::to_string(acknowledged_), std::string(kValueBytes, 'v'));
      if (status.ok()) ++acknowledged_;
    }
    return status;
  }
  // Expects exactly the acknowledged keys of WriteUntilRefused.
  void ExpectAcknowledged() {
    for (uint64_t i = 0; i < acknowledged_; ++i)
      EXPECT_EQ(Get(std::to_string(i)).size(), kValueBytes) << i;
    EXPECT_EQ(Get(std::to_string(acknowledged_)), "NOT_FOUND");
  }

  uint64_t acknowledged_ = 0;
};

// ---- Calls.

TEST_F(CancelTest, CallsThatNeedAJobAreRefused) {
  Open();
  Put("a", "table");
  Flush();
  Put("b", "memtable");
  for (int round = 0; round < 2; ++round) {
    Cancel(round == 0);  // there is nothing to do the second time
    FlushOptions no_wait;
    no_wait.wait = false;
    WaitForCompactOptions flushing;
    flushing.flush = true;
    const Slice begin("a");
    const Slice end("a0");
    ExpectRefused(db_->Flush(FlushOptions()), "Flush");
    ExpectRefused(db_->Flush(no_wait), "Flush without a wait");
    ExpectRefused(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr), "CompactRange");
    ExpectRefused(db_->CompactRange(CompactRangeOptions(), &begin, &end), "one without a flush");
    ExpectRefused(db_->CompactFiles(CompactionOptions(), FileNames(0), 1), "CompactFiles");
    ExpectRefused(db_->PromoteL0(db_->DefaultColumnFamily(), 1), "PromoteL0");
    ExpectRefused(db_->WaitForCompact(WaitForCompactOptions()), "WaitForCompact");
    ExpectRefused(db_->WaitForCompact(flushing), "WaitForCompact with a flush");
    std::vector<std::string> files;
    uint64_t manifest_bytes = 0;
    ExpectRefused(db_->GetLiveFiles(files, &manifest_bytes, true), "GetLiveFiles");
    ExpectRefused(Ingest("b"), "an ingestion over a key of the memtable");
  }
  EXPECT_EQ(Number("rocksdb.num-immutable-mem-table"), 0u) << "a refused flush switches nothing";
  EXPECT_EQ(Contents(), "a=table b=memtable ");
  Open();
  EXPECT_EQ(Contents(), "a=table b=memtable ");
  Flush();
}

TEST_F(CancelTest, CallsThatNeedNoJobGoOn) {
  Open();
  Put("a", "1");
  const Snapshot* const snapshot = db_->GetSnapshot();
  Cancel();
  Put("b", "2");
  EXPECT_EQ(Contents(), "a=1 b=2 ");
  EXPECT_EQ(Contents(nullptr, snapshot), "a=1 ");
  db_->ReleaseSnapshot(snapshot);
  EXPECT_OK(Ingest("x"));
  EXPECT_OK(db_->SyncWAL());
  EXPECT_OK(db_->SetOptions({{"disable_auto_compactions", "false"}}));
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "f", &family));
  EXPECT_OK(db_->Put(WriteOptions(), family, "k", "v"));
  EXPECT_OK(db_->DropColumnFamily(family));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
  EXPECT_OK(db_->Resume());
  EXPECT_EQ(Contents(), "a=1 b=2 x=ingested ");
  EXPECT_OK(DeleteFilesInRange(db_.get(), db_->DefaultColumnFamily(), nullptr, nullptr));
  EXPECT_EQ(Contents(), "a=1 b=2 ");
  ASSERT_OK(db_->Close());
  Open();
  EXPECT_EQ(Contents(), "a=1 b=2 ");
}

TEST_F(CancelTest, AContinueDoesNotUndoIt) {
  Open();
  Put("a", "1");
  ASSERT_OK(db_->PauseBackgroundWork());
  Cancel();
  EXPECT_OK(db_->ContinueBackgroundWork());
  ExpectRefused(db_->Flush(FlushOptions()), "after the continue");
  EXPECT_TRUE(db_->ContinueBackgroundWork().IsInvalidArgument()) << "a cancel is no pause";
  ASSERT_OK(db_->PauseBackgroundWork());
  EXPECT_OK(db_->ContinueBackgroundWork());
  ExpectRefused(db_->WaitForCompact(WaitForCompactOptions()), "after another pause");
  EXPECT_EQ(Tables(), 0);
}

TEST_F(CancelTest, DoesNothingToADatabaseThatOnlyReads) {
  Open();
  Put("a", "1");
  std::unique_ptr<DB> reader;
  ASSERT_OK(DB::OpenForReadOnly(options_, path(), &reader));
  CancelAllBackgroundWork(reader.get(), true);
  std::string value;
  EXPECT_OK(reader->Get(ReadOptions(), "a", &value));
  EXPECT_OK(reader->Close());
  Flush();
}

// ---- Waiters. The executor has no threads, so a call that waits runs the job that cancels.

class CancelDuringWaitTest : public CancelTest {
 protected:
  CancelDuringWaitTest() { options_.env = &env_; }
  ~CancelDuringWaitTest() override { Close(); }

  // The next wait for background work runs a job that cancels. If the call then waits for more, a
  // second job fails the test and closes the database.
  void CancelInTheNextWait() {
    waits_ = true;
    EXPECT_TRUE(env_.manual_executor()->Schedule(Executor::Priority::kHigh, [this] {
      Cancel(false);
      EXPECT_TRUE(env_.manual_executor()->Schedule(Executor::Priority::kHigh, [this] {
        if (!waits_) return;
        ADD_FAILURE() << "the call waits for a job that never begins";
        EXPECT_OK(db_->Close());
      }));
    }));
  }
  void EndWait() {
    waits_ = false;
    env_.manual_executor()->RunAll();
  }

  bool waits_ = false;
  ManualEnv env_{Env::Default()->EngineFiles(), /*seed=*/1};
};

TEST_F(CancelDuringWaitTest, AStoppedWriterIsRefused) {
  UseSmallMemTables();
  Open();
  ASSERT_OK(db_->PauseBackgroundWork());
  CancelInTheNextWait();
  const Status refused = WriteUntilRefused();
  EndWait();
  ExpectRefused(refused, "Put");
  EXPECT_GT(acknowledged_, 32u);
  EXPECT_EQ(db_->GetLatestSequenceNumber(), acknowledged_) << "a refused write has no sequence";
  ExpectAcknowledged();
  Open();
  ExpectAcknowledged();
}

TEST_F(CancelDuringWaitTest, CallsThatAPauseHoldsBackAreRefused) {
  const std::vector<std::pair<std::string, std::function<Status()>>> calls = {
      {"Flush", [this] { return db_->Flush(FlushOptions()); }},
      {"WaitForCompact", [this] { return db_->WaitForCompact(WaitForCompactOptions()); }},
      {"CompactRange",
       [this] {
         const Slice begin("a");
         const Slice end("a0");  // the memtable has no key in the range
         return db_->CompactRange(CompactRangeOptions(), &begin, &end);
       }},
      {"CompactFiles", [this] { return db_->CompactFiles(CompactionOptions(), FileNames(0), 1); }},
      {"IngestExternalFile", [this] { return Ingest("b"); }}};
  for (const auto& [name, call] : calls) {
    SCOPED_TRACE(name);
    Open();
    Put("a", "1");
    Flush();
    Put("b", "2");
    ASSERT_OK(db_->PauseBackgroundWork());
    if (name == "WaitForCompact") {
      FlushOptions no_wait;
      no_wait.wait = false;
      ASSERT_OK(db_->Flush(no_wait));
    }
    CancelInTheNextWait();
    const Status status = call();
    EndWait();
    ExpectRefused(status, name);
  }
  Open();
  EXPECT_EQ(Contents(), "a=1 b=2 ");
}

TEST_F(CancelDuringWaitTest, ALockOfTheWritesIsWaitedFor) {
  Open();
  Cancel();
  ASSERT_OK(db_->LockWAL());
  EXPECT_TRUE(env_.manual_executor()->Schedule(Executor::Priority::kHigh,
                                               [this] { EXPECT_OK(db_->UnlockWAL()); }));
  Put("a", "1");
  env_.manual_executor()->RunAll();
  EXPECT_EQ(Get("a"), "1");
}

TEST_F(CancelDuringWaitTest, WithWaitNoJobIsLeft) {
  Open();
  Put("a", "1");
  FlushOptions no_wait;
  no_wait.wait = false;
  ASSERT_OK(db_->Flush(no_wait));
  ASSERT_EQ(env_.manual_executor()->QueuedJobs(Executor::Priority::kHigh), 1u);
  Cancel(false);
  EXPECT_EQ(env_.manual_executor()->QueuedJobs(Executor::Priority::kHigh), 1u);
  Cancel(true);
  EXPECT_EQ(env_.manual_executor()->QueuedJobs(Executor::Priority::kHigh), 0u);
  Open();
  EXPECT_EQ(Contents(), "a=1 ");
}

// Cancels at the first entry that it filters.
class CancelingFilter final : public CompactionFilter {
 public:
  explicit CancelingFilter(std::function<void()> cancel) : cancel_(std::move(cancel)) {}
  const char* Name() const override { return "canceling"; }
  bool Filter(int /*level*/, const Slice& /*key*/, const Slice& /*value*/,
              std::string* /*new_value*/, bool* /*value_changed*/) const override {
    if (entries_++ == 0) cancel_();
    return false;
  }
  uint64_t entries() const { return entries_; }

 private:
  const std::function<void()> cancel_;
  mutable std::atomic<uint64_t> entries_{0};
};

TEST_F(CancelDuringWaitTest, ARunningCompactionEndsAndLeavesNoFile) {
  constexpr int kKeys = 3000;
  const CancelingFilter filter([this] { Cancel(false); });
  options_.compaction_filter = &filter;
  options_.disable_auto_compactions = false;
  options_.level0_file_num_compaction_trigger = 2;
  Open();
  for (int file = 0; file < 2; ++file) {
    for (int i = 0; i < kKeys; ++i) Put(std::to_string(i), std::string(100, 'v'));
    Flush();
  }
  while (env_.RunOneJob()) {
  }
  EXPECT_GT(filter.entries(), 0u);
  EXPECT_LT(filter.entries(), static_cast<uint64_t>(kKeys));
  EXPECT_EQ(FilesAtLevel(0), 2u);
  EXPECT_EQ(Tables(), 2);
  Close();
  options_.compaction_filter = nullptr;
  Open();
  EXPECT_EQ(Get("0").size(), 100u);
  EXPECT_EQ(Get(std::to_string(kKeys - 1)).size(), 100u);
  CompactAll();
  EXPECT_EQ(FilesAtLevel(0), 0u);
}

// ---- Writers.

TEST_F(CancelTest, AWriterThatWaitsIsWoken) {
  UseSmallMemTables();
  Open();
  ASSERT_OK(db_->PauseBackgroundWork());
  Status refused;
  std::thread writer([&] { refused = WriteUntilRefused(); });
  while (Number("rocksdb.is-write-stopped") == 0) std::this_thread::yield();
  Cancel();
  writer.join();
  ExpectRefused(refused, "Put");
  ExpectAcknowledged();
  Open();
  ExpectAcknowledged();
}

TEST_F(CancelTest, WritesGoOnUntilTheMemTablesAreFull) {
  UseSmallMemTables();
  Open();
  Cancel();
  ExpectRefused(WriteUntilRefused(), "Put");
  EXPECT_GT(acknowledged_, 32u);
  const SequenceNumber last = db_->GetLatestSequenceNumber();
  EXPECT_EQ(last, acknowledged_);
  WriteBatch batch;
  ASSERT_OK(batch.Put("x", "1"));
  ASSERT_OK(batch.Put("y", "2"));
  ExpectRefused(db_->Write(WriteOptions(), &batch), "Write");
  WriteOptions no_slowdown;
  no_slowdown.no_slowdown = true;
  EXPECT_TRUE(db_->Put(no_slowdown, "z", "3").IsIncomplete());
  EXPECT_EQ(db_->GetLatestSequenceNumber(), last);
  for (const char* const key : {"x", "y", "z"}) EXPECT_EQ(Get(key), "NOT_FOUND");
  EXPECT_EQ(Tables(), 0);
  ExpectAcknowledged();
  Open();
  ExpectAcknowledged();
  for (const char* const key : {"x", "y", "z"}) EXPECT_EQ(Get(key), "NOT_FOUND");
}

// ---- Unlogged writes.

TEST_F(CancelTest, UnloggedWritesAreFlushedBefore) {
  Open();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "f", &family));
  PutUnlogged("a", "1");
  PutUnlogged("b", "2", family);
  Cancel(false);
  EXPECT_EQ(Tables(), 2);
  EXPECT_EQ(GetFromFiles("a"), "1");
  EXPECT_EQ(GetFrom(family, "b"), "2");
  ExpectRefused(db_->Flush(FlushOptions()), "Flush");
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
}

TEST_F(CancelTest, UnloggedWritesAreFlushedWhileWorkIsPaused) {
  Open();
  PutUnlogged("a", "1");
  ASSERT_OK(db_->PauseBackgroundWork());
  Cancel();
  EXPECT_EQ(GetFromFiles("a"), "1");
}

TEST_F(CancelTest, UnloggedWritesAreLeftIfTheOptionsSaySo) {
  options_.avoid_flush_during_shutdown = true;
  Open();
  PutUnlogged("a", "1");
  Cancel();
  EXPECT_EQ(Tables(), 0);
  EXPECT_EQ(Get("a"), "1");
}

TEST_F(CancelTest, CloseKeepsWhatWasWrittenAfterIt) {
  Open();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "f", &family));
  PutUnlogged("a", "1");
  Cancel();
  PutUnlogged("b", "2", family);
  PutUnlogged("c", "3");
  Put("d", "4");
  ASSERT_OK(db_->PauseBackgroundWork());
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
  ASSERT_OK(db_->Close());
  OpenFamilies({kDefaultColumnFamilyName, "f"});
  EXPECT_EQ(Contents(), "a=1 c=3 d=4 ");
  EXPECT_EQ(Contents(handles_[1]), "b=2 ");
}

TEST_F(CancelTest, AFamilyWhoseFlushFailsDoesNotKeepOthersFromTheirs) {
  const auto faults = std::make_shared<FaultFileSystem>(Env::Default()->EngineFiles());
  const std::unique_ptr<Env> env = NewCompositeEnv(faults);
  options_.env = env.get();
  Open();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "f", &family));
  PutUnlogged("a", "1");
  PutUnlogged("b", "2", family);
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
  FaultRule rule;  // fires once, at the table of the default family
  rule.operations = FaultOperation::kSync;
  rule.name_contains = ".sst";
  faults->AddRule(rule);
  const Status closed = db_->Close();
  EXPECT_TRUE(closed.IsIOError()) << closed.ToString();
  faults->ClearRules();
  OpenFamilies({kDefaultColumnFamilyName, "f"});
  EXPECT_EQ(Contents(handles_[1]), "b=2 ");
  Close();
}

TEST_F(CancelTest, CloseReportsAnErrorThatKeptUnloggedWritesFromTheirTable) {
  const auto faults = std::make_shared<FaultFileSystem>(Env::Default()->EngineFiles());
  const std::unique_ptr<Env> env = NewCompositeEnv(faults);
  options_.env = env.get();
  Open();
  PutUnlogged("a", "1");
  FaultRule rule;
  rule.operations = FaultOperation::kSync;
  rule.name_contains = ".sst";
  faults->AddRule(rule);
  EXPECT_TRUE(db_->Flush(FlushOptions()).IsIOError());
  faults->ClearRules();
  const Status closed = db_->Close();
  EXPECT_TRUE(closed.IsIOError()) << closed.ToString();
  Open();
  EXPECT_EQ(Get("a"), "NOT_FOUND");
  Close();
}

// A write acknowledged after the switch of the memtables would be in no table and in no log.
TEST_F(CancelTest, CloseRefusesWritesBeforeItFlushesThoseThatNoLogHas) {
  const auto faults = std::make_shared<FaultFileSystem>(Env::Default()->EngineFiles());
  const std::unique_ptr<Env> env = NewCompositeEnv(faults);
  options_.env = env.get();
  Open();
  PutUnlogged("a", "1");
  Status late;
  FaultRule rule;
  rule.operations = FaultOperation::kSync;
  rule.name_contains = ".sst";
  rule.effect = FaultEffect::kRunAction;
  rule.action = [&] {
    WriteOptions unlogged;
    unlogged.disableWAL = true;
    late = db_->Put(unlogged, "late", "2");
  };
  faults->AddRule(rule);
  ASSERT_OK(db_->Close());
  ExpectRefused(late, "Put");
  Open();
  EXPECT_EQ(Contents(), "a=1 ");
  Close();
}

// Tries to continue background work at the begin of each flush.
class ContinuingListener final : public EventListener {
 public:
  void OnFlushBegin(DB* db, const FlushJobInfo& /*info*/) override {
    ++flushes_;
    EXPECT_TRUE(db->ContinueBackgroundWork().IsInvalidArgument()) << "nothing is paused";
  }
  int flushes() const { return flushes_; }

 private:
  std::atomic<int> flushes_{0};
};

TEST_F(CancelTest, ItsFlushIsNoPauseThatAContinueEnds) {
  const auto listener = std::make_shared<ContinuingListener>();
  options_.listeners = {listener};
  Open();
  PutUnlogged("a", "1");
  Cancel();
  EXPECT_EQ(listener->flushes(), 1);
  PutUnlogged("b", "2");
  ASSERT_OK(db_->Close());
  EXPECT_EQ(listener->flushes(), 2);
  Open();
  EXPECT_EQ(Contents(), "a=1 b=2 ");
}

// ---- Threads.

TEST_F(CancelTest, TwoAtOnceEachFlushWhatWasWrittenBefore) {
  for (int round = 0; round < 8; ++round) {
    Open();
    std::vector<std::thread> threads;
    for (const char* const key : {"a", "b"}) {
      threads.emplace_back([this, key, round] {
        PutUnlogged(key, std::to_string(round));
        Cancel();
        EXPECT_EQ(GetFromFiles(key), std::to_string(round));
      });
    }
    for (std::thread& thread : threads) thread.join();
    ExpectRefused(db_->Flush(FlushOptions()), "Flush");
  }
}

TEST_F(CancelTest, ConcurrentlyWithCloseNothingIsLost) {
  for (int round = 0; round < 8; ++round) {
    const std::string value = std::to_string(round);
    Open();
    Put("logged", value);
    PutUnlogged("unlogged", value);
    std::thread canceler([this] { Cancel(); });
    EXPECT_OK(db_->Close());
    canceler.join();
    Open();
    EXPECT_EQ(Contents(), "logged=" + value + " unlogged=" + value + " ");
  }
}

}  // namespace
}  // namespace ashlar
