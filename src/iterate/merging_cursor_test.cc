#include "iterate/merging_cursor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/support/comparators.h"
#include "tests/support/vector_cursor.h"

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
  const Merge merge = MakeMerge(kBytewise, {{{"k", 5, ValueType::kValue, "new"}},
                                            {{"k", 5, ValueType::kValue, "old"}},
                                            {{"j", 9, ValueType::kValue, "j"}}});
  std::string shown;
  for (merge.cursor->SeekToFirst(); merge.cursor->Valid(); merge.cursor->Next())
    shown += merge.cursor->value().ToString() + " ";
  EXPECT_EQ(shown, "j new old ");
  for (merge.cursor->SeekToLast(); merge.cursor->Valid(); merge.cursor->Prev())
    shown += merge.cursor->value().ToString() + " ";
  EXPECT_EQ(shown, "j new old old new j ");
}

TEST(MergingCursorTest, ErrorOfAChildEndsTheMergeUntilTheNextSeek) {
  const Merge merge =
      MakeMerge(kBytewise, {{{"a", 1, ValueType::kValue, ""}, {"c", 1, ValueType::kValue, ""}},
                            {{"b", 1, ValueType::kValue, ""}, {"d", 1, ValueType::kValue, ""}}});
  merge.children[1]->FailAt("d", Status::Corruption("broken"));
  merge.cursor->SeekToFirst();
  EXPECT_TRUE(merge.cursor->Valid());
  merge.cursor->Next();
  ASSERT_TRUE(merge.cursor->Valid());
  EXPECT_EQ(ExtractUserKey(merge.cursor->key()), Slice("b"));
  merge.cursor->Next();
  EXPECT_FALSE(merge.cursor->Valid())
      << "c must not be shown: what the broken child holds before it is unknown";
  EXPECT_TRUE(merge.cursor->status().IsCorruption());
  merge.cursor->SeekToLast();
  EXPECT_FALSE(merge.cursor->Valid());
  EXPECT_TRUE(merge.cursor->status().IsCorruption());
  merge.cursor->SeekForPrev(MakeInternalKey("c", 0, ValueType::kDeletion));
  ASSERT_TRUE(merge.cursor->Valid());
  EXPECT_TRUE(merge.cursor->status().ok());
  EXPECT_EQ(ExtractUserKey(merge.cursor->key()), Slice("c"));
}

// Merges a child with the keys a0 to a9, in batches of eight entries, and a child with `rival`.
Merge MakeRun(const std::string& rival) {
  std::vector<TestEntry> run;
  for (char digit = '0'; digit <= '9'; ++digit) {
    run.push_back({std::string("a") + digit, 1, ValueType::kValue, ""});
  }
  Merge merge = MakeMerge(kBytewise, {std::move(run), {{rival, 1, ValueType::kValue, ""}}});
  merge.children[0]->SetBatch(8);
  return merge;
}

// Returns the batch's keys and "in place" if the entries are in the first child's batch.
std::string Batch(const Merge& merge) {
  const InternalCursor& cursor = *merge.cursor;
  const InternalCursor& child = *merge.children[0];
  std::string text;
  for (const CursorEntry* entry = cursor.batch_begin(); entry != cursor.batch_end(); ++entry) {
    text += ExtractUserKey(entry->key).ToString() + " ";
  }
  const bool in_place =
      child.batch_begin() <= cursor.batch_begin() && cursor.batch_end() <= child.batch_end();
  return text + (in_place ? "in place" : "copied");
}

TEST(MergingCursorTest, EntriesOfOneChildAreShownInItsBatch) {
  const Merge merge = MakeRun("m");
  merge.cursor->SeekToFirst();
  EXPECT_EQ(Batch(merge), "a0 copied");
  merge.cursor->Next();
  EXPECT_EQ(Batch(merge), "a1 a2 a3 a4 a5 a6 a7 a8 in place");
  static_cast<const MergingCursor&>(*merge.cursor).CheckInvariants();
  for (int i = 0; i < 8; ++i) merge.cursor->Next();
  EXPECT_EQ(Batch(merge), "a9 in place");
  merge.cursor->Next();
  EXPECT_EQ(ExtractUserKey(merge.cursor->key()), Slice("m"));
  merge.cursor->Prev();
  merge.cursor->Prev();
  EXPECT_EQ(ExtractUserKey(merge.cursor->key()), Slice("a8"));
}

TEST(MergingCursorTest, EntriesBeforeAnotherChildsAreShownInTheirBatch) {
  const Merge merge = MakeRun("a55");
  merge.cursor->SeekToFirst();
  merge.cursor->Next();
  EXPECT_EQ(Batch(merge), "a1 a2 a3 a4 a5 in place");
  for (int i = 0; i < 5; ++i) merge.cursor->Next();
  EXPECT_EQ(ExtractUserKey(merge.cursor->key()), Slice("a55"));
  static_cast<const MergingCursor&>(*merge.cursor).CheckInvariants();
  merge.cursor->Next();
  EXPECT_EQ(Batch(merge), "a6 a7 a8 in place");

  merge.cursor->SeekToLast();
  merge.cursor->Prev();
  EXPECT_EQ(Batch(merge), "a55 a6 a7 a8 copied") << "fewer than four before another child's";
}

// The order of equal heads is not known before their match.
TEST(MergingCursorTest, EntriesFromAnotherChildsKeyOnAreMerged) {
  const Merge merge = MakeRun("a6");
  merge.cursor->SeekToFirst();
  merge.cursor->Next();
  EXPECT_EQ(Batch(merge), "a1 a2 a3 a4 a5 in place");
  std::vector<size_t> of_equal_keys;
  for (; merge.cursor->Valid(); merge.cursor->Next()) {
    const auto& cursor = static_cast<const MergingCursor&>(*merge.cursor);
    if (ExtractUserKey(cursor.key()) == Slice("a6")) of_equal_keys.push_back(cursor.child());
  }
  EXPECT_EQ(of_equal_keys, (std::vector<size_t>{0, 1}));
}

// Returns a key of one of several shapes. Their heads differ in the first bytes, after a common
// prefix, after a prefix per group or nowhere. One shape has keys of every length.
std::string MakeKey(uint64_t look, Random* random) {
  const uint64_t number = random->Uniform(100);
  const std::string text = std::to_string(number);
  switch (look) {
    case 0: return "key" + text;
    case 1: return std::string(20, 'p') + std::string(3 - text.size(), '0') + text;
    case 2: return std::string(1 + number % 4 * 6, static_cast<char>('g' + number % 4)) + text;
    case 3:
      return std::string(9 + number % 3, 'x') + text + std::string(8, 'y') +
             std::to_string(random->Uniform(3));
    default:
      return std::string(number % 11, number % 2 == 0 ? '\0' : '\xff') +
             (random->OneIn(3) ? random->Bytes(random->Uniform(3)) : "");
  }
}

struct Shown {
  std::string key;  // internal
  std::string value;
  size_t source;
};

// Compares many random moves, in both directions, with a sorted vector of all entries. Some entries
// are in several sources.
TEST(MergingCursorTest, RandomWalksAgreeWithASortedVector) {
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    Random random(seed);
    const NamedComparator& order = TestComparators()[seed % 3];
    const uint64_t look = seed / 3 % 5;
    SCOPED_TRACE(testing::Message() << "seed " << seed << ", " << order.name << ", look " << look);
    const KeyComparator comparator(order.comparator);
    std::vector<std::vector<TestEntry>> sources(2 + random.Uniform(9));
    std::vector<Shown> model;
    const uint64_t entries = random.Uniform(300);
    for (uint64_t i = 0; i < entries; ++i) {
      TestEntry entry{MakeKey(look, &random), 1 + i, ValueType::kValue, ""};
      const size_t first = random.OneIn(3) ? 0 : random.Uniform(sources.size());
      const size_t last = random.OneIn(10) ? sources.size() - 1 : first;
      for (size_t source = first; source <= last; ++source) {
        entry.value = "v" + std::to_string(i) + " of " + std::to_string(source);
        model.push_back(
            {MakeInternalKey(entry.user_key, entry.sequence, entry.type), entry.value, source});
        sources[source].push_back(entry);
      }
    }
    const auto less = [&](const std::string& a, const std::string& b) {
      return comparator.CompareInternal(a, b) < 0;
    };
    std::sort(model.begin(), model.end(), [&](const Shown& a, const Shown& b) {
      const int r = comparator.CompareInternal(a.key, b.key);
      return r != 0 ? r < 0 : a.source < b.source;
    });
    const Merge merge = MakeMerge(comparator, std::move(sources));
    for (VectorCursor* child : merge.children)
      child->SetBatch(1 + random.Uniform(random.OneIn(2) ? 9 : 30));
    InternalCursor& cursor = *merge.cursor;
    Slice pinned;
    Pin pin;
    std::string pinned_value;

    size_t position = model.size();  // not valid
    uint64_t move = 0;
    uint64_t repeat = 0;
    for (int i = 0; i < 1000; ++i) {
      // Runs of steps that may span several batches.
      move = repeat > 0 && cursor.Valid() ? move : random.Uniform(40);
      repeat = repeat > 0 ? repeat - 1 : (move < 5 ? 0 : random.Skewed(7));
      const std::string target =
          MakeInternalKey(MakeKey(look, &random), random.Uniform(300), ValueType::kValue);
      if (move == 0) {
        cursor.SeekToFirst();
        position = 0;
      } else if (move == 1) {
        cursor.SeekToLast();
        position = model.size() - 1;
      } else if (move == 2 || (move == 3 && !cursor.Valid())) {
        cursor.Seek(target);
        const auto found = std::find_if(model.begin(), model.end(), [&](const Shown& entry) {
          return !less(entry.key, target);
        });
        position = static_cast<size_t>(found - model.begin());
      } else if (move == 4 || !cursor.Valid()) {
        cursor.SeekForPrev(target);
        const auto found = std::find_if(model.begin(), model.end(), [&](const Shown& entry) {
          return less(target, entry.key);
        });
        position = static_cast<size_t>(found - model.begin()) - 1;
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
      static_cast<const MergingCursor&>(cursor).CheckInvariants();
      if (!cursor.Valid()) continue;
      ASSERT_EQ(cursor.key(), Slice(model[position].key));
      ASSERT_EQ(cursor.value(), Slice(model[position].value));
      const CursorEntry* const beside = random.OneIn(2) ? cursor.before() : cursor.after();
      if (beside != nullptr) {
        const size_t at = beside == cursor.before() ? position - 1 : position + 1;
        ASSERT_EQ(beside->key, Slice(model.at(at).key));
        ASSERT_EQ(beside->value, Slice(model.at(at).value));
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
