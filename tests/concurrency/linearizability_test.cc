// Real threads use few keys while memtables are flushed, tables compacted, and other families
// created and dropped. Every call on a key takes effect at one moment between its start and its
// end, and readers see the writes of one batch to two families together.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "ashlar/db.h"
#include "ashlar/merge_operator.h"
#include "ashlar/table.h"
#include "base/format.h"
#include "tests/support/database_client.h"
#include "tests/support/expect_ok.h"
#include "tests/support/linearizability.h"
#include "tests/support/manual_env.h"
#include "tests/support/tool_runner.h"

namespace ashlar {
namespace {

using test::DatabaseClient;
using test::HistoryClient;
using test::HistoryContents;
using test::HistoryRecorder;

constexpr uint64_t kSeed = 20261125;
constexpr int kRounds = 40;
constexpr int kThreads = 3;
constexpr int kCallsPerThread = 250;
constexpr uint64_t kKeys = 4;

class LinearizabilityTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Options options;
    options.create_if_missing = true;
    options.info_log = std::make_shared<SilentLogger>();
    options.merge_operator = MergeOperators::CreateStringAppendOperator(',');
    options.write_buffer_size = 64 << 10;
    options.level0_file_num_compaction_trigger = 2;
    options.target_file_size_base = 16 << 10;
    options.max_bytes_for_level_base = 32 << 10;
    ASSERT_OK(DB::Open(options, scratch_.File("db"), &db_));
    ASSERT_OK(db_->CreateColumnFamily(options, "second", &second_));
    options_ = options;
  }
  void TearDown() override {
    delete second_;
    ASSERT_OK(db_->Close());
  }

  // Flushes, compacts, and creates and drops families until the clients are done.
  void Churn(const std::atomic<bool>* stop) {
    int round = 0;
    while (!stop->load()) {
      EXPECT_OK(db_->Flush(FlushOptions(), {db_->DefaultColumnFamily(), second_}));
      if (round % 3 == 0) {
        EXPECT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
      }
      ColumnFamilyHandle* other = nullptr;
      ASSERT_OK(db_->CreateColumnFamily(options_, StrCat("other", round++), &other));
      EXPECT_OK(db_->Put(WriteOptions(), other, "key", "value"));
      EXPECT_OK(db_->DropColumnFamily(other));
      delete other;
    }
  }

  ScratchDirectory scratch_;
  std::unique_ptr<DB> db_;
  ColumnFamilyHandle* second_ = nullptr;
  Options options_;
};

TEST_F(LinearizabilityTest, OfEveryKeyWhileEverythingElseGoesOn) {
  HistoryContents before;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round << ", seed " << kSeed);
    HistoryRecorder recorder;
    std::vector<std::unique_ptr<HistoryClient>> clients;
    for (int i = 0; i < kThreads; ++i)
      clients.push_back(std::make_unique<DatabaseClient>(
          db_.get(), second_, &recorder, kKeys, kSeed + static_cast<uint64_t>(round * kThreads + i),
          DatabaseClient::Deletions::kOfRanges));
    std::atomic<bool> stop{false};
    std::thread churn([&] { Churn(&stop); });
    std::vector<std::thread> threads;
    for (const auto& client : clients)
      threads.emplace_back([&client] { client->Run(kCallsPerThread); });
    for (std::thread& thread : threads) thread.join();
    stop.store(true);
    churn.join();

    const HistoryContents after = DatabaseClient::Contents(db_.get(), second_, kKeys);
    ExpectLinearizable(clients, before, after);
    before = after;
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace ashlar
