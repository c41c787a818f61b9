// Where a move of an iterator that finds no key ends. The limit of ReadOptions counts entries that
// range deletions hide in the same way as deletions and hidden versions. The end of a prefix ends
// the iteration over hidden keys.
#include "ashlar/perf_context.h"
#include "ashlar/slice_transform.h"
#include "base/format.h"
#include "tests/engine/database_fixture.h"

namespace ashlar {
namespace {

constexpr int kKeys = 100;

class MoveLimitsTest : public DatabaseFixture {
 protected:
  // A second iteration steps over as many entries.
  MoveLimitsTest() { options_.iterators_remember_gaps = false; }

  static std::string Key(int number) { return StrCat("k", 1000 + number); }
  void DeleteRange(const Slice& begin, const Slice& end) {
    EXPECT_OK(db_->DeleteRange(WriteOptions(), begin, end));
  }
  // "a=1", hidden keys, "z=1".
  void PutBoth() {
    Put("a", "1");
    Put("z", "1");
  }
  void PutInner() {
    for (int i = 0; i < kKeys; ++i) Put(Key(i), "1");
  }
  std::unique_ptr<Iterator> NewIterator(uint64_t limit) {
    ReadOptions options;
    options.max_skippable_internal_keys = limit;
    return std::unique_ptr<Iterator>(db_->NewIterator(options));
  }
  static std::string Shown(Iterator* it) {
    if (it->Valid()) return it->key().ToString() + "=" + it->value().ToString();
    if (it->status().IsIncomplete()) return "incomplete";
    return it->status().ok() ? "end" : it->status().ToString();
  }
  static uint64_t Skipped() { return get_perf_context()->internal_key_skipped_count; }

  // Expects a seek into the hidden keys to find a visible key if its limit is the number of entries
  // stepped over, and to be Incomplete if it is one less. Returns that number.
  uint64_t ExpectLimitOfSeeks() {
    const auto seek = [&](uint64_t limit, bool forward) {
      const std::unique_ptr<Iterator> it = NewIterator(limit);
      forward ? it->Seek("b") : it->SeekForPrev("y");
      return Shown(it.get());
    };
    uint64_t entries = 0;
    for (const bool forward : {true, false}) {
      SCOPED_TRACE(forward ? "forward" : "backward");
      const std::string found = forward ? "z=1" : "a=1";
      const uint64_t before = Skipped();
      EXPECT_EQ(seek(0, forward), found);
      entries = Skipped() - before;
      EXPECT_EQ(seek(entries, forward), found);
      EXPECT_EQ(seek(entries - 1, forward), "incomplete");
      const uint64_t stopped_before = Skipped();
      EXPECT_EQ(seek(10, forward), "incomplete");
      EXPECT_EQ(Skipped() - stopped_before, 11u);
    }
    return entries;
  }
};

TEST_F(MoveLimitsTest, CoveredEntriesCount) {
  options_.disable_auto_compactions = true;
  Open();
  PutBoth();
  PutInner();
  const Snapshot* const snapshot = db_->GetSnapshot();  // so that the flush keeps the entries
  DeleteRange("k", "l");  // in the same source, so that its entries are passed one by one
  for (const char* where : {"memtable", "table"}) {
    SCOPED_TRACE(where);
    EXPECT_GE(ExpectLimitOfSeeks(), static_cast<uint64_t>(kKeys));
    Flush();
  }
  db_->ReleaseSnapshot(snapshot);
}

// Each fragment ends where the next one begins, and hides keys of an older source.
TEST_F(MoveLimitsTest, FragmentsThatAreLeftCount) {
  options_.disable_auto_compactions = true;
  Open();
  PutBoth();
  PutInner();
  Flush();
  for (int i = 0; i < kKeys; ++i) DeleteRange(Key(i), Key(i + 1));
  ExpectLimitOfSeeks();
}

TEST_F(MoveLimitsTest, CoveredEntriesAndDeletionsCountTogether) {
  Open();
  PutBoth();
  PutInner();
  for (int i = 0; i < kKeys / 2; ++i) DeleteRange(Key(2 * i), Key(2 * i + 1));
  for (int i = 0; i < kKeys / 2; ++i) Delete(Key(2 * i + 1));
  EXPECT_GE(ExpectLimitOfSeeks(), static_cast<uint64_t>(kKeys));
}

// Over fragments, covered entries and deletions, each stop is further than the one before.
TEST_F(MoveLimitsTest, AWalkGoesOnWhereItWasStopped) {
  options_.disable_auto_compactions = true;
  Open();
  PutBoth();
  PutInner();
  Flush();
  for (int i = 0; i < kKeys; ++i) {
    if (i % 4 == 3) {
      Delete(Key(i));
    } else {
      DeleteRange(Key(i), Key(i + 1));
    }
  }
  for (const bool forward : {true, false}) {
    SCOPED_TRACE(forward ? "forward" : "backward");
    const std::unique_ptr<Iterator> it = NewIterator(10);
    const auto seek = [&](const std::string& key) {
      forward ? it->Seek(key) : it->SeekForPrev(key);
    };
    std::string at = forward ? "b" : "y";
    seek(at);
    int stops = 0;
    for (; it->status().IsIncomplete(); ++stops) {
      std::string further;
      ASSERT_OK(it->GetProperty("rocksdb.iterator.internal-key", &further));
      ASSERT_TRUE(forward ? further > at : further < at) << at << " " << further;
      at = further;
      seek(at);
    }
    EXPECT_EQ(Shown(it.get()), forward ? "z=1" : "a=1");
    EXPECT_GE(stops, 3);
  }
}

// A backward move seeks the deciding version of a key, and meets hidden keys after it. If it
// stopped at one of these, a move from there would reach the same key and hidden keys again.
TEST_F(MoveLimitsTest, AWalkBackGoesOnAtTheKeyWhoseVersionItSought) {
  Open();
  PutBoth();
  PutInner();
  DeleteRange("k", "l");
  const Snapshot* const snapshot = db_->GetSnapshot();
  for (int i = 0; i < 20; ++i) Put("j", StrCat(i));  // too many to step over one by one
  ReadOptions options;
  options.snapshot = snapshot;
  options.max_skippable_internal_keys = kKeys + 30;
  std::unique_ptr<Iterator> it(db_->NewIterator(options));
  it->SeekForPrev(Key(kKeys - 20));
  EXPECT_EQ(Shown(it.get()), "incomplete");
  std::string at;
  EXPECT_OK(it->GetProperty("rocksdb.iterator.internal-key", &at));
  EXPECT_EQ(at, "j");
  it->SeekForPrev(at);
  EXPECT_EQ(Shown(it.get()), "a=1");
  it.reset();
  db_->ReleaseSnapshot(snapshot);
}

// A move that has found its key does not fail because of later entries. The next move does.
TEST_F(MoveLimitsTest, AKeyThatIsDecidedIsShown) {
  options_.merge_operator = MergeOperators::CreateStringAppendOperator(',');
  Open();
  PutBoth();
  PutInner();
  Put("j", "0");
  Put("y", "0");
  DeleteRange("j", "yy");
  Merge("j", "1");
  Merge("y", "2");
  const std::unique_ptr<Iterator> it = NewIterator(kKeys / 2);
  it->SeekToFirst();
  EXPECT_EQ(Shown(it.get()), "a=1");
  it->Next();
  EXPECT_EQ(Shown(it.get()), "j=1");
  it->Next();
  EXPECT_EQ(Shown(it.get()), "incomplete");
  it->SeekToLast();
  EXPECT_EQ(Shown(it.get()), "z=1");
  it->Prev();
  EXPECT_EQ(Shown(it.get()), "y=2");
  it->Prev();
  EXPECT_EQ(Shown(it.get()), "incomplete");
  // A seek starts anew, and a change of direction moves the other way.
  it->SeekForPrev("y");
  EXPECT_EQ(Shown(it.get()), "y=2");
  it->Next();
  EXPECT_EQ(Shown(it.get()), "z=1");
}

TEST_F(MoveLimitsTest, ManyVersionsAboveCoveredEntries) {
  Open();
  PutBoth();
  PutInner();
  DeleteRange("k", "l");
  for (int i = 0; i < 20; ++i) Put("y", StrCat(i));  // too many to step over one by one
  const std::unique_ptr<Iterator> it = NewIterator(kKeys / 2);
  it->SeekForPrev("yy");
  EXPECT_EQ(Shown(it.get()), "y=19");
  it->Prev();
  EXPECT_EQ(Shown(it.get()), "incomplete");
}

TEST_F(MoveLimitsTest, HoldAfterARefresh) {
  Open();
  PutBoth();
  PutInner();
  const std::unique_ptr<Iterator> it = NewIterator(kKeys / 2);
  it->Seek("b");
  EXPECT_EQ(Shown(it.get()), Key(0) + "=1");
  DeleteRange("k", "l");
  ASSERT_OK(it->Refresh());
  it->Seek("b");
  EXPECT_EQ(Shown(it.get()), "incomplete");
  it->Seek("y");
  EXPECT_EQ(Shown(it.get()), "z=1");
}

class PrefixLimitsTest : public MoveLimitsTest {
 protected:
  PrefixLimitsTest() {
    options_.disable_auto_compactions = true;
    options_.prefix_extractor.reset(NewFixedPrefixTransform(1));
  }
  std::unique_ptr<Iterator> NewIteratorInPrefix() {
    ReadOptions options;
    options.prefix_same_as_start = true;
    options.total_order_seek = true;
    options.max_skippable_internal_keys = 10;
    return std::unique_ptr<Iterator>(db_->NewIterator(options));
  }
};

TEST_F(PrefixLimitsTest, APrefixEndsAWalkOverCoveredEntries) {
  Open();
  PutBoth();
  PutInner();
  Put("k", "hidden");
  DeleteRange("k", "l");
  const std::unique_ptr<Iterator> it = NewIteratorInPrefix();
  it->Seek("a");
  EXPECT_EQ(Shown(it.get()), "a=1");
  const uint64_t before = Skipped();
  it->Next();
  EXPECT_EQ(Shown(it.get()), "end");
  it->SeekForPrev("z");
  EXPECT_EQ(Shown(it.get()), "z=1");
  it->Prev();
  EXPECT_EQ(Shown(it.get()), "end");
  EXPECT_LE(Skipped() - before, 1u);  // the version of z
  // Within the prefix, the limit applies as usual.
  it->Seek("k");
  EXPECT_EQ(Shown(it.get()), "incomplete");
  it->SeekForPrev("kz");
  EXPECT_EQ(Shown(it.get()), "incomplete");
}

TEST_F(PrefixLimitsTest, APrefixEndsAWalkOverFragments) {
  Open();
  PutBoth();
  Put("j", "1");
  PutInner();
  Flush();
  DeleteRange("j", Key(0));
  for (int i = 0; i < kKeys; ++i) DeleteRange(Key(i), Key(i + 1));
  const std::unique_ptr<Iterator> it = NewIteratorInPrefix();
  const uint64_t before = Skipped();
  it->Seek("j");
  EXPECT_EQ(Shown(it.get()), "end");
  EXPECT_LE(Skipped() - before, 1u);  // j
}

// An iteration that ends with its prefix has no knowledge of keys after the first entry outside.
TEST_F(PrefixLimitsTest, WhatSuchAWalkRemembersHidesNoKeyOfAnotherPrefix) {
  options_.iterators_remember_gaps = true;
  Open();
  PutBoth();
  PutInner();
  Flush();
  for (const char c : {'0', '1', '2', '3', '4', '5', '6', '7'}) Put(StrCat("m4", c), "hidden");
  for (int i = 0; i + 1 < kKeys; ++i) DeleteRange(Key(i), Key(i + 1));
  DeleteRange(Key(kKeys - 1), "m5");
  Put("m2", "1");
  ReadOptions options;
  options.total_order_seek = true;
  options.prefix_same_as_start = true;
  const std::unique_ptr<Iterator> in_prefix(db_->NewIterator(options));
  in_prefix->Seek("k");
  EXPECT_EQ(Shown(in_prefix.get()), "end");
  options.prefix_same_as_start = false;
  const std::unique_ptr<Iterator> it(db_->NewIterator(options));
  it->SeekForPrev("m49");
  EXPECT_EQ(Shown(it.get()), "m2=1");
  it->Seek("b");
  EXPECT_EQ(Shown(it.get()), "m2=1");
}

}  // namespace
}  // namespace ashlar
