// Secondaries of the other store. ldb follows an open database that Ashlar writes. Ashlar's follow
// databases that db_bench writes at the same time, or take one over.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/interchange/ldb_fixture.h"

namespace ashlar {
namespace {

class SecondaryInterchangeTest : public LdbFixture {
 protected:
  std::string LdbScan(const std::string& family) const {
    return Ldb(
        StrCat("--secondary_path=", scratch_.File("ldb"), " --column_family=", family, " scan"));
  }
};

TEST_F(SecondaryInterchangeTest, LdbReadsADatabaseThatIsOpen) {
  options_.max_manifest_file_size = 1000;
  Open();
  ColumnFamilyHandle* made = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(options_, "second", &made));
  const std::unique_ptr<ColumnFamilyHandle> second(made);
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 50; ++i) {
      WriteBatch batch;
      ASSERT_OK(batch.Put(StrCat("key", 100 + i), StrCat("value", round)));
      ASSERT_OK(batch.Put(second.get(), StrCat("other", 100 + i), StrCat("value", round)));
      ASSERT_OK(db_->Write(WriteOptions(), &batch));
    }
    ASSERT_OK(db_->Delete(WriteOptions(), StrCat("key", 110 + round)));
    EXPECT_EQ(LdbScan("default"), Scan());
    EXPECT_NE(LdbScan("second").find(StrCat("other149 : value", round)), std::string::npos);
    ASSERT_OK(
        db_->Flush(FlushOptions(), round % 2 == 0 ? second.get() : db_->DefaultColumnFamily()));
    EXPECT_EQ(LdbScan("default"), Scan());
  }
  ASSERT_OK(db_->CompactRange(CompactRangeOptions(), nullptr, nullptr));
  ASSERT_OK(db_->Put(WriteOptions(), "last", "write"));
  EXPECT_EQ(LdbScan("default"), Scan());
}

// db_bench has ended, and its last writes are only in its log.
TEST_F(SecondaryInterchangeTest, IsPromotedOverADatabaseOfRocksDb) {
  FillByDbBench();
  OverwriteByDbBench();
  options_.info_log = nullptr;
  ASSERT_OK(DB::OpenAsSecondary(options_, path_, scratch_.File("own"), &db_));
  const std::string theirs = HexScan();
  EXPECT_EQ(std::count(theirs.begin(), theirs.end(), '\n'), static_cast<int64_t>(kBenchKeys));
  EXPECT_EQ(Ldb(StrCat("--secondary_path=", scratch_.File("ldb"), " scan --hex")), theirs);
  ASSERT_OK(db_->PromoteToPrimary());
  EXPECT_EQ(HexScan(), theirs);
  std::unique_ptr<Iterator> first(db_->NewIterator(ReadOptions()));
  first->SeekToFirst();
  ASSERT_TRUE(first->Valid());
  ASSERT_OK(db_->Delete(WriteOptions(), first->key()));
  first.reset();
  for (int i = 0; i < 200; ++i) {
    ASSERT_OK(db_->Put(WriteOptions(), StrCat("ours", i), "value"));
    if (i == 100) {
      ASSERT_OK(db_->Flush(FlushOptions()));
    }
  }
  const std::string ours = HexScan();
  EXPECT_EQ(std::count(ours.begin(), ours.end(), '\n'), static_cast<int64_t>(kBenchKeys) + 199);
  Close();
  EXPECT_NE(Ldb("checkconsistency").find("OK"), std::string::npos);
  EXPECT_EQ(Ldb("scan --hex"), ours);
}

class DbBenchPrimaryTest : public SecondaryInterchangeTest,
                           public ::testing::WithParamInterface<const char*> {
 protected:
  static constexpr uint64_t kKeys = 60000;

  // The keys are the numbers from 0, in order, so the present keys must be the first ones.
  void Count(uint64_t* keys) {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    *keys = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++*keys) {
      ASSERT_EQ(it->key().size(), 16u);
      uint64_t number = 0;
      for (size_t i = 0; i < 8; ++i)
        number = number << 8 | static_cast<unsigned char>(it->key()[i]);
      ASSERT_EQ(number, *keys) << "a hole";
    }
    ASSERT_OK(it->status());
  }
};

// The write rate leaves the secondary two seconds, of which it needs a part.
TEST_P(DbBenchPrimaryTest, IsFollowedWhileItWrites) {
  const std::string bench =
      StrCat("db_bench --db=", path_, " --benchmarks=fillseq --value_size=100 --num=", kKeys,
             " --write_buffer_size=300000 --target_file_size_base=200000 "
             "--max_bytes_for_level_base=800000 --level0_file_num_compaction_trigger=2 "
             "--benchmark_write_rate_limit=3500000 ",
             GetParam());
  std::atomic<bool> ended{false};
  std::thread primary([&] {
    RunCommand(bench);
    ended.store(true);
  });
  Options options;
  options.info_log = nullptr;
  // Waits until db_bench has created the database and has written to it.
  Status opened;
  bool has_begun = false;
  while (!has_begun && !ended.load()) {
    opened = DB::OpenAsSecondary(options, path_, scratch_.File("own"), &db_);
    has_begun = opened.ok() && db_->GetLatestSequenceNumber() > 0;
  }
  EXPECT_OK(opened);
  uint64_t last = 0;
  uint64_t catch_ups = 0;
  for (bool at_end = false; db_ != nullptr && !HasFailure();) {
    at_end = ended.load();
    EXPECT_OK(db_->TryCatchUpWithPrimary());
    ++catch_ups;
    uint64_t keys = 0;
    Count(&keys);
    EXPECT_GE(keys, last) << "the secondary went back";
    last = keys;
    if (at_end) break;
  }
  primary.join();
  EXPECT_EQ(last, kKeys) << "after " << catch_ups << " catch-ups";
  EXPECT_GT(catch_ups, 3u);
  ASSERT_NE(db_, nullptr);
  ASSERT_OK(db_->Close());
  // The database was not changed.
  EXPECT_NE(Ldb("checkconsistency").find("OK"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Options, DbBenchPrimaryTest,
                         ::testing::Values("", "--wal_compression=zstd",
                                           "--enable_pipelined_write=1", "--manual_wal_flush=1"),
                         [](const ::testing::TestParamInfo<const char*>& with) -> std::string {
                           return StrCat("Case", with.index);
                         });

}  // namespace
}  // namespace ashlar
