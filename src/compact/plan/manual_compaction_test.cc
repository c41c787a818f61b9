// Tests the steps of a manual compaction over trees written as text, where the tree changes between
// two steps.
#include "compact/plan/manual_compaction.h"

#include <gtest/gtest.h>

#include <string>

#include "compact/plan/tree_text.h"

namespace ashlar {
namespace {

LeveledConfig DynamicConfig() {
  LeveledConfig config;
  config.num_levels = 7;
  config.level_compaction_dynamic_level_bytes = true;
  config.max_bytes_for_level_base = 100;
  config.max_bytes_for_level_multiplier = 4;
  config.target_file_size_base = 50;
  config.max_compaction_bytes = 1000;
  return config;
}

class Walk {
 public:
  explicit Walk(ManualCompaction::Args args) : walk_(std::move(args)) {}

  // Returns the plan of the next step, which is installed at once, or "conflict" or "done".
  std::string Step(const std::string& tree, FileNumber next_file_number = 100) {
    const std::string text = Pick(tree, next_file_number);
    if (plan_.has_value()) walk_.Installed(*plan_);
    return text;
  }
  // Like Step, but does not install the plan, as after a failure.
  std::string Pick(const std::string& tree, FileNumber next_file_number = 100) {
    const LeveledConfig config = DynamicConfig();
    tree_ = std::make_unique<TreeText>(tree, config.num_levels);
    ManualCompaction::Step step =
        walk_.Next(tree_->View(), *NewCompactionPolicy({.common = config}), next_file_number);
    plan_ = std::move(step.plan);
    if (step.conflict) return "conflict";
    return step.done ? "done" : DebugString(*plan_);
  }

 private:
  std::unique_ptr<TreeText> tree_;  // the plan refers to its files
  ManualCompaction walk_;
  std::optional<CompactionPlan> plan_;
};

TEST(ManualCompaction, TakesTheBaseLevelOfTheTreeThatItFindsAfterAConflict) {
  Walk walk({.begin = "a", .end = "z"});
  // The base level is 6, and level 0 is busy. By the time it is free, level 5 holds files.
  EXPECT_EQ(walk.Step("L0: 9[a-k 10] 8[a-k 10 busy]\nL6: 5[a-z 50]"), "conflict");
  EXPECT_EQ(walk.Step("L0: 9[a-k 10]\nL5: 7[a-m 40]\nL6: 5[a-m 150] 6[n-z 150]"),
            "L0 [9] + L5 [7] -> L5, manual");
  EXPECT_EQ(walk.Step("L5: 10[a-m 50]\nL6: 5[a-m 150] 6[n-z 150]"),
            "L5 [10] + L6 [5] -> L6, manual, bottommost");
  EXPECT_EQ(walk.Step("L6: 11[a-m 200] 6[n-z 150]"), "done");
}

TEST(ManualCompaction, ContinuesFromTheLevelThatWasWritten) {
  Walk walk({.begin = {}, .end = {}});
  EXPECT_EQ(walk.Step("L0: 9[a-k 10]\nL4: 7[a-m 40]\nL5: 5[a-m 100]\nL6: 4[a-z 900]"),
            "L0 [9] + L4 [7] -> L4, manual");
  // Automatic compactions have emptied level 4 meanwhile.
  EXPECT_EQ(walk.Step("L5: 10[a-m 120]\nL6: 4[a-z 900]"),
            "L5 [10] + L6 [4] -> L6, manual, bottommost");
  EXPECT_EQ(walk.Step("L6: 11[a-z 900]"), "done");
}

TEST(ManualCompaction, OffersTheSameRangeAgainAfterAFailure) {
  Walk walk({.begin = "a", .end = "b"});
  const std::string tree = "L0: 9[a-k 10]\nL6: 5[a-z 50]";
  EXPECT_EQ(walk.Pick(tree), "L0 [9] + L6 [5] -> L6, manual, bottommost");
  EXPECT_EQ(walk.Pick(tree), "L0 [9] + L6 [5] -> L6, manual, bottommost");
}

TEST(ManualCompaction, RewritesTheLastLevelOnce) {
  Walk walk({.begin = {}, .end = {}, .rewrite_last_level = true});
  EXPECT_EQ(walk.Step("L6: 4[a-b 600] 5[c-d 600] 6[e-f 600]", 7),
            "L6 [4] -> L6, manual, bottommost");
  EXPECT_EQ(walk.Step("L6: 7[a-b 600] 5[c-d 600] 6[e-f 600]", 8),
            "L6 [5] -> L6, manual, bottommost");
  EXPECT_EQ(walk.Step("L6: 7[a-b 600] 8[c-d 600] 6[e-f 600]", 9),
            "L6 [6] -> L6, manual, bottommost");
  EXPECT_EQ(walk.Step("L6: 7[a-b 600] 8[c-d 600] 9[e-f 600]", 10), "done");
}

TEST(ManualCompaction, LeavesItsOwnFilesOnTheLastLevelAlone) {
  Walk walk({.begin = {},
             .end = {},
             .rewrite_last_level = true,
             .skip_own_files = true,
             .first_new_file = 10});
  EXPECT_EQ(walk.Step("L0: 9[a-k 10]\nL6: 5[a-k 50] 6[m-z 50]", 10),
            "L0 [9] + L6 [5] -> L6, manual, bottommost");
  EXPECT_EQ(walk.Step("L6: 10[a-k 50] 6[m-z 50]", 11), "L6 [6] -> L6, manual, bottommost");
  EXPECT_EQ(walk.Step("L6: 10[a-k 50] 11[m-z 50]", 12), "done");
}

// ---- FindPlanViolation.

// Picks a plan for the first tree and checks it against the second one. Files with the same number
// correspond to each other.
std::string Violation(const std::string& picked, const std::string& now) {
  const LeveledConfig config = DynamicConfig();
  const TreeText before(picked, config.num_levels);
  const TreeText after(now, config.num_levels);
  ManualCompaction walk({.begin = {}, .end = {}});
  CompactionPlan plan =
      *walk.Next(before.View(), *NewCompactionPolicy({.common = config}), 100).plan;
  for (CompactionInputs& inputs : plan.inputs) {
    for (FileMetaData*& file : inputs.files) {
      FileMetaData* const there = after.File(file->number);
      if (there != nullptr) file = there;
    }
  }
  return FindPlanViolation(after.View(), plan);
}

TEST(FindPlanViolation, AcceptsWhatMayChangeBesideAPlan) {
  const std::string picked = "L0: 9[c-k 10]\nL6: 5[a-m 50]";
  EXPECT_EQ(Violation(picked, picked), "");
  EXPECT_EQ(Violation(picked, "L0: 12[a-z 10] 9[c-k 10]\nL6: 5[a-m 50] 13[n-z 10]"), "")
      << "a flush, and another range";
  EXPECT_EQ(Violation(picked, "L0: 9[c-k 10]\nL5: 12[n-z 10]\nL6: 5[a-m 50]"), "")
      << "another range on a level between";
}

TEST(FindPlanViolation, NamesWhatWouldPutNewerDataBelowOlder) {
  const std::string picked = "L0: 9[c-k 10]\nL6: 5[a-m 50]";
  const std::string plan = "the plan L0 [9] + L6 [5] -> L6, manual, bottommost";
  EXPECT_EQ(Violation(picked, "L0: 9[c-k 10]\nL5: 12[b-c 10]\nL6: 5[a-m 50]"),
            "table 12 on level 5 holds keys of " + plan);
  EXPECT_EQ(Violation(picked, "L0: 9[c-k 10] 8[a-c 10]\nL6: 5[a-m 50]"),
            "table 8 on level 0 holds keys of " + plan);
  EXPECT_EQ(Violation(picked, "L0: 9[c-k 10]\nL6: 5[a-k 50] 12[m-z 10]"),
            "table 12 on level 6 holds keys of " + plan);
  EXPECT_EQ(Violation(picked, "L0: 9[c-k 10]\nL6: 12[a-m 50]"),
            "table 5 left level 6 before " + plan);
}

}  // namespace
}  // namespace ashlar
