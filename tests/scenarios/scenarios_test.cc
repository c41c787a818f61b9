// The common behaviour of both engines, from one source.
#include <map>

#include "base/random.h"
#include "gmock/gmock.h"
#include "tests/scenarios/scenario_fixture.h"
#include "tests/support/comparators.h"

namespace ashlar::scenarios {
namespace {

using ::testing::HasSubstr;

std::string Key(int i) {
  char buffer[16];
  snprintf(buffer, sizeof(buffer), "key%06d", i);
  return buffer;
}

using BasicScenario = ScenarioFixture;

TEST_P(BasicScenario, WhatIsPutIsFoundInEveryShape) {
  Open();
  EXPECT_EQ(Get("a"), "(missing)");
  EXPECT_EQ(Contents(), "");
  Put("a", "0");
  Put("a", "1");
  Put("b", "2");
  Put("", "empty key");
  Put("c", "");
  InEveryShape([&] {
    EXPECT_EQ(Contents(), "=empty key a=1 b=2 c= ");
    EXPECT_EQ(Get("a"), "1");
    EXPECT_EQ(Get(""), "empty key");
    EXPECT_EQ(Get("c"), "");
    EXPECT_EQ(Get("d"), "(missing)");
  });
}

TEST_P(BasicScenario, WhatIsDeletedStaysAway) {
  Open();
  Put("a", "1");
  Put("b", "1");
  ASSERT_OK(engine_->Rearrange(0));
  Delete("a");
  Delete("a");
  Delete("never there");
  InEveryShape([&] {
    EXPECT_EQ(Contents(), "b=1 ");
    EXPECT_EQ(Get("a"), "(missing)");
  });
  Put("a", "back");
  InEveryShape([&] { EXPECT_EQ(Contents(), "a=back b=1 "); });
}

TEST_P(BasicScenario, ABatchIsAppliedAsAWholeAndInOrder) {
  Open();
  Put("b", "old");
  WriteBatch batch;
  EXPECT_OK(batch.Put("a", "1"));
  EXPECT_OK(batch.Put("a", "2"));
  EXPECT_OK(batch.Delete("b"));
  EXPECT_OK(batch.Put("c", "1"));
  EXPECT_OK(batch.Delete("c"));
  EXPECT_OK(batch.SingleDelete("d"));
  EXPECT_OK(batch.PutLogData("not stored"));
  batch.SetSavePoint();
  EXPECT_OK(batch.Put("e", "3"));
  EXPECT_OK(batch.RollbackToSavePoint());
  ASSERT_OK(engine_->Write(&batch));
  WriteBatch empty;
  ASSERT_OK(engine_->Write(&empty));
  InEveryShape([&] { EXPECT_EQ(Contents(), "a=2 "); });
}

TEST_P(BasicScenario, ABatchThatCannotBeAppliedChangesNothing) {
  Open();
  Put("kept", "1");
  WriteBatch damaged(std::string("\0\0\0\0\0\0\0\0\2\0\0\0\1\1a\1b", 17));
  EXPECT_TRUE(engine_->Write(&damaged).IsCorruption());
  WriteBatch with_merge;
  EXPECT_OK(with_merge.Put("a", "1"));
  EXPECT_OK(with_merge.Merge("a", "2"));
  EXPECT_FALSE(engine_->Write(&with_merge).ok());
  InEveryShape([&] { EXPECT_EQ(Contents(), "kept=1 "); });
}

TEST_P(BasicScenario, BinaryKeysAndValuesOfEverySize) {
  const uint64_t seed = 5;
  Random random(seed);
  std::map<std::string, std::string> model;
  Open();
  for (const size_t bytes : std::initializer_list<size_t>{
           0, 1, 3, 4, 5, 20, 1000, 1012, 1013, 16000, 16384, 16385, 70000, 500000, 3000000}) {
    const std::string key = random.Bytes(1 + bytes % 50) + std::string(1, '\0');
    model[key] = random.Bytes(bytes);
    Put(key, model[key]);
  }
  const auto look = [&] {
    for (const auto& [key, value] : model)
      ASSERT_TRUE(Get(key) == value) << "seed " << seed << ", " << value.size() << " bytes";
    const std::unique_ptr<Iterator> it = engine_->NewIterator(ReadOptions());
    it->SeekToFirst();
    for (const auto& [key, value] : model) {
      ASSERT_TRUE(it->Valid()) << it->status().ToString();
      ASSERT_EQ(it->key().ToString(true), Slice(key).ToString(true));
      ASSERT_TRUE(it->value() == Slice(value));
      it->Next();
    }
    ASSERT_FALSE(it->Valid());
  };
  InEveryShape(look);
  for (auto& [key, value] : model) {
    value = random.Bytes(value.size());
    Put(key, value);
  }
  InEveryShape(look);
}

TEST_P(BasicScenario, LongKeysThatShareALongPrefix) {
  Open();
  std::map<std::string, std::string> model;
  for (int i = 0; i < 300; ++i)
    model[std::string(200, 'p') + Key(i * 7919 % 1009) +
          std::string(static_cast<size_t>(i % 90), 's')] = std::to_string(i);
  for (const auto& [key, value] : model) Put(key, value);
  InEveryShape([&] {
    for (const auto& [key, value] : model) ASSERT_EQ(Get(key), value);
    EXPECT_EQ(Get(std::string(200, 'p')), "(missing)");
    EXPECT_EQ(Get(std::string(199, 'p') + "q"), "(missing)");
  });
}

TEST_P(BasicScenario, MultiGetAnswersAsGetDoes) {
  Open();
  const uint64_t seed = 11;
  Random random(seed);
  for (int i = 0; i < 2000; ++i) {
    Put(Key(static_cast<int>(random.Uniform(3000))), std::to_string(i));
    if (i == 1000) {
      ASSERT_OK(engine_->Rearrange(0));
    }
  }
  InEveryShape([&] {
    for (const size_t count :
         {size_t{0}, size_t{1}, size_t{7}, size_t{16}, size_t{17}, size_t{200}}) {
      std::vector<std::string> bytes;
      for (size_t i = 0; i < count; ++i)
        bytes.push_back(i % 10 == 9 ? bytes.back() : Key(static_cast<int>(random.Uniform(3200))));
      const std::vector<Slice> keys(bytes.begin(), bytes.end());
      std::vector<PinnableSlice> values;
      const std::vector<Status> statuses = engine_->MultiGet(keys, &values);
      ASSERT_EQ(statuses.size(), count);
      for (size_t i = 0; i < count; ++i) {
        const std::string found = statuses[i].ok()           ? values[i].ToString()
                                  : statuses[i].IsNotFound() ? "(missing)"
                                                             : statuses[i].ToString();
        ASSERT_EQ(found, Get(keys[i])) << "seed " << seed << ", key " << i << " of " << count;
      }
    }
  });
}

TEST_P(BasicScenario, APinnedValueStaysWhateverHappensToItsKey) {
  Open();
  const std::string first(1000, 'a');
  Put("key", first);
  PinnableSlice pinned;
  ASSERT_OK(engine_->Get(ReadOptions(), "key", &pinned));
  EXPECT_TRUE(pinned.IsPinned());
  PinnableSlice again;
  ASSERT_OK(engine_->Get(ReadOptions(), "key", &again));
  EXPECT_EQ(again.data(), pinned.data());
  again.Reset();
  Delete("key");
  for (int i = 0; i < 3000; ++i)
    Put("key" + std::to_string(i % 7), std::string(1000, static_cast<char>('b' + i % 20)));
  ASSERT_OK(engine_->Rearrange(0));
  ASSERT_OK(engine_->Rearrange(1));
  EXPECT_EQ(pinned, Slice(first));
  EXPECT_TRUE(engine_->Close().IsAborted());
  EXPECT_EQ(pinned, Slice(first));
  Put("still", "open");
  pinned.Reset();
  ASSERT_OK(engine_->Close());
  EXPECT_FALSE(engine_->Put("a", "b").ok());
  Open();
  EXPECT_EQ(Get("still"), "open");
}

INSTANTIATE_TEST_SUITE_P(Engines, BasicScenario, ::testing::ValuesIn(EngineKinds()), KindName);

// ---- Iteration.

using IterationScenario = ScenarioFixture;

TEST_P(IterationScenario, BothWaysWithinBoundsAndBetweenKeys) {
  Open();
  for (int i = 0; i < 1000; i += 10) {
    Put(Key(i), "v");
    if (i == 500) {
      ASSERT_OK(engine_->Rearrange(0));
    }
  }
  const std::string lower = Key(95);
  const std::string upper = Key(500);
  const Slice lower_slice(lower);
  const Slice upper_slice(upper);
  ReadOptions options;
  options.iterate_lower_bound = &lower_slice;
  options.iterate_upper_bound = &upper_slice;
  InEveryShape([&] {
    const std::unique_ptr<Iterator> it = engine_->NewIterator(options);
    const auto at = [&] { return it->Valid() ? it->key().ToString() : "(end)"; };
    EXPECT_EQ(at(), "(end)");
    it->SeekToFirst();
    EXPECT_EQ(at(), Key(100));
    it->SeekToLast();
    EXPECT_EQ(at(), Key(490));
    it->Next();
    EXPECT_EQ(at(), "(end)");
    it->Seek(Key(0));
    EXPECT_EQ(at(), Key(100));
    it->Prev();
    EXPECT_EQ(at(), "(end)");
    it->Seek(Key(101));
    EXPECT_EQ(at(), Key(110));
    it->Prev();
    EXPECT_EQ(at(), Key(100));
    it->Next();
    EXPECT_EQ(at(), Key(110));
    it->SeekForPrev(Key(109));
    EXPECT_EQ(at(), Key(100));
    it->SeekForPrev(Key(110));
    EXPECT_EQ(at(), Key(110));
    it->SeekForPrev(Key(99));
    EXPECT_EQ(at(), "(end)");
    it->SeekForPrev(Key(999));
    EXPECT_EQ(at(), Key(490));
    it->Seek(Key(500));
    EXPECT_EQ(at(), "(end)");
    EXPECT_OK(it->status());
  });
}

TEST_P(IterationScenario, NothingBetweenCrossedBoundsOrInAnEmptyEngine) {
  Open();
  {
    const std::unique_ptr<Iterator> it = engine_->NewIterator(ReadOptions());
    for (const bool first : {true, false}) {
      if (first) {
        it->SeekToFirst();
      } else {
        it->SeekToLast();
      }
      EXPECT_FALSE(it->Valid());
    }
    it->Seek("a");
    EXPECT_FALSE(it->Valid());
    EXPECT_OK(it->status());
  }
  for (int i = 0; i < 200; ++i) Put(Key(i), "v");
  const Slice lower("key000150");
  const Slice upper("key000050");
  ReadOptions options;
  options.iterate_lower_bound = &lower;
  options.iterate_upper_bound = &upper;
  const std::unique_ptr<Iterator> it = engine_->NewIterator(options);
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  it->SeekToLast();
  EXPECT_FALSE(it->Valid());
  EXPECT_OK(it->status());
}

// Iterators with or without a snapshot show unchanged entries once, in order, during changes.
TEST_P(IterationScenario, WhatStaysIsShownOnceWhileOthersComeAndGo) {
  const uint64_t seed = 77;
  Random random(seed);
  Open();
  for (int i = 0; i < 3000; i += 3) Put(Key(i), "v");
  const std::unique_ptr<Iterator> it = engine_->NewIterator(ReadOptions());
  const auto disturb = [&] {
    const std::string other = Key(static_cast<int>(random.Uniform(1000)) * 3 + 1);
    if (random.OneIn(2)) {
      Put(other, "w");
    } else {
      Delete(other);
    }
    if (random.OneIn(400)) {
      ASSERT_OK(engine_->Rearrange(random.Next()));
    }
  };
  std::string before;
  int stayed = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    const std::string key = it->key().ToString();
    ASSERT_LT(before, key) << "seed " << seed;
    before = key;
    stayed += std::stoi(key.substr(3)) % 3 == 0 ? 1 : 0;
    disturb();
  }
  ASSERT_OK(it->status());
  EXPECT_EQ(stayed, 1000);
  for (it->SeekToLast(); it->Valid(); it->Prev()) {
    const std::string key = it->key().ToString();
    ASSERT_LE(key, before) << "seed " << seed;
    before = key;
    stayed -= std::stoi(key.substr(3)) % 3 == 0 ? 1 : 0;
    disturb();
  }
  EXPECT_EQ(stayed, 0);
}

TEST_P(IterationScenario, AnIteratorKeepsItsEntryAndPinsItsValueBeyond) {
  Open();
  Put("a", "first");
  Put("b", "second");
  std::unique_ptr<Iterator> it = engine_->NewIterator(ReadOptions());
  it->SeekToFirst();
  PinnableSlice kept;
  it->PinValue(&kept);
  Delete("a");
  for (int i = 0; i < 3000; ++i) Put("c" + std::to_string(i), "other");
  EXPECT_EQ(it->key(), Slice("a"));
  EXPECT_EQ(it->value(), Slice("first"));
  it->Next();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key(), Slice("b"));
  EXPECT_EQ(kept, Slice("first"));
  EXPECT_TRUE(engine_->Close().IsAborted());
  it.reset();
  EXPECT_EQ(kept, Slice("first"));
}

INSTANTIATE_TEST_SUITE_P(Engines, IterationScenario, ::testing::ValuesIn(EngineKinds()), KindName);

// ---- Range deletions, and snapshots where offered.

using SnapshotScenario = ScenarioFixture;

TEST_P(SnapshotScenario, SnapshotsSeeTheirMoment) {
  Open();
  Put("a", "1");
  const Snapshot* const first = engine_->GetSnapshot();
  Put("a", "2");
  Put("b", "2");
  const Snapshot* const second = engine_->GetSnapshot();
  Delete("a");
  for (uint64_t round = 0; round < 3; ++round) {
    EXPECT_EQ(Contents(first), "a=1 ");
    EXPECT_EQ(Contents(second), "a=2 b=2 ");
    EXPECT_EQ(Contents(), "b=2 ");
    EXPECT_EQ(Get("a", first), "1");
    EXPECT_EQ(Get("a", second), "2");
    EXPECT_EQ(Get("a"), "(missing)");
    ASSERT_OK(engine_->Rearrange(round));
  }
  engine_->ReleaseSnapshot(first);
  engine_->ReleaseSnapshot(second);
}

INSTANTIATE_TEST_SUITE_P(Engines, SnapshotScenario,
                         ::testing::ValuesIn(EngineKindsWith(&EngineKind::has_snapshots)),
                         KindName);

using RangeDeletionScenario = ScenarioFixture;

TEST_P(RangeDeletionScenario, InABatchTheLastChangeOfAKeyCounts) {
  Open();
  Put("old", "1");
  WriteBatch batch;
  ASSERT_OK(batch.Put("b", "1"));
  ASSERT_OK(batch.DeleteRange("a", "z"));
  ASSERT_OK(batch.Put("c", "1"));
  ASSERT_OK(batch.Put("c", "2"));
  ASSERT_OK(engine_->Write(&batch));
  InEveryShape([&] { EXPECT_EQ(Contents(), "c=2 "); });
}

INSTANTIATE_TEST_SUITE_P(Engines, RangeDeletionScenario, ::testing::ValuesIn(EngineKinds()),
                         KindName);

// ---- Opening.

using OpenScenario = ScenarioFixture;

TEST_P(OpenScenario, RefusalsSayWhyAndLeaveEverythingAsItWas) {
  request_.create_if_missing = false;
  Status refused = engine_->Open(request_);
  EXPECT_TRUE(refused.IsInvalidArgument()) << refused.ToString();
  EXPECT_THAT(refused.ToString(), HasSubstr("create_if_missing"));
  request_.create_if_missing = true;
  Open();
  Put("a", "1");
  refused = engine_->OpenAgain();
  EXPECT_TRUE(refused.IsIOError()) << refused.ToString();
  Put("b", "2");

  request_.error_if_exists = true;
  refused = engine_->Open(request_);
  EXPECT_TRUE(refused.IsInvalidArgument()) << refused.ToString();
  EXPECT_THAT(refused.ToString(), HasSubstr("error_if_exists"));
  request_.error_if_exists = false;
  request_.comparator = ReverseBytewiseComparator();
  refused = engine_->Open(request_);
  EXPECT_TRUE(refused.IsInvalidArgument()) << refused.ToString();
  EXPECT_THAT(refused.ToString(), HasSubstr(BytewiseComparator()->Name()));
  request_.comparator = BytewiseComparator();
  request_.create_if_missing = false;
  Open();
  EXPECT_EQ(Contents(), "a=1 b=2 ");
}

INSTANTIATE_TEST_SUITE_P(Engines, OpenScenario,
                         ::testing::ValuesIn(EngineKindsWith(&EngineKind::has_paths)), KindName);

}  // namespace
}  // namespace ashlar::scenarios
