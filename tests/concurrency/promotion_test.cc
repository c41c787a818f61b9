// Several threads promote, update, read, write and close one secondary at once. One promotion
// succeeds, after the primary has ended. Readers see growing prefixes before, during and after it,
// and no acknowledged write is lost.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "base/format.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/expect_ok.h"
#include "tests/support/manual_env.h"

namespace ashlar {
namespace {

constexpr char kPath[] = "/db";

class PromotionThreads : public ::testing::Test {
 protected:
  PromotionThreads() : env_(NewCompositeEnv(std::make_shared<MemoryFileSystem>())) {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.write_buffer_size = 64 << 10;
    options_.level0_file_num_compaction_trigger = 2;
    options_.max_manifest_file_size = 2000;
  }

  // Writes the same number to three keys.
  Status Write(DB* db, uint64_t number) {
    const std::string value = StrCat(1000000 + number, std::string(300, 'v'));
    WriteBatch batch;
    EXPECT_OK(batch.Put("a", value));
    EXPECT_OK(batch.Put(StrCat("k", number % 50), value));
    EXPECT_OK(batch.Put("z", value));
    return db->Write(WriteOptions(), &batch);
  }
  static uint64_t NumberIn(const Slice& value) {
    return std::stoull(std::string(value.data(), 7)) - 1000000;
  }
  uint64_t Read(DB* db, const ReadOptions& options = ReadOptions()) {
    const std::unique_ptr<Iterator> it(db->NewIterator(options));
    it->SeekToFirst();
    if (!it->Valid()) {
      EXPECT_OK(it->status());
      return 0;
    }
    const uint64_t number = NumberIn(it->value());
    uint64_t last = number;
    for (; it->Valid(); it->Next()) last = NumberIn(it->value());
    EXPECT_OK(it->status());
    EXPECT_EQ(last, number) << "half of a batch";
    return number;
  }
  void OpenPrimary() { ASSERT_OK(DB::Open(options_, kPath, &primary_)); }
  void OpenSecondary() { ASSERT_OK(DB::OpenAsSecondary(options_, kPath, "/own", &secondary_)); }

  const std::unique_ptr<Env> env_;
  Options options_;
  std::unique_ptr<DB> primary_;
  std::unique_ptr<DB> secondary_;
};

TEST_F(PromotionThreads, OneSucceedsWhileOthersCatchUpReadAndWrite) {
  constexpr int kRounds = 6;
  constexpr uint64_t kBatches = 300;
  uint64_t number = 0;
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    OpenPrimary();
    for (uint64_t i = 0; i < kBatches; ++i) ASSERT_OK(Write(primary_.get(), ++number));
    OpenSecondary();
    DB* const db = secondary_.get();
    std::atomic<bool> primary_is_gone{false};
    std::atomic<bool> ends{false};
    std::atomic<int> successes{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&] {
        while (!ends.load()) {
          const Status caught_up = db->TryCatchUpWithPrimary();
          if (caught_up.IsNotSupported()) return;  // promoted
          ASSERT_OK(caught_up);
        }
      });
      threads.emplace_back([&] {
        while (db->IsSecondary()) {
          const bool may_succeed = primary_is_gone.load();
          const Status promoted = db->PromoteToPrimary();
          if (promoted.ok()) {
            ++successes;
          } else if (!promoted.IsNotSupported()) {
            ASSERT_TRUE(promoted.IsBusy() && !may_succeed) << promoted.ToString();
          }
        }
      });
      threads.emplace_back([&] {
        uint64_t seen = 0;
        while (!ends.load()) {
          const uint64_t now = Read(db);
          ASSERT_GE(now, seen) << "a reader went back";
          seen = now;
        }
      });
    }
    for (uint64_t i = 0; i < kBatches; ++i) ASSERT_OK(Write(primary_.get(), ++number));
    primary_.reset();
    primary_is_gone.store(true);
    uint64_t written = 0;
    while (written < kBatches && !HasFailure()) {
      const Status status = Write(db, number + 1);
      if (status.IsNotSupported()) continue;  // not promoted yet
      ASSERT_OK(status);
      ++number;
      ++written;
    }
    ends.store(true);
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(successes.load(), 1);
    EXPECT_EQ(Read(db), number);
    Status closed[2];
    std::thread other([&] { closed[1] = db->Close(); });
    closed[0] = db->Close();
    other.join();
    EXPECT_OK(closed[0]);
    EXPECT_OK(closed[1]);
    secondary_.reset();
  }
  OpenPrimary();
  EXPECT_EQ(Read(primary_.get()), number);
}

TEST_F(PromotionThreads, ACloseComesBeforeOrAfterIt) {
  constexpr int kRounds = 40;
  uint64_t number = 0;
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    OpenPrimary();
    for (int i = 0; i < 20; ++i) ASSERT_OK(Write(primary_.get(), ++number));
    OpenSecondary();
    primary_.reset();
    Status promoted;
    std::thread promotes([&] { promoted = secondary_->PromoteToPrimary(); });
    std::thread catches_up([&] { static_cast<void>(secondary_->TryCatchUpWithPrimary().ok()); });
    const Status closed = secondary_->Close();
    promotes.join();
    catches_up.join();
    EXPECT_OK(closed);
    EXPECT_TRUE(promoted.ok() || promoted.IsShutdownInProgress()) << promoted.ToString();
    secondary_.reset();
  }
  OpenPrimary();
  EXPECT_EQ(Read(primary_.get()), number);
}

}  // namespace
}  // namespace ashlar
