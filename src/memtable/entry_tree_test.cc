// Compares EntryTree with std::map for every order of insertion, every kind of key and the three
// kinds of comparator.
#include "memtable/entry_tree.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "tests/support/comparators.h"

namespace ashlar {
namespace {

struct KeyKind {
  const char* name;
  std::function<std::string(Random*, uint64_t)> make;  // from the number of the insert
  uint64_t inserts;
};

std::string BigEndian(uint64_t v) {
  std::string s(8, '\0');
  StoreBigEndian64(s.data(), v);
  return s;
}

std::string Decimal(uint64_t v) {
  std::string digits = std::to_string(v);
  return std::string(12 - digits.size(), '0') + digits;
}

const std::vector<KeyKind>& KeyKinds() {
  static const std::vector<KeyKind> kinds = {
      {"ascending", [](Random*, uint64_t i) { return BigEndian(i) + "00000000"; }, 5000},
      {"descending", [](Random*, uint64_t i) { return BigEndian(1000000 - i); }, 5000},
      {"random", [](Random* random, uint64_t) { return BigEndian(random->Next()); }, 5000},
      {"decimal after a long prefix",
       [](Random*, uint64_t i) { return "a/rather/long/prefix/that/all/keys/share/" + Decimal(i); },
       3000},
      {"random after a long prefix",
       [](Random* random, uint64_t) {
         return "a/rather/long/prefix/that/all/share/" + Decimal(random->Uniform(9999));
       },
       3000},
      {"two ascending streams, interleaved",
       [](Random*, uint64_t i) {
         return (i % 2 == 0 ? "tables/first/rows/" : "tables/second/rows/") + Decimal(i);
       },
       4000},
      {"few keys, many versions",
       [](Random* random, uint64_t) { return "k" + std::to_string(random->Uniform(5)); }, 3000},
      {"short binary, also empty",
       [](Random* random, uint64_t) { return random->Bytes(random->Uniform(4)); }, 5000},
      {"zeros of all lengths",
       [](Random* random, uint64_t) { return std::string(random->Uniform(40), '\0'); }, 2000},
      {"common prefix one byte shorter each time",
       [](Random*, uint64_t i) { return std::string(i < 300 ? 300 - i : 0, 'p') + "q"; }, 1200},
      {"long",
       [](Random* random, uint64_t) {
         return std::string(1000, 'x') + random->Bytes(random->Uniform(600));
       },
       500},
  };
  return kinds;
}

class EntryTreeModelTest : public testing::TestWithParam<std::tuple<size_t, size_t>> {
 protected:
  const KeyKind& kind() const { return KeyKinds()[std::get<0>(GetParam())]; }
  const NamedComparator& order() const { return TestComparators()[std::get<1>(GetParam())]; }
};

struct ModelLess {
  KeyComparator comparator;
  bool operator()(const std::string& a, const std::string& b) const {
    return comparator.CompareInternal(a, b) < 0;
  }
};
using Model = std::map<std::string, std::string, ModelLess>;

DecodedEntry Decoded(const EntryTree::Walk& walk) { return DecodeEntry(walk.entry()); }

void ExpectAt(const EntryTree::Walk& walk, const Model& model, Model::const_iterator expected) {
  ASSERT_EQ(walk.Valid(), expected != model.end());
  if (!walk.Valid()) return;
  EXPECT_EQ(Decoded(walk).internal_key(), Slice(expected->first));
  EXPECT_EQ(Decoded(walk).value(), Slice(expected->second));
}

void CheckSeeks(const EntryTree& tree, const Model& model, const std::string& target) {
  EntryTree::Walk walk(&tree);
  walk.Seek(ExtractUserKey(target), ExtractTag(target));
  auto expected = model.lower_bound(target);
  ExpectAt(walk, model, expected);
  if (walk.Valid()) {
    walk.Prev();
    ExpectAt(walk, model, expected == model.begin() ? model.end() : std::prev(expected));
  }
  walk.SeekForPrev(ExtractUserKey(target), ExtractTag(target));
  expected = model.upper_bound(target);
  expected = expected == model.begin() ? model.end() : std::prev(expected);
  ExpectAt(walk, model, expected);
  if (walk.Valid()) {
    walk.Next();
    ExpectAt(walk, model, std::next(expected));
  }
}

void CheckScans(const EntryTree& tree, const Model& model) {
  EntryTree::Walk walk(&tree);
  walk.SeekToFirst();
  for (auto it = model.begin(); it != model.end(); ++it, walk.Next()) ExpectAt(walk, model, it);
  EXPECT_FALSE(walk.Valid());
  walk.SeekToLast();
  for (auto it = model.rbegin(); it != model.rend(); ++it, walk.Prev())
    ExpectAt(walk, model, std::prev(it.base()));
  EXPECT_FALSE(walk.Valid());
}

void CheckGet(const EntryTree& tree, const Model& model, const KeyComparator& comparator,
              const std::string& user_key, SequenceNumber snapshot) {
  Lookup lookup({.user_key = user_key, .snapshot = snapshot});
  tree.Get(&lookup, PinSource());
  const auto expected = model.lower_bound(MakeInternalKey(user_key, snapshot, ValueType::kMax));
  const bool exists =
      expected != model.end() && comparator.Equal(ExtractUserKey(expected->first), user_key);
  ASSERT_EQ(lookup.state() == Lookup::State::kFound, exists);
  if (!exists) return;
  PinnableSlice value;
  ASSERT_TRUE(lookup.Finish(&value).ok());
  EXPECT_EQ(value, Slice(expected->second));
}

TEST_P(EntryTreeModelTest, AgreesWithMap) {
  const uint64_t seed = 20240917 + std::get<0>(GetParam());
  SCOPED_TRACE(testing::Message() << kind().name << ", " << order().name << ", seed " << seed);
  Random random(seed);
  ArenaBlockPool blocks({});
  Arena arena(&blocks);
  const KeyComparator comparator(order().comparator);
  EntryTree tree(comparator, &arena);
  Model model(ModelLess{comparator});
  std::vector<std::string> user_keys;

  for (uint64_t i = 0; i < kind().inserts; ++i) {
    const std::string user_key = kind().make(&random, i);
    const std::string value = "value " + std::to_string(i);
    tree.Insert(NewEntry(&arena, user_key, PackTag(i + 1, ValueType::kValue), value));
    model.emplace(MakeInternalKey(user_key, i + 1, ValueType::kValue), value);
    user_keys.push_back(user_key);
    if (i % 97 == 0) {
      ASSERT_EQ(tree.CheckInvariants(), model.size());
      std::string target = random.OneIn(2) ? user_keys[random.Uniform(user_keys.size())]
                                           : kind().make(&random, random.Uniform(kind().inserts));
      if (random.OneIn(4)) target += '\0';
      if (random.OneIn(8) && !target.empty()) target.pop_back();
      if (random.OneIn(20)) target = random.Bytes(random.Uniform(20));
      CheckSeeks(tree, model, MakeInternalKey(target, random.Uniform(i + 2), ValueType::kValue));
      CheckGet(tree, model, comparator, target,
               random.OneIn(2) ? kSequenceNumberMax : random.Uniform(i + 2));
    }
    if (HasFatalFailure()) return;
  }
  ASSERT_EQ(tree.CheckInvariants(), model.size());
  CheckScans(tree, model);
  for (int i = 0; i < 2000 && !HasFatalFailure(); ++i) {
    const std::string& user_key = user_keys[random.Uniform(user_keys.size())];
    CheckGet(tree, model, comparator, user_key,
             random.OneIn(2) ? kSequenceNumberMax : random.Uniform(kind().inserts));
    CheckSeeks(tree, model,
               MakeInternalKey(user_key, random.Uniform(kind().inserts), ValueType::kValue));
  }
}

INSTANTIATE_TEST_SUITE_P(All, EntryTreeModelTest,
                         testing::Combine(testing::Range(size_t{0}, KeyKinds().size()),
                                          testing::Range(size_t{0}, size_t{3})));

struct TreeFixture {
  ArenaBlockPool blocks{ArenaBlockPool::Options{}};
  Arena arena{&blocks};
  EntryTree tree{KeyComparator(BytewiseComparator()), &arena};
  SequenceNumber sequence = 0;

  void Put(const std::string& key) {
    tree.Insert(NewEntry(&arena, key, PackTag(++sequence, ValueType::kValue), ""));
  }
};

TEST(EntryTreeTest, EmptyTreeHasNothing) {
  TreeFixture f;
  EntryTree::Walk walk(&f.tree);
  walk.SeekToFirst();
  EXPECT_FALSE(walk.Valid());
  walk.SeekToLast();
  EXPECT_FALSE(walk.Valid());
  walk.Seek("a", 0);
  EXPECT_FALSE(walk.Valid());
  walk.SeekForPrev("a", 0);
  EXPECT_FALSE(walk.Valid());
  EXPECT_EQ(f.tree.FractionBefore("a"), 0.0);
  EXPECT_EQ(f.tree.CheckInvariants(), 0u);
}

// Returns the index bytes per entry, without the entries' own bytes.
double IndexBytesPerEntry(const std::function<std::string(uint64_t)>& key) {
  TreeFixture f;
  constexpr uint64_t kInserts = 20000;
  for (uint64_t i = 0; i < kInserts; ++i) f.Put(key(i));
  const size_t entry_bytes = 1 + key(0).size() + kTagBytes + 1;
  return static_cast<double>(f.arena.MemoryUsed()) / kInserts - static_cast<double>(entry_bytes);
}

TEST(EntryTreeTest, LoadsInOrderFillTheirNodes) {
  const double full =
      1.25 * 8 *
      2.7;  // a head, a pointer and a share of the node's header per slot, and the level above
  EXPECT_LT(IndexBytesPerEntry([](uint64_t i) { return BigEndian(i); }), full);
  EXPECT_LT(IndexBytesPerEntry([](uint64_t i) { return BigEndian(1000000 - i); }), full);
  EXPECT_LT(IndexBytesPerEntry([](uint64_t i) { return "prefix/" + Decimal(i); }), full);
  EXPECT_LT(IndexBytesPerEntry([](uint64_t i) { return (i % 2 == 0 ? "a" : "b") + Decimal(i); }),
            full);
}

TEST(EntryTreeTest, RandomLoadsFillTwoThirds) {
  Random random(7);
  EXPECT_LT(IndexBytesPerEntry([&](uint64_t) { return BigEndian(random.Next()); }), 36.0);
}

TEST(EntryTreeTest, FractionFollowsTheKeys) {
  TreeFixture f;
  Random random(11);
  for (int i = 0; i < 20000; ++i) f.Put(BigEndian(random.Next()));
  for (double share : {0.1, 0.25, 0.5, 0.9}) {
    const auto key = static_cast<uint64_t>(share * 18446744073709551616.0);
    EXPECT_NEAR(f.tree.FractionBefore(BigEndian(key)), share, 0.1);
  }
}

TEST(EntryTreeTest, WalkSurvivesInsertsAroundIt) {
  TreeFixture f;
  for (uint64_t i = 0; i < 1000; ++i) f.Put(BigEndian(i * 1000));
  EntryTree::Walk forward(&f.tree);
  EntryTree::Walk backward(&f.tree);
  Random random(13);
  forward.SeekToFirst();
  backward.SeekToLast();
  // Between inserts, a walk visits each entry that existed at the start once and in order.
  const auto next_old = [](EntryTree::Walk* walk, bool ahead) {
    while (walk->Valid() && TagSequence(Decoded(*walk).tag()) > 1000)
      ahead ? walk->Next() : walk->Prev();
  };
  for (uint64_t i = 0; i < 1000; ++i) {
    next_old(&forward, true);
    next_old(&backward, false);
    ASSERT_TRUE(forward.Valid() && backward.Valid());
    EXPECT_EQ(Decoded(forward).user_key(), Slice(BigEndian(i * 1000)));
    EXPECT_EQ(Decoded(backward).user_key(), Slice(BigEndian((999 - i) * 1000)));
    for (int n = 0; n < 20; ++n) f.Put(BigEndian(random.Uniform(1000000)));
    f.Put(BigEndian(i * 1000 + 1));
    forward.Next();
    backward.Prev();
  }
  next_old(&forward, true);
  next_old(&backward, false);
  EXPECT_FALSE(forward.Valid() || backward.Valid());
  f.tree.CheckInvariants();
}

}  // namespace
}  // namespace ashlar
