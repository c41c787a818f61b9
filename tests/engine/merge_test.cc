// Merge operands, wherever they lie: memtables, tables, below snapshots, in both directions.
#include "base/coding.h"
#include "tests/engine/database_fixture.h"

namespace ashlar {
namespace {

// Takes keys that differ in trailing zero bytes for one.
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
  // Its bytes begin as those of the internal key before: "a", then the type of a merge.
  Put(Slice("a\2", 2), "y");
  Flush();
  const Slice sought("a\0", 2);
  EXPECT_EQ(Get(sought), "x") << "the block is read";
  EXPECT_EQ(Get(sought), "x") << "the block is cached";
  EXPECT_EQ(Get("a"), "x");
  EXPECT_EQ(Get(Slice("a\2", 2)), "y");
  Close();  // before the comparator goes
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
  // The log has a merge that cannot be applied.
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
  options_.merge_operator = MergeOperators::CreateStringAppendOperator(',');
  Open();
  EXPECT_EQ(Get("a"), "1");
}

}  // namespace
}  // namespace ashlar
