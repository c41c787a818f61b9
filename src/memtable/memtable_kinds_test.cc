// Compares every kind of memtable with std::map: the results of Get and of cursors of both scopes,
// while it grows and once it is immutable.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "execute/epoch.h"
#include "memtable/memtable.h"
#include "memtable/memtable_cursor.h"
#include "tests/support/comparators.h"
#include "tests/support/memtable_shapes.h"
#include "tests/support/test_epochs.h"

namespace ashlar {
namespace {

struct KeyKind {
  const char* name;
  std::string (*make)(Random* random);
};

// Fixed prefixes of four bytes. Some keys are outside the domain, and some consist of their prefix.
constexpr size_t kPrefixBytes = 4;
const KeyKind kKeyKinds[] = {
    {"a prefix per key",
     [](Random* random) { return "k" + std::to_string(100 + random->Uniform(900)); }},
    {"many keys per prefix",
     [](Random* random) {
       return "pre" + std::to_string(random->Uniform(5)) + "/" +
              std::to_string(random->Uniform(300));
     }},
    {"short binary, also empty, mostly without a prefix",
     [](Random* random) { return random->Bytes(random->Uniform(7)); }},
};

struct ModelLess {
  KeyComparator comparator;
  bool operator()(const std::string& a, const std::string& b) const {
    return comparator.CompareInternal(a, b) < 0;
  }
};
using Model = std::map<std::string, std::string, ModelLess>;  // internal key to value

using Parameter = std::tuple<size_t, size_t, size_t>;

class MemTableKindsTest : public testing::TestWithParam<Parameter> {
 protected:
  MemTableKindsTest()
      : shape_(TestShapes()[std::get<0>(GetParam())]),
        keys_(kKeyKinds[std::get<1>(GetParam())]),
        order_(TestComparators()[std::get<2>(GetParam())]),
        comparator_(order_.comparator),
        model_(ModelLess{comparator_}),
        memtable_(MemTable::Create({.comparator = comparator_,
                                    .arena_blocks = &blocks_,
                                    .epochs = &TestEpochs(),
                                    .prefix_extractor = prefix_extractor_,
                                    .shape = shape_.shape})) {}
  ~MemTableKindsTest() override {
    memtable_.reset();
    TestEpochs().Synchronize();
  }

  void AddOne(Random* random) {
    const std::string key = random->OneIn(4) && !user_keys_.empty()
                                ? user_keys_[random->Uniform(user_keys_.size())]
                                : keys_.make(random);
    // Sequences need not ascend.
    SequenceNumber sequence = ++sequence_ * 2;
    if (random->OneIn(8)) sequence = 2 * random->Uniform(sequence_) + 1;
    const ValueType type = random->OneIn(5) ? ValueType::kDeletion : ValueType::kValue;
    const std::string value = type == ValueType::kValue ? "value " + std::to_string(sequence_) : "";
    const std::string internal_key = MakeInternalKey(key, sequence, type);
    if (!model_.emplace(internal_key, value).second) return;
    memtable_->Add(sequence, type, key, value);
    user_keys_.push_back(key);
    internal_keys_.push_back(internal_key);
  }

  std::string SomeKey(Random* random) const {
    std::string key = random->OneIn(2) && !user_keys_.empty()
                          ? user_keys_[random->Uniform(user_keys_.size())]
                          : keys_.make(random);
    if (random->OneIn(6)) key += '\0';
    if (random->OneIn(6) && !key.empty()) key.pop_back();
    return key;
  }
  SequenceNumber SomeSnapshot(Random* random) const {
    return random->OneIn(2) ? kSequenceNumberMax : random->Uniform(2 * sequence_ + 2);
  }

  void CheckGet(const std::string& user_key, SequenceNumber snapshot) const {
    EpochGuard guard(TestEpochs());
    Lookup lookup({.user_key = user_key, .snapshot = snapshot});
    memtable_->Get(&lookup);
    const auto expected = model_.lower_bound(MakeInternalKey(user_key, snapshot, ValueType::kMax));
    if (expected == model_.end() || ExtractUserKey(expected->first) != Slice(user_key)) {
      EXPECT_EQ(lookup.state(), Lookup::State::kSearching);
      return;
    }
    ASSERT_TRUE(lookup.Done()) << "lost " << Slice(user_key).ToString(true);
    PinnableSlice value;
    const Status status = lookup.Finish(&value);
    EXPECT_EQ(status.ok(), ExtractType(expected->first) == ValueType::kValue);
    if (status.ok()) {
      EXPECT_EQ(value, Slice(expected->second));
    }
  }

  void ExpectAt(const MemTableCursor& cursor, Model::const_iterator expected) const {
    ASSERT_EQ(cursor.Valid(), expected != model_.end());
    if (!cursor.Valid()) return;
    EXPECT_EQ(cursor.key(), Slice(expected->first));
    EXPECT_EQ(cursor.value(), Slice(expected->second));
  }

  void CheckSeek(MemTableCursor* cursor, const std::string& target) const {
    auto expected = model_.lower_bound(target);
    cursor->Seek(target);
    ExpectAt(*cursor, expected);
    if (cursor->Valid()) {
      cursor->Prev();
      ExpectAt(*cursor, expected == model_.begin() ? model_.end() : std::prev(expected));
    }
    expected = model_.upper_bound(target);
    expected = expected == model_.begin() ? model_.end() : std::prev(expected);
    cursor->SeekForPrev(target);
    ExpectAt(*cursor, expected);
    if (cursor->Valid()) {
      cursor->Next();
      ExpectAt(*cursor, std::next(expected));
    }
  }

  void CheckScans(MemTableCursor* cursor) const {
    cursor->SeekToFirst();
    for (auto it = model_.begin(); it != model_.end() && !HasFatalFailure(); ++it, cursor->Next())
      ExpectAt(*cursor, it);
    EXPECT_FALSE(cursor->Valid());
    cursor->SeekToLast();
    for (auto it = model_.rbegin(); it != model_.rend() && !HasFatalFailure(); ++it, cursor->Prev())
      ExpectAt(*cursor, std::prev(it.base()));
    EXPECT_FALSE(cursor->Valid());
  }

  bool HasPrefix(const Slice& internal_key, const Slice& prefix) const {
    return prefix_extractor_->InDomain(ExtractUserKey(internal_key)) &&
           prefix_extractor_->Transform(ExtractUserKey(internal_key)) == prefix;
  }

  // Checks the entries from the target to the end of its prefix in one direction. Entries of other
  // prefixes may be between them, but all are in order.
  void CheckWithinPrefix(MemTableCursor* cursor, SeekPrefix* seek, const std::string& target,
                         bool forward) const {
    seek->Begin(ExtractUserKey(target), forward);
    if (!prefix_extractor_->InDomain(ExtractUserKey(target))) return CheckSeek(cursor, target);
    const Slice prefix = prefix_extractor_->Transform(ExtractUserKey(target));
    std::vector<std::string> expected;
    for (const auto& [key, value] : model_) {
      const int side = comparator_.CompareInternal(key, target);
      if (HasPrefix(key, prefix) && (forward ? side >= 0 : side <= 0)) expected.push_back(key);
    }
    if (!forward) std::reverse(expected.begin(), expected.end());
    std::vector<std::string> met;
    std::string previous = target;
    for (forward ? cursor->Seek(target) : cursor->SeekForPrev(target); cursor->Valid();
         forward ? cursor->Next() : cursor->Prev()) {
      const int step = comparator_.CompareInternal(previous, cursor->key());
      ASSERT_TRUE(forward ? step <= 0 : step >= 0) << "out of order";
      previous = cursor->key().ToString();
      if (HasPrefix(cursor->key(), prefix)) met.push_back(previous);
    }
    EXPECT_EQ(met, expected);
  }

  void CheckSome(Random* random) const {
    MemTableCursor all(memtable_.get(), MemTableCursor::PinMode::kBorrowed, nullptr);
    SeekPrefix seek({.comparator = comparator_, .transform = prefix_extractor_.get()});
    seek.SetScope(SeekScope::kPrefix);
    MemTableCursor within(memtable_.get(), MemTableCursor::PinMode::kBorrowed, &seek);
    for (int i = 0; i < 20 && !HasFailure(); ++i) {
      CheckGet(SomeKey(random), SomeSnapshot(random));
      const std::string target =
          random->OneIn(3) && !internal_keys_.empty()
              ? internal_keys_[random->Uniform(internal_keys_.size())]
              : MakeInternalKey(SomeKey(random), SomeSnapshot(random), ValueType::kMax);
      CheckSeek(&all, target);
      CheckWithinPrefix(&within, &seek, target, random->OneIn(2));
    }
  }

  const NamedShape& shape_;
  const KeyKind& keys_;
  const NamedComparator& order_;
  const KeyComparator comparator_;
  Model model_;
  std::vector<std::string> user_keys_;
  std::vector<std::string> internal_keys_;
  SequenceNumber sequence_ = 0;
  const std::shared_ptr<const SliceTransform> prefix_extractor_{
      NewFixedPrefixTransform(kPrefixBytes)};
  ArenaBlockPool blocks_{ArenaBlockPool::Options{}};
  MemTable::Owner memtable_;
};

TEST_P(MemTableKindsTest, AgreesWithMap) {
  const uint64_t seed = 20261121 + std::get<1>(GetParam());
  SCOPED_TRACE(testing::Message() << shape_.name << ", " << keys_.name << ", " << order_.name
                                  << ", seed " << seed);
  Random random(seed);
  CheckSome(&random);
  for (int i = 0; i < 2000 && !HasFailure(); ++i) {
    AddOne(&random);
    if (i % 101 == 0 || i < 5) CheckSome(&random);
    if (i % 500 == 0) memtable_->CheckInvariants();
  }
  for (const bool immutable : {false, true}) {
    if (immutable) memtable_->MarkImmutable();
    for (int i = 0; i < 20 && !HasFailure(); ++i) CheckSome(&random);
    SeekPrefix seek({.comparator = comparator_, .transform = prefix_extractor_.get()});
    for (SeekPrefix* const told : {static_cast<SeekPrefix*>(nullptr), &seek}) {
      MemTableCursor cursor(memtable_.get(), MemTableCursor::PinMode::kBorrowed, told);
      CheckScans(&cursor);
    }
  }
  memtable_->CheckInvariants();
  EXPECT_EQ(memtable_->entries(), model_.size());
}

INSTANTIATE_TEST_SUITE_P(All, MemTableKindsTest,
                         testing::Combine(testing::Range(size_t{0}, TestShapes().size()),
                                          testing::Range(size_t{0}, std::size(kKeyKinds)),
                                          testing::Range(size_t{0}, size_t{3})),
                         [](const testing::TestParamInfo<Parameter>& param_info) {
                           return std::string(TestShapes()[std::get<0>(param_info.param)].name) +
                                  "_" + std::to_string(std::get<1>(param_info.param)) + "_" +
                                  std::to_string(std::get<2>(param_info.param));
                         });

// Counts how often keys are compared.
class CountingComparator final : public Comparator {
 public:
  const char* Name() const override { return "test.Counting"; }
  int Compare(const Slice& a, const Slice& b) const override {
    ++compared;
    return a.compare(b);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

  mutable uint64_t compared = 0;
};

class MemTableShapesTest : public testing::Test {
 protected:
  void Make(const MemTableShape& shape) {
    memtable_ = MemTable::Create({.comparator = KeyComparator(&comparator_),
                                  .arena_blocks = &blocks_,
                                  .epochs = &TestEpochs(),
                                  .prefix_extractor = std::shared_ptr<const SliceTransform>(
                                      NewFixedPrefixTransform(kPrefixBytes)),
                                  .shape = shape});
    seek_.emplace(SeekPrefix::Args{.comparator = memtable_->comparator(),
                                   .transform = memtable_->prefix_extractor()});
    seek_->SetScope(SeekScope::kPrefix);
  }
  void TearDown() override {
    memtable_.reset();
    TestEpochs().Synchronize();
  }
  void Put(const std::string& key) { memtable_->Add(++sequence_, ValueType::kValue, key, "v"); }
  bool Finds(const std::string& key) {
    EpochGuard guard(TestEpochs());
    Lookup lookup({.user_key = key});
    memtable_->Get(&lookup);
    return lookup.Done();
  }
  std::vector<std::string> KeysFrom(MemTableCursor* cursor, const std::string& target) {
    std::vector<std::string> keys;
    seek_->Begin(target, true);
    for (cursor->Seek(MakeInternalKey(target, kSequenceNumberMax, ValueType::kMax));
         cursor->Valid(); cursor->Next()) {
      keys.push_back(ExtractUserKey(cursor->key()).ToString());
    }
    return keys;
  }

  CountingComparator comparator_;
  ArenaBlockPool blocks_{ArenaBlockPool::Options{}};
  MemTable::Owner memtable_;
  std::optional<SeekPrefix> seek_;  // of the cursors that look for prefixes
  SequenceNumber sequence_ = 0;
};

TEST_F(MemTableShapesTest, WhatTheFilterRulesOutIsNotSoughtInTheIndex) {
  for (const MemTableKind kind :
       {MemTableKind::kTree, MemTableKind::kBuckets, MemTableKind::kLog}) {
    for (const bool whole_keys : {false, true}) {
      SCOPED_TRACE(testing::Message() << static_cast<int>(kind) << whole_keys);
      Make({.kind = kind,
            .bucket_count = 1,
            .list_entries_max = 2,
            .bloom_bytes = 65536,
            .bloom_whole_keys = whole_keys});
      for (int i = 1000; i < 2000; ++i) Put(std::to_string(i) + "/x");
      comparator_.compared = 0;
      int passed = 0;
      for (int i = 2000; i < 3000; ++i) {
        EXPECT_FALSE(Finds(std::to_string(i) + "/x"));
        if (comparator_.compared != 0) ++passed;
        comparator_.compared = 0;
      }
      EXPECT_LE(passed, 5);
      // The prefix is there, but the key is not.
      EXPECT_FALSE(Finds("1500/y"));
      EXPECT_EQ(comparator_.compared == 0, whole_keys);
      MemTableCursor cursor(memtable_.get(), MemTableCursor::PinMode::kBorrowed, &*seek_);
      comparator_.compared = 0;
      EXPECT_TRUE(KeysFrom(&cursor, "2345/").empty());
      EXPECT_EQ(comparator_.compared, 0u);
      memtable_.reset();
      TestEpochs().Synchronize();
    }
  }
}

TEST_F(MemTableShapesTest, KeysOutsideTheDomainAreFoundAndScanned) {
  Make({.kind = MemTableKind::kBuckets,
        .bucket_count = 10,
        .list_entries_max = 2,
        .bloom_bytes = 4096});
  for (const char* key : {"", "a", "abc", "abcd", "abcde"}) Put(key);
  for (const char* key : {"", "a", "abc", "abcd", "abcde"}) EXPECT_TRUE(Finds(key)) << key;
  EXPECT_FALSE(Finds("ab"));
  MemTableCursor cursor(memtable_.get(), MemTableCursor::PinMode::kBorrowed, &*seek_);
  EXPECT_EQ(KeysFrom(&cursor, "abcd"), (std::vector<std::string>{"abcd", "abcde"}));
  EXPECT_EQ(KeysFrom(&cursor, "ab"), (std::vector<std::string>{"abc", "abcd", "abcde"}))
      << "no prefix to keep within: total order";
}

TEST_F(MemTableShapesTest, CursorsInPrefixesFollowAndSortedOnesKeepWhatTheySaw) {
  Make({.kind = MemTableKind::kBuckets, .bucket_count = 10, .list_entries_max = 100});
  Put("aaaa/1");
  MemTableCursor within(memtable_.get(), MemTableCursor::PinMode::kBorrowed, &*seek_);
  MemTableCursor all(memtable_.get(), MemTableCursor::PinMode::kBorrowed, nullptr);
  EXPECT_EQ(KeysFrom(&all, "").size(), 1u);
  Put("aaaa/2");
  EXPECT_EQ(KeysFrom(&within, "aaaa").size(), 2u);
  EXPECT_EQ(KeysFrom(&all, "").size(), 1u);
  EXPECT_FALSE(memtable_->CursorsFollow());
  MemTableCursor later(memtable_.get(), MemTableCursor::PinMode::kBorrowed, nullptr);
  EXPECT_EQ(KeysFrom(&later, "").size(), 2u);
}

TEST_F(MemTableShapesTest, CursorOfAnImmutableMemTableSortsOnce) {
  for (const MemTableKind kind : {MemTableKind::kBuckets, MemTableKind::kLog}) {
    Make({.kind = kind, .bucket_count = 1000, .list_entries_max = 2});
    Random random(5);
    for (int i = 0; i < 1000; ++i) Put(std::to_string(random.Next()));
    memtable_->MarkImmutable();
    for (const bool first : {true, false}) {
      MemTableCursor cursor(memtable_.get(), MemTableCursor::PinMode::kBorrowed, nullptr);
      comparator_.compared = 0;
      cursor.SeekToFirst();
      EXPECT_EQ(comparator_.compared > 0, first);
    }
    memtable_.reset();
    TestEpochs().Synchronize();
  }
}

TEST_F(MemTableShapesTest, BucketsAndFilterDoNotCountAsFull) {
  Make({.kind = MemTableKind::kBuckets,
        .bucket_count = 100000,
        .list_entries_max = 16,
        .bloom_bytes = 100000});
  EXPECT_LT(memtable_->ApproximateMemoryUsage(), 100000u)
      << "nothing is taken for a memtable that stays empty";
  Put("some key");
  EXPECT_LT(memtable_->ApproximateMemoryUsed(), 100u);
  EXPECT_GT(memtable_->ApproximateMemoryUsage(), 900000u);
}

TEST_F(MemTableShapesTest, AnEntryWithABucketToItselfCostsLittle) {
  Make({.kind = MemTableKind::kBuckets, .bucket_count = 20000, .list_entries_max = 16});
  for (int i = 10000; i < 20000; ++i) Put(std::to_string(i));
  const size_t entry_bytes = 1 + 5 + kTagBytes + 1 + 1;
  EXPECT_LE(memtable_->ApproximateMemoryUsed(), 10000u * (entry_bytes + 18));
}

TEST_F(MemTableShapesTest, RangesAreCountedInEveryKind) {
  for (const MemTableKind kind : {MemTableKind::kBuckets, MemTableKind::kLog}) {
    Make({.kind = kind, .bucket_count = 100, .list_entries_max = 8});
    for (int i = 0; i < 2000; ++i) Put(std::to_string(10000 + i * 7919 % 2000));
    const MemTable::RangeEstimate range = memtable_->ApproximateRange("10100", "10600");
    EXPECT_EQ(range.entries, 500u);
    EXPECT_EQ(range.data_bytes, 500u * (5 + kTagBytes + 1));
    EXPECT_EQ(memtable_->ApproximateRange("10600", "10100").entries, 0u);
    memtable_.reset();
    TestEpochs().Synchronize();
  }
}

TEST_F(MemTableShapesTest, OperandsMergeInEveryKind) {
  const std::shared_ptr<MergeOperator> append = MergeOperators::CreateStringAppendOperator(',');
  for (const NamedShape& shape : TestShapes()) {
    Make(shape.shape);
    std::string expected = "v";
    Put("some/key");
    for (int i = 0; i < 100; ++i) {
      memtable_->Add(++sequence_, ValueType::kMerge, "some/key", std::to_string(i));
      expected += "," + std::to_string(i);
    }
    for (const bool immutable : {false, true}) {
      if (immutable) memtable_->MarkImmutable();
      PinnableSlice value;
      EpochGuard guard(TestEpochs());
      Lookup lookup({.user_key = "some/key", .merge_operator = append.get()});
      memtable_->Get(&lookup);
      ASSERT_TRUE(lookup.Finish(&value).ok()) << shape.name;
      EXPECT_EQ(value, Slice(expected)) << shape.name;
    }
    memtable_.reset();
    TestEpochs().Synchronize();
  }
}

}  // namespace
}  // namespace ashlar
