// Streams of updates (GetUpdatesSince) of a database whose logs are overwritten while they are
// read, one from the primary and one from a secondary that catches up. Each batch matches its
// sequence, and no batch between two of a stream is missing unless the stream reports it.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/env.h"
#include "ashlar/transaction_log.h"
#include "base/format.h"
#include "filesystem/memory_file_system.h"
#include "tests/support/expect_ok.h"
#include "tests/support/fault_file_system.h"
#include "tests/support/manual_env.h"

namespace ashlar {
namespace {

constexpr char kPath[] = "/db";
constexpr int kBatches = 3000;

// The key and the value of the batch that the writer wrote with this sequence.
std::string KeyOf(SequenceNumber sequence) { return StrCat("key", sequence); }
std::string ValueOf(SequenceNumber sequence) {
  return StrCat(sequence, std::string(sequence % 300, 'v'));
}

class OneEntry final : public WriteBatch::Handler {
 public:
  using WriteBatch::Handler::Put;
  void Put(const Slice& key, const Slice& value) override {
    ++entries;
    entry = key.ToString() + "=" + value.ToString();
  }
  int entries = 0;
  std::string entry;
};

class FollowerThreads : public ::testing::Test {
 protected:
  FollowerThreads() {
    options_.env = env_.get();
    options_.create_if_missing = true;
    options_.recycle_log_file_num = 2;
    options_.level0_file_num_compaction_trigger = 4;
    options_.info_log = std::make_shared<SilentLogger>();
    EXPECT_OK(DB::Open(options_, kPath, &primary_));
    EXPECT_OK(DB::OpenAsSecondary(options_, kPath, "/secondary", &secondary_));
  }

  // Writes one batch per sequence, from 1. A new log begins every few batches, and an old one ends.
  void WriteAll() {
    for (SequenceNumber sequence = 1; sequence <= kBatches; ++sequence) {
      ASSERT_OK(primary_->Put(WriteOptions(), KeyOf(sequence), ValueOf(sequence)));
      ASSERT_EQ(primary_->GetLatestSequenceNumber(), sequence);
      if (sequence % 50 == 0 && sequence < kBatches) {
        ASSERT_OK(primary_->Flush(FlushOptions()));
      }
    }
  }

  static void CheckBatch(const BatchResult& batch) {
    OneEntry found;
    ASSERT_OK(batch.writeBatchPtr->Iterate(&found));
    ASSERT_EQ(found.entries, 1);
    ASSERT_EQ(found.entry, KeyOf(batch.sequence) + "=" + ValueOf(batch.sequence));
  }

  // Reads until the last batch was seen. After a gap, a stream begins again with the newest batch.
  void Follow(DB* db) {
    SequenceNumber seen = 0;
    bool begins = true;  // batches between the one seen and the next may be missing
    std::unique_ptr<TransactionLogIterator> it;
    while (seen < kBatches && !HasFailure()) {
      if (db == secondary_.get()) {
        ASSERT_OK(db->TryCatchUpWithPrimary());
      }
      if (it != nullptr) {
        it->Next();
      } else {
        begins = true;
        const Status begun = db->GetUpdatesSince(db->GetLatestSequenceNumber(), &it);
        ASSERT_TRUE(begun.ok() || begun.IsNotFound()) << begun.ToString();
        if (!begun.ok()) it.reset();
        if (it == nullptr) continue;
      }
      for (; it->Valid(); it->Next(), begins = false) {
        const BatchResult batch = it->GetBatch();
        ASSERT_NO_FATAL_FAILURE(CheckBatch(batch));
        ASSERT_TRUE(begins ? batch.sequence >= seen : batch.sequence == seen + 1)
            << batch.sequence << " after " << seen;
        seen = batch.sequence;
      }
      ASSERT_TRUE(it->status().ok() || it->status().IsNotFound()) << it->status().ToString();
      if (!it->status().ok()) it.reset();
    }
  }

  const std::shared_ptr<FaultFileSystem> files_ =
      std::make_shared<FaultFileSystem>(std::make_shared<MemoryFileSystem>());
  const std::unique_ptr<Env> env_{NewCompositeEnv(files_)};
  Options options_;
  std::unique_ptr<DB> primary_;
  std::unique_ptr<DB> secondary_;
};

TEST_F(FollowerThreads, ReadWhatWasWrittenFromLogsThatAreWrittenOver) {
  std::vector<std::thread> threads;
  threads.emplace_back([this] { WriteAll(); });
  for (DB* const db : {primary_.get(), primary_.get(), secondary_.get()})
    threads.emplace_back([this, db] { Follow(db); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(files_->CallCount(FaultOperation::kReuse), 0u);
}

}  // namespace
}  // namespace ashlar
