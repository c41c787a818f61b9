// Databases that share a WriteBufferManager: their flushes, the waits of their writers, the end of
// each wait, and the release of all memory.
#include "ashlar/write_buffer_manager.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ashlar/cache.h"
#include "ashlar/convenience.h"
#include "ashlar/listener.h"
#include "platform/mutex.h"
#include "tests/engine/database_fixture.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/gate.h"
#include "tests/support/manual_env.h"

namespace ashlar {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kValueBytes = 1000;
constexpr size_t kBlockBytes = size_t{64} << 10;  // of an arena with a limit of a MiB

// Holds flushes at their begin until the gate is open, and records their reasons.
class FlushWatch final : public EventListener {
 public:
  explicit FlushWatch(Gate* gate) : gate_(gate) {}
  void OnFlushBegin(DB* /*db*/, const FlushJobInfo& info) override {
    {
      MutexLock lock(mutex_);
      reasons_.insert(info.flush_reason);
    }
    if (gate_ != nullptr) gate_->Wait();
  }
  std::set<FlushReason> reasons() const {
    MutexLock lock(mutex_);
    return reasons_;
  }

 private:
  Gate* const gate_;
  mutable Mutex mutex_;
  std::set<FlushReason> reasons_ ASHLAR_GUARDED_BY(mutex_);
};

class WriteBufferManagerTest : public DatabaseFixture {
 protected:
  WriteBufferManagerTest() {
    options_.write_buffer_size = 64 * kMiB;
    options_.disable_auto_compactions = true;
    options_.max_background_flushes = 2;  // one of them may wait at the gate
  }
  ~WriteBufferManagerTest() override {
    gate_.Open();
    CloseBoth();
  }

  void UseManager(size_t limit, bool allow_stall = false, std::shared_ptr<Cache> cache = nullptr) {
    options_.write_buffer_manager =
        std::make_shared<WriteBufferManager>(limit, std::move(cache), allow_stall);
    manager_ = options_.write_buffer_manager.get();
  }
  // Opens db_, whose flushes wait for the gate if holds_flushes is true, and other_.
  void OpenBoth(bool holds_flushes = false) {
    const Options shared = options_;
    watch_ = std::make_shared<FlushWatch>(holds_flushes ? &gate_ : nullptr);
    options_.listeners.push_back(watch_);
    Open();
    options_ = shared;
    ASSERT_OK(DB::Open(options_, scratch().File("other"), &other_));
  }
  void CloseBoth() {
    Close();
    other_.reset();
  }

  static Status PutNth(DB* db, int i) {
    return db->Put(WriteOptions(), std::to_string(i), std::string(kValueBytes, 'v'));
  }
  static void ExpectFirst(DB* db, int count) {
    std::string value;
    for (int i = 0; i < count; ++i) {
      ASSERT_OK(db->Get(ReadOptions(), std::to_string(i), &value));
      EXPECT_EQ(value.size(), kValueBytes) << i;
    }
  }
  static uint64_t NumberOf(DB* db, const std::string& property) {
    uint64_t value = 0;
    EXPECT_TRUE(db->GetIntProperty(property, &value)) << property;
    return value;
  }
  static uint64_t TableBytes(DB* db) { return NumberOf(db, "rocksdb.total-sst-files-size"); }
  // Writes until `db` has an immutable memtable. Returns the number of writes.
  int FillUntilSwitch(DB* db) {
    int count = 0;
    while (NumberOf(db, "rocksdb.num-immutable-mem-table") == 0 && count < 100000)
      EXPECT_OK(PutNth(db, count++));
    return count;
  }

  Gate gate_;
  WriteBufferManager* manager_ = nullptr;
  std::shared_ptr<FlushWatch> watch_;
  std::unique_ptr<DB> other_;
};

// ---- Flushes.

TEST_F(WriteBufferManagerTest, MemTablesThatTakeWritesStayWithinTheLimit) {
  UseManager(kMiB);
  OpenBoth();
  constexpr int kPuts = 8000;
  for (int i = 0; i < kPuts; ++i) {
    ASSERT_OK(PutNth(i % 3 == 0 ? other_.get() : db_.get(), i / 3));
    ASSERT_LE(manager_->mutable_memtable_memory_usage(), kMiB) << i;
  }
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_GT(TableBytes(db_.get()), kMiB);
  EXPECT_EQ(watch_->reasons(), std::set<FlushReason>{FlushReason::kWriteBufferManager});
  ExpectFirst(other_.get(), kPuts / 3);
}

TEST_F(WriteBufferManagerTest, TheLimitIsSharedByTwoDatabases) {
  UseManager(kMiB);
  OpenBoth();
  constexpr int kOfOther = 600;
  for (int i = 0; i < kOfOther; ++i) ASSERT_OK(PutNth(other_.get(), i));
  const size_t of_other = manager_->memory_usage();
  ASSERT_GT(of_other, kMiB / 2);
  for (int i = 0; i < kOfOther; ++i) ASSERT_OK(PutNth(db_.get(), i));
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_GT(TableBytes(db_.get()), 0u) << "alone it would be within the limit";
  EXPECT_EQ(TableBytes(other_.get()), 0u) << "it does not write";
  EXPECT_LE(manager_->mutable_memtable_memory_usage(), kMiB);
  ExpectFirst(db_.get(), kOfOther);
  ExpectFirst(other_.get(), kOfOther);
}

TEST_F(WriteBufferManagerTest, TheLargestMemTableOfAFamilyIsFlushed) {
  UseManager(kMiB);
  Open();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "large", &family));
  handles_.push_back(family);
  for (int i = 0; i < 900; ++i) {
    ColumnFamilyHandle* const written = i % 10 == 0 ? db_->DefaultColumnFamily() : family;
    ASSERT_OK(db_->Put(WriteOptions(), written, std::to_string(i), std::string(kValueBytes, 'v')));
  }
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  uint64_t bytes = 0;
  ASSERT_TRUE(db_->GetIntProperty(family, "rocksdb.total-sst-files-size", &bytes));
  EXPECT_GT(bytes, kMiB / 2);
  EXPECT_EQ(TableBytes(db_.get()), 0u);
}

TEST_F(WriteBufferManagerTest, ALowerLimitFlushesAtTheNextWrite) {
  UseManager(64 * kMiB);
  OpenBoth();
  for (int i = 0; i < 500; ++i) ASSERT_OK(PutNth(db_.get(), i));
  ASSERT_EQ(Tables(), 0);
  manager_->SetBufferSize(kMiB / 4);
  ASSERT_OK(PutNth(db_.get(), 500));
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(Tables(), 1);
  EXPECT_LE(manager_->memory_usage(), kMiB / 4);
  ExpectFirst(db_.get(), 501);
}

TEST_F(WriteBufferManagerTest, MemTablesThatWaitForMoreAreFlushedAtTheLimit) {
  UseManager(64 * kMiB);
  options_.write_buffer_size = 128 << 10;
  options_.max_write_buffer_number = 4;
  options_.min_write_buffer_number_to_merge = 3;
  OpenBoth();
  const int count = FillUntilSwitch(db_.get());
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  ASSERT_EQ(Number("rocksdb.num-immutable-mem-table"), 1u);
  manager_->SetBufferSize(manager_->memory_usage());
  ASSERT_OK(PutNth(db_.get(), count));
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(Number("rocksdb.num-immutable-mem-table"), 0u);
  EXPECT_EQ(Tables(), 1);
  ExpectFirst(db_.get(), count + 1);
}

// Flushes of the other database would free none of it, and each would be of one or two writes.
TEST_F(WriteBufferManagerTest, MemTablesOfAReadOnlyDatabaseMakeNoOtherFlushItsOwn) {
  options_.avoid_flush_during_shutdown = true;
  Open();
  for (int i = 0; i < 1000; ++i) ASSERT_OK(PutNth(db_.get(), i));
  Close();
  UseManager(kMiB / 2);
  ASSERT_OK(DB::OpenForReadOnly(options_, path(), &db_));
  EXPECT_GT(manager_->memory_usage(), kMiB / 2);
  EXPECT_EQ(manager_->mutable_memtable_memory_usage(), 0u);
  ASSERT_OK(DB::Open(options_, scratch().File("other"), &other_));
  for (int i = 0; i < 100; ++i) ASSERT_OK(PutNth(other_.get(), i));
  ASSERT_OK(other_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(TableBytes(other_.get()), 0u);
  ExpectFirst(db_.get(), 1000);
  ExpectFirst(other_.get(), 100);
}

// Otherwise each write would get its own memtable and wait for the flush of the one before.
TEST_F(WriteBufferManagerTest, MemTablesOfAnIdleDatabaseDoNotStopTheWritersOfAnother) {
  UseManager(kMiB);
  OpenBoth(/*holds_flushes=*/true);
  int of_other = 0;
  while (manager_->mutable_memtable_memory_usage() <= kMiB - kMiB / 8)
    ASSERT_OK(PutNth(other_.get(), of_other++));
  WriteOptions no_waits;
  no_waits.no_slowdown = true;
  constexpr int kPuts = 100;
  for (int i = 0; i < kPuts; ++i)
    ASSERT_OK(db_->Put(no_waits, std::to_string(i), std::string(kValueBytes, 'v'))) << i;
  EXPECT_EQ(NumberOf(db_.get(), "rocksdb.num-immutable-mem-table"), 1u);
  gate_.Open();
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  // The next flush includes what was written during the last one.
  ASSERT_OK(PutNth(db_.get(), kPuts));
  ExpectFirst(db_.get(), kPuts + 1);
  ExpectFirst(other_.get(), of_other);
}

TEST_F(WriteBufferManagerTest, ReplayedMemTablesAreFlushedAtTheFirstWrite) {
  options_.avoid_flush_during_recovery = true;
  options_.avoid_flush_during_shutdown = true;
  Open();
  for (int i = 0; i < 500; ++i) ASSERT_OK(PutNth(db_.get(), i));
  Close();
  UseManager(kMiB / 4);
  Open();
  EXPECT_GT(manager_->memory_usage(), kMiB / 4);
  ASSERT_EQ(Tables(), 0);
  ASSERT_OK(PutNth(db_.get(), 500));
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(Tables(), 1);
  ExpectFirst(db_.get(), 501);
}

// ---- Memory.

TEST_F(WriteBufferManagerTest, AllMemoryIsGivenBackWhenTheDatabasesAreClosed) {
  const std::shared_ptr<Cache> cache = NewLRUCache(64 * kMiB);
  UseManager(kMiB, /*allow_stall=*/true, cache);
  const std::shared_ptr<WriteBufferManager> manager = options_.write_buffer_manager;
  OpenBoth();
  EXPECT_EQ(manager->memory_usage(), 0u) << "empty memtables have no memory";
  for (int i = 0; i < 1500; ++i) {
    ASSERT_OK(PutNth(db_.get(), i));
    ASSERT_OK(PutNth(other_.get(), i));
  }
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  ASSERT_OK(other_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_GT(manager->memory_usage(), 0u);
  EXPECT_GE(manager->dummy_entries_in_cache_usage(), manager->memory_usage());
  EXPECT_EQ(cache->GetUsage(), manager->dummy_entries_in_cache_usage());
  CloseBoth();
  EXPECT_EQ(manager->memory_usage(), 0u);
  EXPECT_EQ(manager->mutable_memtable_memory_usage(), 0u);
  EXPECT_EQ(manager->dummy_entries_in_cache_usage(), 0u);
  EXPECT_EQ(cache->GetUsage(), 0u);
}

TEST_F(WriteBufferManagerTest, AFlushGivesItsMemoryBack) {
  UseManager(64 * kMiB);
  OpenBoth();
  for (int i = 0; i < 500; ++i) ASSERT_OK(PutNth(db_.get(), i));
  EXPECT_GT(manager_->memory_usage(), 500 * kValueBytes);
  Flush();
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(manager_->memory_usage(), 0u);
}

TEST_F(WriteBufferManagerTest, ACacheWithoutRoomFailsNoWrite) {
  UseManager(0, /*allow_stall=*/true, NewLRUCache(1000));
  OpenBoth();
  for (int i = 0; i < 500; ++i) ASSERT_OK(PutNth(db_.get(), i));
  EXPECT_EQ(manager_->dummy_entries_in_cache_usage(), 0u);
  EXPECT_GT(manager_->memory_usage(), 500 * kValueBytes) << "counted without a limit, too";
}

// ---- Waiting writers.

TEST_F(WriteBufferManagerTest, ManyWritersOfBothDatabasesFinish) {
  UseManager(kMiB, /*allow_stall=*/true);
  OpenBoth();
  constexpr int kThreads = 6;
  constexpr int kPutsOfDatabase = 6000;
  std::vector<std::thread> writers;
  for (int t = 0; t < kThreads; ++t) {
    writers.emplace_back([this, t] {
      DB* const db = t % 2 == 0 ? db_.get() : other_.get();
      for (int i = t / 2; i < kPutsOfDatabase; i += kThreads / 2) EXPECT_OK(PutNth(db, i));
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_FALSE(manager_->IsStallActive());
  ExpectFirst(db_.get(), kPutsOfDatabase);
  ExpectFirst(other_.get(), kPutsOfDatabase);
}

// A flush runs only when a writer waits for it.
class FlushingWriterTest : public WriteBufferManagerTest {
 protected:
  FlushingWriterTest() { options_.env = &env_; }
  ~FlushingWriterTest() override { CloseBoth(); }

  ManualEnv env_{Env::Default()->EngineFiles(), /*seed=*/1};
};

TEST_F(FlushingWriterTest, WithAllowStallAllMemTablesStayWithinTheLimit) {
  UseManager(kMiB, /*allow_stall=*/true);
  OpenBoth();
  for (int i = 0; i < 6000; ++i) {
    ASSERT_OK(PutNth(i % 2 == 0 ? db_.get() : other_.get(), i / 2));
    ASSERT_LE(manager_->memory_usage(), kMiB + 2 * kBlockBytes) << i;
  }
  ExpectFirst(db_.get(), 3000);
  ExpectFirst(other_.get(), 3000);
}

// A flush of db_ is held, and a writer of other_ waits for it.
class WaitingWriterTest : public WriteBufferManagerTest {
 protected:
  static constexpr int kPuts = 600;
  static constexpr int kPutsBefore = 100;

  WaitingWriterTest() { options_.env = env_.get(); }
  ~WaitingWriterTest() override {
    gate_.Open();
    if (writer_.joinable()) writer_.join();
    CloseBoth();
  }

  void HoldFlush() {
    UseManager(kMiB, /*allow_stall=*/true);
    OpenBoth(/*holds_flushes=*/true);
    for (int i = 0; i < kPutsBefore; ++i) EXPECT_OK(PutNth(other_.get(), i));
    FillUntilSwitch(db_.get());
  }
  void StartWriter() {
    writer_ = std::thread([this] {
      for (acknowledged_ = kPutsBefore; acknowledged_ < kPuts; ++acknowledged_) {
        written_ = PutNth(other_.get(), acknowledged_);
        if (!written_.ok()) return;
      }
    });
    while (!manager_->IsStallActive()) std::this_thread::yield();
  }
  void HoldFlushAndStartWriter() {
    HoldFlush();
    StartWriter();
  }
  void ExpectAllWritten() {
    writer_.join();
    EXPECT_OK(written_);
    ExpectFirst(other_.get(), kPuts);
    EXPECT_FALSE(manager_->IsStallActive());
  }

  const std::shared_ptr<FaultFileSystem> faults_ =
      std::make_shared<FaultFileSystem>(Env::Default()->EngineFiles());
  const std::unique_ptr<Env> env_ = NewCompositeEnv(faults_);
  std::thread writer_;
  Status written_;  // with acknowledged_: the writer's until it is joined
  int acknowledged_ = 0;
};

TEST_F(WaitingWriterTest, TheFlushOfTheOtherDatabaseEndsTheWait) {
  HoldFlushAndStartWriter();
  EXPECT_TRUE(manager_->ShouldStall());
  EXPECT_GE(manager_->memory_usage(), kMiB);
  EXPECT_EQ(NumberOf(other_.get(), "rocksdb.is-write-stopped"), 1u);
  gate_.Open();
  ExpectAllWritten();
  ASSERT_OK(PutNth(other_.get(), 0));
  EXPECT_EQ(NumberOf(other_.get(), "rocksdb.is-write-stopped"), 0u);
}

TEST_F(WaitingWriterTest, OthersDoNotWaitWithIt) {
  HoldFlushAndStartWriter();
  WriteOptions no_slowdown;
  no_slowdown.no_slowdown = true;
  EXPECT_TRUE(other_->Put(no_slowdown, "k", "v").IsIncomplete());
  EXPECT_TRUE(db_->Put(no_slowdown, "k", "v").IsIncomplete());
  EXPECT_OK(other_->SyncWAL());
  ColumnFamilyHandle* family = nullptr;
  EXPECT_OK(other_->CreateColumnFamily(ColumnFamilyOptions(options_), "f", &family));
  ASSERT_OK(other_->DestroyColumnFamilyHandle(family));
  std::string value;
  EXPECT_OK(other_->Get(ReadOptions(), "0", &value));
  EXPECT_OK(other_->Flush(FlushOptions()));
  gate_.Open();
  ExpectAllWritten();
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_OK(db_->Put(no_slowdown, "k", "v"))
      << "no waiting writer of this database noticed the end";
}

TEST_F(WaitingWriterTest, ChangedLimitsEndTheWait) {
  const std::vector<std::pair<std::string, std::function<void()>>> ends = {
      {"SetAllowStall", [this] { manager_->SetAllowStall(false); }},
      {"SetBufferSize", [this] { manager_->SetBufferSize(64 * kMiB); }},
      {"no limit", [this] { manager_->SetBufferSize(0); }}};
  HoldFlush();
  for (const auto& [name, end] : ends) {
    SCOPED_TRACE(name);
    StartWriter();
    end();
    ExpectAllWritten();
    manager_->SetBufferSize(kMiB);
    manager_->SetAllowStall(true);
  }
}

TEST_F(WaitingWriterTest, CloseEndsTheWait) {
  HoldFlushAndStartWriter();
  EXPECT_OK(other_->Close());
  writer_.join();
  EXPECT_TRUE(written_.IsShutdownInProgress()) << written_.ToString();
  EXPECT_LT(acknowledged_, kPuts);
  gate_.Open();
  other_.reset();
  ASSERT_OK(DB::Open(options_, scratch().File("other"), &other_));
  ExpectFirst(other_.get(), acknowledged_);
}

TEST_F(WaitingWriterTest, ACancelOfTheFlushEndsTheWait) {
  HoldFlushAndStartWriter();
  CancelAllBackgroundWork(db_.get(), /*wait=*/false);
  gate_.Open();
  ExpectAllWritten();
}

TEST_F(WaitingWriterTest, AFailedFlushEndsTheWaitWithItsError) {
  HoldFlushAndStartWriter();
  FaultRule rule;
  rule.operations = FaultOperation::kSync;
  rule.name_contains = ".sst";
  faults_->AddRule(rule);
  // A writer of the database whose flush fails waits too.
  Status refused;
  std::thread of_failed([this, &refused] {
    for (int i = 0; i < kPuts && refused.ok(); ++i) refused = PutNth(db_.get(), i);
  });
  while (Number("rocksdb.is-write-stopped") == 0) std::this_thread::yield();
  gate_.Open();
  of_failed.join();
  EXPECT_TRUE(refused.IsIOError()) << refused.ToString();
  ExpectAllWritten();
}

// ---- Without a flush, no writer waits.

TEST_F(WriteBufferManagerTest, PausedFlushesStopNoWriter) {
  UseManager(kMiB, /*allow_stall=*/true);
  options_.max_write_buffer_number = 100;
  OpenBoth();
  ASSERT_OK(db_->PauseBackgroundWork());
  for (int i = 0; i < 3000; ++i) ASSERT_OK(PutNth(db_.get(), i));
  EXPECT_GT(manager_->memory_usage(), 2 * kMiB);
  ASSERT_OK(db_->ContinueBackgroundWork());
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_LE(manager_->memory_usage(), kMiB);
}

TEST_F(WriteBufferManagerTest, AWriterWithIteratorsDoesNotWaitForItself) {
  UseManager(kMiB, /*allow_stall=*/true);
  OpenBoth();
  std::vector<std::unique_ptr<Iterator>> iterators;
  int count = 0;
  while (manager_->memory_usage() < 2 * kMiB) {
    ASSERT_OK(PutNth(db_.get(), count++));
    if (count % 100 == 0) iterators.emplace_back(db_->NewIterator(ReadOptions()));
  }
  ExpectFirst(db_.get(), count);
  iterators.clear();
  Flush();
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  EXPECT_EQ(manager_->memory_usage(), 0u);
}

}  // namespace
}  // namespace ashlar
