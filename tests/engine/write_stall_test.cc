// Writers that are slowed down or stopped: their total rate, the end of their wait, and the
// operations that do not wait with them.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tests/engine/database_fixture.h"

namespace ashlar {
namespace {

class WriteStallTest : public DatabaseFixture {
 protected:
  WriteStallTest() {
    options_.disable_auto_compactions = true;
    options_.level0_file_num_compaction_trigger = 1;
  }
  // Level 0 has more files than it may have; compactions are allowed, and paused.
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
  // Every memtable waits for its flush; flushes are paused. Returns the writer that is stopped; it
  // ends with the pause.
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

}  // namespace
}  // namespace ashlar
