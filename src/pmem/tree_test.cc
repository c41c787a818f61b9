// Tests one tree with one thread: its costs and refusals, and what it has beyond the tests of both
// engines in tests/scenarios.
#include "pmem/tree.h"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "base/coding.h"
#include "base/format.h"
#include "base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pmem/leaf.h"
#include "pmem/pool.h"
#include "pmem/record.h"
#include "tests/support/comparators.h"
#include "tests/support/expect_ok.h"
#include "tests/support/test_pool.h"
#include "tests/support/verify_tree.h"

namespace ashlar::pmem {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kPoolBytes = uint64_t{16} << 20;

using Model = std::map<std::string, std::string>;

std::string NumberKey(std::integral auto number, int width = 20) {
  char key[64];
  snprintf(key, sizeof(key), "%0*llu", width, static_cast<unsigned long long>(number));
  return key;
}

std::string GetOr(PersistentTree* tree, const std::string& key,
                  const std::string& missing = "(missing)") {
  std::string value;
  const Status status = tree->Get(ReadOptions(), key, &value);
  if (status.IsNotFound()) return missing;
  return status.ok() ? value : status.ToString();
}

// Expects that everything that the tree shows agrees with the model.
void ExpectAgrees(PersistentTree* tree, const Model& model, const std::string& where) {
  std::unique_ptr<Iterator> it = tree->NewIterator(ReadOptions());
  it->SeekToFirst();
  for (const auto& [key, value] : model) {
    ASSERT_TRUE(it->Valid()) << where << ": " << it->status().ToString();
    ASSERT_EQ(it->key().ToString(true), Slice(key).ToString(true)) << where;
    ASSERT_EQ(it->value(), Slice(value)) << where;
    it->Next();
  }
  ASSERT_FALSE(it->Valid()) << where;
  ASSERT_OK(it->status());
  it->SeekToLast();
  for (auto entry = model.rbegin(); entry != model.rend(); ++entry) {
    ASSERT_TRUE(it->Valid()) << where;
    ASSERT_EQ(it->key().ToString(true), Slice(entry->first).ToString(true)) << where;
    it->Prev();
  }
  ASSERT_FALSE(it->Valid()) << where;
  ASSERT_EQ(tree->Count(KeyRange::All()), model.size()) << where;
  ASSERT_EQ(tree->Stats().entries, model.size()) << where;
  const Status verified = VerifyAndCheck(tree);
  ASSERT_TRUE(verified.ok()) << where << ": " << verified.ToString();
}

class TreeTest : public ::testing::Test {
 protected:
  VerbCounts CostOfPut(const std::string& key, const std::string& value) {
    const VerbCounts before = medium_->counts();
    EXPECT_TRUE(tree_->Put(key, value).ok());
    return medium_->counts() - before;
  }

  TestPool pool_{kPoolBytes};
  CountingMedium* medium_ = nullptr;
  std::unique_ptr<PersistentTree> tree_ = OpenTestTree(&pool_, &medium_);
};

// ---- Costs.

TEST_F(TreeTest, InsertAndUpdateTakeTwoFencesAndRemoveOne) {
  ASSERT_OK(tree_->Put("a", "1"));
  const VerbCounts insert = CostOfPut("b", "1");
  EXPECT_EQ(insert.fences, 2U);
  EXPECT_LE(insert.lines_flushed, 4U);
  const VerbCounts update = CostOfPut("b", "2");
  EXPECT_EQ(update.fences, 2U);
  EXPECT_LE(update.lines_flushed, 2U);
  const VerbCounts before = medium_->counts();
  ASSERT_OK(tree_->Delete("b"));
  EXPECT_EQ((medium_->counts() - before).fences, 1U);
  EXPECT_EQ((medium_->counts() - before).lines_flushed, 1U);
}

TEST_F(TreeTest, ASplitTakesTwoFencesAndElevenLines) {
  Random random(8);
  uint64_t splits = 0;
  for (int i = 0; i < 20000; ++i) {
    const uint64_t splits_before = tree_->Stats().leaf_splits;
    const VerbCounts cost =
        CostOfPut(NumberKey(random.Uniform(uint64_t{1} << 40)), std::string(15, 'v'));
    if (tree_->Stats().leaf_splits == splits_before) continue;
    splits++;
    // A span that the refilled reserve needs costs a fence and a line of its own, or two of each if
    // the end of the map is in another line. So does the first split's reserve.
    ASSERT_LE(cost.fences, splits == 1 ? 10U : 8U);
    if (cost.fences == 2) {
      ASSERT_LE(cost.lines_flushed, 11U);
    }
  }
  EXPECT_GT(splits, 500U);
}

TEST_F(TreeTest, ABatchTakesFourFences) {
  for (int i = 0; i < 1000; ++i) ASSERT_OK(tree_->Put(NumberKey(i), "v"));
  WriteBatch batch;
  for (int i = 0; i < 20; ++i) {
    ASSERT_OK(batch.Put(NumberKey(i * 50), "w"));
    ASSERT_OK(batch.Delete(NumberKey(i * 50 + 1)));
  }
  // The first writes allot spans.
  for (int i = 0; i < 3; ++i) ASSERT_OK(tree_->Write(batch));
  const VerbCounts before = medium_->counts();
  ASSERT_OK(tree_->Write(batch));
  EXPECT_EQ((medium_->counts() - before).fences, 4U);
}

TEST_F(TreeTest, DeletingARangeTakesFourFencesHoweverLong) {
  for (int i = 0; i < 20000; ++i) ASSERT_OK(tree_->Put(NumberKey(i), "v"));
  const VerbCounts before = medium_->counts();
  ASSERT_OK(tree_->DeleteRange(KeyRange::Between(NumberKey(10), NumberKey(19990))));
  EXPECT_EQ((medium_->counts() - before).fences, 4U);
  EXPECT_LE((medium_->counts() - before).lines_flushed, 20U);
  EXPECT_EQ(tree_->Count(KeyRange::All()), 20U);
  EXPECT_LE(tree_->Stats().leaves, 3U);
  ASSERT_OK(tree_->Verify());
}

TEST_F(TreeTest, AscendingInsertsFillLeaves) {
  for (int i = 0; i < 4800; ++i) ASSERT_OK(tree_->Put(NumberKey(i), "v"));
  EXPECT_LE(tree_->Stats().leaves, 101U);
}

TEST_F(TreeTest, SmallEntriesStaySmall) {
  const uint64_t before = tree_->Stats().used_bytes;
  constexpr uint64_t kEntries = 20000;
  for (uint64_t i = 0; i < kEntries; ++i)
    ASSERT_OK(tree_->Put(NumberKey(i * 7919 % kEntries, 8), std::string(8, 'v')));
  EXPECT_LE((tree_->Stats().used_bytes - before) / kEntries, 60U);
}

TEST_F(TreeTest, DeletingEverythingGivesEverythingBack) {
  const uint64_t before = tree_->Stats().used_bytes;
  Random random(2);
  for (int i = 0; i < 5000; ++i)
    ASSERT_OK(tree_->Put(NumberKey(random.Uniform(100000)), random.Bytes(random.Uniform(300))));
  for (int i = 0; i < 100000; ++i) {
    if (tree_->Exists(NumberKey(i))) {
      ASSERT_OK(tree_->Delete(NumberKey(i)));
    }
  }
  EXPECT_EQ(tree_->Stats().entries, 0U);
  EXPECT_EQ(tree_->Stats().leaves, 1U);
  ASSERT_OK(tree_->Defragment());
  // One leaf and one separator are held ready for the next split.
  EXPECT_LE(tree_->Stats().used_bytes, before + kLeafBytes + 64);
}

// ---- Pins.

TEST_F(TreeTest, ReadsCopyNothing) {
  ASSERT_OK(tree_->Put("key", "value"));
  PinnableSlice value;
  ASSERT_OK(tree_->Get(ReadOptions(), "key", &value));
  EXPECT_GE(value.data(), medium_->view());
  EXPECT_LT(value.data(), medium_->view() + medium_->bytes());
}

// ---- Closing.

TEST_F(TreeTest, AnIteratorWithoutAnEntryKeepsTheTreeOpen) {
  ASSERT_OK(tree_->Put("key", "value"));
  std::unique_ptr<Iterator> it = tree_->NewIterator(ReadOptions());
  ASSERT_TRUE(tree_->Close().IsAborted());
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->value(), Slice("value"));
  it.reset();
  EXPECT_OK(tree_->Close());
}

TEST_F(TreeTest, AfterTheCloseEveryCallReturnsAbortedOrNothing) {
  ASSERT_OK(tree_->Put("key", "value"));
  for (int i = 0; i < 2; ++i) ASSERT_OK(tree_->Close());
  WriteBatch batch;
  ASSERT_OK(batch.Delete("key"));
  PinnableSlice pinned;
  std::string copied;
  for (const Status& status :
       {tree_->Put("key", "value"), tree_->Delete("key"), tree_->Write(batch),
        tree_->DeleteRange(KeyRange::All()), tree_->Get(ReadOptions(), "key", &pinned),
        tree_->Get(ReadOptions(), "key", &copied), tree_->Defragment(), tree_->Verify()})
    EXPECT_TRUE(status.IsAborted()) << status.ToString();
  const std::vector<Slice> keys = {Slice("key"), Slice("other")};
  std::vector<PinnableSlice> values;
  const std::vector<Status> statuses = tree_->MultiGet(ReadOptions(), keys, &values);
  ASSERT_EQ(statuses.size(), keys.size());
  for (const Status& status : statuses) EXPECT_TRUE(status.IsAborted()) << status.ToString();
  EXPECT_EQ(values.size(), keys.size());
  const std::unique_ptr<Iterator> it = tree_->NewIterator(ReadOptions());
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsAborted()) << it->status().ToString();
  EXPECT_FALSE(tree_->Exists("key"));
  EXPECT_EQ(tree_->Count(KeyRange::All()), 0U);
  EXPECT_EQ(tree_->Stats().pool_bytes, 0U);
  EXPECT_EQ(tree_->comparator(), BytewiseComparator());
}

// ---- Ranges and iterators.

TEST_F(TreeTest, ARefreshMakesAnIteratorInvalidAndNoMore) {
  ASSERT_OK(tree_->Put("key", "value"));
  const std::unique_ptr<Iterator> it = tree_->NewIterator(ReadOptions());
  it->SeekToFirst();
  ASSERT_TRUE(it->Valid());
  ASSERT_OK(it->Refresh());
  EXPECT_FALSE(it->Valid());
  EXPECT_OK(it->status());
  it->Seek("key");
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->value(), Slice("value"));
}

// The bounds are before the ends of the range, at them and after them.
TEST_F(TreeTest, TheBoundsOfTheReadOptionsNarrowARange) {
  for (int i = 0; i < 200; ++i) ASSERT_OK(tree_->Put(NumberKey(i, 4), "v"));
  const std::string begin = NumberKey(60, 4);
  const std::string end = NumberKey(120, 4);
  for (const int lower_number : {50, 60, 70}) {
    for (const int upper_number : {110, 120, 130}) {
      for (const bool begin_inclusive : {true, false}) {
        for (const bool end_inclusive : {true, false}) {
          SCOPED_TRACE(StrCat(lower_number, " ", upper_number, begin_inclusive ? " [" : " (",
                              end_inclusive ? "]" : ")"));
          const std::string lower = NumberKey(lower_number, 4);
          const std::string upper = NumberKey(upper_number, 4);
          const Slice lower_bound(lower);
          const Slice upper_bound(upper);
          ReadOptions options;
          options.iterate_lower_bound = &lower_bound;
          options.iterate_upper_bound = &upper_bound;
          const KeyRange range = {.begin = begin,
                                  .end = end,
                                  .begin_inclusive = begin_inclusive,
                                  .end_inclusive = end_inclusive};
          const int first = std::max(lower_number, begin_inclusive ? 60 : 61);
          const int last = std::min(upper_number - 1, end_inclusive ? 120 : 119);
          const std::unique_ptr<Iterator> it = tree_->NewIterator(options, range);
          it->Seek(NumberKey(0, 4));
          ASSERT_TRUE(it->Valid());
          EXPECT_EQ(it->key().ToString(), NumberKey(first, 4));
          it->SeekForPrev(NumberKey(199, 4));
          ASSERT_TRUE(it->Valid());
          EXPECT_EQ(it->key().ToString(), NumberKey(last, 4));
          int seen = 0;
          for (it->SeekToFirst(); it->Valid(); it->Next()) ++seen;
          EXPECT_EQ(seen, last - first + 1);
          for (it->SeekToLast(); it->Valid(); it->Prev()) --seen;
          EXPECT_EQ(seen, 0);
        }
      }
    }
  }
}

TEST_F(TreeTest, RangesWithEitherEndInclusiveOrNot) {
  for (int i = 0; i < 500; ++i) ASSERT_OK(tree_->Put(NumberKey(i * 2, 4), "v"));
  const std::string a = NumberKey(100, 4);
  const std::string b = NumberKey(200, 4);
  EXPECT_EQ(tree_->Count(KeyRange::Above(a)), 449U);
  EXPECT_EQ(tree_->Count(KeyRange::AtOrAbove(a)), 450U);
  EXPECT_EQ(tree_->Count(KeyRange::Below(b)), 100U);
  EXPECT_EQ(tree_->Count(KeyRange::AtOrBelow(b)), 101U);
  EXPECT_EQ(tree_->Count(KeyRange::Between(a, b)), 50U);
  EXPECT_EQ(tree_->Count(KeyRange::Between(b, a)), 0U);
  for (const bool begin_inclusive : {true, false}) {
    for (const bool end_inclusive : {true, false}) {
      const KeyRange range = {
          .begin = a, .end = b, .begin_inclusive = begin_inclusive, .end_inclusive = end_inclusive};
      const uint64_t expected = 49U + (begin_inclusive ? 1U : 0U) + (end_inclusive ? 1U : 0U);
      EXPECT_EQ(tree_->Count(range), expected);
      std::unique_ptr<Iterator> it = tree_->NewIterator(ReadOptions(), range);
      uint64_t seen = 0;
      for (it->SeekToFirst(); it->Valid(); it->Next()) seen++;
      EXPECT_EQ(seen, expected);
      for (it->SeekToLast(); it->Valid(); it->Prev()) seen--;
      EXPECT_EQ(seen, 0U);
    }
  }
}

// Compares bytewise and makes one call before a comparison.
class CallingComparator final : public Comparator {
 public:
  const char* Name() const override { return "test.Calling"; }
  int Compare(const Slice& a, const Slice& b) const override {
    if (call_) std::exchange(call_, {})();
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
  bool CanKeysWithDifferentByteContentsBeEqual() const override { return false; }
  void CallOnce(std::function<void()> call) { call_ = std::move(call); }

 private:
  mutable std::function<void()> call_;
};

// A leaf that takes in the next one during a count must not have its own entries counted twice.
TEST(CountTest, EntriesOfALeafThatTakesInTheNextOneCountOnce) {
  CallingComparator calling;
  TestPool pool(kPoolBytes, &calling);
  std::unique_ptr<PersistentTree> tree = OpenTestTree(&pool);
  constexpr int kLeaf = static_cast<int>(kSlots);
  for (int i = 0; i < 3 * kLeaf; ++i) ASSERT_OK(tree->Put(NumberKey(i), "v"));
  // 20, 5 and 48 entries. The next deletion in the second leaf merges it into the first one.
  for (int i = 20; i < kLeaf; ++i) ASSERT_OK(tree->Delete(NumberKey(i)));
  for (int i = kLeaf + 5; i < 2 * kLeaf; ++i) ASSERT_OK(tree->Delete(NumberKey(i)));
  ASSERT_EQ(tree->Stats().leaves, 3U);
  // The first comparison is in the search for the second leaf.
  calling.CallOnce([&] { std::thread([&] { EXPECT_OK(tree->Delete(NumberKey(kLeaf))); }).join(); });
  EXPECT_EQ(tree->Count(KeyRange::All()), 20U + 4U + kSlots);
  EXPECT_EQ(tree->Stats().leaf_merges, 1U);
  EXPECT_EQ(tree->Count(KeyRange::All()), tree->Stats().entries);
  ASSERT_OK(tree->Verify());
}

// ---- Comparators and batches.

// Verify must not compare fingerprints, which an update under such a comparator does not change.
TEST(CaselessTest, AKeyMayBeReplacedByAnEqualOneOfOtherBytes) {
  const CaselessComparator caseless;
  TestPool pool(kPoolBytes, &caseless);
  std::unique_ptr<PersistentTree> tree = OpenTestTree(&pool);
  ASSERT_OK(tree->Put("abc", "1"));
  ASSERT_OK(tree->Put("ABC", "2"));
  EXPECT_EQ(GetOr(tree.get(), "aBc"), "2");
  EXPECT_EQ(tree->Stats().entries, 1U);
  ASSERT_OK(tree->Verify());
  WriteBatch batch;
  ASSERT_OK(batch.Put("aBC", "3"));
  ASSERT_OK(batch.Put("x", "4"));
  ASSERT_OK(tree->Write(batch));
  EXPECT_EQ(GetOr(tree.get(), "abc"), "3");
  ASSERT_OK(tree->Verify());
}

// The first batch has a put of the default column family and a put of another family.
TEST_F(TreeTest, ABatchThatTheTreeDoesNotApplyChangesNothing) {
  const WriteBatch of_families(std::string("\0\0\0\0\0\0\0\0\2\0\0\0\1\1a\1b\5\1\1a\1b", 23));
  const Status other_family = tree_->Write(of_families);
  EXPECT_TRUE(other_family.IsInvalidArgument()) << other_family.ToString();
  WriteBatch with_merge;
  ASSERT_OK(with_merge.Put("a", "1"));
  ASSERT_OK(with_merge.Merge("a", "2"));
  const Status merge = tree_->Write(with_merge);
  EXPECT_TRUE(merge.IsNotSupported()) << merge.ToString();
  EXPECT_EQ(tree_->Count(KeyRange::All()), 0U);
}

// The longest key and the longest value are those of a batch.
TEST_F(TreeTest, AKeyOrValueOf4GiBIsRefused) {
  const Slice longest("x", (size_t{1} << 32) - 1);
  const Slice too_long("x", size_t{1} << 32);
  EXPECT_TRUE(tree_->Put("key", longest).IsNoSpace());
  EXPECT_TRUE(tree_->Put(longest, "value").IsNoSpace());
  EXPECT_TRUE(tree_->Put("key", too_long).IsInvalidArgument());
  EXPECT_TRUE(tree_->Put(too_long, "value").IsInvalidArgument());
  EXPECT_EQ(tree_->Count(KeyRange::All()), 0U);
}

// Entries and leaves must not be compared with each range.
TEST(RangeDeletionTest, ManyRangesInOneBatchTakeComparisonsInProportion) {
  const CountingComparator counting;
  TestPool pool(kPoolBytes, &counting);
  std::unique_ptr<PersistentTree> tree = OpenTestTree(&pool);
  constexpr uint64_t kRanges = 2000;
  for (uint64_t i = 0; i < kRanges * 4; ++i) ASSERT_OK(tree->Put(NumberKey(i), "v"));
  WriteBatch batch;
  for (uint64_t i = 0; i < kRanges; ++i)
    ASSERT_OK(batch.DeleteRange(NumberKey(i * 4), NumberKey(i * 4 + 2)));
  const uint64_t before = counting.comparisons();
  ASSERT_OK(tree->Write(batch));
  // About 15 comparisons for each end, entry and leaf.
  EXPECT_LT(counting.comparisons() - before, kRanges * 300);
  EXPECT_EQ(tree->Stats().entries, kRanges * 2);
  for (uint64_t i = 0; i < kRanges * 4; ++i) ASSERT_EQ(tree->Exists(NumberKey(i)), i % 4 >= 2) << i;
  ASSERT_OK(tree->Verify());
}

// Other new leaves must not take as much space for their separators as the longest one needs.
TEST_F(TreeTest, ALongKeyInABatchTakesNoSpaceForOtherLeaves) {
  const uint64_t before = tree_->Stats().used_bytes;
  constexpr size_t kLongBytes = 60'000;
  WriteBatch batch;
  // 10 leaves, the second of which begins with the long key.
  for (int i = 0; i < 400; ++i)
    ASSERT_OK(batch.Put(NumberKey(i) + std::string(i == 40 ? kLongBytes : 0, 'x'), "v"));
  ASSERT_OK(tree_->Write(batch));
  EXPECT_EQ(tree_->Stats().leaves, 10U);
  EXPECT_LT(tree_->Stats().used_bytes - before, 3 * kLongBytes);
  EXPECT_EQ(tree_->Count(KeyRange::All()), 400U);
  ASSERT_OK(tree_->Verify());
}

// A split must not take another object of its separator's length ahead, because the next split
// would spend it on a short separator for good.
TEST_F(TreeTest, ALongSeparatorIsNotTakenAheadOfItsSplit) {
  const uint64_t before = tree_->Stats().used_bytes;
  constexpr size_t kLongBytes = 60'000;
  // Each 49th key of an ascending load is the separator of a new leaf. The first one is long.
  for (int i = 0; i < 48; ++i) ASSERT_OK(tree_->Put(NumberKey(i), "v"));
  ASSERT_OK(tree_->Put(NumberKey(48) + std::string(kLongBytes, 'x'), "v"));
  ASSERT_EQ(tree_->Stats().leaves, 2U);
  EXPECT_LT(tree_->Stats().used_bytes - before, 3 * kLongBytes);
  for (int i = 49; i < 97; ++i) ASSERT_OK(tree_->Put(NumberKey(i), "v"));
  ASSERT_EQ(tree_->Stats().leaves, 3U);
  EXPECT_LT(tree_->Stats().used_bytes - before, 3 * kLongBytes);
  EXPECT_EQ(tree_->Count(KeyRange::All()), 97U);
  ASSERT_OK(tree_->Verify());
}

// Another thread splits the leaf while a put allocates the place for its long separator, so that
// nothing needs that place any more. The next separator is short.
TEST(SplitReserveTest, AShortSeparatorIsNotWrittenIntoThePlaceOfALongOne) {
  TestPool pool(kPoolBytes);
  std::unique_ptr<PersistentTree> tree;
  int asked = -1;  // allocations since the put of the long key began, or negative before it
  tree = OpenTestTree(&pool, nullptr, [&] {
    if (asked < 0 || ++asked != 2) return false;  // the record is the first one, then the new leaf
    asked = -1;
    EXPECT_OK(tree->Put(NumberKey(48), "v"));
    return false;
  });
  for (int i = 0; i < 48; ++i) ASSERT_OK(tree->Put(NumberKey(i), "v"));
  const uint64_t before = tree->Stats().used_bytes;
  constexpr size_t kLongBytes = 60'000;
  asked = 0;
  ASSERT_OK(tree->Put(NumberKey(48) + std::string(kLongBytes, 'x'), "v"));
  ASSERT_EQ(asked, -1);
  ASSERT_EQ(tree->Stats().leaves, 2U);
  for (int i = 49; i < 96; ++i) ASSERT_OK(tree->Put(NumberKey(i), "v"));
  ASSERT_EQ(tree->Stats().leaves, 3U);
  EXPECT_LT(tree->Stats().used_bytes - before, 2 * kLongBytes);
  ASSERT_OK(tree->Verify());
}

// There is room for the record and the new leaf, but not for its separator, as long as the record.
TEST(FullPoolOfLongKeysTest, ASplitWithoutRoomForItsSeparatorChangesNothing) {
  TestPool pool(uint64_t{1} << 20);
  std::unique_ptr<PersistentTree> tree = OpenTestTree(&pool);
  for (int i = 0; i < 48; ++i)
    ASSERT_OK(tree->Put(NumberKey(i), std::string(i < 42 ? 20'000 : 1, 'v')));
  const std::string long_key = NumberKey(48) + std::string(60'000, 'x');
  const uint64_t before = tree->Stats().used_bytes;
  ASSERT_GT(tree->Stats().free_bytes, long_key.size() + kPageBytes);
  for (int i = 0; i < 2; ++i) {
    const Status status = tree->Put(long_key, "v");
    ASSERT_TRUE(status.IsNoSpace()) << status.ToString();
    EXPECT_EQ(tree->Stats().used_bytes, before);
    EXPECT_EQ(tree->Stats().leaves, 1U);
    EXPECT_FALSE(tree->Exists(long_key));
  }
  ASSERT_OK(tree->Put(NumberKey(48), "v"));
  EXPECT_EQ(tree->Stats().leaves, 2U);
  EXPECT_EQ(tree->Count(KeyRange::All()), 49U);
  ASSERT_OK(tree->Verify());
}

// Compares batches of puts, deletes and overlapping, nested, touching or empty ranges to a model.
TEST_F(TreeTest, BatchesOfOverlappingRangesAgreeWithAModel) {
  const uint64_t seed = 77;
  Random random(seed);
  Model model;
  for (int round = 0; round < 150; ++round) {
    WriteBatch batch;
    const uint64_t changes = 1 + random.Uniform(30);
    for (uint64_t i = 0; i < changes; ++i) {
      const uint64_t a = random.Uniform(600);
      const std::string key = NumberKey(a, 4);
      if (random.OneIn(4)) {
        const std::string end = NumberKey(a + random.Uniform(40), 4);
        ASSERT_OK(batch.DeleteRange(key, end));
        model.erase(model.lower_bound(key), model.lower_bound(end));
      } else if (random.OneIn(5)) {
        ASSERT_OK(batch.Delete(key));
        model.erase(key);
      } else {
        const std::string value = NumberKey(round, 3) + std::to_string(i);
        ASSERT_OK(batch.Put(key, value));
        model[key] = value;
      }
    }
    ASSERT_OK(tree_->Write(batch));
    ASSERT_NO_FATAL_FAILURE(
        ExpectAgrees(tree_.get(), model, StrCat("seed ", seed, " round ", round)));
  }
}

// ---- A full pool.

class FullPoolTest : public ::testing::Test {
 protected:
  FullPoolTest() {
    Status status;
    while ((status = tree_->Put(NumberKey(count_), Value(count_))).ok()) count_++;
    full_ = status;
  }
  std::string Value(uint64_t i, char fill = 'v') const { return std::string(100 + i % 400, fill); }

  TestPool pool_{uint64_t{2} << 20};
  std::unique_ptr<PersistentTree> tree_ = OpenTestTree(&pool_);
  uint64_t count_ = 0;
  Status full_;
};

TEST_F(FullPoolTest, SaysSoAndKeepsEverything) {
  EXPECT_TRUE(full_.IsNoSpace()) << full_.ToString();
  EXPECT_GT(count_, 2000U);
  EXPECT_EQ(tree_->Stats().entries, count_);
  for (uint64_t i = 0; i < count_; ++i) ASSERT_EQ(GetOr(tree_.get(), NumberKey(i)), Value(i));
  ASSERT_OK(tree_->Verify());
}

TEST_F(FullPoolTest, EveryValueCanBeReplacedByOneOfItsSize) {
  for (const char fill : {'w', 'x', 'y'}) {
    for (uint64_t i = 0; i < count_; ++i) ASSERT_OK(tree_->Put(NumberKey(i), Value(i, fill)));
    ASSERT_OK(tree_->Close());
    tree_ = OpenTestTree(&pool_);
  }
  for (uint64_t i = 0; i < count_; ++i) ASSERT_EQ(GetOr(tree_.get(), NumberKey(i)), Value(i, 'y'));
  ASSERT_OK(tree_->Verify());
}

TEST_F(FullPoolTest, TheHeldBackBufferIsNeverLaidOverAPinnedValue) {
  PinnableSlice pinned;
  ASSERT_OK(tree_->Get(ReadOptions(), NumberKey(7), &pinned));
  ASSERT_OK(tree_->Put(NumberKey(7), Value(7, 'w')));
  // The held-back object is in use, and the replaced one is pinned.
  Status status;
  for (uint64_t i = 7; i < count_ && status.ok(); i += 400)
    status = tree_->Put(NumberKey(i), Value(i, 'x'));
  EXPECT_EQ(pinned, Slice(Value(7)));
  pinned.Reset();
  for (uint64_t i = 7; i < count_; i += 400) ASSERT_OK(tree_->Put(NumberKey(i), Value(i, 'z')));
}

TEST_F(FullPoolTest, CanBeDeletedFromAndFilledAgain) {
  for (uint64_t i = 0; i < count_; i += 2) ASSERT_OK(tree_->Delete(NumberKey(i)));
  // Leaves that split take a part of the space.
  uint64_t again = 0;
  while (again < count_ && tree_->Put(NumberKey(again), Value(again, 'w')).ok()) again += 2;
  EXPECT_GT(again, count_ * 8 / 10);
  ASSERT_OK(tree_->DeleteRange(KeyRange::All()));
  EXPECT_EQ(tree_->Count(KeyRange::All()), 0U);
  // Values of another size, for which the spans have to change their class.
  uint64_t filled = 0;
  while (tree_->Put(NumberKey(filled), std::string(700, 'n')).ok()) filled++;
  EXPECT_GT(filled * 732, uint64_t{3} << 19);
  ASSERT_OK(tree_->Verify());
}

// The entries are the largest that a class has room for.
TEST(FullPoolOfLargestEntriesTest, EveryValueCanBeReplacedByOneOfItsSize) {
  TestPool pool(uint64_t{1} << 20);
  std::unique_ptr<PersistentTree> tree = OpenTestTree(&pool);
  const auto value = [](char fill) { return std::string(16'372 - 20, fill); };
  uint64_t count = 0;
  while (tree->Put(NumberKey(count), value('a')).ok()) count++;
  ASSERT_GT(count, 40U);
  for (uint64_t i = 0; i < count; ++i) ASSERT_OK(tree->Put(NumberKey(i), value('b')));
  for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(GetOr(tree.get(), NumberKey(i)), value('b')) << i;
}

// A value that grows into a class must not get the object that the class holds back. The replaced
// value is of another class, so nothing would be held back from then on.
TEST(FullPoolOfTwoSizesTest, AValueThatGrowsLeavesTheHeldBackObjectOfItsNewClass) {
  TestPool pool(uint64_t{1} << 20);
  std::unique_ptr<PersistentTree> tree = OpenTestTree(&pool);
  ASSERT_OK(tree->Put("small", "x"));
  uint64_t count = 0;
  while (tree->Put(NumberKey(count), std::string(7000, 'a')).ok()) count++;
  ASSERT_GT(count, 50U);
  EXPECT_TRUE(tree->Put("small", std::string(7000, 'a')).IsNoSpace());
  EXPECT_EQ(GetOr(tree.get(), "small"), "x");
  for (uint64_t i = 0; i < count; ++i) ASSERT_OK(tree->Put(NumberKey(i), std::string(7000, 'b')));
  ASSERT_OK(tree->Verify());
}

// A put that a full pool refuses must not succeed when it is tried again. It would take the only
// object with room for good, so that its value could not be replaced.
TEST(FullPoolOfTwoSizesTest, AValueOfANewSizeIsTakenWhereItCanBeReplacedOnly) {
  TestPool pool(uint64_t{1} << 20);
  std::unique_ptr<PersistentTree> tree = OpenTestTree(&pool);
  const std::string value(16'000, 'v');
  uint64_t count = 0;
  while (tree->Put(NumberKey(count), std::string(20'000, 'a')).ok()) count++;
  ASSERT_GT(count, 40U);
  ASSERT_OK(tree->Delete(NumberKey(20)));  // five pages: one object of the new size
  for (int i = 0; i < 3; ++i) {
    const Status status = tree->Put("new", value);
    ASSERT_TRUE(status.IsNoSpace()) << i << ": " << status.ToString();
  }
  EXPECT_FALSE(tree->Exists("new"));
  ASSERT_OK(tree->Delete(NumberKey(21)));
  ASSERT_OK(tree->Put("new", value));
  uint64_t others = 0;
  while (tree->Put("other" + std::to_string(others), value).ok()) others++;
  for (const char fill : {'w', 'x'}) ASSERT_OK(tree->Put("new", std::string(16'000, fill)));
  EXPECT_EQ(GetOr(tree.get(), "new"), std::string(16'000, 'x'));
  ASSERT_OK(tree->Verify());
}

// A batch of deletes must not need a redo log of two words for each key, for which a full pool has
// no room.
TEST(FullPoolOfSmallEntriesTest, TakesABatchOfDeletesInEveryLeaf) {
  TestPool pool(uint64_t{1} << 20);
  std::unique_ptr<PersistentTree> tree = OpenTestTree(&pool);
  uint64_t count = 0;
  while (tree->Put(NumberKey(count), "").ok()) count++;
  for (size_t bytes = 16000; bytes > 0; bytes /= 2) {
    while (tree->Put(NumberKey(count), std::string(bytes, 'v')).ok()) count++;
  }
  const uint64_t leaves = tree->Stats().leaves;
  ASSERT_GT(leaves, 200U);
  WriteBatch batch;
  uint64_t deleted = 0;
  for (uint64_t i = 0; i < count; i += 30, ++deleted) ASSERT_OK(batch.Delete(NumberKey(i)));
  ASSERT_GT(deleted, leaves);
  ASSERT_OK(tree->Write(batch));
  EXPECT_EQ(tree->Count(KeyRange::All()), count - deleted);
  for (uint64_t i = 0; i < count; ++i) ASSERT_EQ(tree->Exists(NumberKey(i)), i % 30 != 0) << i;
  ASSERT_OK(tree->Verify());
  // Delete all entries of some leaves, too.
  batch.Clear();
  for (uint64_t i = 0; i < count; ++i) {
    if (i % 400 >= 200) continue;
    ASSERT_OK(batch.Delete(NumberKey(i)));
  }
  ASSERT_OK(tree->Write(batch));
  for (uint64_t i = 0; i < count; ++i)
    ASSERT_EQ(tree->Exists(NumberKey(i)), i % 30 != 0 && i % 400 >= 200) << i;
  EXPECT_LT(tree->Stats().leaves, leaves * 2 / 3);
  ASSERT_OK(tree->Close());
  tree = OpenTestTree(&pool);
  ASSERT_OK(tree->Verify());
}

TEST_F(FullPoolTest, ABatchThatDoesNotFitChangesNothing) {
  WriteBatch batch;
  ASSERT_OK(batch.Delete(NumberKey(0)));
  for (uint64_t i = 0; i < 1000; ++i)
    ASSERT_OK(batch.Put("new" + NumberKey(i), std::string(500, 'b')));
  EXPECT_TRUE(tree_->Write(batch).IsNoSpace());
  EXPECT_EQ(tree_->Count(KeyRange::All()), count_);
  ASSERT_OK(tree_->Verify());
}

TEST(AllocationFailureTest, WhicheverAllocationFailsNothingIsLost) {
  for (uint64_t every = 2; every < 30; every += 3) {
    TestPool pool(kPoolBytes);
    uint64_t asked = 0;
    std::unique_ptr<PersistentTree> tree =
        OpenTestTree(&pool, nullptr, [&] { return ++asked % every == 0; });
    Model model;
    Random random(every);
    for (int i = 0; i < 1500; ++i) {
      const std::string key = NumberKey(random.Uniform(600));
      const std::string value = random.Bytes(random.Uniform(100));
      if (random.OneIn(8)) {
        WriteBatch batch;
        for (int j = 0; j < 6; ++j) ASSERT_OK(batch.Put(key + std::to_string(j), value));
        const Status status = tree->Write(batch);
        ASSERT_TRUE(status.ok() || status.IsNoSpace());
        for (int j = 0; j < 6 && status.ok(); ++j) model[key + std::to_string(j)] = value;
      } else if (random.OneIn(3)) {
        ASSERT_OK(tree->Delete(key));
        model.erase(key);
      } else {
        const Status status = tree->Put(key, value);
        ASSERT_TRUE(status.ok() || status.IsNoSpace());
        if (status.ok()) model[key] = value;
      }
    }
    ExpectAgrees(tree.get(), model, "every " + std::to_string(every));
  }
}

// ---- Recovery.

TEST_F(TreeTest, HoweverManyThreadsReadTheLeavesTheTreeIsTheSame) {
  Model model;
  Random random(31);
  for (int i = 0; i < 40000; ++i) {
    const std::string key = NumberKey(random.Uniform(1000000));
    model[key] = std::to_string(i);
    ASSERT_OK(tree_->Put(key, model[key]));
  }
  // Leaves that are not in use are between the others.
  for (int i = 0; i < 300000; ++i) {
    const std::string key = NumberKey(i);
    if (model.erase(key) > 0) {
      ASSERT_OK(tree_->Delete(key));
    }
  }
  for (const uint32_t threads : {1U, 2U, 7U}) {
    ASSERT_OK(tree_->Close());
    TreeConfig config;
    config.recovery = {.comparator = BytewiseComparator(),
                       .refuse_allocation = {},
                       .threads = threads,
                       .spans_per_thread_min = 1};
    tree_ = OpenTree(CountingMedium::Create(pool_.file()), std::move(config)).value();
    ExpectAgrees(tree_.get(), model, std::to_string(threads) + " threads");
  }
}

// ---- The published strategies.

TEST(SplitStrategyTest, EveryStrategyStoresTheSameAndTheZeroCopyOneFlushesTheLeast) {
  std::map<SplitStrategy, uint64_t> lines;
  for (const SplitStrategy strategy :
       {SplitStrategy::kZeroCopySwap, SplitStrategy::kCopyOrSwap, SplitStrategy::kNaiveCopy}) {
    TestPool pool(kPoolBytes);
    pool.split_strategy = strategy;
    CountingMedium* medium = nullptr;
    std::unique_ptr<PersistentTree> tree = OpenTestTree(&pool, &medium);
    Model model;
    Random random(4);
    for (int i = 0; i < 4000; ++i) {
      const std::string key = NumberKey(random.Uniform(1000000));
      model[key] = std::string(i % 2 == 0 ? 15 : 200, static_cast<char>('a' + i % 26));
      ASSERT_OK(tree->Put(key, model[key]));
      if (i % 5 == 0) {
        ASSERT_OK(tree->Delete(model.begin()->first));
        model.erase(model.begin());
      }
    }
    EXPECT_GT(tree->Stats().leaf_splits, 50U);
    lines[strategy] = medium->counts().lines_flushed;
    ExpectAgrees(tree.get(), model, std::to_string(static_cast<int>(strategy)));
    ASSERT_OK(tree->Close());
    tree = OpenTestTree(&pool);
    ExpectAgrees(tree.get(), model, "reopened");
  }
  EXPECT_LT(lines[SplitStrategy::kZeroCopySwap], lines[SplitStrategy::kCopyOrSwap]);
  EXPECT_LT(lines[SplitStrategy::kCopyOrSwap], lines[SplitStrategy::kNaiveCopy]);
}

// ---- Defragmentation.

// Large values fill runs of pages of their own. Without half of them there are holes that no larger
// value fits.
TEST(LargeValuesTest, DefragmentMovesThemTogether) {
  TestPool pool(uint64_t{8} << 20);
  std::unique_ptr<PersistentTree> tree = OpenTestTree(&pool);
  const auto value = [](uint64_t i) { return std::string(20000, static_cast<char>('a' + i % 26)); };
  uint64_t count = 0;
  while (tree->Put(NumberKey(count), value(count)).ok()) count++;
  ASSERT_GT(count, 300U);
  for (uint64_t i = 0; i < count; i += 2) ASSERT_OK(tree->Delete(NumberKey(i)));
  ASSERT_TRUE(tree->Put("large", std::string(200000, 'l')).IsNoSpace());
  ASSERT_OK(tree->Defragment());
  EXPECT_OK(tree->Put("large", std::string(200000, 'l')));
  EXPECT_OK(tree->Put("of a class", std::string(10000, 'c')));
  for (uint64_t i = 0; i < count; ++i)
    ASSERT_EQ(GetOr(tree.get(), NumberKey(i)), i % 2 == 0 ? "(missing)" : value(i)) << i;
  ASSERT_OK(tree->Verify());
  ASSERT_OK(tree->Close());
  tree = OpenTestTree(&pool);
  ASSERT_OK(tree->Verify());
  EXPECT_EQ(GetOr(tree.get(), NumberKey(1)), value(1));
}

// Values of five and six pages alternate. No hole that a shorter one leaves has room for a longer
// one, but they must move, or half of the pool stays in pieces.
TEST(LargeValuesTest, DefragmentMovesThemTogetherWhereNoHoleIsAsLongAsAValue) {
  constexpr uint64_t kLargePoolBytes = uint64_t{8} << 20;
  TestPool pool(kLargePoolBytes);
  const std::unique_ptr<PersistentTree> tree = OpenTestTree(&pool);
  const auto value = [](uint64_t i) {
    return std::string(i % 2 == 0 ? 20'000 : 24'000, static_cast<char>('a' + i % 26));
  };
  uint64_t count = 0;
  while (tree->Put(NumberKey(count), value(count)).ok()) count++;
  ASSERT_GT(count, 300U);
  Model model;
  for (uint64_t i = 0; i < count; ++i) {
    // One of the longer values at the end is deleted, which gives the room to begin with.
    if (i % 2 == 0 || i + 2 >= count) {
      ASSERT_OK(tree->Delete(NumberKey(i)));
    } else {
      model[NumberKey(i)] = value(i);
    }
  }
  ASSERT_TRUE(tree->Put("large", std::string(200'000, 'l')).IsNoSpace());
  ASSERT_OK(tree->Defragment());
  model["large"] = std::string(kLargePoolBytes / 3, 'l');
  EXPECT_OK(tree->Put("large", model["large"]));
  ExpectAgrees(tree.get(), model, "defragmented");
}

// The pages that the first value leaves free are too few for the second one, and so are those that
// were never used.
TEST(LargeValuesTest, AnEmptyPoolTakesOneThatIsLargerThanItsFirst) {
  TestPool pool(uint64_t{8} << 20);
  std::unique_ptr<PersistentTree> tree = OpenTestTree(&pool);
  for (const size_t bytes : {size_t{5'000'000}, size_t{6'000'000}}) {
    ASSERT_OK(tree->Put("large", std::string(bytes, 'l')));
    ASSERT_OK(tree->Delete("large"));
  }
  ASSERT_OK(tree->Close());
  tree = OpenTestTree(&pool);
  ASSERT_OK(tree->Put("large", std::string(7'000'000, 'm')));
  EXPECT_EQ(GetOr(tree.get(), "large"), std::string(7'000'000, 'm'));
  ASSERT_OK(tree->Verify());
}

// A size class must not take a span of 64 KiB at once, because a small pool has few of them.
TEST(SmallPoolTest, HoldsValuesOfManySizes) {
  constexpr uint64_t kSmallPoolBytes = uint64_t{8} << 20;
  TestPool pool(kSmallPoolBytes);
  const std::unique_ptr<PersistentTree> tree = OpenTestTree(&pool);
  Random random(5);
  uint64_t payload = 0;
  for (uint64_t i = 0;; ++i) {
    const std::string value(1 + random.Uniform(16000), 'v');
    if (!tree->Put(NumberKey(i), value).ok()) break;
    payload += value.size();
  }
  EXPECT_GT(payload, kSmallPoolBytes * 6 / 10);
}

TEST_F(TreeTest, DefragmentMakesRoomForOtherSizes) {
  Model model;
  uint64_t count = 0;
  while (tree_->Put(NumberKey(count), std::string(200, 'v')).ok()) count++;
  // Every span keeps some objects, so no part of it can be used for other sizes.
  for (uint64_t i = 0; i < count; ++i) {
    if (i % 4 != 0) {
      ASSERT_OK(tree_->Delete(NumberKey(i)));
    } else {
      model[NumberKey(i)] = std::string(200, 'v');
    }
  }
  EXPECT_TRUE(tree_->Put("large", std::string(1 << 20, 'l')).IsNoSpace());
  PinnableSlice pinned;
  ASSERT_OK(tree_->Get(ReadOptions(), NumberKey(400), &pinned));
  ASSERT_OK(tree_->Defragment());
  ASSERT_OK(tree_->Put("large", std::string(1 << 20, 'l')));
  EXPECT_EQ(pinned, Slice(std::string(200, 'v')));
  model["large"] = std::string(1 << 20, 'l');
  ExpectAgrees(tree_.get(), model, "defragmented");
}

// 16 entries stay in each leaf, after which no deletion looks for a merge.
TEST_F(TreeTest, DefragmentMergesLeaves) {
  Model model;
  for (int i = 0; i < 480; ++i) ASSERT_OK(tree_->Put(NumberKey(i), "v"));
  for (int i = 0; i < 480; ++i) {
    if (i % 48 < 16) {
      model[NumberKey(i)] = "v";
    } else {
      ASSERT_OK(tree_->Delete(NumberKey(i)));
    }
  }
  ASSERT_EQ(tree_->Stats().leaves, 10U);
  ASSERT_OK(tree_->Defragment());
  EXPECT_EQ(tree_->Stats().leaves, 5U);
  EXPECT_EQ(tree_->Stats().leaf_merges, 5U);
  ExpectAgrees(tree_.get(), model, "defragmented");
}

// A copy of a damaged record would have a good checksum, so the damage would become silent.
TEST(DamagedRecordTest, DefragmentLeavesADamagedRecordWhereItIs) {
  for (const size_t bytes : {size_t{200}, size_t{20'000}}) {
    TestPool pool(uint64_t{2} << 20);
    CountingMedium* medium = nullptr;
    const std::unique_ptr<PersistentTree> tree = OpenTestTree(&pool, &medium);
    uint64_t count = 0;
    while (tree->Put(NumberKey(count), std::string(bytes, 'v')).ok()) count++;
    for (uint64_t i = 0; i + 1 < count; ++i) {
      if (i % 4 == 0) continue;
      ASSERT_OK(tree->Delete(NumberKey(i)));
    }
    // It is in the last place, from which it would be moved.
    const std::string damaged = NumberKey(count - 1);
    PinnableSlice value;
    ASSERT_OK(tree->Get(ReadOptions(), damaged, &value));
    const auto at = static_cast<uint64_t>(value.data() - medium->view());
    value.Reset();
    const std::unique_ptr<PoolMapping> raw = pool.file()->Map(PoolMapMode::kShared).value();
    raw->data()[at + 100] ^= 1;
    ASSERT_TRUE(tree->Get(ReadOptions(), damaged, &value).IsCorruption());
    const Status status = tree->Defragment();
    EXPECT_TRUE(status.IsCorruption()) << status.ToString();
    EXPECT_TRUE(tree->Get(ReadOptions(), damaged, &value).IsCorruption()) << bytes;
    EXPECT_TRUE(tree->Verify().IsCorruption()) << bytes;
    for (uint64_t i = 0; i + 1 < count; i += 4)
      ASSERT_EQ(GetOr(tree.get(), NumberKey(i)), std::string(bytes, 'v')) << i;
  }
}

// ---- Damage.

// Flips bits of the pool while it is closed. Whatever happens, the result is a Status.
TEST(DamageTest, AFlippedBitGivesAStatusOrTheOldState) {
  const uint64_t seed = 13;
  Random random(seed);
  uint64_t noticed = 0;
  for (int round = 0; round < 300; ++round) {
    TestPool pool(uint64_t{1} << 20);
    {
      std::unique_ptr<PersistentTree> tree = OpenTestTree(&pool);
      for (int i = 0; i < 300; ++i) ASSERT_OK(tree->Put(NumberKey(i), std::string(30, 'v')));
    }
    const std::unique_ptr<PoolMapping> raw = pool.file()->Map(PoolMapMode::kShared).value();
    const uint64_t start = round % 2 == 0 ? 0 : FirstLeafOf(raw->bytes());
    const uint64_t at = start + random.Uniform(round % 2 == 0 ? 4400 : 8000);
    raw->data()[at] = static_cast<char>(raw->data()[at] ^ 1 << random.Uniform(8));
    TreeConfig config = {.recovery = {.comparator = BytewiseComparator(),
                                      .refuse_allocation = {},
                                      .threads = 2,
                                      .spans_per_thread_min = 1},
                         .mark = MarkRun::kAtOpen};
    Result<std::unique_ptr<PersistentTree>> tree =
        OpenTree(CountingMedium::Create(pool.file()), std::move(config));
    if (!tree.ok()) {
      noticed++;
      continue;
    }
    if (!tree.value()->Verify().ok()) noticed++;
    std::unique_ptr<Iterator> it = tree.value()->NewIterator(ReadOptions());
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
    }
    for (int i = 0; i < 300; ++i) static_cast<void>(GetOr(tree.value().get(), NumberKey(i)));
    static_cast<void>(tree.value()->Put("more", "x"));
    static_cast<void>(tree.value()->DeleteRange(KeyRange::All()));
  }
  EXPECT_GT(noticed, 40U);
}

// A separator changes while the tree is open. If damage refers to its record a second time, the
// record is freed with that reference and used again. The bound of a leaf may then lead back to the
// leaf, where iterators must not loop forever and batches must not wait for their own lock.
class ChangedSeparatorTest : public ::testing::Test {
 protected:
  // The tree has three full leaves: the numbers below 48, those below 96, and the rest.
  ChangedSeparatorTest() {
    for (int i = 0; i < 144; ++i) EXPECT_OK(tree_->Put(NumberKey(i), "v"));
    EXPECT_EQ(tree_->Stats().leaves, 3U);
    const LeafView first(*medium_, FirstLeafOf(medium_->bytes()));
    const LeafView second(*medium_, first.Next(first.Commit()));
    second_ = second.offset();
    separator_ = second.Separator();
    EXPECT_EQ(ReadRecord(*medium_, separator_)->key(), Slice(NumberKey(48)));
  }
  void Delete(int begin, int end) {
    for (int i = begin; i < end; ++i) ASSERT_OK(tree_->Delete(NumberKey(i)));
  }
  void ChangeSeparator(int number) {
    const std::string key = NumberKey(number);
    memcpy(raw_->data() + separator_ + kRecordHeaderBytes, key.data(), key.size());
  }

  TestPool pool_{uint64_t{1} << 20};
  std::unique_ptr<PoolMapping> raw_ = pool_.file()->Map(PoolMapMode::kShared).value();
  CountingMedium* medium_ = nullptr;
  std::unique_ptr<PersistentTree> tree_ = OpenTestTree(&pool_, &medium_);
  PoolOffset second_ = 0;
  PoolOffset separator_ = 0;
};

// Verify must report it, because the next open refuses the pool.
TEST_F(ChangedSeparatorTest, IsReportedWhereItsLeafHasNone) {
  EncodeFixed64(raw_->data() + second_ + kLeafSeparator, 0);
  EXPECT_TRUE(tree_->Verify().IsCorruption());
}

// The word of the leaf must not be taken for a place in the pool.
TEST_F(ChangedSeparatorTest, IsNotReadFromALeafThatIsMerged) {
  EncodeFixed64(raw_->data() + second_ + kLeafSeparator, uint64_t{1} << 45);
  Delete(0, 96);
  EXPECT_EQ(tree_->Stats().leaf_merges, 1U);
  EXPECT_EQ(GetOr(tree_.get(), NumberKey(100)), "v");
  EXPECT_OK(VerifyAndCheck(tree_.get()));
}
TEST_F(ChangedSeparatorTest, IsNotReadFromALeafThatABatchDrops) {
  EncodeFixed64(raw_->data() + second_ + kLeafSeparator, uint64_t{1} << 45);
  const std::string begin = NumberKey(48);
  const std::string end = NumberKey(96);
  ASSERT_OK(tree_->DeleteRange(KeyRange::Between(begin, end)));
  EXPECT_EQ(tree_->Stats().leaves, 2U);
  EXPECT_EQ(GetOr(tree_.get(), NumberKey(100)), "v");
  EXPECT_OK(VerifyAndCheck(tree_.get()));
}

TEST_F(ChangedSeparatorTest, EndsAWalkForwards) {
  Delete(40, 48);
  ChangeSeparator(40);
  const std::unique_ptr<Iterator> it = tree_->NewIterator(ReadOptions());
  int seen = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) ++seen;
  EXPECT_EQ(seen, 40);
  EXPECT_TRUE(it->status().IsCorruption()) << it->status().ToString();
}

// Otherwise the iteration would come to the leaf again and again.
TEST_F(ChangedSeparatorTest, EndsAWalkForwardsAmongTheKeysOfItsLeaf) {
  ChangeSeparator(40);
  const std::unique_ptr<Iterator> it = tree_->NewIterator(ReadOptions());
  int seen = 0;
  for (it->SeekToFirst(); it->Valid() && seen < 200; it->Next()) ++seen;
  EXPECT_EQ(seen, 48);
  EXPECT_TRUE(it->status().IsCorruption()) << it->status().ToString();
}

TEST_F(ChangedSeparatorTest, EndsAWalkBackwards) {
  Delete(48, 95);
  ChangeSeparator(95);
  const std::unique_ptr<Iterator> it = tree_->NewIterator(ReadOptions());
  int seen = 0;
  for (it->SeekToLast(); it->Valid(); it->Prev()) ++seen;
  EXPECT_EQ(seen, 49);
  EXPECT_TRUE(it->status().IsCorruption()) << it->status().ToString();
}

TEST_F(ChangedSeparatorTest, IsNoticedByABatchThatMeetsALeafTwice) {
  ChangeSeparator(40);
  const Status deleted = tree_->DeleteRange(KeyRange::All());
  EXPECT_TRUE(deleted.IsCorruption()) << deleted.ToString();
  WriteBatch batch;
  ASSERT_OK(batch.Delete(NumberKey(20)));
  ASSERT_OK(batch.Delete(NumberKey(45)));
  const Status written = tree_->Write(batch);
  EXPECT_TRUE(written.IsCorruption()) << written.ToString();
  // No lock is left.
  EXPECT_EQ(GetOr(tree_.get(), NumberKey(20)), "v");
  EXPECT_OK(tree_->Delete(NumberKey(20)));
}

// The second leaf loses all entries. The key that finds its left neighbour leads back to the leaf.
TEST_F(ChangedSeparatorTest, IsNoticedByABatchThatDropsALeaf) {
  Delete(48, 60);
  ChangeSeparator(95);
  const std::string begin = NumberKey(60);
  const std::string end = NumberKey(96);
  const Status deleted = tree_->DeleteRange(KeyRange::Between(begin, end));
  EXPECT_TRUE(deleted.IsCorruption()) << deleted.ToString();
  EXPECT_EQ(GetOr(tree_.get(), NumberKey(70)), "v");
  EXPECT_OK(tree_->Delete(NumberKey(70)));
}

TEST_F(TreeTest, AFlippedBitInAValueIsNoticedByGetAndVerify) {
  ASSERT_OK(tree_->Put("key", std::string(50, 'v')));
  PinnableSlice value;
  ASSERT_OK(tree_->Get(ReadOptions(), "key", &value));
  const auto at = static_cast<uint64_t>(value.data() - medium_->view());
  value.Reset();
  const std::unique_ptr<PoolMapping> raw = pool_.file()->Map(PoolMapMode::kShared).value();
  raw->data()[at + 7] ^= 1;
  EXPECT_TRUE(tree_->Get(ReadOptions(), "key", &value).IsCorruption());
  EXPECT_TRUE(tree_->Get(ReadOptions(false, false), "key", &value).ok());
  EXPECT_TRUE(tree_->Verify().IsCorruption());
  value.Reset();
}

// The second of three full leaves has a record that cannot be read.
TEST_F(TreeTest, ACountHasAllEntriesOfADamagedLeafOrNone) {
  for (int i = 0; i < 144; ++i) ASSERT_OK(tree_->Put(NumberKey(i), "v"));
  ASSERT_EQ(tree_->Stats().leaves, 3U);
  const std::string damaged = NumberKey(70);
  PinnableSlice value;
  ASSERT_OK(tree_->Get(ReadOptions(), damaged, &value));
  const auto record =
      static_cast<uint64_t>(value.data() - medium_->view()) - damaged.size() - kRecordHeaderBytes;
  value.Reset();
  const std::unique_ptr<PoolMapping> raw = pool_.file()->Map(PoolMapMode::kShared).value();
  EncodeFixed32(raw->data() + record + offsetof(RecordLengths, key_bytes), ~uint32_t{0});
  EXPECT_FALSE(tree_->Exists(damaged));
  EXPECT_TRUE(tree_->Get(ReadOptions(), damaged, &value).IsCorruption());
  EXPECT_EQ(tree_->Count(KeyRange::All()), 144U);
  const std::string in_first = NumberKey(40);
  EXPECT_EQ(tree_->Count(KeyRange::AtOrAbove(in_first)), 8U + 48U + 48U);
  const std::string in_second = NumberKey(60);
  EXPECT_EQ(tree_->Count(KeyRange::AtOrAbove(in_second)), 48U);
}

TEST_F(TreeTest, AGetIntoAStringCopiesWhatIsWholeAndLeavesTheStringAloneOtherwise) {
  ASSERT_OK(tree_->Put("key", std::string(50, 'v')));
  ASSERT_OK(tree_->Put("empty", ""));
  std::string value = "before";
  EXPECT_TRUE(tree_->Get(ReadOptions(), "missing", &value).IsNotFound());
  EXPECT_EQ(value, "before");
  ASSERT_OK(tree_->Get(ReadOptions(), "key", &value));
  EXPECT_EQ(value, std::string(50, 'v'));
  ASSERT_OK(tree_->Get(ReadOptions(), "empty", &value));
  EXPECT_EQ(value, "");

  PinnableSlice pinned;
  ASSERT_OK(tree_->Get(ReadOptions(), "key", &pinned));
  const auto at = static_cast<uint64_t>(pinned.data() - medium_->view());
  pinned.Reset();
  const std::unique_ptr<PoolMapping> raw = pool_.file()->Map(PoolMapMode::kShared).value();
  raw->data()[at + 7] ^= 1;
  value = "before";
  EXPECT_TRUE(tree_->Get(ReadOptions(), "key", &value).IsCorruption());
  EXPECT_EQ(value, "before");
  ASSERT_OK(tree_->Get(ReadOptions(false, false), "key", &value));
  EXPECT_EQ(value.size(), 50U);
  raw->data()[at + 7] ^= 1;

  ASSERT_OK(tree_->Close());
  value = "before";
  EXPECT_TRUE(tree_->Get(ReadOptions(), "key", &value).IsAborted());
  EXPECT_EQ(value, "before");
}

TEST(PoolHeaderTest, RefusesWithTheReason) {
  const std::string good = EncodePoolHeader(uint64_t{1} << 20, 5, *BytewiseComparator());
  const auto decode = [](const std::string& page,
                         const Comparator* comparator = BytewiseComparator()) {
    return DecodePoolHeader("p", page, uint64_t{1} << 20, *comparator).status().ToString();
  };
  EXPECT_TRUE(DecodePoolHeader("p", good, uint64_t{1} << 20, *BytewiseComparator()).ok());
  EXPECT_THAT(decode(std::string(kPageBytes, '\0')), HasSubstr("is not a pool"));
  EXPECT_THAT(decode("short"), HasSubstr("is not a pool"));
  std::string page = good;
  page[8] = 9;
  EXPECT_THAT(decode(page), HasSubstr("version 9"));
  page = good;
  std::swap(page[12], page[15]);
  std::swap(page[13], page[14]);
  EXPECT_THAT(decode(page), HasSubstr("byte order"));
  page = good;
  page[kComparatorNameOffset] ^= 1;
  EXPECT_THAT(decode(page), HasSubstr("damaged"));
  EXPECT_THAT(decode(good, ReverseBytewiseComparator()),
              HasSubstr("comparator leveldb.BytewiseComparator"));
  EXPECT_THAT(
      DecodePoolHeader("p", good, uint64_t{2} << 20, *BytewiseComparator()).status().ToString(),
      HasSubstr("the file has 2097152"));
}

}  // namespace
}  // namespace ashlar::pmem
