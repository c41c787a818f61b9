// Known gaps: an iterator that has stepped over many deleted keys lets the next iterator skip them,
// and hides nothing that a reader may see. The deletions that are stepped over are counted.
#include <atomic>
#include <thread>

#include "ashlar/perf_context.h"
#include "ashlar/slice_transform.h"
#include "ashlar/sst_file_writer.h"
#include "ashlar/table_properties.h"
#include "base/format.h"
#include "base/random.h"
#include "tests/engine/database_fixture.h"

namespace ashlar {
namespace {

constexpr int kKeys = 1000;
// An iterator looks for a gap at the 4th deletion, and again 16 after one that is in no gap.
constexpr uint64_t kShortWalk = 24;

class KnownGapsTest : public DatabaseFixture {
 protected:
  static std::string Key(int number) { return StrCat("k", 10000 + number); }

  void PutAll() {
    for (int i = 0; i < kKeys; ++i) Put(Key(i), "1");
  }
  // Deletes all keys except the first and the last.
  void DeleteInner() {
    for (int i = 1; i < kKeys - 1; ++i) Delete(Key(i));
  }
  void OpenWithGap() {
    Open();
    PutAll();
    DeleteInner();
  }
  std::unique_ptr<Iterator> NewIterator(const ReadOptions& options = {}) {
    return std::unique_ptr<Iterator>(db_->NewIterator(options));
  }
  static uint64_t Deletions() { return get_perf_context()->internal_delete_skipped_count; }

  // Returns the next key that the iterator finds, and the number of deletions that it passed.
  static std::string Ahead(Iterator* it, uint64_t* deletions) {
    const uint64_t before = Deletions();
    it->Seek(Key(1));
    *deletions = Deletions() - before;
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    return it->Valid() ? it->key().ToString() : "end";
  }
  static std::string Back(Iterator* it, uint64_t* deletions) {
    const uint64_t before = Deletions();
    it->SeekForPrev(Key(kKeys - 2));
    *deletions = Deletions() - before;
    EXPECT_TRUE(it->status().ok()) << it->status().ToString();
    return it->Valid() ? it->key().ToString() : "end";
  }
  void ExpectWalks(bool are_short, const std::string& what) {
    uint64_t deletions = 0;
    EXPECT_EQ(Ahead(NewIterator().get(), &deletions), Key(kKeys - 1)) << what;
    EXPECT_EQ(deletions <= kShortWalk, are_short) << what << ": " << deletions;
    EXPECT_EQ(Back(NewIterator().get(), &deletions), Key(0)) << what;
    EXPECT_EQ(deletions <= kShortWalk, are_short) << what << ": " << deletions;
  }
  void Walk() {
    uint64_t deletions = 0;
    EXPECT_EQ(Ahead(NewIterator().get(), &deletions), Key(kKeys - 1));
    EXPECT_EQ(deletions, static_cast<uint64_t>(kKeys - 2));
  }
  void StartEmpty() {
    Close();
    ASSERT_OK(DestroyDB(path(), options_));
    Open();
  }
  void DeleteRange(const std::string& begin, const std::string& end) {
    EXPECT_OK(db_->DeleteRange(WriteOptions(), begin, end));
  }
  // The same over keys that range deletions cover. *left is the number of entries and fragments
  // that were passed one by one.
  std::string AheadOverCovered(uint64_t* left) {
    const uint64_t before = get_perf_context()->internal_key_skipped_count;
    uint64_t deletions = 0;
    const std::string found = Ahead(NewIterator().get(), &deletions);
    *left = get_perf_context()->internal_key_skipped_count - before;
    return found;
  }
  std::string BackOverCovered(uint64_t* left) {
    const uint64_t before = get_perf_context()->internal_key_skipped_count;
    uint64_t deletions = 0;
    const std::string found = Back(NewIterator().get(), &deletions);
    *left = get_perf_context()->internal_key_skipped_count - before;
    return found;
  }
  int CountedFrom(const Snapshot* snapshot) {
    ReadOptions options;
    options.snapshot = snapshot;
    const std::unique_ptr<Iterator> it = NewIterator(options);
    int count = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) ++count;
    return count;
  }
  void ExpectCoveredWalksEndWithTheFirst() {
    uint64_t left = 0;
    EXPECT_EQ(BackOverCovered(&left), Key(0));
    EXPECT_GE(left, static_cast<uint64_t>(kKeys - 2)) << "the first walk";
    for (int round = 0; round < 2; ++round) {
      EXPECT_EQ(AheadOverCovered(&left), Key(kKeys - 1));
      EXPECT_LE(left, kShortWalk) << "ahead";
      EXPECT_EQ(BackOverCovered(&left), Key(0));
      EXPECT_LE(left, kShortWalk) << "back";
    }
    Put(Key(500), "2");
    ExpectVisible(Key(500));
    Delete(Key(500));
    EXPECT_EQ(AheadOverCovered(&left), Key(kKeys - 1));
    EXPECT_LE(left, kShortWalk) << "deleted again";
  }
  void ExpectVisible(const std::string& key) {
    uint64_t deletions = 0;
    EXPECT_EQ(Ahead(NewIterator().get(), &deletions), key);
    EXPECT_EQ(Back(NewIterator().get(), &deletions), key);
  }
};

TEST_F(KnownGapsTest, OneWalkInTheMemtableIsEnough) {
  OpenWithGap();
  Walk();
  ExpectWalks(true, "after a walk ahead");
  Open();
  uint64_t deletions = 0;
  EXPECT_EQ(Back(NewIterator().get(), &deletions), Key(0));
  EXPECT_EQ(deletions, static_cast<uint64_t>(kKeys - 2));
  ExpectWalks(true, "after a walk back");
}

TEST_F(KnownGapsTest, OneWalkInTablesIsEnough) {
  options_.disable_auto_compactions = true;
  Open();
  PutAll();
  Flush();
  DeleteInner();
  Flush();
  Walk();
  ExpectWalks(true, "tables below an empty memtable");
  Put("z", "1");
  ExpectWalks(true, "and below one with a key elsewhere");
  Open();
  Walk();
  ExpectWalks(true, "after a reopen");
}

TEST_F(KnownGapsTest, AnIteratorWithATableFilterUsesNoGapAndRemembersNone) {
  constexpr int kMiddle = kKeys / 2;
  options_.disable_auto_compactions = true;
  Open();
  PutAll();
  Flush();
  DeleteInner();
  Flush();
  for (int i = kMiddle; i < kKeys - 1; ++i) Put(Key(i), "2");
  Flush();
  ReadOptions without_newest;
  without_newest.table_filter = [](const TableProperties& table) {
    return table.num_deletions > 0 || table.num_entries == uint64_t{kKeys};
  };
  uint64_t deletions = 0;
  EXPECT_EQ(Ahead(NewIterator(without_newest).get(), &deletions), Key(kKeys - 1));
  EXPECT_GT(deletions, kShortWalk);
  EXPECT_EQ(Ahead(NewIterator().get(), &deletions), Key(kMiddle)) << "no gap was remembered";

  for (int i = kMiddle; i < kKeys - 1; ++i) Delete(Key(i));
  Flush();
  EXPECT_EQ(Ahead(NewIterator().get(), &deletions), Key(kKeys - 1));
  ExpectWalks(true, "a gap is known");
  without_newest.table_filter = [](const TableProperties& table) {
    return table.num_deletions != uint64_t{kKeys - 1 - kMiddle};
  };
  EXPECT_EQ(Ahead(NewIterator(without_newest).get(), &deletions), Key(kMiddle)) << "and not used";
}

TEST_F(KnownGapsTest, EveryMoveUsesTheGap) {
  OpenWithGap();
  Walk();
  const std::unique_ptr<Iterator> it = NewIterator();
  const uint64_t before = Deletions();
  it->SeekToFirst();
  it->Next();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key().ToString(), Key(kKeys - 1));
  it->Prev();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key().ToString(), Key(0));
  it->SeekToLast();
  it->Prev();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key().ToString(), Key(0));
  it->Next();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key().ToString(), Key(kKeys - 1));
  EXPECT_LE(Deletions() - before, 4 * kShortWalk);
}

TEST_F(KnownGapsTest, TheGapAtTheEndOfAllKeysIsKnown) {
  OpenWithGap();
  Delete(Key(0));
  Delete(Key(kKeys - 1));
  uint64_t deletions = 0;
  EXPECT_EQ(Ahead(NewIterator().get(), &deletions), "end");
  EXPECT_EQ(Ahead(NewIterator().get(), &deletions), "end");
  EXPECT_LE(deletions, kShortWalk);
  EXPECT_EQ(Back(NewIterator().get(), &deletions), "end");
  EXPECT_LE(deletions, kShortWalk);
}

// A table that was ingested without a number has such a deletion. A seek past all versions of the
// deletion's key lands on it.
TEST_F(KnownGapsTest, TheLastKeyOfTheGapMayHaveADeletionOfSequence0) {
  options_.disable_auto_compactions = true;
  Open();
  const std::string file = scratch().File("deletions.sst");
  SstFileWriter writer(EnvOptions(), options_);
  ASSERT_OK(writer.Open(file));
  for (int i = 1; i < kKeys; ++i) ASSERT_OK(writer.Delete(Key(i)));
  ASSERT_OK(writer.Finish());
  IngestExternalFileOptions without_number;
  without_number.snapshot_consistency = false;
  ASSERT_OK(db_->IngestExternalFile({file}, without_number));
  Open();  // an ingestion ends the gaps of its memtable
  std::vector<LiveFileMetaData> tables;
  db_->GetLiveFilesMetaData(&tables);
  ASSERT_EQ(tables.size(), 1u);
  ASSERT_EQ(tables[0].largest_seqno, 0u);

  ReadOptions limited;  // an endless iteration is an error
  limited.max_skippable_internal_keys = 2 * kKeys;
  uint64_t deletions = 0;
  EXPECT_EQ(Ahead(NewIterator(limited).get(), &deletions), "end");
  EXPECT_EQ(deletions, static_cast<uint64_t>(kKeys - 1));
  EXPECT_EQ(Ahead(NewIterator(limited).get(), &deletions), "end");
  EXPECT_LE(deletions, kShortWalk);
  EXPECT_EQ(Back(NewIterator(limited).get(), &deletions), "end");
  EXPECT_LE(deletions, kShortWalk);
  // The same under range deletions, each of which ends where the next one begins.
  for (int i = 1; i < kKeys; ++i) DeleteRange(Key(i), Key(i + 1));
  uint64_t left = 0;
  EXPECT_EQ(AheadOverCovered(&left), "end");
  EXPECT_LE(left, kShortWalk);
  EXPECT_EQ(BackOverCovered(&left), "end");
}

TEST_F(KnownGapsTest, AnEntryInTheGapIsSeen) {
  OpenWithGap();
  Walk();
  Put(Key(500), "2");
  ExpectVisible(Key(500));
  Delete(Key(500));
  ExpectWalks(true, "deleted again");
  options_.merge_operator = MergeOperators::CreateStringAppendOperator(',');
  OpenWithGap();
  Walk();
  Merge(Key(1), "m");
  EXPECT_EQ(Get(Key(1)), "m");
  ExpectVisible(Key(1));
}

// The snapshot sees deletions at both ends of the gap, so its iterators look for the gap.
TEST_F(KnownGapsTest, AnOlderSnapshotSeesItsKeys) {
  Open();
  PutAll();
  for (int i = 1; i < 100; ++i) {
    Delete(Key(i));
    Delete(Key(kKeys - 1 - i));
  }
  const Snapshot* const before = db_->GetSnapshot();
  for (int i = 100; i < kKeys - 100; ++i) Delete(Key(i));
  Walk();
  ReadOptions options;
  options.snapshot = before;
  for (int round = 0; round < 2; ++round) {
    uint64_t deletions = 0;
    EXPECT_EQ(Ahead(NewIterator(options).get(), &deletions), Key(100));
    EXPECT_EQ(Back(NewIterator(options).get(), &deletions), Key(kKeys - 101));
  }
  db_->ReleaseSnapshot(before);
}

// A gap is remembered, a snapshot is taken, and then a key is written.
TEST_F(KnownGapsTest, ASnapshotAfterTheGapUsesIt) {
  OpenWithGap();
  Walk();
  const Snapshot* const after = db_->GetSnapshot();
  Put(Key(500), "2");
  ReadOptions options;
  options.snapshot = after;
  uint64_t deletions = 0;
  EXPECT_EQ(Ahead(NewIterator(options).get(), &deletions), Key(kKeys - 1));
  EXPECT_LE(deletions, 2 * kShortWalk);
  ExpectVisible(Key(500));
  db_->ReleaseSnapshot(after);
}

// The iterator does not see the newest entries of the memtable.
TEST_F(KnownGapsTest, AWalkOfAnOldIteratorHidesNoNewerEntry) {
  OpenWithGap();
  const std::unique_ptr<Iterator> ahead = NewIterator();
  const std::unique_ptr<Iterator> back = NewIterator();
  Put(Key(500), "2");
  uint64_t deletions = 0;
  EXPECT_EQ(Ahead(ahead.get(), &deletions), Key(kKeys - 1));
  ExpectVisible(Key(500));
  EXPECT_EQ(Ahead(ahead.get(), &deletions), Key(kKeys - 1)) << "over the parts of the gap";
  EXPECT_LE(deletions, 2 * kShortWalk);
  EXPECT_EQ(Back(back.get(), &deletions), Key(0));
  ExpectVisible(Key(500));
}

// The newer entry is in a table below the iterator's memtable.
TEST_F(KnownGapsTest, AWalkOfAnOldSnapshotHidesNoFlushedEntry) {
  options_.disable_auto_compactions = true;
  OpenWithGap();
  const Snapshot* const before = db_->GetSnapshot();
  Put(Key(500), "2");
  Flush();
  ReadOptions options;
  options.snapshot = before;
  uint64_t deletions = 0;
  EXPECT_EQ(Ahead(NewIterator(options).get(), &deletions), Key(kKeys - 1));
  ExpectVisible(Key(500));
  Put("z", "1");
  EXPECT_EQ(Ahead(NewIterator(options).get(), &deletions), Key(kKeys - 1));
  ExpectVisible(Key(500));
  db_->ReleaseSnapshot(before);
}

TEST_F(KnownGapsTest, BoundsLimitWhatIsRemembered) {
  OpenWithGap();
  const std::string lower = Key(200);
  const std::string upper = Key(800);
  const Slice lower_slice(lower);
  const Slice upper_slice(upper);
  Put(Key(199), "2");
  Put(Key(800), "2");
  ReadOptions options;
  options.iterate_lower_bound = &lower_slice;
  options.iterate_upper_bound = &upper_slice;
  for (int round = 0; round < 2; ++round) {
    const std::unique_ptr<Iterator> it = NewIterator(options);
    it->SeekToFirst();
    EXPECT_FALSE(it->Valid());
    EXPECT_OK(it->status());
    it->SeekToLast();
    EXPECT_FALSE(it->Valid());
    EXPECT_OK(it->status());
  }
  const std::unique_ptr<Iterator> it = NewIterator();
  it->Seek(Key(200));
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key().ToString(), Key(800));
  it->Prev();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key().ToString(), Key(199));
}

TEST_F(KnownGapsTest, RangeDeletionsAndGapsGoTogether) {
  OpenWithGap();
  Put(Key(500), "2");
  Put(Key(501), "2");
  EXPECT_OK(db_->DeleteRange(WriteOptions(), Key(400), Key(501)));
  ExpectVisible(Key(501));
  EXPECT_OK(db_->DeleteRange(WriteOptions(), Key(501), Key(502)));
  uint64_t deletions = 0;
  EXPECT_EQ(Ahead(NewIterator().get(), &deletions), Key(kKeys - 1));
  ExpectWalks(true, "with range deletions");
  Put(Key(450), "3");
  ExpectVisible(Key(450));
}

// As in the log of a replica, each truncation ends where the next one begins.
TEST_F(KnownGapsTest, AdjacentRangeDeletionsAreWalkedOnce) {
  for (const bool in_tables : {false, true}) {
    SCOPED_TRACE(in_tables ? "in a table" : "in the memtable");
    StartEmpty();
    PutAll();
    Flush();
    for (int i = 1; i < kKeys - 1; ++i) DeleteRange(Key(i), Key(i + 1));
    if (in_tables) Flush();
    ExpectCoveredWalksEndWithTheFirst();
  }
}

// A snapshot keeps deleted entries in the same table as their tombstone.
TEST_F(KnownGapsTest, KeysBesideTheirRangeDeletionAreWalkedOnce) {
  for (const bool in_tables : {false, true}) {
    SCOPED_TRACE(in_tables ? "in a table" : "in the memtable");
    StartEmpty();
    PutAll();
    const Snapshot* const before = db_->GetSnapshot();
    DeleteRange(Key(1), Key(kKeys - 1));
    if (in_tables) Flush();
    ExpectCoveredWalksEndWithTheFirst();
    EXPECT_EQ(CountedFrom(before), kKeys);
    db_->ReleaseSnapshot(before);
  }
}

TEST_F(KnownGapsTest, ARangeDeletionToTheEndOfAllKeysIsWalkedOnce) {
  StartEmpty();
  PutAll();
  Flush();
  for (int i = 0; i < kKeys; ++i) DeleteRange(Key(i), Key(i + 1));
  for (const bool is_known : {false, true}) {
    uint64_t left = 0;
    EXPECT_EQ(AheadOverCovered(&left), "end");
    EXPECT_EQ(left <= kShortWalk, is_known) << left;
    EXPECT_EQ(BackOverCovered(&left), "end");
    EXPECT_LE(left, kShortWalk);
  }
}

// The covered keys extend beyond the bounds. There, newer tables that the iterator does not open
// have one key each, after deletions at which a later iterator looks for a gap.
TEST_F(KnownGapsTest, BoundsLimitWhatIsRememberedOfRangeDeletions) {
  options_.disable_auto_compactions = true;
  const std::string lower = Key(301);
  const std::string upper = Key(700);
  const Slice lower_slice(lower);
  const Slice upper_slice(upper);
  ReadOptions bounds;
  bounds.iterate_lower_bound = &lower_slice;
  bounds.iterate_upper_bound = &upper_slice;
  for (const bool ahead : {true, false}) {
    SCOPED_TRACE(ahead ? "ahead" : "back");
    StartEmpty();
    PutAll();
    CompactAll();
    DeleteRange(Key(250), Key(310));
    for (int i = 310; i < 690; ++i) DeleteRange(Key(i), Key(i + 1));
    DeleteRange(Key(690), Key(760));
    Flush();
    Put(Key(280), "2");
    for (int i = 282; i < 290; ++i) Delete(Key(i));
    Flush();
    for (int i = 711; i < 719; ++i) Delete(Key(i));
    Put(Key(720), "2");
    Flush();
    const std::unique_ptr<Iterator> bounded = NewIterator(bounds);
    ahead ? bounded->SeekToFirst() : bounded->SeekToLast();
    EXPECT_FALSE(bounded->Valid());
    EXPECT_OK(bounded->status());
    const std::unique_ptr<Iterator> it = NewIterator();
    it->Seek(Key(301));
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->key().ToString(), Key(720));
    it->SeekForPrev(Key(700));
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(it->key().ToString(), Key(280));
  }
}

// The fragments of the memtable end in a gap, and a newer key precedes that end.
TEST_F(KnownGapsTest, AKeyBetweenTheFragmentsOfAGapIsSeen) {
  StartEmpty();
  PutAll();
  Flush();
  for (int i = 1; i < kKeys - 1; ++i) DeleteRange(Key(i), Key(i + 1));
  uint64_t left = 0;
  EXPECT_EQ(AheadOverCovered(&left), Key(kKeys - 1));
  for (const int i : {2, 3, 500, kKeys - 3}) {
    Put(Key(i), "2");
    ExpectVisible(Key(i));
    DeleteRange(Key(i), Key(i + 1));
    EXPECT_EQ(AheadOverCovered(&left), Key(kKeys - 1));
  }
}

TEST_F(KnownGapsTest, ARefreshedIteratorSeesNewEntries) {
  OpenWithGap();
  const std::unique_ptr<Iterator> it = NewIterator();
  uint64_t deletions = 0;
  EXPECT_EQ(Ahead(it.get(), &deletions), Key(kKeys - 1));
  Put(Key(500), "2");
  EXPECT_EQ(Ahead(it.get(), &deletions), Key(kKeys - 1));
  ASSERT_OK(it->Refresh());
  EXPECT_EQ(Ahead(it.get(), &deletions), Key(500));
  Delete(Key(500));
  ASSERT_OK(it->Refresh());
  EXPECT_EQ(Ahead(it.get(), &deletions), Key(kKeys - 1));
}

TEST_F(KnownGapsTest, AnIteratorThatStopsRemembersNothing) {
  OpenWithGap();
  ReadOptions options;
  options.max_skippable_internal_keys = 100;
  const std::unique_ptr<Iterator> it = NewIterator(options);
  it->Seek(Key(1));
  EXPECT_TRUE(it->status().IsIncomplete());
  Walk();
  it->Seek(Key(1));
  EXPECT_OK(it->status());
  ASSERT_TRUE(it->Valid());
}

TEST_F(KnownGapsTest, TheOptionTurnsThemOff) {
  options_.iterators_remember_gaps = false;
  OpenWithGap();
  Walk();
  ExpectWalks(false, "off");
  ASSERT_OK(db_->SetOptions({{"iterators_remember_gaps", "true"}}));
  Walk();
  ExpectWalks(true, "on");
  ASSERT_OK(db_->SetOptions({{"iterators_remember_gaps", "false"}}));
  ExpectWalks(false, "off again");
}

TEST_F(KnownGapsTest, PrefixSeeksWalk) {
  options_.prefix_extractor.reset(NewFixedPrefixTransform(3));
  OpenWithGap();
  uint64_t deletions = 0;
  for (int round = 0; round < 2; ++round) {
    Ahead(NewIterator().get(), &deletions);
    EXPECT_GT(deletions, kShortWalk);
  }
  ReadOptions options;
  options.total_order_seek = true;
  for (int round = 0; round < 2; ++round)
    EXPECT_EQ(Ahead(NewIterator(options).get(), &deletions), Key(kKeys - 1));
  EXPECT_LE(deletions, kShortWalk);
}

// A queue, whose head moves over the deletions of all earlier pops.
TEST_F(KnownGapsTest, AQueueWalksOverEachDeletionAFewTimes) {
  options_.disable_auto_compactions = true;
  constexpr int kPops = 5000;
  Open();
  for (int i = 0; i <= kPops; ++i) Put(Key(i), "1");
  const uint64_t before = Deletions();
  for (int i = 0; i < kPops; ++i) {
    const std::unique_ptr<Iterator> it = NewIterator();
    it->SeekToFirst();
    ASSERT_TRUE(it->Valid());
    ASSERT_EQ(it->key().ToString(), Key(i));
    Delete(it->key());
    if (i == kPops / 2) Flush();
  }
  EXPECT_LE(Deletions() - before, uint64_t{64} * kPops);
}

// Readers of snapshots run concurrently with a writer. Each iterator must agree with MultiGet.
TEST_F(KnownGapsTest, ReadersBesideAWriterFindWhatMultiGetFinds) {
  constexpr int kRange = 300;
  constexpr int kRounds = 300;
  options_.write_buffer_size = 256 << 10;
  Open();
  std::vector<std::string> names;
  for (int i = 0; i < kRange; ++i) names.push_back(Key(i));
  const std::vector<Slice> slices(names.begin(), names.end());
  for (const std::string& name : names) {
    Put(name, "1");
    Delete(name);
  }
  std::atomic<int> readers{2};
  std::thread writer([&] {
    Random random(11);
    while (readers.load() > 0) {
      const std::string& name = names[random.Uniform(kRange)];
      if (random.OneIn(4)) {
        EXPECT_OK(db_->Put(WriteOptions(), name, std::string(200, 'v')));
      } else {
        EXPECT_OK(db_->Delete(WriteOptions(), name));
      }
      // Keeps most keys deleted most of the time.
      if (random.OneIn(40)) {
        for (const std::string& each : names) EXPECT_OK(db_->Delete(WriteOptions(), each));
      }
    }
  });
  const auto read = [&] {
    for (int round = 0; round < kRounds; ++round) {
      ReadOptions options;
      options.snapshot = db_->GetSnapshot();
      std::vector<std::string> values;
      const std::vector<Status> statuses = db_->MultiGet(options, slices, &values);
      std::string expected;
      std::string reversed;
      for (int i = 0; i < kRange; ++i) {
        if (!statuses[static_cast<size_t>(i)].ok()) continue;
        expected += names[static_cast<size_t>(i)] + " ";
        reversed = names[static_cast<size_t>(i)] + " " + reversed;
      }
      for (int walk = 0; walk < 2; ++walk) {
        const std::unique_ptr<Iterator> it = NewIterator(options);
        std::string found;
        for (it->SeekToFirst(); it->Valid(); it->Next()) found += it->key().ToString() + " ";
        EXPECT_EQ(found, expected);
        found.clear();
        for (it->SeekToLast(); it->Valid(); it->Prev()) found += it->key().ToString() + " ";
        EXPECT_EQ(found, reversed);
      }
      db_->ReleaseSnapshot(options.snapshot);
    }
    readers.fetch_sub(1);
  };
  std::thread other(read);
  read();
  other.join();
  writer.join();
}

}  // namespace
}  // namespace ashlar
