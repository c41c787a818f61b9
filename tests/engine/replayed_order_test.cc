// Logs whose writes are newer than a level-0 table that is above them by its sequences. RocksDB
// 7.10 and later makes it by a merge in level 0 of files ingested before and after the writes.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "ashlar/write_batch.h"
#include "filesystem/filename.h"
#include "filesystem/memory_file_system.h"
#include "key/write_batch_internal.h"
#include "tests/engine/database_fixture.h"
#include "tests/support/check_invariants.h"
#include "tests/support/file_damage.h"
#include "wal/log_writer.h"

namespace ashlar {
namespace {

class ReplayedOrderTest : public DatabaseFixture {
 protected:
  ReplayedOrderTest() { options_.disable_auto_compactions = true; }
  ~ReplayedOrderTest() override { secondary_.reset(); }

  // Makes a table of b to f with the sequences 1 to 3, and a log with this batch.
  void Fill(WriteBatch batch, SequenceNumber sequence) {
    Open();
    Put("b", "old");
    Put("d", "old");
    Put("f", "old");
    Flush();
    ASSERT_OK(db_->Close());
    Close();
    WriteBatchInternal::SetSequence(&batch, sequence);
    std::string log;
    for (const auto& entry : std::filesystem::directory_iterator(path())) {
      if (entry.path().extension() == ".log") log = std::max(log, entry.path().filename().string());
    }
    uint64_t number = 0;
    FileType type;
    ASSERT_TRUE(ParseFileName(log, &number, &type));
    const std::string bytes = LogOf(batch.Data(), number);
    std::ofstream(std::filesystem::path(path()) / log, std::ios::binary) << bytes;
  }
  static WriteBatch PutOf(const std::string& key) {
    WriteBatch batch;
    EXPECT_OK(batch.Put(key, kNew));
    return batch;
  }

  void ExpectRefused(const Status& status) {
    EXPECT_TRUE(status.IsNotSupported()) << status.ToString();
    for (const char* const word : {"default", "level 0", "compact"})
      EXPECT_NE(status.ToString().find(word), std::string::npos) << status.ToString();
  }
  Status TryOpenSecondary() {
    return DB::OpenAsSecondary(options_, path(), scratch().File("secondary"), &secondary_);
  }
  std::string GetOfSecondary(const std::string& key) {
    std::string value;
    const Status found = secondary_->Get(ReadOptions(), key, &value);
    return found.IsNotFound() ? "NOT_FOUND" : found.ok() ? value : found.ToString();
  }

  // Longer than the log that it replaces, whose length is recorded.
  static inline const std::string kNew = std::string(500, 'n');
  std::unique_ptr<DB> secondary_;

 private:
  static std::string LogOf(const Slice& record, uint64_t number) {
    MemoryFileSystem files;
    EXPECT_OK(files.CreateDirIfMissing("/d"));
    std::unique_ptr<vfs::WritableFile> file;
    EXPECT_OK(files.NewWritableFile("/d/log", vfs::FileOptions{}, &file));
    LogWriter writer(std::move(file), "/d/log", number);
    EXPECT_OK(writer.AddRecord(record));
    EXPECT_OK(writer.Close());
    return ContentsOf(&files, "/d/log");
  }
};

// The flushed table of the write would be below the table, and Get would return the old value.
TEST_F(ReplayedOrderTest, AWriteBelowATableIsRefused) {
  ASSERT_NO_FATAL_FAILURE(Fill(PutOf("d"), 2));
  for (const bool avoids_flush : {false, true, true}) {
    options_.avoid_flush_during_recovery = avoids_flush;
    ExpectRefused(TryOpen());
  }
}

TEST_F(ReplayedOrderTest, ARangeDeletionBelowATableIsRefused) {
  WriteBatch batch;
  ASSERT_OK(batch.DeleteRange("a", "c"));
  ASSERT_OK(batch.Put("z", kNew));
  ASSERT_NO_FATAL_FAILURE(Fill(std::move(batch), 2));
  ExpectRefused(TryOpen());
}

TEST_F(ReplayedOrderTest, ReadersShowTheWriteAndAPromotionIsRefused) {
  ASSERT_NO_FATAL_FAILURE(Fill(PutOf("d"), 2));
  ASSERT_OK(DB::OpenForReadOnly(options_, path(), &db_));
  EXPECT_EQ(Get("d"), kNew);
  Close();
  ASSERT_OK(TryOpenSecondary());
  EXPECT_EQ(GetOfSecondary("d"), kNew);
  ExpectRefused(secondary_->PromoteToPrimary());
  EXPECT_TRUE(secondary_->IsSecondary());
  ASSERT_OK(secondary_->TryCatchUpWithPrimary());
  EXPECT_EQ(GetOfSecondary("d"), kNew);
  EXPECT_EQ(GetOfSecondary("f"), "old");
}

TEST_F(ReplayedOrderTest, WritesOfOtherKeysAndNewerOnesAreTaken) {
  struct Case {
    std::string key;
    SequenceNumber sequence;
  };
  for (const Case& taken : {Case{.key = "a", .sequence = 2}, Case{.key = "g", .sequence = 2},
                            Case{.key = "d", .sequence = 4}}) {
    SCOPED_TRACE(taken.key);
    ASSERT_NO_FATAL_FAILURE(Fill(PutOf(taken.key), taken.sequence));
    Open();
    CheckInvariants(db_.get());
    EXPECT_EQ(Get(taken.key), kNew);
    Flush();
    EXPECT_EQ(Get(taken.key), kNew);
    EXPECT_EQ(Get("b"), "old");
    CompactAll();
    EXPECT_EQ(Get(taken.key), kNew);
    Close();
    ASSERT_OK(DestroyDB(path(), options_));
  }
}

// No database assigns the number 0, but a log that has it is read like any other.
TEST_F(ReplayedOrderTest, AWriteWithoutANumberIsShown) {
  ASSERT_NO_FATAL_FAILURE(Fill(PutOf("a"), 0));
  ASSERT_OK(DB::OpenForReadOnly(options_, path(), &db_));
  EXPECT_EQ(Get("a"), kNew);
  Close();
  ASSERT_OK(TryOpenSecondary());
  EXPECT_EQ(GetOfSecondary("a"), kNew);
}

// The table of the memtable is above, because its newest entry is newer.
TEST_F(ReplayedOrderTest, AMixOfOlderAndNewerWritesIsTaken) {
  WriteBatch batch;
  for (const char* const key : {"a", "g", "d"}) ASSERT_OK(batch.Put(key, kNew));
  ASSERT_NO_FATAL_FAILURE(Fill(std::move(batch), 2));
  Open();
  Flush();
  for (const char* const key : {"a", "g", "d"}) EXPECT_EQ(Get(key), kNew);
  EXPECT_EQ(Get("b"), "old");
}

}  // namespace
}  // namespace ashlar
