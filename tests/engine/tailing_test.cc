// Iterators that exchange their views. Tails (ReadOptions::tailing) follow the writes, and
// iterators of a snapshot (auto_refresh_iterator_with_snapshot) show it from newer views.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "ashlar/memtablerep.h"
#include "ashlar/slice_transform.h"
#include "ashlar/snapshot.h"
#include "base/format.h"
#include "base/random.h"
#include "lsm/lsm_db.h"
#include "tests/engine/database_fixture.h"

namespace ashlar {
namespace {

ReadOptions Tailing() {
  ReadOptions options;
  options.tailing = true;
  return options;
}

class TailingTest : public DatabaseFixture {
 protected:
  static std::string Key(uint64_t number) { return StrCat("k", 100000 + number); }
  std::unique_ptr<Iterator> NewIterator(const ReadOptions& options) {
    return std::unique_ptr<Iterator>(db_->NewIterator(options));
  }
  static std::string Shown(const Iterator& it) {
    if (it.Valid()) return StrCat(it.key().ToString(), "=", it.value().ToString());
    return it.status().ok() ? "end" : it.status().ToString();
  }
  static std::string Sought(Iterator* it, const Slice& target) {
    it->Seek(target);
    return Shown(*it);
  }
  // Waits until memtables and tables that no reader holds are freed and their files deleted.
  void Settle() {
    EXPECT_OK(db_->WaitForCompact(WaitForCompactOptions()));  // a job ends after its caller's wait
    static_cast<LsmDB*>(db_.get())->state()->DrainEpochs();
    EXPECT_OK(db_->DisableFileDeletions());
    EXPECT_OK(db_->EnableFileDeletions());
  }
  int64_t LiveMemTables() {
    Settle();
    return static_cast<LsmDB*>(db_.get())->state()->live_memtables.load();
  }
  static std::string ViewNumber(Iterator* it) {
    std::string number;
    EXPECT_OK(it->GetProperty("rocksdb.iterator.super-version-number", &number));
    return number;
  }
};

TEST_F(TailingTest, ASeekAndTheEndLookAtTheNewestState) {
  Open();
  const std::unique_ptr<Iterator> tail = NewIterator(Tailing());
  tail->SeekToFirst();
  EXPECT_EQ(Shown(*tail), "end");
  Put("b", "1");
  EXPECT_EQ(Sought(tail.get(), "a"), "b=1");
  Put("c", "2");
  tail->Next();
  EXPECT_EQ(Shown(*tail), "c=2");
  tail->Next();
  EXPECT_EQ(Shown(*tail), "end");
  Put("d", "3");
  EXPECT_EQ(Sought(tail.get(), "c1"), "d=3");
  Delete("d");
  Put("a", "4");
  EXPECT_EQ(Sought(tail.get(), "c1"), "end");
  tail->SeekToFirst();
  EXPECT_EQ(Shown(*tail), "a=4");
}

TEST_F(TailingTest, AWalkStaysInItsStateUntilItsEnd) {
  Open();
  for (const char* key : {"a", "c", "e"}) Put(key, "1");
  const std::unique_ptr<Iterator> tail = NewIterator(Tailing());
  tail->SeekToFirst();
  Put("b", "2");
  Put("c", "2");
  Delete("e");
  Put("f", "2");
  std::string walk;
  for (tail->Next(); tail->Valid(); tail->Next()) walk += Shown(*tail) + " ";
  EXPECT_EQ(walk, "c=1 e=1 f=2 ");
}

TEST_F(TailingTest, ASeekWithNothingNewKeepsItsView) {
  Open();
  Put("a", "1");
  const std::unique_ptr<Iterator> tail = NewIterator(Tailing());
  tail->SeekToFirst();
  const std::string view = ViewNumber(tail.get());
  EXPECT_EQ(Sought(tail.get(), "a"), "a=1");
  Put("b", "2");
  EXPECT_EQ(Sought(tail.get(), "b"), "b=2");
  EXPECT_EQ(ViewNumber(tail.get()), view);
  Flush();
  EXPECT_EQ(Sought(tail.get(), "b"), "b=2");
  EXPECT_NE(ViewNumber(tail.get()), view);
}

TEST_F(TailingTest, WhatATailDoesNotServe) {
  Open();
  Put("a", "1");
  Put("b", "1");
  const std::unique_ptr<Iterator> tail = NewIterator(Tailing());
  tail->SeekToLast();
  EXPECT_TRUE(tail->status().IsNotSupported()) << Shown(*tail);
  tail->SeekForPrev("b");
  EXPECT_TRUE(tail->status().IsNotSupported()) << Shown(*tail);
  EXPECT_EQ(Sought(tail.get(), "b"), "b=1");
  tail->Prev();
  EXPECT_FALSE(tail->Valid());
  EXPECT_TRUE(tail->status().IsNotSupported()) << Shown(*tail);
  ManagedSnapshot snapshot(db_.get());
  EXPECT_TRUE(tail->Refresh(snapshot.snapshot()).IsInvalidArgument());
  EXPECT_OK(tail->Refresh());
  EXPECT_EQ(Sought(tail.get(), "b"), "b=1");
  ReadOptions of_snapshot = Tailing();
  of_snapshot.snapshot = snapshot.snapshot();
  EXPECT_TRUE(NewIterator(of_snapshot)->status().IsInvalidArgument());
  // Other reads ignore the option.
  std::string value;
  EXPECT_OK(db_->Get(Tailing(), "a", &value));
}

TEST_F(TailingTest, ATailOfTheMemtablesAloneAndOneWithBounds) {
  Open();
  Put("a", "1");
  Flush();
  ReadOptions memory = Tailing();
  memory.read_tier = kMemtableTier;
  const std::unique_ptr<Iterator> in_memory = NewIterator(memory);
  const Slice lower("b");
  const Slice upper("d");
  ReadOptions bounded = Tailing();
  bounded.iterate_lower_bound = &lower;
  bounded.iterate_upper_bound = &upper;
  const std::unique_ptr<Iterator> between = NewIterator(bounded);
  between->SeekToFirst();
  EXPECT_EQ(Shown(*between), "end");
  for (const char* key : {"b", "c", "d"}) Put(key, "2");
  EXPECT_EQ(Sought(in_memory.get(), "a"), "b=2");
  EXPECT_EQ(Sought(between.get(), "a"), "b=2");
  Put("c1", "3");
  between->Next();
  EXPECT_EQ(Shown(*between), "c=2");
  between->Next();  // the bound is an end too
  EXPECT_EQ(Shown(*between), "c1=3");
  between->Next();
  EXPECT_EQ(Shown(*between), "end");
}

TEST_F(TailingTest, TailsOfSeveralFamilies) {
  Open();
  ColumnFamilyHandle* second = nullptr;
  ASSERT_OK(db_->CreateColumnFamily(ColumnFamilyOptions(options_), "second", &second));
  handles_.push_back(second);
  std::vector<Iterator*> made;
  ASSERT_OK(db_->NewIterators(Tailing(), {db_->DefaultColumnFamily(), second}, &made));
  const std::unique_ptr<Iterator> tails[] = {std::unique_ptr<Iterator>(made[0]),
                                             std::unique_ptr<Iterator>(made[1])};
  Put("a", "1");
  ASSERT_OK(db_->Put(WriteOptions(), second, "a", "2"));
  EXPECT_EQ(Sought(tails[0].get(), "a"), "a=1");
  EXPECT_EQ(Sought(tails[1].get(), "a"), "a=2");
  ASSERT_OK(db_->DropColumnFamily(second));
  EXPECT_EQ(Sought(tails[1].get(), "a"), "a=2");
}

TEST_F(TailingTest, PrefixesOfAChangedExtractor) {
  options_.prefix_extractor.reset(NewFixedPrefixTransform(1));
  Open();
  for (const char* key : {"a1", "a2", "b1"}) Put(key, "1");
  ReadOptions options = Tailing();
  options.prefix_same_as_start = true;
  const std::unique_ptr<Iterator> tail = NewIterator(options);
  EXPECT_EQ(Sought(tail.get(), "a"), "a1=1");
  Put("a3", "2");
  tail->Next();
  tail->Next();
  EXPECT_EQ(Shown(*tail), "a3=2");
  ASSERT_OK(db_->SetOptions({{"prefix_extractor", "fixed:2"}}));
  Put("a4", "3");
  tail->Next();  // the iteration over the prefix "a" has ended
  EXPECT_EQ(Shown(*tail), "end");
  EXPECT_EQ(Sought(tail.get(), "a4"), "a4=3");
}

TEST_F(TailingTest, OldMemtablesAndTablesGoWhileATailLives) {
  Open();
  Put(Key(0), "1");
  const std::unique_ptr<Iterator> tail = NewIterator(Tailing());
  tail->SeekToFirst();
  for (uint64_t i = 1; i < 20; ++i) {
    Put("a", "1");  // one in each table, so that a compaction cannot move a table
    Put(Key(i), "1");
    Flush();
    if (i % 5 == 0) CompactAll();
    // The last key that it showed was Key(i - 1).
    if (i % 2 == 0) {
      tail->Next();
    } else {
      tail->Seek(Key(i));
    }
    ASSERT_EQ(Shown(*tail), Key(i) + "=1");
    EXPECT_EQ(LiveMemTables(), 1);
  }
  CompactAll();
  EXPECT_EQ(Sought(tail.get(), Key(19)), Key(19) + "=1");
  Settle();
  EXPECT_EQ(Tables(), 1);
}

TEST_F(TailingTest, ALongWalkOfASnapshotHoldsNoOldViewOfManyFlushes) {
  options_.disable_auto_compactions = true;
  Open();
  for (uint64_t i = 0; i < 4000; ++i) Put(Key(i), std::string(100, 'v'));
  ManagedSnapshot snapshot(db_.get());
  for (const bool refreshes : {false, true}) {
    ReadOptions options;
    options.snapshot = snapshot.snapshot();
    options.auto_refresh_iterator_with_snapshot = refreshes;
    const std::unique_ptr<Iterator> it = NewIterator(options);
    it->SeekToFirst();
    const std::string view = ViewNumber(it.get());
    Delete(Key(3999));
    Flush();
    for (uint64_t i = 0; i < 4000; ++i, it->Next()) {
      ASSERT_TRUE(it->Valid()) << Shown(*it);
      ASSERT_EQ(it->key().ToString(), Key(i));
    }
    EXPECT_EQ(Shown(*it), "end");
    EXPECT_EQ(ViewNumber(it.get()) != view, refreshes);
    EXPECT_EQ(LiveMemTables(), refreshes ? 1 : 2);
  }
}

// ---- A model.

struct Variant {
  const char* name;
  bool deletes_ranges = false;
  bool hashes = false;  // a memtable whose cursors do not see later entries
};

class TailingModelTest : public TailingTest, public testing::WithParamInterface<Variant> {
 protected:
  using Model = std::map<std::string, std::string>;

  void OpenSmall() {
    options_.write_buffer_size = 64 << 10;
    options_.target_file_size_base = 16 << 10;
    options_.level0_file_num_compaction_trigger = 2;
    if (GetParam().hashes) {
      options_.prefix_extractor.reset(NewFixedPrefixTransform(1));
      options_.memtable_factory.reset(NewHashSkipListRepFactory(/*bucket_count=*/1000));
    }
    Open();
  }
  std::string RandomKey() { return Key(random_.Uniform(300)); }

  // Records the states that a key may show. Called before and after a write.
  void Touch(const std::string& key) {
    const auto now = model_.find(key);
    touched_[key].insert(now == model_.end() ? std::nullopt : std::optional(now->second));
  }
  void Change(const std::string& key, const std::optional<std::string>& value) {
    Touch(key);
    if (value.has_value()) {
      model_[key] = *value;
    } else {
      model_.erase(key);
    }
    Touch(key);
  }
  void WriteSomething() {
    const std::string key = RandomKey();
    const uint64_t kind = random_.Uniform(20);
    if (kind == 0) {
      Flush();
    } else if (kind == 1 && random_.OneIn(4)) {
      CompactAll();
    } else if (kind == 2 && GetParam().deletes_ranges) {
      const std::string end = Key(random_.Uniform(300));
      if (end < key) return;
      ASSERT_OK(db_->DeleteRange(WriteOptions(), db_->DefaultColumnFamily(), key, end));
      std::vector<std::string> keys;
      for (auto at = model_.lower_bound(key); at != model_.lower_bound(end); ++at)
        keys.push_back(at->first);
      for (const std::string& deleted : keys) Change(deleted, std::nullopt);
    } else if (kind < 8) {
      Delete(key);
      Change(key, std::nullopt);
    } else {
      const std::string value = StrCat(++writes_, std::string(random_.Uniform(200), 'v'));
      Put(key, value);
      Change(key, value);
    }
  }
  // Expects the tail to show the first key from `from` on in a state since the last look, or to be
  // at the end of the newest state.
  void ExpectShown(const Iterator& tail, const std::string& from) {
    ASSERT_OK(tail.status());
    std::set<std::string> keys;
    for (auto at = model_.lower_bound(from); at != model_.end(); ++at) keys.insert(at->first);
    for (auto at = touched_.lower_bound(from); at != touched_.end(); ++at) keys.insert(at->first);
    for (const std::string& key : keys) {
      std::set<std::optional<std::string>> values;
      if (const auto found = touched_.find(key); found != touched_.end()) {
        values = found->second;
      } else {
        values = {model_.at(key)};
      }
      if (tail.Valid() && tail.key() == Slice(key)) {
        EXPECT_TRUE(values.contains(tail.value().ToString())) << key;
        return;
      }
      const bool may_be_passed =
          tail.Valid() ? values.contains(std::nullopt) : !model_.contains(key);
      ASSERT_TRUE(may_be_passed) << key << " was passed, at " << Shown(tail);
    }
    ASSERT_FALSE(tail.Valid()) << Shown(tail);
  }

  Random random_{20261125};
  Model model_;
  std::map<std::string, std::set<std::optional<std::string>>> touched_;  // since the last seek
  uint64_t writes_ = 0;
};

TEST_P(TailingModelTest, ATailShowsEachKeyOfAStateSinceItsLastLook) {
  OpenSmall();
  ReadOptions options = Tailing();
  options.total_order_seek = true;
  const std::unique_ptr<Iterator> tail = NewIterator(options);
  for (int i = 0; i < 200; ++i) WriteSomething();
  for (int round = 0; round < 400; ++round) {
    std::string from = random_.OneIn(5) ? std::string() : RandomKey();
    touched_.clear();
    from.empty() ? tail->SeekToFirst() : tail->Seek(from);
    ASSERT_NO_FATAL_FAILURE(ExpectShown(*tail, from)) << "round " << round;
    for (int step = 0; step < 30 && tail->Valid(); ++step) {
      while (random_.OneIn(2)) WriteSomething();
      from = tail->key().ToString() + '\0';
      tail->Next();
      ASSERT_NO_FATAL_FAILURE(ExpectShown(*tail, from)) << "round " << round << " step " << step;
    }
    for (uint64_t n = random_.Uniform(20); n > 0; --n) WriteSomething();
  }
}

TEST_P(TailingModelTest, AnIteratorOfASnapshotShowsTheSameFromNewerViews) {
  OpenSmall();
  for (int i = 0; i < 200; ++i) WriteSomething();
  int renewed = 0;
  for (int round = 0; round < 40; ++round) {
    ManagedSnapshot snapshot(db_.get());
    const Model at_snapshot = model_;
    ReadOptions options;
    options.total_order_seek = true;
    options.snapshot = snapshot.snapshot();
    options.auto_refresh_iterator_with_snapshot = true;
    const std::unique_ptr<Iterator> it = NewIterator(options);
    const std::string view = ViewNumber(it.get());
    auto expected = at_snapshot.begin();
    it->SeekToFirst();
    for (int step = 0; step < 100; ++step) {
      ASSERT_EQ(it->Valid(), expected != at_snapshot.end()) << Shown(*it);
      if (it->Valid()) {
        ASSERT_EQ(it->key().ToString(), expected->first);
        ASSERT_EQ(it->value().ToString(), expected->second);
      }
      while (random_.OneIn(2)) WriteSomething();
      if (!it->Valid() || random_.OneIn(6)) {
        const std::string target = RandomKey();
        if (random_.OneIn(2)) {
          it->Seek(target);
          expected = at_snapshot.lower_bound(target);
        } else {
          it->SeekForPrev(target);
          expected = at_snapshot.upper_bound(target);
          expected = expected == at_snapshot.begin() ? at_snapshot.end() : std::prev(expected);
        }
      } else if (random_.OneIn(3)) {
        it->Prev();
        expected = expected == at_snapshot.begin() ? at_snapshot.end() : std::prev(expected);
      } else {
        it->Next();
        ++expected;
      }
      ASSERT_OK(it->status());
    }
    renewed += ViewNumber(it.get()) != view;
  }
  EXPECT_GT(renewed, 20);
}

INSTANTIATE_TEST_SUITE_P(All, TailingModelTest,
                         testing::Values(Variant{"Defaults"}, Variant{"Ranges", true},
                                         Variant{"HashMemtable", false, true}),
                         [](const auto& variant) { return std::string(variant.param.name); });

// A queue: the writer appends keys, and the tail must meet each of them in order.
TEST_F(TailingTest, ATailMeetsEveryKeyOfAQueueThatIsWrittenMeanwhile) {
  options_.write_buffer_size = 64 << 10;
  options_.level0_file_num_compaction_trigger = 2;
  Open();
  constexpr uint64_t kKeys = 20000;
  std::thread writer([&] {
    for (uint64_t i = 0; i < kKeys; ++i) Put(Key(i), std::string(50, 'v'));
  });
  const std::unique_ptr<Iterator> tail = NewIterator(Tailing());
  uint64_t next = 0;
  while (next < kKeys) {
    tail->Seek(Key(next));
    for (; tail->Valid(); tail->Next()) {
      if (tail->key() != Slice(Key(next))) break;
      ++next;
    }
    if (!tail->status().ok() || (tail->Valid() && next < kKeys)) break;
  }
  writer.join();
  EXPECT_EQ(next, kKeys) << Shown(*tail);
}

}  // namespace
}  // namespace ashlar
