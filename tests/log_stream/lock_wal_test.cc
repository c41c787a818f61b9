// LockWAL and UnlockWAL: writers wait, and all other calls continue.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/format.h"
#include "filesystem/file_helpers.h"
#include "tests/engine/database_fixture.h"

namespace ashlar {
namespace {

class LockWalTest : public DatabaseFixture {
 protected:
  Status PutWithoutWaiting(const std::string& key) {
    WriteOptions options;
    options.no_slowdown = true;
    return db_->Put(options, key, "value");
  }
};

TEST_F(LockWalTest, IsCounted) {
  Open();
  EXPECT_TRUE(db_->UnlockWAL().IsAborted());
  ASSERT_OK(db_->LockWAL());
  ASSERT_OK(db_->LockWAL());
  EXPECT_TRUE(PutWithoutWaiting("a").IsIncomplete());
  ASSERT_OK(db_->UnlockWAL());
  EXPECT_TRUE(PutWithoutWaiting("a").IsIncomplete());
  ASSERT_OK(db_->UnlockWAL());
  EXPECT_OK(PutWithoutWaiting("a"));
  EXPECT_TRUE(db_->UnlockWAL().IsAborted());
}

TEST_F(LockWalTest, WritersWaitAndTheDatabaseStandsStill) {
  constexpr int kWriters = 4;
  Open();
  Put("a", "1");
  std::vector<std::thread> writers;
  std::atomic<int> written{0};
  for (int i = 0; i < kWriters; ++i) {
    writers.emplace_back([&, i] {
      for (int n = 0; n < 200; ++n) {
        EXPECT_OK(db_->Put(WriteOptions(), StrCat("key", i), StrCat(n)));
        written.fetch_add(1);
      }
    });
  }
  for (int round = 0; round < 50; ++round) {
    ASSERT_OK(db_->LockWAL());
    const SequenceNumber before = db_->GetLatestSequenceNumber();
    const std::string contents = Contents();
    // Reads and flushes continue.
    if (round % 10 == 0) Flush();
    EXPECT_EQ(Contents(), contents);
    EXPECT_EQ(db_->GetLatestSequenceNumber(), before);
    ASSERT_OK(db_->UnlockWAL());
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(written.load(), kWriters * 200);
  for (int i = 0; i < kWriters; ++i) EXPECT_EQ(Get(StrCat("key", i)), "199");
}

TEST_F(LockWalTest, BufferedWritesAreInTheFile) {
  options_.manual_wal_flush = true;
  Open();
  Put("a", std::string(1000, 'v'));
  ASSERT_OK(db_->LockWAL());
  VectorWalPtr logs;
  ASSERT_OK(db_->GetSortedWalFiles(logs));
  ASSERT_FALSE(logs.empty());
  const Result<std::string> bytes = ReadFileToString(
      vfs::FileSystem::Default().get(), path() + logs.back()->PathName(), size_t{1} << 30);
  ASSERT_TRUE(bytes.ok());
  EXPECT_NE(bytes->find(std::string(1000, 'v')), std::string::npos);
  ASSERT_OK(db_->UnlockWAL());
}

TEST_F(LockWalTest, CloseEndsTheWait) {
  Open();
  ASSERT_OK(db_->LockWAL());
  Status status;
  std::thread writer([&] { status = db_->Put(WriteOptions(), "a", "1"); });
  EXPECT_OK(db_->Close());
  writer.join();
  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(status.IsShutdownInProgress()) << status.ToString();
}

TEST_F(LockWalTest, AReadOnlyDatabaseHasNothingToLock) {
  Open();
  Close();
  ASSERT_OK(DB::OpenForReadOnly(options_, path(), &db_));
  EXPECT_TRUE(db_->LockWAL().IsNotSupported());
}

}  // namespace
}  // namespace ashlar
