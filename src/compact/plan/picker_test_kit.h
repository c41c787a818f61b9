// Picks from a tree written as text (tree_text.h), in the style of a config, and returns text.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "compact/plan/compaction_policy.h"
#include "compact/plan/tree_text.h"

namespace ashlar {

// Returns "nothing" or the plan. Checks that the style's Needed agrees, unless a file is busy.
inline std::string PickText(const std::string& text, const CompactionConfig& config,
                            uint64_t now_unix_seconds) {
  const TreeText tree(text, config.common.num_levels);
  TreeView view = tree.View();
  view.now_unix_seconds = now_unix_seconds;
  const std::unique_ptr<CompactionPolicy> policy = NewCompactionPolicy(config);
  const auto plan = policy->Pick(view);
  if (text.find("busy") == std::string::npos) {
    EXPECT_EQ(policy->Needed(view), plan.has_value());
  }
  return plan ? DebugString(*plan) : "nothing";
}

}  // namespace ashlar
