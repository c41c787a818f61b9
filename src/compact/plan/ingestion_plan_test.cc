// Tests the levels of ingested files, with a tree as text for input and a level as text for output.
// Also applies the check of installs to random trees with running plans.

#include "compact/plan/ingestion_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/format.h"
#include "compact/plan/compaction_picker.h"
#include "compact/plan/tree_text.h"

namespace ashlar {
namespace {

constexpr Level kLevels = 5;

struct Call {
  IngestionRules rules{.base_level = 1, .last_level = kLevels - 1};
  std::unordered_set<FileNumber> without_keys;
  std::vector<PlacedRange> earlier;
  std::vector<const CompactionPlan*> running;
};

// Returns the level, such as "L4", or "L2 over older data" if the file covers older data.
std::string Place(const std::string& text, const std::string& smallest, const std::string& largest,
                  const Call& call = {}) {
  const TreeText tree(text, kLevels);
  TreeView view = tree.View();
  view.running = call.running;
  const IngestionPlace place = PlaceIngestedFile(
      view, call.rules,
      {.bounds = {.smallest = smallest, .largest = largest}, .without_keys = &call.without_keys},
      call.earlier);
  return StrCat("L", place.level, place.covers_older ? " over older data" : "");
}

TEST(IngestionPlanTest, AnEmptyTreeTakesItAtTheLastLevel) { EXPECT_EQ(Place("", "a", "c"), "L4"); }

TEST(IngestionPlanTest, GoesDirectlyAboveTheDataThatItCovers) {
  EXPECT_EQ(Place("L4: 1[a-z 10]", "b", "c"), "L3 over older data");
  EXPECT_EQ(Place("L2: 1[a-d 10] 2[m-z 10]", "b", "c"), "L1 over older data");
  EXPECT_EQ(Place("L0: 9[a-z 10]", "b", "c"), "L0 over older data");
  EXPECT_EQ(Place("L1: 1[a-d 10]", "d", "e"), "L0 over older data");
}

TEST(IngestionPlanTest, FitsIntoAHoleOfTheLastLevel) {
  EXPECT_EQ(Place("L4: 1[a-c 10] 2[g-z 10]", "d", "f"), "L4");
  EXPECT_EQ(Place("L4: 1[a-d 10 open] 2[g-z 10]", "d", "f"), "L4");  // 1 ends before d
}

TEST(IngestionPlanTest, PassesAFileThatHasNoKeyOfTheRange) {
  Call call;
  call.without_keys = {1};
  EXPECT_EQ(Place("L4: 1[a-z 10]", "d", "f", call), "L3");
  EXPECT_EQ(Place("L1: 1[a-z 10]", "d", "f", call), "L4");
  EXPECT_EQ(Place("L0: 1[a-z 10]", "d", "f", call), "L4");
  EXPECT_EQ(Place("L1: 1[a-z 10]\nL3: 2[a-e 10]", "d", "f", call), "L2 over older data");
}

TEST(IngestionPlanTest, LevelsAboveTheBaseLevelStayEmpty) {
  Call call;
  call.rules.base_level = 3;
  EXPECT_EQ(Place("L4: 1[a-z 10]", "d", "f", call), "L3 over older data");
  EXPECT_EQ(Place("L3: 1[a-z 10]", "d", "f", call), "L0 over older data");
}

TEST(IngestionPlanTest, TheRulesOfStylesHold) {
  Call fifo;
  fifo.rules.only_level0 = true;
  EXPECT_EQ(Place("", "d", "f", fifo), "L0");
  Call universal;
  universal.rules.fills_levels_only = true;
  EXPECT_EQ(Place("", "d", "f", universal), "L4");
  EXPECT_EQ(Place("L3: 1[a-c 10]", "d", "f", universal), "L3");
  EXPECT_EQ(Place("L4: 1[a-z 10]", "d", "f", universal), "L0 over older data");
  Call reserved;
  reserved.rules.last_level = 3;
  EXPECT_EQ(Place("", "d", "f", reserved), "L3");
}

TEST(IngestionPlanTest, ALaterFileOfTheCallGoesAboveAnEarlierOne) {
  Call call;
  call.earlier.push_back({.bounds = {.smallest = "a", .largest = "m"}, .level = 4});
  EXPECT_EQ(Place("", "d", "f", call), "L3 over older data");
  EXPECT_EQ(Place("", "n", "p", call), "L4");
}

// Orders bytewise and counts the comparisons.
class CountingComparator final : public Comparator {
 public:
  const char* Name() const override { return "test.Counting"; }
  int Compare(const Slice& a, const Slice& b) const override {
    ++compared_;
    return a.compare(b);
  }
  void FindShortestSeparator(std::string* /*start*/, const Slice& /*limit*/) const override {}
  void FindShortSuccessor(std::string* /*key*/) const override {}

  size_t compared() const { return compared_; }

 private:
  mutable size_t compared_ = 0;
};

struct PlacedFile {
  std::string smallest;
  std::string largest;
  bool excludes_largest = false;
  Level level = 0;
  SequenceNumber sequence = 0;

  FileBounds bounds() const { return {smallest, largest, excludes_largest}; }
};

// Compares the result with that of a linear search of the earlier files.
TEST(PlacedFiles, FindsTheHighestPlaceOfThoseThatOverlap) {
  const uint64_t seed = 20261130;
  std::mt19937_64 random(seed);
  const KeyComparator comparator(BytewiseComparator());
  const TreeView view{.comparator = comparator, .levels = {}, .running = {}};
  const TreeFiles tree(view);
  size_t overlaps = 0;
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE(StrCat("seed ", seed, ", round ", round));
    std::vector<PlacedFile> files;
    files.reserve(40);  // the bounds are borrowed
    PlacedFiles placed(comparator);
    const size_t width = round % 2 == 0 ? 4 : 60;
    while (files.size() < 40) {
      const size_t from = random() % 100;
      const size_t to = from + random() % width;
      PlacedFile& file = files.emplace_back();
      file.smallest = StrCat(100 + from);
      file.largest = StrCat(100 + to);
      file.excludes_largest = to > from && random() % 2 == 0;
      PlacedFiles::Overlapping expected;
      for (size_t i = 0; i + 1 < files.size(); ++i) {
        if (!tree.Overlap(files[i].bounds(), file.bounds())) continue;
        expected.level = expected.any ? std::min(expected.level, files[i].level) : files[i].level;
        expected.sequence = std::max(expected.sequence, files[i].sequence);
        expected.any = true;
      }
      const PlacedFiles::Overlapping found = placed.Find(file.bounds());
      ASSERT_EQ(found.any, expected.any) << files.size();
      ASSERT_EQ(found.level, expected.level) << files.size();
      ASSERT_EQ(found.sequence, expected.sequence) << files.size();
      file.level = expected.any ? (expected.level > 0 ? expected.level - 1 : 0) : kLevels - 1;
      file.sequence = expected.sequence + 1;
      placed.Add(file.bounds(), file.level, file.sequence);
      overlaps += expected.any ? 1 : 0;
    }
  }
  EXPECT_GT(overlaps, 1000u);
}

// Writers wait during the search, so a file must not visit every earlier one.
TEST(PlacedFiles, AFileCostsASearch) {
  constexpr size_t kFiles = 2000;
  CountingComparator comparator;
  std::vector<PlacedFile> files;
  files.reserve(kFiles);
  PlacedFiles placed{KeyComparator(&comparator)};
  for (size_t i = 0; i < kFiles; ++i) {
    files.push_back({.smallest = StrCat(10000 + i), .largest = StrCat(10000 + i + 100)});
    EXPECT_EQ(placed.Find(files[i].bounds()).sequence, i);
    placed.Add(files[i].bounds(), 0, i + 1);
  }
  EXPECT_LT(comparator.compared(), 200 * kFiles);
}

TEST(IngestionPlanTest, StaysOutOfTheWayOfRunningPlans) {
  CompactionPlan plan;
  plan.inputs.push_back({.level = 1, .files = {}});
  plan.output_level = 2;
  plan.smallest = "a";
  plan.largest = "z";
  Call call;
  call.running = {&plan};
  EXPECT_EQ(Place("L1: 1[a-c 10] 2[x-z 10]", "d", "f", call), "L1 over older data");
  EXPECT_EQ(Place("", "zz", "zzz", call), "L4");
  plan.output_level = 1;  // rewrites in place, so the outputs may span the hole
  EXPECT_EQ(Place("L1: 1[a-c 10] 2[x-z 10]", "d", "f", call), "L0 over older data");
  plan.inputs[0].level = 3;  // moves up to level 1
  EXPECT_EQ(Place("", "d", "f", call), "L0 over older data");
  plan.inputs[0].level = plan.output_level = 0;  // level 0 is ordered by sequences
  EXPECT_EQ(Place("L0: 9[a-c 10]", "d", "f", call), "L4");
  plan.output_level = 3;
  plan.drops_inputs = true;
  EXPECT_EQ(Place("L0: 9[a-c 10]", "d", "f", call), "L4");
}

TEST(IngestionPlanTest, BehindFitsWhereTheLevelHasNothingAndNoPlanGoes) {
  const TreeText tree("L0: 9[a-z 10]\nL3: 5[a-z 10]\nL4: 1[a-c 10] 2[g-z 10]", kLevels);
  TreeView view = tree.View();
  const auto fits = [&](const std::string& smallest, const std::string& largest) {
    return FitsBelow(view, 4, {.smallest = smallest, .largest = largest});
  };
  EXPECT_TRUE(fits("d", "f"));
  EXPECT_FALSE(fits("c", "f"));
  EXPECT_FALSE(fits("d", "g"));
  CompactionPlan plan;
  plan.inputs.push_back({.level = 1, .files = {}});
  plan.output_level = 3;
  plan.smallest = "a";
  plan.largest = "z";
  view.running = {&plan};
  EXPECT_FALSE(fits("d", "f")) << "the plan takes it for granted that nothing comes below";
  plan.older_unknown = true;
  EXPECT_TRUE(fits("d", "f"));
}

// Checks I1 to I3 on random trees in which the picker's plans run.
TEST(IngestionPlanTest, NoPlanOfThePickerMeetsThePlace) {
  const uint64_t seed = 20261125;
  std::mt19937_64 random(seed);
  LeveledConfig config;
  config.num_levels = kLevels;
  config.level0_file_num_compaction_trigger = 2;
  config.max_bytes_for_level_base = 20;
  config.max_bytes_for_level_multiplier = 2;
  config.target_file_size_base = 10;
  config.max_compaction_bytes = 250;
  const auto key = [](size_t n) { return std::string(1, static_cast<char>('a' + n)); };
  size_t placed_under_plans = 0;
  for (int round = 0; round < 3000; ++round) {
    SCOPED_TRACE(StrCat("seed ", seed, ", round ", round));
    std::string text;
    uint64_t number = 100;
    for (Level level = 0; level < kLevels; ++level) {
      StrAppend(&text, "L", level, ":");
      for (size_t from = random() % 8; from < 24; from += 1 + random() % 9) {
        const size_t to = std::min<size_t>(from + random() % 4, 25);
        StrAppend(&text, " ", --number, "[", key(from), "-", key(to), " 10]");
        from = to;
      }
      text += "\n";
    }
    const TreeText tree(text, kLevels);
    TreeView view = tree.View();
    std::vector<CompactionPlan> plans;
    plans.reserve(4);
    while (plans.size() < 4) {
      std::optional<CompactionPlan> plan = PickCompaction(view, config, CompactCursors());
      if (!plan) break;
      plans.push_back(std::move(*plan));
      MarkInputs(plans.back(), true);
      view.running.push_back(&plans.back());
    }
    const size_t from = random() % 26;
    const std::string smallest = key(from);
    const std::string largest = key(std::min<size_t>(from + random() % 4, 25));
    const IngestionPlace place =
        PlaceIngestedFile(view, {.base_level = 1, .last_level = kLevels - 1},
                          {.bounds = {.smallest = smallest, .largest = largest}}, {});
    FileMetaData file;
    file.number = 1000;
    file.smallest_sequence = file.largest_sequence = place.covers_older ? 1000 : 0;
    file.smallest = MakeInternalKey(smallest, file.largest_sequence, ValueType::kValue);
    file.largest = MakeInternalKey(largest, file.largest_sequence, ValueType::kValue);
    std::vector<FileMetaData*> level(view.files(place.level).begin(),
                                     view.files(place.level).end());
    level.insert(place.level == 0
                     ? level.begin()
                     : std::find_if(level.begin(), level.end(),
                                    [&](const FileMetaData* other) {
                                      return other->smallest_user_key().compare(largest) > 0;
                                    }),
                 &file);
    view.levels[place.level] = level;
    if (place.level > 0) {
      for (size_t i = 1; i < level.size(); ++i)
        EXPECT_TRUE(level[i - 1]->EndsBefore(view.comparator, level[i]->smallest_user_key()));
    }
    for (const CompactionPlan& plan : plans) {
      EXPECT_EQ(FindPlanViolation(view, plan), "") << text;
      if (place.level > 0) ++placed_under_plans;
    }
    for (const CompactionPlan& plan : plans) MarkInputs(plan, false);
  }
  EXPECT_GT(placed_under_plans, 100u);
}

}  // namespace
}  // namespace ashlar
