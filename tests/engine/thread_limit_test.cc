// A database in a process for which the system allows few threads or none.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ashlar/convenience.h"
#include "ashlar/db.h"
#include "ashlar/repair.h"
#include "base/format.h"
#include "execute/clock.h"
#include "execute/thread_pool_executor.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/expect_ok.h"
#include "tests/support/gate.h"
#include "tests/support/manual_env.h"

namespace ashlar {
namespace {

// A pool that starts without threads, and a system that allows it some.
class LimitedExecutor final : public Executor {
 public:
  LimitedExecutor() : pool_(ThreadPoolExecutor::Start({.high_threads = 0, .low_threads = 0})) {}

  // Sets how many threads may still be started.
  void Allow(int threads) { allowed_ = threads; }

  [[nodiscard]] bool Schedule(Priority priority, std::function<void()> job) override {
    return pool().Schedule(priority, std::move(job));
  }
  [[nodiscard]] bool ScheduleAfter(uint64_t delay_us, Priority priority,
                                   std::function<void()> job) override {
    return pool().ScheduleAfter(delay_us, priority, std::move(job));
  }
  [[nodiscard]] bool ScheduleOf(const void* owner, Priority priority,
                                std::function<void()> job) override {
    return pool().ScheduleOf(owner, priority, std::move(job));
  }
  Status SetBackgroundThreads(int threads, Priority priority) override {
    return pool().SetBackgroundThreads(threads, priority);
  }
  Status RaiseBackgroundThreads(int threads, Priority priority) override {
    for (int own = pool().GetBackgroundThreads(priority); own < threads; ++own) {
      if (allowed_ == 0) return Status::TryAgain("start thread", "none is left");
      --allowed_;
      const Status raised = pool().RaiseBackgroundThreads(own + 1, priority);
      if (!raised.ok()) return raised;
    }
    return Status::OK();
  }
  int GetBackgroundThreads(Priority priority) const override {
    return (*pool_)->GetBackgroundThreads(priority);
  }
  size_t QueuedJobs(Priority priority) const override { return (*pool_)->QueuedJobs(priority); }
  void WaitForIdle() override { pool().WaitForIdle(); }
  void Shutdown() override { pool().Shutdown(); }
  bool RunJobWhileWaiting() override { return false; }
  void RunQueuedJobs(const void* owner) override { pool().RunQueuedJobs(owner); }

 private:
  ThreadPoolExecutor& pool() { return **pool_; }

  const Result<std::unique_ptr<ThreadPoolExecutor>> pool_;
  int allowed_ = 0;
};

class LimitedEnv final : public WorldEnv {
 public:
  LimitedEnv() : WorldEnv(std::make_shared<MemoryFileSystem>()), clock_(MachineClock()) {}

  void Allow(int threads) { executor_.Allow(threads); }
  int Threads(Executor::Priority priority) const {
    return executor_.GetBackgroundThreads(priority);
  }

  void SetBackgroundThreads(int, Priority) override {}
  void IncBackgroundThreadsIfNeeded(int number, Priority pri) override {
    static_cast<void>(executor_.RaiseBackgroundThreads(number, LaneOf(pri)).ok());
  }
  int GetBackgroundThreads(Priority pri) override { return Threads(LaneOf(pri)); }
  Executor* executor() override { return &executor_; }
  Clock* clock() override { return clock_.get(); }

 private:
  static Executor::Priority LaneOf(Priority pri) {
    return pri == HIGH ? Executor::Priority::kHigh : Executor::Priority::kLow;
  }

  const std::shared_ptr<Clock> clock_;
  LimitedExecutor executor_;
};

class ThreadLimitTest : public testing::Test {
 protected:
  ThreadLimitTest() {
    options_.env = &env_;
    options_.create_if_missing = true;
    options_.error_if_exists = true;
    options_.info_log = std::make_shared<SilentLogger>();
    options_.max_background_jobs = 16;  // 4 of them are for flushes
  }

  Status Open() { return DB::Open(options_, "/db", &db_); }
  // Makes a database with one write and closes it.
  void Create() {
    env_.Allow(2);
    ASSERT_OK(Open());
    ASSERT_OK(db_->Put(WriteOptions(), "key", "value"));
    ASSERT_OK(db_->Close());
    db_.reset();
    options_.error_if_exists = false;
  }

  LimitedEnv env_;
  Options options_;
  std::unique_ptr<DB> db_;
};

// Otherwise the first flush would wait forever.
TEST_F(ThreadLimitTest, AnOpenFailsIfOnePriorityHasNoThread) {
  for (const int threads : {0, 1}) {
    env_.Allow(threads);
    const Status opened = Open();
    ASSERT_TRUE(opened.IsTryAgain()) << opened.ToString();
    EXPECT_NE(opened.ToString().find("none is left"), std::string::npos) << opened.ToString();
    EXPECT_NE(opened.ToString().find("max_background_jobs"), std::string::npos);
    // Nothing was created.
    EXPECT_TRUE(env_.FileExists("/db").IsNotFound());
  }
  env_.Allow(1);
  ASSERT_OK(Open());
}

TEST_F(ThreadLimitTest, OneThreadOfEachPriorityRunsEverything) {
  env_.Allow(2);
  ASSERT_OK(Open());
  EXPECT_EQ(env_.Threads(Executor::Priority::kHigh), 1);
  EXPECT_EQ(env_.Threads(Executor::Priority::kLow), 1);
  for (int i = 0; i < 8; ++i) {
    ASSERT_OK(db_->Put(WriteOptions(), StrCat("key", i), "value"));
    ASSERT_OK(db_->Put(WriteOptions(), "last", "value"));
    ASSERT_OK(db_->Flush(FlushOptions()));
  }
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  std::string tables;
  ASSERT_TRUE(db_->GetProperty("rocksdb.num-files-at-level0", &tables));
  EXPECT_LT(std::stoi(tables), options_.level0_file_num_compaction_trigger);
}

TEST_F(ThreadLimitTest, AChangeOfOptionsGoesOnWithTheThreadsThatThereAre) {
  env_.Allow(3);
  ASSERT_OK(Open());
  ASSERT_OK(db_->SetDBOptions({{"max_background_jobs", "32"}}));
  EXPECT_EQ(env_.Threads(Executor::Priority::kHigh), 2);
  EXPECT_EQ(env_.Threads(Executor::Priority::kLow), 1);
}

// The threads are busy with long jobs of other databases, or with functions of the program, which
// may even wait for the call.
class BusyThreadsTest : public ThreadLimitTest {
 protected:
  ~BusyThreadsTest() override { Release(); }

  // Makes a flush and a compaction wait for a thread.
  void OpenAndQueueJobs() {
    env_.Allow(2);
    options_.level0_file_num_compaction_trigger = 2;
    ASSERT_OK(Open());
    WriteTwice("a");
    ASSERT_OK(db_->Flush(FlushOptions()));
    KeepBusy(Executor::Priority::kLow);
    WriteTwice("b");
    ASSERT_OK(db_->Flush(FlushOptions()));
    KeepBusy(Executor::Priority::kHigh);
    WriteTwice("c");
    FlushOptions no_wait;
    no_wait.wait = false;
    ASSERT_OK(db_->Flush(no_wait));
    for (const auto priority : {Executor::Priority::kHigh, Executor::Priority::kLow})
      EXPECT_EQ(env_.executor()->QueuedJobs(priority), 1u);
  }
  void Release() {
    release_.Open();
    env_.executor()->WaitForIdle();
  }
  void ExpectAll() {
    for (const char* const key : {"a", "b", "c", "shared"}) {
      std::string value;
      EXPECT_OK(db_->Get(ReadOptions(), key, &value)) << key;
    }
  }
  void Reopen() {
    db_.reset();
    options_.error_if_exists = false;
    ASSERT_OK(Open());
  }

 private:
  // Occupies the thread until Release.
  void KeepBusy(Executor::Priority priority) {
    Gate& begun = begun_[static_cast<int>(priority)];
    ASSERT_TRUE(env_.executor()->Schedule(priority, [this, &begun] {
      begun.Open();
      release_.Wait();
    }));
    begun.Wait();
  }
  void WriteTwice(const std::string& key) {
    ASSERT_OK(db_->Put(WriteOptions(), key, "value"));
    ASSERT_OK(db_->Put(WriteOptions(), "shared", "value"));
  }

  Gate begun_[Executor::kPriorities];
  Gate release_;
};

TEST_F(BusyThreadsTest, ACloseDoesNotWaitForThem) {
  OpenAndQueueJobs();
  ASSERT_OK(db_->Close());
  Release();
  Reopen();
  ExpectAll();
}

TEST_F(BusyThreadsTest, NorDoesTheDestructor) {
  OpenAndQueueJobs();
  db_.reset();
  Release();
  Reopen();
  ExpectAll();
}

TEST_F(BusyThreadsTest, NorDoesACloseThatFlushes) {
  OpenAndQueueJobs();
  WriteOptions unlogged;
  unlogged.disableWAL = true;
  ASSERT_OK(db_->Put(unlogged, "unlogged", "value"));
  ASSERT_OK(db_->Close());
  Release();
  Reopen();
  ExpectAll();
  std::string value;
  EXPECT_OK(db_->Get(ReadOptions(), "unlogged", &value));
}

TEST_F(BusyThreadsTest, NorDoesACancelThatWaits) {
  OpenAndQueueJobs();
  CancelAllBackgroundWork(db_.get(), /*wait=*/true);
  ASSERT_OK(db_->Close());
  Release();
  Reopen();
  ExpectAll();
}

TEST_F(BusyThreadsTest, NorDoesAPauseAfterWhichTheJobsAreQueuedAgain) {
  OpenAndQueueJobs();
  ASSERT_OK(db_->PauseBackgroundWork());
  for (const auto priority : {Executor::Priority::kHigh, Executor::Priority::kLow})
    EXPECT_EQ(env_.executor()->QueuedJobs(priority), 0u);
  ASSERT_OK(db_->ContinueBackgroundWork());
  Release();
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  std::string memtables;
  ASSERT_TRUE(db_->GetProperty("rocksdb.num-immutable-mem-table", &memtables));
  EXPECT_EQ(memtables, "0");
  ExpectAll();
}

// Each runs in a process that has no threads yet.
TEST_F(ThreadLimitTest, APromotionAndARepairFailBeforeTheyChangeAFile) {
  Create();
  LimitedEnv other;
  CompositeEnv files(env_.EngineFiles(), &other);
  options_.env = &files;
  std::unique_ptr<DB> secondary;
  ASSERT_OK(DB::OpenAsSecondary(options_, "/db", "/secondary", &secondary));
  std::vector<std::string> before;
  ASSERT_OK(env_.GetChildren("/db", &before));

  const Status promoted = secondary->PromoteToPrimary();
  EXPECT_TRUE(promoted.IsTryAgain()) << promoted.ToString();
  EXPECT_TRUE(secondary->IsSecondary());
  const Status repaired = RepairDB("/db", options_);
  EXPECT_TRUE(repaired.IsTryAgain()) << repaired.ToString();
  std::vector<std::string> after;
  ASSERT_OK(env_.GetChildren("/db", &after));
  EXPECT_EQ(after, before);

  other.Allow(2);
  ASSERT_OK(secondary->PromoteToPrimary());
  ASSERT_OK(secondary->Flush(FlushOptions()));
  std::string value;
  ASSERT_OK(secondary->Get(ReadOptions(), "key", &value));
  EXPECT_EQ(value, "value");
}

}  // namespace
}  // namespace ashlar
