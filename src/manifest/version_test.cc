// Compares Version, LevelFiles and VersionBuilder with plain models.
#include "manifest/version.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/coding.h"
#include "base/format.h"
#include "base/random.h"
#include "execute/epoch.h"
#include "execute/read_guard.h"
#include "manifest/manifest_test_kit.h"
#include "manifest/version_builder.h"
#include "platform/mutex.h"
#include "table/open/table_cache.h"
#include "tests/support/comparators.h"
#include "tests/support/test_epochs.h"

namespace ashlar {
namespace {

class VersionTest : public testing::Test {
 protected:
  void TearDown() override { TestEpochs().Synchronize(); }

  // `base` may be null. The caller keeps its reference to it.
  Result<Version*> Apply(Version* base, std::vector<VersionEdit>* edits,
                         const Comparator* comparator = BytewiseComparator()) {
    VersionBuilder builder(VersionBuilder::Args{
        .comparator = KeyComparator(comparator), .levels = 7, .base = base, .live = &live_});
    for (VersionEdit& edit : *edits) ASHLAR_RETURN_IF_ERROR(builder.Apply(&edit));
    return builder.Build();
  }
  Result<Version*> Apply(Version* base, VersionEdit edit,
                         const Comparator* comparator = BytewiseComparator()) {
    std::vector<VersionEdit> edits;
    edits.push_back(std::move(edit));
    return Apply(base, &edits, comparator);
  }

  std::set<uint64_t> Live() const {
    std::unordered_set<uint64_t> numbers;
    live_.AppendNumbers(&numbers);
    return {numbers.begin(), numbers.end()};
  }

  Mutex dropped_mutex_;
  std::vector<uint64_t> dropped_;
  LiveFiles live_{[this](FileMetaData* file) {
                    TestTable::Detach(file);
                    MutexLock lock(dropped_mutex_);
                    dropped_.push_back(file->number);
                  },
                  {}};
};

std::vector<uint64_t> Numbers(std::span<FileMetaData* const> files) {
  std::vector<uint64_t> numbers;
  for (const FileMetaData* file : files) numbers.push_back(file->number);
  return numbers;
}

TEST_F(VersionTest, CountsTheVersionsOfItsFamilyThatExist) {
  Version* const first = Apply(nullptr, VersionEdit()).value();
  Version* const other_family = Apply(nullptr, VersionEdit()).value();
  EXPECT_EQ(first->LiveRelatives(), 1u);
  Version* const second = Apply(first, VersionEdit()).value();
  Version* const third = Apply(second, VersionEdit()).value();
  EXPECT_EQ(first->LiveRelatives(), 3u);
  EXPECT_EQ(third->LiveRelatives(), 3u);
  EXPECT_EQ(other_family->LiveRelatives(), 1u);
  second->Unref();
  EXPECT_EQ(third->LiveRelatives(), 2u);
  first->Unref();
  EXPECT_EQ(third->LiveRelatives(), 1u);
  third->Unref();
  other_family->Unref();
}

TEST_F(VersionTest, KnowsWhetherATableMayHaveRangeTombstones) {
  VersionEdit edit;
  edit.AddFile(0, MakeFile(5, "a", "z"));
  edit.AddFile(2, MakeFile(6, "a", "c"));
  edit.AddFile(2, MakeFile(7, "d", "f"));
  Version* const version = *Apply(nullptr, std::move(edit));
  const std::vector<FileMetaData*> files{version->files(0)[0], version->files(2)[0],
                                         version->files(2)[1]};
  for (FileMetaData* const file : files) {
    EXPECT_TRUE(version->MayHaveRanges()) << file->number << " was never open";
    file->has_ranges = HasRanges::kYes;
    EXPECT_TRUE(version->MayHaveRanges()) << file->number;
    file->has_ranges = HasRanges::kNo;
  }
  EXPECT_FALSE(version->MayHaveRanges());
  version->Unref();
}

// Each iterator calls MayHaveRanges.
TEST_F(VersionTest, LooksOnceAtATableWithoutRangeTombstones) {
  VersionEdit edit;
  edit.AddFile(1, MakeFile(5, "a", "c"));
  edit.AddFile(1, MakeFile(6, "d", "f"));
  Version* const version = *Apply(nullptr, std::move(edit));
  FileMetaData* const first = version->files(1)[0];
  FileMetaData* const last = version->files(1)[1];
  first->has_ranges = HasRanges::kNo;
  last->has_ranges = HasRanges::kYes;
  EXPECT_TRUE(version->MayHaveRanges());
  first->has_ranges = HasRanges::kYes;  // impossible; shows that it is not looked at again
  last->has_ranges = HasRanges::kNo;
  EXPECT_FALSE(version->MayHaveRanges());
  version->Unref();
}

TEST_F(VersionTest, LevelZeroIsNewestFirst) {
  VersionEdit edit;
  edit.AddFile(0, MakeFile(5, "a", "z", 10, 20));
  edit.AddFile(0, MakeFile(6, "a", "z", 21, 30));
  edit.AddFile(0, MakeFile(7, "a", "z", 1, 9));
  edit.AddFile(0, MakeFile(8, "a", "z", 25, 30));
  edit.AddFile(0, MakeFile(9, "a", "z", 1, 9));
  Version* const version = *Apply(nullptr, std::move(edit));
  EXPECT_EQ(Numbers(version->files(0)), (std::vector<uint64_t>{8, 6, 5, 9, 7}));
  version->CheckInvariants();
  version->Unref();
}

// Keys of two letters and lengths up to 13, so that heads, prefixes and complete keys often repeat.
TEST_F(VersionTest, ByHeadsLevelZeroHasTheFilesWhoseRangesHoldAKey) {
  Random random(11);
  const LengthFirstComparator by_length;
  for (const Comparator* comparator : {BytewiseComparator(), ReverseBytewiseComparator(),
                                       static_cast<const Comparator*>(&by_length)}) {
    const auto random_key = [&](const std::string& prefix) {
      std::string key = prefix;
      const size_t bytes = random.Uniform(14);
      while (key.size() < prefix.size() + bytes)
        key.push_back(static_cast<char>('a' + random.Uniform(2)));
      return key;
    };
    for (int round = 0; round < 200; ++round) {
      const std::string prefix = random.OneIn(2) ? "" : "aab";
      VersionEdit edit;
      for (uint64_t number = 1; number <= 6; ++number) {
        std::string a = random_key(prefix);
        std::string b = random_key(prefix);
        if (comparator->Compare(Slice(b), Slice(a)) < 0) std::swap(a, b);
        edit.AddFile(0, MakeFile(number, a, b, number, number));
      }
      Version* const version = *Apply(nullptr, std::move(edit), comparator);
      const LevelFiles& level = *version->level(0);
      for (int i = 0; i < 50; ++i) {
        const std::string key = random_key(random.OneIn(2) ? prefix : "");
        const std::optional<uint64_t> head = level.HeadOf(Slice(key));
        for (size_t file = 0; file < level.size(); ++file) {
          const FileMetaData& meta = *level.files()[file];
          const bool holds = comparator->Compare(Slice(key), meta.smallest_user_key()) >= 0 &&
                             comparator->Compare(Slice(key), meta.largest_user_key()) <= 0;
          EXPECT_EQ(head && level.FileMayMatch(file, Slice(key), *head), holds)
              << key << " in " << meta.smallest_user_key().ToString() << ".."
              << meta.largest_user_key().ToString();
        }
      }
      version->CheckInvariants();
      version->Unref();
    }
  }
}

TEST_F(VersionTest, AFileLivesUntilTheLastVersionGoes) {
  VersionEdit add;
  add.AddFile(1, MakeFile(5, "a", "b"));
  add.AddFile(2, MakeFile(6, "a", "b"));
  Version* const first = *Apply(nullptr, std::move(add));
  VersionEdit remove;
  remove.DeleteFile(1, 5);
  Version* const second = *Apply(first, std::move(remove));
  EXPECT_EQ(second->level(2), first->level(2)) << "a level without a change is shared";
  EXPECT_EQ(Live(), (std::set<uint64_t>{5, 6}));
  EXPECT_TRUE(dropped_.empty());
  first->Ref();
  first->Unref();
  first->Unref();
  EXPECT_EQ(Live(), std::set<uint64_t>{6});
  EXPECT_EQ(dropped_, std::vector<uint64_t>{5});
  second->Unref();
  EXPECT_TRUE(Live().empty());
}

TEST_F(VersionTest, AMovedFileKeepsItsOpenTable) {
  VersionEdit add;
  add.AddFile(0, MakeFile(5, "a", "b"));
  Version* const first = *Apply(nullptr, std::move(add));
  FileMetaData* const file = first->files(0)[0];
  TestTable::Attach(file, {});
  VersionEdit move;
  move.MoveFile(0, 3, file);
  Version* const second = *Apply(first, std::move(move));
  EXPECT_EQ(second->files(0).size(), 0u);
  ASSERT_EQ(second->files(3).size(), 1u);
  EXPECT_EQ(second->files(3)[0], file);
  first->Unref();
  EXPECT_TRUE(dropped_.empty());
  EXPECT_NE(second->files(3)[0]->reader.load(), nullptr);
  second->Unref();
}

void ExpectCorruption(const Result<Version*>& result, const std::string& naming) {
  ASSERT_FALSE(result.ok());
  EXPECT_TRUE(result.status().IsCorruption()) << result.status().ToString();
  EXPECT_NE(result.status().ToString().find(naming), std::string::npos)
      << result.status().ToString();
}

TEST_F(VersionTest, EditsThatDoNotFitAreCorruptionAndLetTheirFilesGo) {
  VersionEdit add;
  add.AddFile(1, MakeFile(5, "c", "f"));
  Version* const base = *Apply(nullptr, std::move(add));
  VersionEdit overlap;
  overlap.AddFile(1, MakeFile(6, "f", "g", 100, 100));
  ExpectCorruption(Apply(base, std::move(overlap)), "5 and 6");
  VersionEdit duplicate;
  duplicate.AddFile(2, MakeFile(5, "c", "f"));
  ExpectCorruption(Apply(base, std::move(duplicate)), "table 5");
  VersionEdit missing;
  missing.DeleteFile(1, 7);
  missing.AddFile(2, MakeFile(8, "a", "b"));
  ExpectCorruption(Apply(base, std::move(missing)), "table 7");
  VersionEdit wrong_level;
  wrong_level.DeleteFile(2, 5);
  ExpectCorruption(Apply(base, std::move(wrong_level)), "table 5");
  VersionEdit reversed;
  reversed.AddFile(3, MakeFile(9, "z", "a"));
  ExpectCorruption(Apply(base, std::move(reversed)), "table 9");
  VersionEdit stray_move;
  const auto stray = MakeFile(10, "a", "b");
  stray_move.ListFile(2, stray.get());
  ExpectCorruption(Apply(base, std::move(stray_move)), "table 10");
  EXPECT_EQ(Live(), std::set<uint64_t>{5});
  base->Unref();
  std::sort(dropped_.begin(), dropped_.end());
  EXPECT_EQ(dropped_, (std::vector<uint64_t>{5, 5, 6, 8, 9}));
}

// A plan that starts with such a table would find no file that overlaps its range.
TEST_F(VersionTest, ATableThatEndsBeforeItsFirstKeyIsRefused) {
  const std::string end = MakeInternalKey("k", kSequenceNumberMax, ValueType::kRangeDeletion);
  for (const Level level : {Level{0}, Level{3}}) {
    for (const uint64_t tag : {kRangeEndTag, kRangeEndTag + 1}) {
      auto file = MakeFile(9, "k", "k");
      file->smallest = "k";
      PutFixed64(&file->smallest, tag);
      file->largest = end;
      VersionEdit edit;
      edit.AddFile(level, std::move(file));
      ExpectCorruption(Apply(nullptr, std::move(edit)), "table 9");
    }
  }
  auto file = MakeFile(10, "j", "k");
  file->largest = end;
  VersionEdit edit;
  edit.AddFile(3, std::move(file));
  const Result<Version*> version = Apply(nullptr, std::move(edit));
  ASSERT_TRUE(version.ok()) << version.status().ToString();
  (*version)->Unref();
}

TEST_F(VersionTest, ATableBelowTheLastLevelIsRefused) {
  VersionEdit edit;
  edit.AddFile(7, MakeFile(5, "c", "f"));
  const Result<Version*> version = Apply(nullptr, std::move(edit));
  ASSERT_FALSE(version.ok());
  EXPECT_TRUE(version.status().IsInvalidArgument()) << version.status().ToString();
}

TEST_F(VersionTest, NeighboursMayShareAUserKeyInDescendingVersions) {
  VersionEdit edit;
  edit.AddFile(1, MakeFile(5, "a", "k", 10, 20));
  edit.AddFile(1, MakeFile(6, "k", "z", 3, 9));
  Version* const version = *Apply(nullptr, std::move(edit));
  EXPECT_EQ(Numbers(version->files(1)), (std::vector<uint64_t>{5, 6}));
  const Slice k("k");
  EXPECT_EQ(Numbers(version->OverlappingFiles(1, UserKeyRange{.smallest = &k, .largest = &k})),
            (std::vector<uint64_t>{5, 6}));
  version->Unref();
}

// Compares random edits with a map of number to level per version. Every version stays checkable
// while others are made and dropped.
TEST_F(VersionTest, RandomEditsMatchAModel) {
  const uint64_t seed = 4;
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  using Model = std::map<uint64_t, Level>;
  std::vector<std::pair<Version*, Model>> held;
  Version* current = *Apply(nullptr, VersionEdit());
  Model model;
  uint64_t next = 1;
  for (int round = 0; round < 400; ++round) {
    std::vector<VersionEdit> edits(random.Between(1, 3));
    Model after = model;
    std::set<uint64_t> moved;  // left alone for the rest of the round
    for (VersionEdit& edit : edits) {
      for (uint64_t i = random.Uniform(4); i > 0 && !after.empty(); --i) {
        const auto [number, level] =
            *std::next(after.begin(), static_cast<std::ptrdiff_t>(random.Uniform(after.size())));
        if (moved.contains(number)) continue;
        if (model.contains(number) && random.OneIn(2)) {
          const Level to = (level + 1) % 7;
          for (FileMetaData* file : current->files(level)) {
            if (file->number == number) edit.MoveFile(level, to, file);
          }
          after[number] = to;
          moved.insert(number);
        } else {
          edit.DeleteFile(level, number);
          after.erase(number);
        }
      }
      for (uint64_t i = random.Uniform(4); i > 0; --i) {
        const Level level = static_cast<Level>(random.Uniform(7));
        const std::string key = StrCat("key", 100000 + next);
        edit.AddFile(level, MakeFile(next, key, key + "x"));
        after[next++] = level;
      }
    }
    Result<Version*> version = Apply(current, &edits);
    ASSERT_TRUE(version.ok()) << version.status().ToString();
    held.emplace_back(std::exchange(current, *version), std::exchange(model, after));
    current->CheckInvariants();
    if (held.size() > 5) {
      const auto at = held.begin() + static_cast<std::ptrdiff_t>(random.Uniform(held.size()));
      at->first->Unref();
      held.erase(at);
    }
    std::set<uint64_t> expected_live;
    for (const auto& [number, level] : model) expected_live.insert(number);
    for (const auto& [old, old_model] : held) {
      Model found;
      for (Level level = 0; level < old->levels(); ++level) {
        for (const FileMetaData* file : old->files(level)) found[file->number] = level;
      }
      ASSERT_EQ(found, old_model);
      for (const auto& [number, level] : old_model) expected_live.insert(number);
    }
    ASSERT_EQ(Live(), expected_live);
    ASSERT_EQ(current->NumFiles(), model.size());
  }
  current->Unref();
  for (const auto& [old, old_model] : held) old->Unref();
  EXPECT_TRUE(Live().empty());
}

TEST_F(VersionTest, VersionsAreReleasedByManyThreads) {
  Mutex mutex;
  Version* current = *Apply(nullptr, VersionEdit());
  std::atomic<bool> stop{false};
  {
    std::vector<std::jthread> readers;
    for (int t = 0; t < 3; ++t) {
      readers.emplace_back([&] {
        while (!stop.load(std::memory_order_relaxed)) {
          Version* held = nullptr;
          {
            MutexLock lock(mutex);
            held = current;
            held->Ref();
          }
          for (const FileMetaData* file : held->files(1)) ASSERT_GT(file->number, 0u);
          held->Unref();
        }
      });
    }
    for (uint64_t number = 1; number <= 300; ++number) {
      VersionEdit edit;
      const std::string key = StrCat("key", 1000 + number);
      edit.AddFile(1, MakeFile(number, key, key));
      if (number > 10) edit.DeleteFile(1, number - 10);
      Version* const next = *Apply(current, std::move(edit));
      Version* old = next;
      {
        MutexLock lock(mutex);
        std::swap(old, current);
      }
      old->Unref();
    }
    stop.store(true, std::memory_order_relaxed);
  }
  EXPECT_EQ(Live().size(), 10u);
  current->Unref();
  EXPECT_TRUE(Live().empty());
}

std::string TestKey(Random* random, int shape) {
  const std::string digits = StrCat(random->Uniform(5000));
  switch (shape) {
    case 0: return random->Bytes(random->Skewed(4));
    case 1: return "a-common-prefix-longer-than-a-head/" + digits;
    case 2:
      return std::string(8, static_cast<char>('a' + random->Uniform(2))) +
             digits;  // heads that repeat
    default: return std::string(1, '\xff') + std::string(random->Uniform(12), '\xff') + digits;
  }
}

TEST_F(VersionTest, FindMatchesALinearSearch) {
  const uint64_t seed = 5;
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  for (const NamedComparator& named : TestComparators()) {
    const KeyComparator comparator(named.comparator);
    const auto less = [&comparator](const std::string& a, const std::string& b) {
      return comparator.Compare(a, b) < 0;
    };
    for (int shape = 0; shape < 4; ++shape) {
      for (const size_t keys : {size_t{0}, size_t{2}, size_t{3}, size_t{10}, size_t{200}}) {
        std::set<std::string, decltype(less)> bounds(less);
        while (bounds.size() < keys && (shape != 0 || bounds.size() < 3))
          bounds.insert(TestKey(&random, shape));
        VersionEdit edit;
        uint64_t number = 10;
        for (auto key = bounds.begin(); key != bounds.end() && std::next(key) != bounds.end();
             std::advance(key, 2)) {
          edit.AddFile(1, MakeFile(number++, *key, *std::next(key), 50, 60));
          if (std::next(key, 2) == bounds.end()) break;
        }
        Version* const version = *Apply(nullptr, std::move(edit), named.comparator);
        const LevelFiles& level = *version->level(1);
        for (int i = 0; i < 300; ++i) {
          std::string key = TestKey(&random, shape);
          if (random.OneIn(2) && !bounds.empty())
            key = *std::next(bounds.begin(),
                             static_cast<std::ptrdiff_t>(random.Uniform(bounds.size())));
          if (random.OneIn(5)) key.resize(random.Uniform(key.size() + 1));
          const uint64_t tag = SeekTag(random.Between(40, 70));
          size_t expected = 0;
          while (expected < level.size() &&
                 comparator.CompareInternal(level.files()[expected]->largest, key, tag) < 0)
            ++expected;
          ASSERT_EQ(level.Find(key, tag), expected)
              << named.name << " " << shape << " " << level.size();

          const std::string other = TestKey(&random, shape);
          const Slice low(less(key, other) ? key : other), high(less(key, other) ? other : key);
          const UserKeyRange range{.smallest = random.OneIn(4) ? nullptr : &low,
                                   .largest = random.OneIn(4) ? nullptr : &high};
          std::vector<uint64_t> overlapping;
          for (size_t f = 0; f < level.size(); ++f) {
            if (level.FileOverlaps(f, range)) overlapping.push_back(level.files()[f]->number);
          }
          ASSERT_EQ(Numbers(version->OverlappingFiles(1, range)), overlapping)
              << named.name << " " << shape;
          ASSERT_EQ(version->RangeIsEmpty(1, range), overlapping.empty());
        }
        version->Unref();
      }
    }
  }
}

// A tree in which every key has its newest version nearest to the top.
TEST_F(VersionTest, GetOffersNewestFirstAndStopsEarly) {
  VersionEdit edit;
  edit.AddFile(0, MakeFile(10, "c", "m", 90, 99));
  edit.AddFile(0, MakeFile(11, "a", "d", 80, 89));
  edit.AddFile(1, MakeFile(12, "a", "f", 50, 59));
  edit.AddFile(1, MakeFile(13, "g", "p", 50, 59));
  edit.AddFile(2, MakeFile(14, "a", "k", 20, 29));
  edit.AddFile(2, MakeFile(15, "k", "z", 10, 19));
  Version* const version = *Apply(nullptr, std::move(edit));
  std::map<uint64_t, TestTable*> tables;
  const auto attach = [&tables](FileMetaData* file, TestEntries entries) {
    tables[file->number] = TestTable::Attach(file, std::move(entries));
  };
  attach(version->files(0)[0],
         {{"c", {{95, ValueType::kValue, "c95"}}}, {"m", {{90, ValueType::kDeletion, ""}}}});
  attach(version->files(0)[1],
         {{"a", {{85, ValueType::kValue, "a85"}}}, {"c", {{81, ValueType::kValue, "c81"}}}});
  attach(version->files(1)[0], {{"c", {{55, ValueType::kValue, "c55"}}}});
  attach(version->files(1)[1], {{"m", {{55, ValueType::kValue, "m55"}}}});
  attach(version->files(2)[0],
         {{"k", {{25, ValueType::kValue, "k25"}, {20, ValueType::kValue, "k20"}}}});
  attach(version->files(2)[1], {{"k", {{15, ValueType::kValue, "k15"}}}});
  const auto get = [version](const std::string& key, SequenceNumber snapshot) {
    ReadGuard guard(TestEpochs());
    Lookup lookup(Lookup::Args{.user_key = key, .snapshot = snapshot});
    version->Get(TableReadOptions{.guard = &guard}, nullptr, &lookup);
    PinnableSlice value;
    const Status status = lookup.Finish(&value);
    return status.ok() ? value.ToString() : status.ToString().substr(0, 8);
  };
  EXPECT_EQ(get("c", 100), "c95");
  EXPECT_EQ(tables[11]->gets() + tables[12]->gets(), 0)
      << "older tables were asked after the lookup was done";
  EXPECT_EQ(get("c", 94), "c81");
  EXPECT_EQ(get("c", 80), "c55");
  EXPECT_EQ(get("c", 5), "NotFound");
  EXPECT_EQ(get("m", 100), "NotFound");
  EXPECT_EQ(get("m", 89), "m55");
  EXPECT_EQ(get("k", 100), "k25");
  EXPECT_EQ(get("k", 24), "k20");
  EXPECT_EQ(get("k", 16), "k15") << "the older version stands in the next file";
  EXPECT_EQ(get("zz", 100), "NotFound");
  const int before = tables[15]->gets();
  static_cast<void>(get("j", 100));
  EXPECT_EQ(tables[15]->gets(), before);
  static_cast<void>(get("k", 22));
  EXPECT_EQ(tables[15]->gets(), before) << "the lookup was done in the first file";
  static_cast<void>(get("k", 19));
  EXPECT_EQ(tables[15]->gets(), before + 1);
  TestTable::Detach(version->files(2)[0]);
  TestTable::Attach(version->files(2)[0], {{"k", {{25, ValueType::kMerge, "+"}}}});
  static_cast<void>(get("k", 100));
  EXPECT_EQ(tables[15]->gets(), before + 2) << "what a merge operand stands on is in the next file";
  EXPECT_EQ(get("", 100), "NotFound");

  const std::vector<std::string> keys = {"zz", "k", "a", "", "m", "c", "j"};
  for (const SequenceNumber snapshot :
       std::initializer_list<SequenceNumber>{5, 15, 16, 19, 22, 24, 55, 80, 89, 94, 100}) {
    std::vector<std::string> expected;
    for (const std::string& key : keys) expected.push_back(get(key, snapshot));
    ReadGuard guard(TestEpochs());
    std::vector<Lookup> lookups;
    for (const std::string& key : keys)
      lookups.emplace_back(Lookup::Args{.user_key = key, .snapshot = snapshot});
    version->MultiGet(TableReadOptions{.guard = &guard}, nullptr, lookups);
    for (size_t i = 0; i < keys.size(); ++i) {
      PinnableSlice value;
      const Status status = lookups[i].Finish(&value);
      EXPECT_EQ(status.ok() ? value.ToString() : status.ToString().substr(0, 8), expected[i])
          << keys[i] << " " << snapshot;
    }
  }
  version->Unref();
}

TEST_F(VersionTest, ApproximateBytesCountsWholeFilesAndPartsOfTheOthers) {
  VersionEdit edit;
  edit.AddFile(1, MakeFile(10, "b", "d"));
  edit.AddFile(1, MakeFile(11, "f", "h"));
  edit.AddFile(2, MakeFile(12, "a", "z"));
  Version* const version = *Apply(nullptr, std::move(edit));
  TestTable::Attach(version->files(1)[0], {{"b", {}}, {"c", {}}, {"d", {}}});
  TestTable::Attach(version->files(1)[1], {{"f", {}}, {"g", {}}, {"h", {}}});
  TestTable::Attach(version->files(2)[0], {{"a", {}}, {"m", {}}, {"z", {}}});
  OpenTables open_tables(&TestEpochs(), 0);
  TableCache cache(
      TableCacheArgs{.epochs = &TestEpochs(), .directory = "none", .open_tables = &open_tables});
  EXPECT_EQ(*version->ApproximateBytes("c", "g", &cache), (110 - 10) + 10 + 0u);
  EXPECT_EQ(*version->ApproximateBytes("a", "zz", &cache), 110u + 111u + 112u);
  EXPECT_EQ(*version->ApproximateBytes("c", "d", &cache), 10u);
  EXPECT_EQ(*version->ApproximateBytes("x", "a", &cache), 0u);
  EXPECT_EQ(*version->ApproximateBytes("c", "c", &cache), 0u);
  version->Unref();
}

TEST_F(VersionTest, SizesAndTextAreRight) {
  VersionEdit edit;
  edit.AddFile(0, MakeFile(10, "secret", "secret"));
  edit.AddFile(4, MakeFile(11, "f", "h"));
  edit.AddFile(4, MakeFile(12, "i", "k"));
  Version* const version = *Apply(nullptr, std::move(edit));
  EXPECT_EQ(version->TotalBytes(), 110u + 111u + 112u);
  EXPECT_EQ(version->LevelBytes(4), 111u + 112u);
  EXPECT_EQ(version->NumFiles(), 3u);
  kDatabaseMutex.AssertHeld();
  const std::string text = version->DebugString();
  EXPECT_EQ(text.find("secret"), std::string::npos);
  EXPECT_NE(text.find("level 4: 2 tables"), std::string::npos) << text;
  version->Unref();
}

}  // namespace
}  // namespace ashlar
