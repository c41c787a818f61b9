// Range deletions in databases that are exchanged with RocksDB's own tools in both directions: in
// logs, in tables, and after compactions by either side.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "ashlar/db.h"
#include "base/format.h"
#include "base/random.h"
#include "tests/interchange/ldb_fixture.h"
#include "tests/support/expect_ok.h"

namespace ashlar {
namespace {

class RangeDeletionTest : public LdbFixture {
 protected:
  std::string Get(const std::string& key) {
    std::string value;
    const Status status = db_->Get(ReadOptions(), key, &value);
    return status.ok() ? value : status.ToString();
  }
  void CompactAll() {
    CompactRangeOptions rewrite;
    rewrite.bottommost_level_compaction = BottommostLevelCompaction::kForce;
    ASSERT_OK(db_->CompactRange(rewrite, nullptr, nullptr));
  }
};

TEST_F(RangeDeletionTest, TheirLog) {
  Ldb("put --create_if_missing a 1");
  Ldb("put b 2");
  Ldb("put c 3");
  Ldb("deleterange a c");
  Open();
  EXPECT_EQ(Scan(), "c : 3\n");
  EXPECT_EQ(Get("b"), "NotFound");
  CompactAll();
  EXPECT_EQ(Scan(), "c : 3\n");
  EXPECT_OK(db_->VerifyChecksum());
  Close();
  EXPECT_EQ(Ldb("scan"), "c : 3\n");
}

TEST_F(RangeDeletionTest, TheirTables) {
  Ldb("put --create_if_missing a 1");
  Ldb("put b 2");
  Ldb("deleterange a c");
  // Each start of the tool flushes the log into a table.
  Ldb("put b 3");
  Ldb("put d 4");
  Open();
  EXPECT_EQ(Scan(), "b : 3\nd : 4\n");
  EXPECT_EQ(Get("a"), "NotFound");
  EXPECT_OK(db_->VerifyChecksum());
  CompactAll();
  EXPECT_EQ(Scan(), "b : 3\nd : 4\n");
  Close();
  EXPECT_EQ(Ldb("scan"), "b : 3\nd : 4\n");
}

// RocksDB cuts its tombstones at the ends of its files, and writes sentinels as their largest keys.
// A compaction keeps them if a lower level has data.
TEST_F(RangeDeletionTest, TheirTombstonesAcrossFiles) {
  const std::string bench =
      StrCat("db_bench --db=", path_,
             " --num=20000 --key_size=16 --value_size=100 --compression_type=none --seed=7"
             " --write_buffer_size=131072 --target_file_size_base=32768"
             " --max_bytes_for_level_base=131072 --max_bytes_for_level_multiplier=4"
             " --level_compaction_dynamic_level_bytes=false");
  RunCommand(bench + " --benchmarks=fillrandom,flush,waitforcompaction");
  RunCommand(bench +
             " --benchmarks=overwrite,flush,compact0 --use_existing_db=1"
             " --disable_auto_compactions=1 --writes_per_range_tombstone=20"
             " --range_tombstone_width=1000 --max_num_range_tombstones=100000");
  EXPECT_NE(Ldb("manifest_dump").find("seq:72057594037927935, type:15]"), std::string::npos)
      << "no file ends with a tombstone";
  const std::string theirs = Ldb("--hex scan");
  const auto ours = [&] {
    std::string out;
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next())
      out += StrCat("0x", it->key().ToString(true), " : 0x", it->value().ToString(true), "\n");
    EXPECT_OK(it->status());
    std::string backwards;
    for (it->SeekToLast(); it->Valid(); it->Prev())
      backwards = StrCat("0x", it->key().ToString(true), " : 0x", it->value().ToString(true), "\n",
                         backwards);
    EXPECT_EQ(backwards, out);
    return out;
  };
  Open();
  EXPECT_EQ(ours(), theirs);
  EXPECT_OK(db_->VerifyChecksum());
  CompactAll();
  EXPECT_EQ(ours(), theirs);
  Close();
  EXPECT_EQ(Ldb("--hex scan"), theirs);
}

// Random puts and range deletions by Ashlar, in a log, in tables of several levels with tombstones
// cut at their bounds, and after the tool has compacted them.
TEST_F(RangeDeletionTest, OursInLogTablesAndTheirCompaction) {
  options_.write_buffer_size = 64 << 10;
  options_.target_file_size_base = 16 << 10;
  options_.max_bytes_for_level_base = 64 << 10;
  options_.compression = kNoCompression;
  Random random(20261123);
  std::map<std::string, std::string> model;
  const auto key = [](uint64_t number) { return StrCat("k", 10000 + number); };
  for (int round = 0; round < 4; ++round) {
    Open();
    for (int i = 0; i < 3000; ++i) {
      const uint64_t number = random.Uniform(2000);
      if (random.OneIn(15)) {
        const uint64_t end = number + (random.OneIn(20) ? 1500 : random.Uniform(40));
        ASSERT_OK(db_->DeleteRange(WriteOptions(), key(number), key(end)));
        model.erase(model.lower_bound(key(number)), model.lower_bound(key(end)));
      } else {
        const std::string value = StrCat("v", random.Next());
        ASSERT_OK(db_->Put(WriteOptions(), key(number), value));
        model[key(number)] = value;
      }
    }
    std::string expected;
    for (const auto& [name, value] : model) expected += StrCat(name, " : ", value, "\n");
    EXPECT_EQ(Scan(), expected);
    Close();
    EXPECT_EQ(Ldb("scan"), expected);
    if (round % 2 == 1) Ldb("compact");
    EXPECT_EQ(Ldb("scan"), expected);
    Open();
    EXPECT_EQ(Scan(), expected);
    EXPECT_OK(db_->VerifyChecksum());
    if (round % 2 == 0) CompactAll();
    EXPECT_EQ(Scan(), expected);
    Close();
    EXPECT_EQ(Ldb("scan"), expected);
  }
}

}  // namespace
}  // namespace ashlar
