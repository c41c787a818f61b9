#include "memtable/known_gaps.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"

namespace ashlar {
namespace {

class KnownGapsTest : public testing::Test {
 protected:
  // A gap as text: [ and ] include the key, ( and ) do not.
  static KeyGap Parse(const std::string& text, SequenceNumber since) {
    const size_t space = text.find(' ');
    return {.begin = {.key = text.substr(1, space - 1), .after = text.front() == '('},
            .end = {.key = text.substr(space + 1, text.size() - space - 2),
                    .after = text.back() == ']'},
            .since = since};
  }
  static std::string Print(const KeyGap& gap) {
    return (gap.begin.after ? "(" : "[") + gap.begin.key + " " + gap.end.key +
           (gap.end.after ? "]" : ")");
  }

  void Learn(const std::string& text, SequenceNumber since = 10) {
    KnownGaps::Pending* const pending = gaps_.Announce(Parse(text, since));
    if (pending != nullptr) gaps_.Prove(pending);
    gaps_.CheckInvariants();
  }
  std::string Find(const std::string& key, SequenceNumber visible = 100) const {
    KeyGap gap;
    return gaps_.Find(key, visible, &gap) ? Print(gap) : "none";
  }

  KnownGaps gaps_{KeyComparator(BytewiseComparator())};
};

TEST_F(KnownGapsTest, AGapIsFoundByItsKeysAlone) {
  EXPECT_EQ(Find("c"), "none");
  Learn("[c f]");
  for (const char* const inside : {"c", "cc", "f"}) EXPECT_EQ(Find(inside), "[c f]") << inside;
  for (const char* const outside : {"", "b", "bzz", "f0", "g"})
    EXPECT_EQ(Find(outside), "none") << outside;
  Learn("(k m)");
  for (const char* const inside : {"k0", "l", "lz"}) EXPECT_EQ(Find(inside), "(k m)") << inside;
  for (const char* const outside : {"k", "m"}) EXPECT_EQ(Find(outside), "none") << outside;
}

TEST_F(KnownGapsTest, AReaderOlderThanTheGapDoesNotFindIt) {
  Learn("[c f]", 10);
  EXPECT_EQ(Find("d", 9), "none");
  EXPECT_EQ(Find("d", 10), "[c f]");
}

TEST_F(KnownGapsTest, AnEmptyGapIsNotKept) {
  for (const char* const empty : {"[c c)", "(c c]", "(c c)", "[d c]"}) Learn(empty);
  EXPECT_EQ(gaps_.size(), 0u);
  Learn("[c c]");
  EXPECT_EQ(Find("c"), "[c c]");
}

TEST_F(KnownGapsTest, AnAddedKeySplitsItsGap) {
  Learn("[b f]");
  gaps_.Added("d");
  EXPECT_EQ(Find("c"), "[b d)");
  EXPECT_EQ(Find("d"), "none");
  EXPECT_EQ(Find("d0"), "(d f]");
  gaps_.Added("b");
  EXPECT_EQ(Find("c"), "(b d)");
  gaps_.Added("f");
  EXPECT_EQ(Find("e"), "(d f)");
  gaps_.Added("zz");
  EXPECT_EQ(gaps_.size(), 2u);
  Learn("[x x]");
  gaps_.Added("x");
  EXPECT_EQ(gaps_.size(), 2u);
  gaps_.CheckInvariants();
}

TEST_F(KnownGapsTest, GapsThatOverlapOrTouchBecomeOne) {
  Learn("[b d]", 10);
  Learn("(d f]", 12);  // touches
  EXPECT_EQ(Find("c"), "[b f]");
  EXPECT_EQ(Find("c", 11), "none");
  Learn("(f h]", 5);
  EXPECT_EQ(Find("c"), "[b h]");
  EXPECT_EQ(Find("c", 12), "[b h]");
  Learn("[k m)");
  Learn("(m p]");  // m is between them
  EXPECT_EQ(gaps_.size(), 3u);
  Learn("[a z]", 20);
  EXPECT_EQ(gaps_.size(), 1u);
  EXPECT_EQ(Find("m"), "[a z]");
}

TEST_F(KnownGapsTest, AKnownGapIsNotAnnouncedAgain) {
  Learn("[b f]");
  EXPECT_EQ(gaps_.Announce(Parse("[c f]", 20)), nullptr);
  EXPECT_EQ(gaps_.Announce(Parse("[b f]", 5)), nullptr);
  KnownGaps::Pending* const wider = gaps_.Announce(Parse("[b f0)", 20));
  ASSERT_NE(wider, nullptr);
  EXPECT_EQ(Find("f0"), "none");  // pending
  gaps_.Forget(wider);
  EXPECT_EQ(Find("c"), "[b f]");
}

TEST_F(KnownGapsTest, AGapIsProvedWithoutItsNewerKeys) {
  KnownGaps::Pending* const pending = gaps_.Announce(Parse("[b h]", 10));
  ASSERT_NE(pending, nullptr);
  gaps_.Added("f");
  EXPECT_TRUE(gaps_.AddNewer(pending, "d"));
  EXPECT_TRUE(gaps_.AddNewer(pending, "f"));  // found and added
  EXPECT_TRUE(gaps_.AddNewer(pending, "z"));  // not in the gap
  gaps_.Added("h");
  EXPECT_EQ(Find("c"), "none");
  gaps_.Prove(pending);
  EXPECT_EQ(Find("c"), "[b d)");
  EXPECT_EQ(Find("e"), "(d f)");
  EXPECT_EQ(Find("g"), "(f h)");
  EXPECT_EQ(gaps_.size(), 3u);
}

TEST_F(KnownGapsTest, AGapWithManyNewerKeysIsForgotten) {
  KnownGaps::Pending* const searched = gaps_.Announce(Parse("[b h]", 10));
  for (size_t i = 0; i < KnownGaps::kNewerKeysMax; ++i)
    EXPECT_TRUE(gaps_.AddNewer(searched, "c" + std::to_string(i)));
  EXPECT_FALSE(gaps_.AddNewer(searched, "d"));
  gaps_.Prove(searched);
  KnownGaps::Pending* const added = gaps_.Announce(Parse("[b h]", 10));
  for (size_t i = 0; i <= KnownGaps::kNewerKeysMax; ++i) gaps_.Added("c" + std::to_string(i));
  gaps_.Prove(added);
  EXPECT_EQ(gaps_.size(), 0u);
}

TEST_F(KnownGapsTest, LongKeysAreNotKept) {
  const std::string long_key = "c" + std::string(KnownGaps::kKeyBytesMax, 'x');
  EXPECT_EQ(gaps_.Announce({.begin = {.key = "a"}, .end = {.key = long_key}, .since = 1}), nullptr);
  EXPECT_EQ(gaps_.Announce({.begin = {.key = long_key}, .end = {.key = "d"}, .since = 1}), nullptr);
  Learn("[b h]");
  gaps_.Added(long_key);
  EXPECT_EQ(Find("c"), "none");
  KnownGaps::Pending* const pending = gaps_.Announce(Parse("[b h]", 10));
  EXPECT_FALSE(gaps_.AddNewer(pending, long_key));
  gaps_.Prove(pending);
  EXPECT_EQ(gaps_.size(), 0u);
}

TEST_F(KnownGapsTest, TheirNumberIsLimited) {
  const auto key = [](size_t i) { return std::to_string(100000 + i); };
  for (size_t i = 0; i < KnownGaps::kGapsMax + 10; ++i)
    Learn("[" + key(10 * i) + " " + key(10 * i + 5) + "]");
  EXPECT_EQ(gaps_.size(), KnownGaps::kGapsMax);
  EXPECT_EQ(Find(key(10 * KnownGaps::kGapsMax)), "none");
  gaps_.Added(key(3));  // one part is forgotten
  EXPECT_EQ(gaps_.size(), KnownGaps::kGapsMax);
  EXPECT_EQ(Find(key(3)), "none");
  Learn("[" + key(2) + " " + key(25) + "]");
  EXPECT_EQ(gaps_.size(), KnownGaps::kGapsMax - 2);
  std::vector<KnownGaps::Pending*> pending;
  for (size_t i = 0; i < KnownGaps::kPendingMax; ++i) {
    pending.push_back(gaps_.Announce(Parse("[x y]", i)));
    EXPECT_NE(pending.back(), nullptr);
  }
  EXPECT_EQ(gaps_.Announce(Parse("[x y]", 1)), nullptr);
  for (KnownGaps::Pending* const each : pending) gaps_.Forget(each);
}

// Random histories, compared with a set of the keys that are in a gap.
TEST_F(KnownGapsTest, FollowsAModel) {
  constexpr uint32_t kKeys = 60;
  const auto name = [](uint32_t key) { return std::string(1, static_cast<char>('0' + key)); };
  Random random(301);
  std::set<uint32_t> free;  // keys in a gap
  for (int round = 0; round < 20000; ++round) {
    if (random.OneIn(3)) {
      uint32_t begin = static_cast<uint32_t>(random.Uniform(kKeys));
      uint32_t end = begin + static_cast<uint32_t>(random.Uniform(8));
      KnownGaps::Pending* const pending =
          gaps_.Announce({.begin = {name(begin), false}, .end = {name(end), true}, .since = 1});
      if (pending == nullptr) continue;
      std::set<uint32_t> newer;
      for (int i = static_cast<int>(random.Uniform(4)); i > 0; --i) {
        const uint32_t key = static_cast<uint32_t>(random.Uniform(kKeys));
        if (random.OneIn(2)) {
          EXPECT_TRUE(gaps_.AddNewer(pending, name(key)));
          // AddNewer adds the key to `pending` only, not to the known gap that has it.
          if (free.contains(key)) gaps_.Added(name(key));
        } else {
          gaps_.Added(name(key));
        }
        newer.insert(key);
        free.erase(key);
      }
      gaps_.Prove(pending);
      for (uint32_t key = begin; key <= end; ++key) {
        if (!newer.contains(key)) free.insert(key);
      }
    } else {
      const uint32_t key = static_cast<uint32_t>(random.Uniform(kKeys));
      gaps_.Added(name(key));
      free.erase(key);
    }
    gaps_.CheckInvariants();
    const uint32_t key = static_cast<uint32_t>(random.Uniform(kKeys));
    ASSERT_EQ(Find(name(key)) != "none", free.contains(key)) << "round " << round;
  }
}

}  // namespace
}  // namespace ashlar
