#include "iterate/merging_cursor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "testing/comparators.h"
#include "testing/vector_cursor.h"

namespace ashlar {
namespace {

struct Merge {
  std::vector<VectorCursor*> children;  // owned by cursor
  std::unique_ptr<InternalCursor> cursor;
};

Merge MakeMerge(const KeyComparator& comparator, std::vector<std::vector<TestEntry>> sources) {
  Merge merge;
  std::vector<std::unique_ptr<InternalCursor>> children;
  for (auto& entries : sources) {
    auto child = std::make_unique<VectorCursor>(comparator, std::move(entries));
    merge.children.push_back(child.get());
    children.push_back(std::move(child));
  }
  merge.cursor = NewMergingCursor(comparator, std::move(children));
  return merge;
}

const KeyComparator kBytewise{BytewiseComparator()};

TEST(MergingCursorTest, NoChildIsEmpty) {
  const std::unique_ptr<InternalCursor> cursor = NewMergingCursor(kBytewise, {});
  cursor->SeekToFirst();
  EXPECT_FALSE(cursor->Valid());
  EXPECT_TRUE(cursor->status().ok());
}

TEST(MergingCursorTest, OneChildIsReturnedAsItIs) {
  const Merge merge = MakeMerge(kBytewise, {{{"a", 1, ValueType::kValue, "v"}}});
  EXPECT_EQ(merge.cursor.get(), merge.children[0]);
}

TEST(MergingCursorTest, OfEqualKeysTheFirstChildWins) {
  const Merge merge =
      MakeMerge(kBytewise, {{{"k", 5, ValueType::kValue, "new"}}, {{"k", 5, ValueType::kValue, "old"}}, {{"j", 9, ValueType::kValue, "j"}}});
  std::string shown;
  for (merge.cursor->SeekToFirst(); merge.cursor->Valid(); merge.cursor->Next()) shown += merge.cursor->value().ToString() + " ";
  EXPECT_EQ(shown, "j new old ");
  for (merge.cursor->SeekToLast(); merge.cursor->Valid(); merge.cursor->Prev()) shown += merge.cursor->value().ToString() + " ";
  EXPECT_EQ(shown, "j new old old new j ");
}

TEST(MergingCursorTest, ErrorOfAChildEndsTheMergeUntilTheNextSeek) {
  const Merge merge = MakeMerge(kBytewise, {{{"a", 1, ValueType::kValue, ""}, {"c", 1, ValueType::kValue, ""}},
                                            {{"b", 1, ValueType::kValue, ""}, {"d", 1, ValueType::kValue, ""}}});
  merge.children[1]->FailAt("d", Status::Corruption("broken"));
  merge.cursor->SeekToFirst();
  EXPECT_TRUE(merge.cursor->Valid());
  merge.cursor->Next();
  ASSERT_TRUE(merge.cursor->Valid());
  EXPECT_EQ(ExtractUserKey(merge.cursor->key()), Slice("b"));
  merge.cursor->Next();
  EXPECT_FALSE(merge.cursor->Valid()) << "c must not be shown: what the broken child holds before it is unknown";
  EXPECT_TRUE(merge.cursor->status().IsCorruption());
  merge.cursor->SeekToLast();
  EXPECT_FALSE(merge.cursor->Valid());
  EXPECT_TRUE(merge.cursor->status().IsCorruption());
  merge.cursor->SeekForPrev(MakeInternalKey("c", 0, ValueType::kDeletion));
  ASSERT_TRUE(merge.cursor->Valid());
  EXPECT_TRUE(merge.cursor->status().ok());
  EXPECT_EQ(ExtractUserKey(merge.cursor->key()), Slice("c"));
}

// A long random walk with changes of direction, beside a sorted vector of all entries.
TEST(MergingCursorTest, RandomWalksAgreeWithASortedVector) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    const NamedComparator& order = TestComparators()[seed % 3];
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << order.name);
    const KeyComparator comparator(order.comparator);
    std::vector<std::vector<TestEntry>> sources(2 + random.Uniform(9));
    std::vector<std::string> model;
    const uint64_t entries = random.Uniform(300);
    for (uint64_t i = 0; i < entries; ++i) {
      TestEntry entry{"key" + std::to_string(random.Uniform(100)), 1 + i, ValueType::kValue, "v" + std::to_string(i)};
      if (random.OneIn(10)) entry.user_key = random.Bytes(random.Uniform(3));
      model.push_back(MakeInternalKey(entry.user_key, entry.sequence, entry.type));
      sources[random.OneIn(3) ? 0 : random.Uniform(sources.size())].push_back(entry);
    }
    std::sort(model.begin(), model.end(), [&](const std::string& a, const std::string& b) { return comparator.CompareInternal(a, b) < 0; });
    std::map<std::string, std::string> values;
    for (const auto& source : sources) {
      for (const TestEntry& entry : source) values[MakeInternalKey(entry.user_key, entry.sequence, entry.type)] = entry.value;
    }
    const Merge merge = MakeMerge(comparator, std::move(sources));
    for (VectorCursor* child : merge.children) child->SetStretch(1 + random.Uniform(9));
    InternalCursor& cursor = *merge.cursor;
    Slice pinned;
    Pin pin;
    std::string pinned_value;

    size_t position = model.size();  // not valid
    uint64_t move = 0;
    uint64_t repeat = 0;
    for (int i = 0; i < 1000; ++i) {
      // Runs of steps, as long as several stretches.
      move = repeat > 0 && cursor.Valid() ? move : random.Uniform(40);
      repeat = repeat > 0 ? repeat - 1 : (move < 5 ? 0 : random.Skewed(6));
      const std::string target = MakeInternalKey("key" + std::to_string(random.Uniform(110)), random.Uniform(300), ValueType::kValue);
      const auto less = [&](const std::string& a, const std::string& b) { return comparator.CompareInternal(a, b) < 0; };
      if (move == 0) {
        cursor.SeekToFirst();
        position = 0;
      } else if (move == 1) {
        cursor.SeekToLast();
        position = model.size() - 1;
      } else if (move == 2 || (move == 3 && !cursor.Valid())) {
        cursor.Seek(target);
        position = static_cast<size_t>(std::lower_bound(model.begin(), model.end(), target, less) - model.begin());
      } else if (move == 4 || !cursor.Valid()) {
        cursor.SeekForPrev(target);
        position = static_cast<size_t>(std::upper_bound(model.begin(), model.end(), target, less) - model.begin()) - 1;
      } else if (move < 22) {
        cursor.Next();
        ++position;
      } else {
        cursor.Prev();
        --position;
      }
      ASSERT_TRUE(cursor.status().ok());
      ASSERT_EQ(cursor.Valid(), position < model.size());
      ASSERT_EQ(pinned, Slice(pinned_value));
      if (!cursor.Valid()) continue;
      ASSERT_EQ(cursor.key(), Slice(model[position]));
      ASSERT_EQ(cursor.value(), Slice(values[model[position]]));
      const CursorEntry* const beside = random.OneIn(2) ? cursor.before() : cursor.after();
      if (beside != nullptr) {
        const size_t at = beside == cursor.before() ? position - 1 : position + 1;
        ASSERT_EQ(beside->key, Slice(model.at(at)));
        ASSERT_EQ(beside->value, Slice(values[model.at(at)]));
      }
      if (random.OneIn(4)) {
        const CursorEntry& entry = beside != nullptr ? *beside : cursor.entry();
        pin = cursor.OwnerOf(entry).Acquire();
        pinned = entry.value;
        pinned_value = entry.value.ToString();
      }
    }
  }
}

}  // namespace
}  // namespace ashlar
