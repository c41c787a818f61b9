// Merge operands in all places: memtables, tables, below snapshots, and in both directions.
#include <fstream>
#include <sstream>

#include "ashlar/env.h"
#include "base/coding.h"
#include "tests/engine/database_fixture.h"

namespace ashlar {
namespace {

// Treats keys that differ only in trailing zero bytes as equal.
class IgnoresTrailingZeros final : public Comparator {
 public:
  const char* Name() const override { return "test.IgnoresTrailingZeros"; }
  int Compare(const Slice& a, const Slice& b) const override {
    return Trimmed(a).compare(Trimmed(b));
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

 private:
  static Slice Trimmed(Slice key) {
    while (!key.empty() && key[key.size() - 1] == '\0') key.remove_suffix(1);
    return key;
  }
};

class MergeTest : public DatabaseFixture {
 protected:
  MergeTest() { options_.merge_operator = MergeOperators::CreateStringAppendOperator(','); }
};

TEST_F(MergeTest, OperandsAddUpAcrossMemtablesAndTables) {
  Open();
  Put("a", "1");
  Merge("a", "2");
  Flush();
  Merge("a", "3");
  Merge("b", "x");
  EXPECT_EQ(Contents(), "a=1,2,3 b=x ");
  EXPECT_EQ(Get("a"), "1,2,3");
  Flush();
  Merge("a", "4");
  EXPECT_EQ(Get("a"), "1,2,3,4");
  CompactAll();
  EXPECT_EQ(Contents(), "a=1,2,3,4 b=x ");
  Open();
  EXPECT_EQ(Contents(), "a=1,2,3,4 b=x ");
}

TEST_F(MergeTest, AKeyIsNotTakenForTheNextBecauseAnEqualOneIsShorter) {
  const IgnoresTrailingZeros order;
  options_.comparator = &order;
  Open();
  Merge("a", "x");
  // It begins with the bytes of the preceding internal key: "a", then the type of a merge.
  Put(Slice("a\2", 2), "y");
  Flush();
  const Slice sought("a\0", 2);
  EXPECT_EQ(Get(sought), "x") << "the block is read";
  EXPECT_EQ(Get(sought), "x") << "the block is cached";
  EXPECT_EQ(Get("a"), "x");
  EXPECT_EQ(Get(Slice("a\2", 2)), "y");
  Close();  // before the comparator is destroyed
}

TEST_F(MergeTest, ADeleteStartsAnew) {
  Open();
  Put("a", "1");
  Delete("a");
  Merge("a", "2");
  EXPECT_EQ(Contents(), "a=2 ");
  Flush();
  CompactAll();
  EXPECT_EQ(Contents(), "a=2 ");
}

TEST_F(MergeTest, SnapshotsSeeTheOperandsOfTheirTime) {
  Open();
  Put("a", "1");
  Merge("a", "2");
  const Snapshot* const snapshot = db_->GetSnapshot();
  Merge("a", "3");
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(Contents(nullptr, snapshot), "a=1,2 ");
    EXPECT_EQ(Contents(), "a=1,2,3 ");
    EXPECT_EQ(Get("a", snapshot), "1,2");
    round == 0 ? Flush() : CompactAll();
  }
  db_->ReleaseSnapshot(snapshot);
}

TEST_F(MergeTest, ASingleOperandIsPinnedNotCopied) {
  Open();
  Merge("a", "only");
  PinnableSlice value;
  ASSERT_OK(db_->Get(ReadOptions(), "a", &value));
  EXPECT_EQ(value.ToString(), "only");
}

TEST_F(MergeTest, CountersCount) {
  options_.merge_operator = MergeOperators::CreateUInt64AddOperator();
  Open();
  std::string one;
  PutFixed64(&one, 1);
  for (int i = 0; i < 1000; ++i) {
    Merge("n", one);
    if (i % 300 == 299) Flush();
  }
  EXPECT_EQ(DecodeFixed64(Get("n").data()), 1000u);
  CompactAll();
  EXPECT_EQ(DecodeFixed64(Get("n").data()), 1000u);
}

TEST_F(MergeTest, WithoutAnOperatorMergesAreRefusedAndNothingIsLost) {
  Open();
  Merge("a", "1");
  Close();
  options_.merge_operator = nullptr;
  // The log contains a merge that cannot be applied.
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
  options_.merge_operator = MergeOperators::CreateStringAppendOperator(',');
  Open();
  EXPECT_EQ(Get("a"), "1");
}

// ---- GetMergeOperands.

class MergeOperandsTest : public MergeTest {
 protected:
  // Returns the operands separated by blanks, or the error.
  std::string Operands(const Slice& key, int room = 10, const Snapshot* snapshot = nullptr) {
    ReadOptions options;
    options.snapshot = snapshot;
    wanted_.expected_max_number_of_operands = room;
    std::vector<PinnableSlice> operands(static_cast<size_t>(room));
    count_ = -1;
    const Status status = db_->GetMergeOperands(options, db_->DefaultColumnFamily(), key,
                                                operands.data(), &wanted_, &count_);
    if (!status.ok()) return status.ToString().substr(0, status.ToString().find(':'));
    std::string text;
    for (int i = 0; i < count_; ++i) text += operands[static_cast<size_t>(i)].ToString() + " ";
    return text;
  }

  GetMergeOperandsOptions wanted_;
  int count_ = 0;
};

TEST_F(MergeOperandsTest, OperandsOfEverySourceAreReturnedOldestFirst) {
  Open();
  Put("a", "0");
  Flush();  // combines what it can
  Merge("a", "1");
  Flush();
  Merge("a", "2");
  Merge("a", "3");
  EXPECT_EQ(Operands("a"), "0 1 2 3 ");
  Merge("b", "only");
  EXPECT_EQ(Operands("b"), "only ");
  Put("c", "value");
  EXPECT_EQ(Operands("c"), "value ");
  Delete("a");
  EXPECT_EQ(Operands("a"), "NotFound");
  Merge("a", "4");
  EXPECT_EQ(Operands("a"), "4 ");
  EXPECT_EQ(Operands("missing"), "NotFound");
  EXPECT_EQ(count_, 0);
  CompactAll();
  EXPECT_EQ(Operands("a"), "4 ");
}

TEST_F(MergeOperandsTest, SnapshotsAndRangeDeletionsEndTheOperands) {
  Open();
  Merge("a", "1");
  ManagedSnapshot snapshot(db_.get());
  EXPECT_OK(db_->DeleteRange(WriteOptions(), "a", "b"));
  Flush();
  Merge("a", "2");
  EXPECT_EQ(Operands("a"), "2 ");
  EXPECT_EQ(Operands("a", 10, snapshot.snapshot()), "1 ");
}

TEST_F(MergeOperandsTest, MoreThanExpectedAreIncompleteAndCounted) {
  Open();
  for (int i = 0; i < 5; ++i) Merge("a", std::to_string(i));
  EXPECT_EQ(Operands("a", 5), "0 1 2 3 4 ");
  EXPECT_EQ(Operands("a", 4), "Result incomplete");
  EXPECT_EQ(count_, 5);
  PinnableSlice operand;
  EXPECT_EQ(db_->GetMergeOperands(ReadOptions(), db_->DefaultColumnFamily(), "a", &operand,
                                  &wanted_, nullptr)
                .code(),
            Status::kInvalidArgument);
  EXPECT_EQ(Operands("a", 0), "Invalid argument");
}

TEST_F(MergeOperandsTest, TheCallbackEndsTheSearch) {
  Open();
  Put("a", "0");
  for (int i = 1; i < 5; ++i) {
    if (i < 4) Flush();
    Merge("a", std::to_string(i));
  }
  std::string seen;
  wanted_.continue_cb = [&](const Slice& operand) {
    seen += operand.ToString();
    return operand != Slice("2");
  };
  EXPECT_EQ(Operands("a"), "2 3 4 ");
  EXPECT_EQ(seen, "432");
  wanted_.continue_cb = [](const Slice&) { return true; };
  EXPECT_EQ(Operands("a"), "0 1 2 3 4 ");
}

TEST_F(MergeOperandsTest, OperandsOutliveACompaction) {
  Open();
  Put("a", std::string(100, '0'));
  Flush();
  Merge("a", std::string(100, '1'));
  Flush();
  std::vector<PinnableSlice> operands(2);
  wanted_.expected_max_number_of_operands = 2;
  ASSERT_OK(db_->GetMergeOperands(ReadOptions(), db_->DefaultColumnFamily(), "a", operands.data(),
                                  &wanted_, &count_));
  CompactRangeOptions all;
  all.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  EXPECT_OK(db_->CompactRange(all, nullptr, nullptr));
  EXPECT_EQ(operands[0].ToString() + operands[1].ToString(),
            std::string(100, '0') + std::string(100, '1'));
}

// ---- Limits.

TEST_F(MergeTest, MoreOperandsThanTheThresholdAreReportedWithTheValue) {
  Open();
  Put("a", "0");
  for (int i = 1; i < 4; ++i) Merge("a", std::to_string(i));
  Put("b", "plain");
  for (const size_t threshold : {size_t{2}, size_t{3}}) {
    ReadOptions options;
    options.merge_operand_count_threshold = threshold;
    std::string value;
    const Status got = db_->Get(options, "a", &value);
    EXPECT_TRUE(got.ok());
    EXPECT_EQ(got.IsOkMergeOperandThresholdExceeded(), threshold == 2) << threshold;
    EXPECT_EQ(value, "0,1,2,3");
    const Slice keys[] = {"a", "b", "missing"};
    PinnableSlice values[3];
    Status statuses[3];
    db_->MultiGet(options, db_->DefaultColumnFamily(), 3, keys, values, statuses);
    EXPECT_EQ(statuses[0].IsOkMergeOperandThresholdExceeded(), threshold == 2);
    EXPECT_TRUE(statuses[1].ok() && !statuses[1].IsOkMergeOperandThresholdExceeded());
    EXPECT_TRUE(statuses[2].IsNotFound());
  }
}

// Counts the operands of each merge.
class CountingAppend final : public MergeOperator {
 public:
  const char* Name() const override { return "CountingAppend"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    if (fails) return false;
    merged += static_cast<int>(in.operand_list.size());
    if (in.existing_value != nullptr) out->new_value = in.existing_value->ToString();
    for (const Slice& operand : in.operand_list) out->new_value += operand.ToString();
    return true;
  }
  mutable int merged = 0;
  bool fails = false;
};

// Marks the operands that compactions pass to it, and logs its calls.
class MarkingAppend final : public MergeOperator {
 public:
  const char* Name() const override { return "MarkingAppend"; }
  bool FullMergeV2(const MergeOperationInput& in, MergeOperationOutput* out) const override {
    for (const Slice& operand : in.operand_list) out->new_value += operand.ToString();
    Info(in.logger, "full merge: %s", out->new_value.c_str());
    return true;
  }
  bool PartialMergeMulti(const Slice& /*key*/, const std::deque<Slice>& operands,
                         std::string* new_value, Logger* logger) const override {
    for (const Slice& operand : operands) *new_value += operand.ToString();
    Info(logger, "partial merge: %s", new_value->c_str());
    *new_value += '!';
    return true;
  }
  bool AllowSingleOperand() const override { return allows_one; }
  bool allows_one = true;
};

TEST_F(MergeTest, ASingleOperandIsOfferedToAnOperatorThatAllowsIt) {
  const auto marking = std::make_shared<MarkingAppend>();
  options_.merge_operator = marking;
  options_.disable_auto_compactions = true;
  Open();
  Merge("a", "1");
  Flush();
  EXPECT_EQ(Get("a"), "1!");
  marking->allows_one = false;
  Merge("b", "2");
  Flush();
  EXPECT_EQ(Get("b"), "2");
}

TEST_F(MergeTest, AnOperatorGetsTheLogOfTheDatabase) {
  const auto has_line = [this](const std::string& line) {
    std::ifstream file(path() + "/LOG");
    std::stringstream text;
    text << file.rdbuf();
    return text.str().find(line) != std::string::npos;
  };
  options_.merge_operator = std::make_shared<MarkingAppend>();
  options_.disable_auto_compactions = true;
  options_.max_successive_merges = 2;
  Open();
  Merge("get", "1");
  EXPECT_EQ(Get("get"), "1");
  EXPECT_TRUE(has_line("full merge: 1"));
  Merge("walk", "2");
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  it->Seek("walk");
  EXPECT_TRUE(it->Valid());
  EXPECT_TRUE(has_line("full merge: 2"));
  for (const char* const operand : {"3", "4", "5"}) Merge("write", operand);
  EXPECT_TRUE(has_line("full merge: 34")) << "two operands are the most";
  Merge("flush", "6");
  Flush();
  EXPECT_TRUE(has_line("partial merge: 6"));
  CompactRangeOptions rewrite;
  rewrite.bottommost_level_compaction = BottommostLevelCompaction::kForce;
  ASSERT_OK(db_->CompactRange(rewrite, nullptr, nullptr));
  EXPECT_TRUE(has_line("full merge: 6!"));
}

TEST_F(MergeOperandsTest, ChainsInTheMemtableStayWithinMaxSuccessiveMerges) {
  const auto append = std::make_shared<CountingAppend>();
  options_.merge_operator = append;
  options_.max_successive_merges = 3;
  Open();
  std::string expected;
  for (char c = 'a'; c < 'u'; ++c) {
    Merge("key", std::string(1, c));
    expected += c;
    EXPECT_EQ(Get("key"), expected);
    Operands("key");
    EXPECT_LE(count_, 4) << expected;
  }
  EXPECT_EQ(Operands("key"), expected + " ") << "every fourth is a value";
  Open();
  EXPECT_EQ(Get("key"), expected) << "the log has the operands";
}

TEST_F(MergeOperandsTest, OperandsOfOneBatchCountToo) {
  options_.max_successive_merges = 2;
  Open();
  WriteBatch batch;
  for (int i = 0; i < 5; ++i) ASSERT_OK(batch.Merge("key", std::to_string(i)));
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  EXPECT_EQ(Get("key"), "0,1,2,3,4");
  EXPECT_EQ(Operands("key"), "0,1,2 3 4 ");
}

TEST_F(MergeOperandsTest, ChainsAreLeftWhereTheValueIsOnDisk) {
  BlockBasedTableOptions no_cache;
  no_cache.no_block_cache = true;
  options_.table_factory.reset(NewBlockBasedTableFactory(no_cache));
  options_.max_successive_merges = 1;
  for (const bool strict : {false, true}) {
    options_.strict_max_successive_merges = strict;
    Open();
    Put("key", "0");
    Flush();
    for (int i = 1; i < 4; ++i) Merge("key", std::to_string(i));
    EXPECT_EQ(Get("key"), "0,1,2,3");
    Operands("key");
    EXPECT_EQ(count_, strict ? 2 : 4);
    Delete("key");
  }
}

TEST_F(MergeOperandsTest, AnOperatorThatFailsLeavesTheOperands) {
  const auto append = std::make_shared<CountingAppend>();
  options_.merge_operator = append;
  options_.max_successive_merges = 1;
  Open();
  Merge("key", "a");
  append->fails = true;
  Merge("key", "b");
  append->fails = false;
  EXPECT_EQ(Operands("key"), "a b ");
  EXPECT_EQ(Get("key"), "ab");
  EXPECT_OK(db_->SetOptions({{"max_successive_merges", "0"}}));
  for (int i = 0; i < 5; ++i) Merge("key", "c");
  EXPECT_EQ(Operands("key"), "a b c c c c c ") << "switched off";
}

}  // namespace
}  // namespace ashlar
