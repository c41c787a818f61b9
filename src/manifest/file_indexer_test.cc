// Compares FileIndexer with a search of every file of every level.
#include "manifest/file_indexer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"
#include "manifest/manifest_test_kit.h"
#include "tests/support/comparators.h"

namespace ashlar {
namespace {

using Levels = std::vector<std::shared_ptr<const LevelFiles>>;

struct Entry {
  std::string key;
  SequenceNumber sequence;
};

class FileIndexerTest : public testing::Test {
 protected:
  // Returns a level whose files hold these entries, cut at random. Neighbours may share a user key,
  // and a file may hold one entry.
  std::shared_ptr<const LevelFiles> MakeLevel(const KeyComparator& comparator,
                                              std::vector<Entry> entries, Random* random) {
    const auto before = [&comparator](const Entry& a, const Entry& b) {
      const int order = comparator.Compare(a.key, b.key);
      return order != 0 ? order < 0 : a.sequence > b.sequence;
    };
    std::sort(entries.begin(), entries.end(), before);
    entries.erase(std::unique(entries.begin(), entries.end(),
                              [&](const Entry& a, const Entry& b) { return !before(a, b); }),
                  entries.end());
    std::vector<FileMetaData*> files;
    for (size_t begin = 0; begin < entries.size();) {
      const size_t last =
          std::min(entries.size() - 1, begin + static_cast<size_t>(random->Uniform(4)));
      auto file = std::make_unique<FileMetaData>();
      file->number = next_number_++;
      file->smallest =
          MakeInternalKey(entries[begin].key, entries[begin].sequence, ValueType::kValue);
      file->largest = MakeInternalKey(entries[last].key, entries[last].sequence, ValueType::kValue);
      files.push_back(live_.Adopt(std::move(file)));
      begin = last + 1 + static_cast<size_t>(random->Uniform(2));
    }
    auto level = std::make_shared<const LevelFiles>(comparator, 1, files, &live_);
    for (FileMetaData* file : files) live_.Release(file);
    EXPECT_TRUE(level->Validate().ok()) << level->Validate().ToString();
    return level;
  }

  uint64_t next_number_ = 1;
  LiveFiles live_{[](FileMetaData*) {}, {}};
};

std::vector<uint64_t> WalkAllFiles(const KeyComparator& comparator, const Levels& levels,
                                   const Slice& key, uint64_t tag) {
  std::vector<uint64_t> numbers;
  for (size_t level = 1; level < levels.size(); ++level) {
    for (const FileMetaData* file : levels[level]->files()) {
      const bool holds = comparator.Compare(file->smallest_user_key(), key) <= 0 &&
                         comparator.CompareInternal(file->largest, key, tag) >= 0;
      if (holds) numbers.push_back(file->number);
    }
  }
  return numbers;
}

std::vector<uint64_t> Descend(const FileIndexer& index, const Slice& key, uint64_t tag) {
  std::vector<uint64_t> numbers;
  FileDescent descent(index, key, tag);
  while (const FileMetaData* file = descent.Next()) numbers.push_back(file->number);
  EXPECT_EQ(descent.Next(), nullptr);
  return numbers;
}

std::string TestKey(Random* random, int shape) {
  const std::string digits = StrCat(random->Uniform(300));
  switch (shape) {
    case 0: return random->Bytes(random->Skewed(3));
    case 1: return "a-common-prefix-longer-than-a-head/" + digits;
    case 2:
      return std::string(8, static_cast<char>('a' + random->Uniform(2))) +
             digits;  // heads that repeat
    case 3:
      return std::string(random->Uniform(12), '\xff') + digits;  // among them the highest head
    case 4:
      return random->OneIn(50) ? "b" + digits
                               : "another-prefix/" + digits;  // a prefix present at times
    default:
      return std::string(1, static_cast<char>(random->Uniform(6)));  // few keys, in many files
  }
}

struct Query {
  std::string key;
  uint64_t tag;
};

std::vector<Query> MakeQueries(const Levels& levels, int shape, Random* random) {
  std::vector<Query> queries;
  for (int i = 0; i < 60; ++i) {
    Query query{.key = TestKey(random, shape), .tag = SeekTag(random->Uniform(80))};
    const LevelFiles& level = *levels[1 + random->Uniform(levels.size() - 1)];
    if (!level.empty() && !random->OneIn(3)) {
      // At a bound of a file, or one version before or after it.
      const FileMetaData& file = *level.files()[random->Uniform(level.size())];
      const std::string& bound = random->OneIn(2) ? file.smallest : file.largest;
      query = {.key = ExtractUserKey(bound).ToString(),
               .tag = ExtractTag(bound) + random->Uniform(3) - 1};
    }
    if (random->OneIn(6)) query.key.resize(random->Uniform(query.key.size() + 1));
    if (random->OneIn(6)) query.key.push_back('\0');
    if (random->OneIn(8)) query.tag = ~uint64_t{0};
    if (random->OneIn(8)) query.tag = 0;
    queries.push_back(std::move(query));
  }
  return queries;
}

// Up to two levels of the tree change at a time. Every index is built once from nothing and once
// from the index before it.
TEST_F(FileIndexerTest, TheWayDownIsThatOfAWalkOverAllFiles) {
  const uint64_t seed = 23;
  SCOPED_TRACE(StrCat("seed ", seed));
  Random random(seed);
  for (const NamedComparator& named : TestComparators()) {
    const KeyComparator comparator(named.comparator);
    for (int shape = 0; shape < 6; ++shape) {
      const auto make_level = [&] {
        std::vector<Entry> entries(random.OneIn(4) ? 0 : random.Skewed(9));
        for (Entry& entry : entries)
          entry = {.key = TestKey(&random, shape), .sequence = random.Uniform(80)};
        return MakeLevel(comparator, std::move(entries), &random);
      };
      Levels levels(6);
      for (auto& level : levels) level = make_level();
      std::shared_ptr<const FileIndexer> base;
      for (int round = 0; round < 40; ++round) {
        const Levels before = levels;  // the levels from which the base was built
        for (uint64_t changes = random.Uniform(3); changes > 0; --changes)
          levels[1 + random.Uniform(levels.size() - 1)] = make_level();
        const FileIndexer fresh(FileIndexer::Args{.comparator = comparator, .levels = levels});
        auto derived = std::make_shared<const FileIndexer>(
            FileIndexer::Args{.comparator = comparator, .levels = levels, .base = base.get()});
        EXPECT_TRUE(derived->IsOf(levels));
        const auto is_same = [](const auto& a, const auto& b) {
          return a == b || (a->empty() && b->empty());
        };
        if (base != nullptr) {
          EXPECT_EQ(base->IsOf(levels),
                    std::equal(levels.begin() + 1, levels.end(), before.begin() + 1, is_same));
        }
        for (const Query& query : MakeQueries(levels, shape, &random)) {
          const std::vector<uint64_t> expected =
              WalkAllFiles(comparator, levels, query.key, query.tag);
          ASSERT_EQ(Descend(fresh, query.key, query.tag), expected) << named.name << " " << shape;
          ASSERT_EQ(Descend(*derived, query.key, query.tag), expected)
              << named.name << " " << shape << " " << round;
        }
        base = std::move(derived);
      }
    }
  }
}

TEST_F(FileIndexerTest, ATreeWithoutFilesLeadsNowhere) {
  Random random(1);
  const KeyComparator comparator(BytewiseComparator());
  Levels levels(3);
  for (auto& level : levels) level = MakeLevel(comparator, {}, &random);
  // The index does not have the files of level 0.
  levels[0] =
      MakeLevel(comparator, {{.key = "a", .sequence = 1}, {.key = "b", .sequence = 1}}, &random);
  const FileIndexer index(FileIndexer::Args{.comparator = comparator, .levels = levels});
  EXPECT_EQ(Descend(index, "a", ~uint64_t{0}), std::vector<uint64_t>());
  EXPECT_EQ(index.MemoryBytes(), 0u);
}

TEST_F(FileIndexerTest, OneArenaHoldsEveryLevel) {
  Random random(1);
  const KeyComparator comparator(BytewiseComparator());
  Levels levels(4);
  size_t files = 0;
  for (auto& level : levels)
    level = MakeLevel(
        comparator,
        {{.key = "a", .sequence = 1}, {.key = "b", .sequence = 1}, {.key = "c", .sequence = 1}},
        &random);
  for (size_t level = 1; level < levels.size(); ++level) files += levels[level]->size();
  const FileIndexer index(FileIndexer::Args{.comparator = comparator, .levels = levels});
  EXPECT_GE(index.MemoryBytes(), 32 * (files + 2 * 3));
  EXPECT_LE(index.MemoryBytes(), 32 * (files + 2 * 3) + 128);
}

}  // namespace
}  // namespace ashlar
