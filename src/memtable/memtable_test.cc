#include "memtable/memtable.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
#include <string>

#include "base/random.h"
#include "execute/epoch.h"
#include "memtable/memtable_cursor.h"
#include "tests/support/test_epochs.h"

namespace ashlar {
namespace {

class MemTableTest : public testing::Test {
 protected:
  void SetUp() override {
    memtable_ = MemTable::Create({.comparator = KeyComparator(BytewiseComparator()),
                                  .arena_blocks = &blocks_,
                                  .epochs = &TestEpochs(),
                                  .id = 7});
  }
  void TearDown() override {
    memtable_.reset();
    TestEpochs().Synchronize();
  }

  void Put(const std::string& key, const std::string& value) {
    memtable_->Add(++sequence_, ValueType::kValue, key, value);
  }

  std::string Get(const std::string& key, SequenceNumber snapshot) {
    EpochGuard guard(TestEpochs());
    Lookup lookup({.user_key = key, .snapshot = snapshot, .merge_operator = append_.get()});
    memtable_->Get(&lookup);
    PinnableSlice value;
    const Status status = lookup.Finish(&value);
    return status.ok() ? value.ToString() : status.ToString();
  }

  const std::shared_ptr<MergeOperator> append_ = MergeOperators::CreateStringAppendOperator(',');
  ArenaBlockPool blocks_{ArenaBlockPool::Options{}};
  MemTable::Owner memtable_;
  SequenceNumber sequence_ = 0;
};

TEST_F(MemTableTest, CountersFollowTheEntries) {
  EXPECT_TRUE(memtable_->IsEmpty());
  EXPECT_EQ(memtable_->id(), 7u);
  memtable_->Add(10, ValueType::kValue, "apple", "red");
  memtable_->Add(8, ValueType::kDeletion, "pear", "");
  memtable_->Add(12, ValueType::kSingleDeletion, "plum", "");
  memtable_->Add(9, ValueType::kMerge, "apple", "x");
  EXPECT_FALSE(memtable_->IsEmpty());
  EXPECT_EQ(memtable_->entries(), 4u);
  EXPECT_EQ(memtable_->deletions(), 2u);
  EXPECT_EQ(memtable_->data_bytes(), 5u + 3 + 4 + 4 + 5 + 1 + 4 * kTagBytes);
  EXPECT_EQ(memtable_->first_sequence(), 8u);
  EXPECT_EQ(memtable_->last_sequence(), 12u);
  EXPECT_GT(memtable_->ApproximateMemoryUsed(), memtable_->data_bytes());
  EXPECT_GE(memtable_->ApproximateMemoryUsage(), memtable_->ApproximateMemoryUsed());
  EXPECT_FALSE(memtable_->immutable());
  memtable_->MarkImmutable();
  EXPECT_TRUE(memtable_->immutable());
  memtable_->CheckInvariants();
}

TEST_F(MemTableTest, RangeDeletionsAreApartFromTheEntries) {
  EXPECT_FALSE(memtable_->HasRangeDeletions());
  EXPECT_EQ(memtable_->CoveringSequence("b", 100), 0u);
  memtable_->AddRangeDeletion({.begin = "b", .end = "dd", .sequence = 20});
  EXPECT_FALSE(memtable_->IsEmpty());
  EXPECT_EQ(memtable_->first_sequence(), 20u);
  memtable_->Add(30, ValueType::kValue, "c", "v");
  memtable_->AddRangeDeletion({.begin = "c", .end = "z", .sequence = 40});
  EXPECT_TRUE(memtable_->HasRangeDeletions());
  EXPECT_EQ(memtable_->range_deletions(), 2u);
  EXPECT_EQ(memtable_->entries(), 1u);
  EXPECT_EQ(memtable_->deletions(), 0u);
  EXPECT_EQ(memtable_->data_bytes(), 3u + 2 + 2 + 3 * kTagBytes);
  EXPECT_EQ(memtable_->first_sequence(), 20u);
  EXPECT_EQ(memtable_->last_sequence(), 40u);
  EXPECT_GT(memtable_->ApproximateMemoryUsed(), memtable_->data_bytes());
  EXPECT_EQ(memtable_->CoveringSequence("c", 39), 20u);
  EXPECT_EQ(memtable_->CoveringSequence("c", 40), 40u);
  EXPECT_EQ(memtable_->CoveringSequence("dd", 39), 0u);
  EXPECT_EQ(Get("c", 100), "v");
  memtable_->MarkImmutable();
  const SequenceNumber readers[] = {39, 100};
  const FragmentedRanges ranges = memtable_->Ranges(readers);
  EXPECT_EQ(ranges.fragments(), 3u);
  EXPECT_EQ(ranges.tombstones(), 4u);
  memtable_->CheckInvariants();
}

// The first entry creates the buckets and the filter, also after a range deletion.
TEST_F(MemTableTest, AnEntryAfterARangeDeletionIsFoundInEveryShape) {
  const std::shared_ptr<const SliceTransform> prefixes(NewFixedPrefixTransform(1));
  for (const MemTableKind kind :
       {MemTableKind::kTree, MemTableKind::kBuckets, MemTableKind::kLog}) {
    memtable_ = MemTable::Create({.comparator = KeyComparator(BytewiseComparator()),
                                  .arena_blocks = &blocks_,
                                  .epochs = &TestEpochs(),
                                  .prefix_extractor = prefixes,
                                  .shape = {.kind = kind,
                                            .bucket_count = 16,
                                            .list_entries_max = 8,
                                            .bloom_bytes = 1024,
                                            .bloom_whole_keys = true}});
    memtable_->AddRangeDeletion({.begin = "b", .end = "d", .sequence = 1});
    memtable_->Add(2, ValueType::kValue, "c", "v");
    EXPECT_EQ(Get("c", 2), "v");
    EXPECT_EQ(memtable_->CoveringSequence("c", 2), 1u);
    memtable_->CheckInvariants();
  }
}

// The number of writes in a memtable decides how often compactions rewrite them. The tree's share
// of memory must be within the bound of entry_tree.h.
TEST_F(MemTableTest, TheIndexIsSmallBesideTheEntries) {
  constexpr uint64_t kEntries = 200000;
  const std::string value(100, 'v');
  const size_t entry_bytes = EntryBytes(std::string(16, 'k'), value);
  Random random(301);
  const auto overhead = [&] {
    return static_cast<double>(memtable_->ApproximateMemoryUsed()) / kEntries -
           static_cast<double>(entry_bytes);
  };
  for (uint64_t i = 0; i < kEntries; ++i) {
    std::string key(16, '0');
    EncodeFixed64(key.data(), random.Next());
    Put(key, value);
  }
  EXPECT_LT(overhead(), 18.0);
  SetUp();
  for (uint64_t i = 0; i < kEntries; ++i) {
    std::string key = std::to_string(i);
    Put(std::string(16 - key.size(), '0') + key, value);
  }
  EXPECT_LT(overhead(), 16.0);
}

TEST_F(MemTableTest, SnapshotsSeeTheirVersion) {
  Put("k", "one");
  Put("k", "two");
  memtable_->Add(++sequence_, ValueType::kDeletion, "k", "");
  Put("k", "four");
  EXPECT_EQ(Get("k", 0), "NotFound");
  EXPECT_EQ(Get("k", 1), "one");
  EXPECT_EQ(Get("k", 2), "two");
  EXPECT_EQ(Get("k", 3), "NotFound");
  EXPECT_EQ(Get("k", kSequenceNumberMax), "four");
  EXPECT_EQ(Get("j", kSequenceNumberMax), "NotFound");
}

TEST_F(MemTableTest, OperandsAcrossLeavesMerge) {
  Put("k", "base");
  std::string expected = "base";
  for (int i = 0; i < 200; ++i) {
    memtable_->Add(++sequence_, ValueType::kMerge, "k", std::to_string(i));
    expected += "," + std::to_string(i);
  }
  Put("j", "");
  Put("l", "");
  EXPECT_EQ(Get("k", kSequenceNumberMax), expected);
  EXPECT_EQ(Get("k", 3), "base,0,1");
}

TEST_F(MemTableTest, PinnedValueOutlivesTheMemTable) {
  Put("k", "the value");
  PinnableSlice value;
  {
    EpochGuard guard(TestEpochs());
    Lookup lookup({.user_key = "k"});
    memtable_->Get(&lookup);
    ASSERT_TRUE(lookup.Finish(&value).ok());
  }
  EXPECT_TRUE(value.IsPinned());
  memtable_.reset();
  TestEpochs().Synchronize();
  EXPECT_EQ(blocks_.FreeBytes(), 0u);
  EXPECT_EQ(value.ToString(), "the value");
  value.Reset();
  TestEpochs().Synchronize();
  EXPECT_GT(blocks_.FreeBytes(), 0u)
      << "the memtable's blocks go back to the pool with the last pin";
}

// A database and its block pool may be destroyed once no memtable is counted any more.
TEST_F(MemTableTest, IsCountedUntilItsMemoryIsGivenBack) {
  static std::atomic<int64_t> live_memtables{0};
  static int64_t live_when_given_back = -1;
  ArenaBlockPool blocks({.free_bytes_max = 0,
                         .map = [](size_t bytes) noexcept -> void* {
                           return ::operator new(bytes, std::align_val_t{4096});
                         },
                         .unmap =
                             [](void* start, size_t) noexcept {
                               live_when_given_back = live_memtables.load();
                               ::operator delete(start, std::align_val_t{4096});
                             }});
  MemTable::Owner memtable = MemTable::Create({.comparator = KeyComparator(BytewiseComparator()),
                                               .arena_blocks = &blocks,
                                               .epochs = &TestEpochs(),
                                               .live_count = &live_memtables});
  const std::string value(ArenaBlockPool::kMappedBytesMin, 'v');
  memtable->Add(1, ValueType::kValue, "key", value);
  Pin pin = memtable->pin_source().Acquire();
  memtable.reset();
  TestEpochs().Synchronize();
  EXPECT_EQ(live_memtables.load(), 1);
  EXPECT_EQ(live_when_given_back, -1) << "the memtable is pinned";
  pin.Release();
  EXPECT_EQ(live_when_given_back, 1);
  EXPECT_EQ(live_memtables.load(), 0);
}

TEST_F(MemTableTest, CursorOutlivesTheMemTable) {
  for (int i = 0; i < 100; ++i) Put("k" + std::to_string(100 + i), "v");
  std::unique_ptr<InternalCursor> cursor;
  {
    EpochGuard guard(TestEpochs());
    cursor = memtable_->NewCursor();
  }
  memtable_.reset();
  TestEpochs().Synchronize();
  int entries = 0;
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
    EXPECT_EQ(ExtractUserKey(cursor->key()), Slice("k" + std::to_string(100 + entries)));
    EXPECT_EQ(cursor->value(), Slice("v"));
    ++entries;
  }
  EXPECT_EQ(entries, 100);
  Pin pin;
  cursor->SeekToLast();
  const Slice value = cursor->value();
  pin = cursor->value_owner().Acquire();
  cursor.reset();
  TestEpochs().Synchronize();
  EXPECT_EQ(value, Slice("v"));
}

TEST_F(MemTableTest, ShortRangesAreCountedAndLongOnesEstimated) {
  for (int i = 0; i < 10000; ++i)
    Put(std::to_string(100000 + (i * 7919) % 10000), std::string(50, 'v'));
  const auto range = [&](const char* start, const char* limit) {
    return memtable_->ApproximateRange(start, limit);
  };
  EXPECT_EQ(range("100100", "100110").entries, 10u);
  EXPECT_EQ(range("100100", "100110").data_bytes, 10u * (6 + kTagBytes + 50));
  EXPECT_EQ(range("1", "100200").entries, 200u);
  EXPECT_EQ(range("2", "3").entries, 0u);
  EXPECT_EQ(range("100110", "100100").entries, 0u);
  EXPECT_NEAR(static_cast<double>(range("102000", "107000").entries), 5000, 1500);
  EXPECT_NEAR(static_cast<double>(range("", "9").entries), 10000, 100);
}

}  // namespace
}  // namespace ashlar
