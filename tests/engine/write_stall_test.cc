// Writers that are slowed down or stopped: their total rate, the end of their wait, and the
// operations that do not wait with them.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/rate_limiter.h"
#include "ashlar/statistics.h"
#include "tests/engine/database_fixture.h"
#include "tests/support/manual_env.h"

namespace ashlar {
namespace {

class WriteStallTest : public DatabaseFixture {
 protected:
  WriteStallTest() {
    options_.disable_auto_compactions = true;
    options_.level0_file_num_compaction_trigger = 1;
  }
  // Fills level 0 beyond its slowdown trigger. Compactions are enabled, but paused.
  void SlowDown(uint64_t bytes_per_second) {
    options_.delayed_write_rate = bytes_per_second;
    options_.level0_slowdown_writes_trigger = 1;
    options_.level0_stop_writes_trigger = 1000;
    Open();
    for (int i = 0; i < 2; ++i) {
      Put("a", "b");
      Flush();
    }
    ASSERT_OK(db_->PauseBackgroundWork());
    ASSERT_OK(db_->SetOptions({{"disable_auto_compactions", "false"}}));
    ASSERT_GT(Number("rocksdb.actual-delayed-write-rate"), 0u);
  }
  // Pauses flushes, so that every memtable waits for one. Returns the stopped writer, which ends
  // when the pause does.
  std::thread StopWriters() {
    options_.write_buffer_size = 64 << 10;
    options_.max_write_buffer_number = 2;
    Open();
    EXPECT_OK(db_->PauseBackgroundWork());
    std::thread writer([this] {
      for (int i = 0; i < 200; ++i)
        EXPECT_OK(db_->Put(WriteOptions(), std::to_string(i), std::string(1000, 'v')));
    });
    while (Number("rocksdb.is-write-stopped") == 0) std::this_thread::yield();
    return writer;
  }
};

TEST_F(WriteStallTest, AllWritersTogetherGetTheDelayedRate) {
  constexpr uint64_t kRate = 256 << 10;
  constexpr int kWriters = 8;
  constexpr int kPuts = 16;
  constexpr size_t kValueBytes = 1000;
  SlowDown(kRate);
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> writers;
  for (int t = 0; t < kWriters; ++t) {
    writers.emplace_back([&, t] {
      for (int i = 0; i < kPuts; ++i)
        EXPECT_OK(db_->Put(WriteOptions(), std::to_string(t) + "k" + std::to_string(i),
                           std::string(kValueBytes, 'x')));
    });
  }
  for (std::thread& writer : writers) writer.join();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_LE(kWriters * kPuts * kValueBytes / seconds, kRate * 1.05);
  ASSERT_OK(db_->ContinueBackgroundWork());
}

TEST_F(WriteStallTest, ItsTimeIsCountedAtALevelWithoutTimes) {
  options_.statistics = CreateDBStatistics();
  options_.statistics->set_stats_level(kExceptTimers);
  SlowDown(256 << 10);
  const uint64_t before = options_.statistics->getTickerCount(STALL_MICROS);
  ASSERT_OK(db_->Put(WriteOptions(), "a", std::string(16 << 10, 'x')));  // 1/16 s at that rate
  EXPECT_GT(options_.statistics->getTickerCount(STALL_MICROS) - before, 30000u);
  HistogramData stalls;
  options_.statistics->histogramData(WRITE_STALL, &stalls);
  EXPECT_EQ(stalls.count, 0u);
  ASSERT_OK(db_->ContinueBackgroundWork());
}

// The rate that SetDBOptions sets in a database that was opened with another rate.
class ChangedRateTest : public WriteStallTest {
 protected:
  static constexpr uint64_t kRate = 64 << 10;

  // One table on level 0 slows writers down, and no compaction removes it.
  void OpenAndChangeTheRate() {
    options_.disable_auto_compactions = false;
    options_.delayed_write_rate = 1 << 20;
    options_.level0_slowdown_writes_trigger = 1;
    options_.level0_stop_writes_trigger = 1000;
    Open();
    db_->AbortAllCompactions();
    ASSERT_OK(db_->SetDBOptions({{"delayed_write_rate", std::to_string(kRate)}}));
  }
  void ExpectTheRateIn(ColumnFamilyHandle* family) {
    ASSERT_OK(db_->Put(WriteOptions(), family, "a", "b"));
    ASSERT_OK(db_->Flush(FlushOptions(), family));
    EXPECT_EQ(Number("rocksdb.actual-delayed-write-rate"), kRate);
    db_->ResumeAllCompactions();
  }
};

TEST_F(ChangedRateTest, AChangeOfAFamilyKeepsIt) {
  OpenAndChangeTheRate();
  ASSERT_OK(db_->SetOptions({{"max_sequential_skip_in_iterations", "9"}}));
  ExpectTheRateIn(db_->DefaultColumnFamily());
}

TEST_F(ChangedRateTest, ANewFamilyHasIt) {
  OpenAndChangeTheRate();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "new", &family));
  ExpectTheRateIn(family);
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
}

// A class of the program, whose rate may depend on properties of the database.
class AskedLimiter final : public RateLimiter {
 public:
  void SetBytesPerSecond(int64_t /*bytes_per_second*/) override {}
  int64_t GetBytesPerSecond() const override {
    ++times_asked_;
    return 1 << 20;
  }
  int64_t GetSingleBurstBytes() const override { return 1 << 20; }
  int64_t GetTotalBytesThrough(IORequestPriority /*priority*/) const override { return 0; }
  int64_t GetTotalRequests(IORequestPriority /*priority*/) const override { return 0; }
  int times_asked() const { return times_asked_; }

 private:
  mutable std::atomic<int> times_asked_{0};
};

// A change of options would ask it under the database mutex, for which its answer might wait.
TEST_F(WriteStallTest, TheLimiterIsAskedForItsRateByTheOpenAlone) {
  const auto limiter = std::make_shared<AskedLimiter>();
  options_.rate_limiter = limiter;
  Open();
  const int of_open = limiter->times_asked();
  EXPECT_GT(of_open, 0);
  ASSERT_OK(db_->SetOptions({{"max_sequential_skip_in_iterations", "9"}}));
  ASSERT_OK(db_->SetDBOptions({{"max_subcompactions", "2"}}));
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "new", &family));
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
  EXPECT_EQ(limiter->times_asked(), of_open);
}

TEST_F(WriteStallTest, ALargeWriteStopsWaitingWhenTheSlowdownEnds) {
  SlowDown(16 << 10);
  std::atomic<bool> began{false};
  std::thread writer([&] {
    began.store(true);
    EXPECT_OK(db_->Put(WriteOptions(), "big", std::string(8 << 20, 'v')));  // 512 s at that rate
  });
  while (!began.load()) std::this_thread::yield();
  ASSERT_OK(db_->ContinueBackgroundWork());
  ASSERT_OK(db_->WaitForCompact(WaitForCompactOptions()));
  ASSERT_OK(db_->Put(WriteOptions(), "small", "v"));
  writer.join();
  EXPECT_EQ(Get("big").size(), size_t{8} << 20);
}

TEST_F(WriteStallTest, AWriterThatIsSlowedDownLetsOthersThrough) {
  SlowDown(16 << 10);
  std::atomic<bool> began{false};
  std::atomic<bool> ended{false};
  std::thread writer([&] {
    began.store(true);
    EXPECT_OK(db_->Put(WriteOptions(), "big", std::string(8 << 20, 'v')));
    ended.store(true);
  });
  while (!began.load()) std::this_thread::yield();
  EXPECT_OK(db_->SyncWAL());
  ColumnFamilyHandle* family = nullptr;
  EXPECT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "f", &family));
  WriteOptions no_slowdown;
  no_slowdown.no_slowdown = true;
  EXPECT_TRUE(db_->Put(no_slowdown, "k", "v").IsIncomplete());
  EXPECT_FALSE(ended.load());
  ASSERT_OK(db_->ContinueBackgroundWork());
  writer.join();
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
}

TEST_F(WriteStallTest, SyncsAndFamiliesDoNotWaitForStoppedWriters) {
  std::thread writer = StopWriters();
  EXPECT_OK(db_->SyncWAL());
  ColumnFamilyHandle* family = nullptr;
  EXPECT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "f", &family));
  WriteOptions no_slowdown;
  no_slowdown.no_slowdown = true;
  EXPECT_TRUE(db_->Put(no_slowdown, "k", "v").IsIncomplete());
  EXPECT_EQ(Number("rocksdb.is-write-stopped"), 1u);
  ASSERT_OK(db_->ContinueBackgroundWork());
  writer.join();
  for (int i = 0; i < 200; ++i) EXPECT_EQ(Get(std::to_string(i)).size(), 1000u);
  ASSERT_OK(db_->DestroyColumnFamilyHandle(family));
}

TEST_F(WriteStallTest, MemTablesNeverExceedTheirNumberByMoreThanOne) {
  std::thread writer = StopWriters();
  std::vector<std::thread> more;
  for (int t = 0; t < 4; ++t) {
    more.emplace_back([this, t] {
      EXPECT_OK(db_->Put(WriteOptions(), "more" + std::to_string(t), std::string(60000, 'v')));
    });
  }
  EXPECT_OK(db_->SyncWAL());
  EXPECT_LE(Number("rocksdb.num-immutable-mem-table"), 2u);
  ASSERT_OK(db_->ContinueBackgroundWork());
  writer.join();
  for (std::thread& thread : more) thread.join();
}

// A writer checks its request and waits for memtables. During the wait a background job drops its
// family, so that only the commit leader can detect it.
class DropDuringStallTest : public WriteStallTest {
 protected:
  // Writes until one write waits. Returns the status of that write.
  Status WriteWhileTheFamilyIsDropped(
      const std::function<Status(ColumnFamilyHandle*, const std::string& value)>& write) {
    ManualEnv env(Env::Default()->EngineFiles(), /*seed=*/1);
    options_.env = &env;
    options_.write_buffer_size = 64 << 10;
    options_.max_write_buffer_number = 2;
    Open();
    ColumnFamilyHandle* family = nullptr;
    EXPECT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "f", &family));
    EXPECT_OK(db_->PauseBackgroundWork());
    bool dropped = false;
    EXPECT_TRUE(env.manual_executor()->Schedule(Executor::Priority::kHigh, [&] {
      EXPECT_OK(db_->DropColumnFamily(family));
      EXPECT_OK(db_->ContinueBackgroundWork());
      dropped = true;
    }));
    Status status;
    for (uint64_t i = 0; i < 1000 && !dropped; ++i) {
      EXPECT_OK(status);
      acknowledged_ = i;
      status = write(family, std::string(1000, 'v'));
    }
    EXPECT_TRUE(dropped);
    std::string value;
    found_ = db_->Get(ReadOptions(), family, std::to_string(acknowledged_), &value);
    last_sequence_ = db_->GetLatestSequenceNumber();
    EXPECT_OK(db_->DestroyColumnFamilyHandle(family));
    Close();
    options_.env = Env::Default();
    return status;
  }

  // The number of writes before the one that waited, which is also its key.
  uint64_t acknowledged_ = 0;
  Status found_;  // for a Get of that key through the handle of the dropped family
  SequenceNumber last_sequence_ = 0;  // after the write that waited
};

TEST_F(DropDuringStallTest, AnEntryIsRefused) {
  options_.statistics = CreateDBStatistics();
  const Status status =
      WriteWhileTheFamilyIsDropped([&](ColumnFamilyHandle* family, const std::string& value) {
        return db_->Put(WriteOptions(), family, std::to_string(acknowledged_), value);
      });
  EXPECT_TRUE(status.IsColumnFamilyDropped()) << status.ToString();
  EXPECT_TRUE(found_.IsNotFound()) << found_.ToString();
  EXPECT_EQ(last_sequence_, acknowledged_);  // a refused request takes no sequence
  EXPECT_EQ(options_.statistics->getTickerCount(WRITE_DONE_BY_SELF), acknowledged_);
  HistogramData bytes;
  options_.statistics->histogramData(BYTES_PER_WRITE, &bytes);
  EXPECT_EQ(bytes.count, acknowledged_);
}

TEST_F(DropDuringStallTest, ABatchIsRefusedAsAWhole) {
  const Status status =
      WriteWhileTheFamilyIsDropped([&](ColumnFamilyHandle* family, const std::string& value) {
        WriteBatch batch;
        EXPECT_OK(batch.Put(family, std::to_string(acknowledged_), value));
        EXPECT_OK(batch.Put("other" + std::to_string(acknowledged_), "v"));
        return db_->Write(WriteOptions(), &batch);
      });
  EXPECT_TRUE(status.IsInvalidArgument()) << status.ToString();
  Open();
  EXPECT_EQ(Get("other" + std::to_string(acknowledged_)), "NOT_FOUND");
  EXPECT_EQ(Get("other" + std::to_string(acknowledged_ - 1)), "v");
}

TEST_F(DropDuringStallTest, ABatchThatIgnoresMissingFamiliesIsNotRefused) {
  const Status status =
      WriteWhileTheFamilyIsDropped([&](ColumnFamilyHandle* family, const std::string& value) {
        WriteBatch batch;
        EXPECT_OK(batch.Put(family, std::to_string(acknowledged_), value));
        EXPECT_OK(batch.Put("other" + std::to_string(acknowledged_), "v"));
        WriteOptions options;
        options.ignore_missing_column_families = true;
        return db_->Write(options, &batch);
      });
  EXPECT_OK(status);
  Open();
  EXPECT_EQ(Get("other" + std::to_string(acknowledged_)), "v");
}

}  // namespace
}  // namespace ashlar
