// ManualCompaction: plans one CompactRange level by level, from level 0 to the last level that
// holds files. It decides; the caller runs the plans.
//
//   Next --plan--> (the caller installs it) --> Installed --> Next ... --done-->
//        --conflict--> (the caller waits until a running plan ends) --> Next
//
// Automatic compactions run between two steps and change the tree. The base level may move, and
// files may leave a level. Each plan is therefore made from the view of its own step, and the next
// step starts at the level that the last plan wrote to.
//
// I1: the steps end. The level never decreases, the part of the range that is left on a level
//     shrinks with each plan, and a rewrite in place ignores the files that were created after it
//     began.
// I2: a plan that fails changes nothing, and Next offers the same range again.
// Thread safety: none; each call needs the mutex that guards the view.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "compact/plan/compaction_policy.h"

namespace ashlar {

class ManualCompaction {
 public:
  struct Args {
    std::optional<std::string> begin;  // user keys, both inclusive; nothing: unbounded
    std::optional<std::string> end;
    bool rewrite_last_level = false;  // the last level is rewritten in place as well
    bool skip_own_files = false;      // with rewrite_last_level: files that these steps wrote stay
    FileNumber first_new_file = 0;    // the next file number when the first step begins
  };
  struct Step {
    std::optional<CompactionPlan> plan;
    bool conflict = false;  // the files are busy; call Next again after a running plan ends
    bool done = false;
  };

  explicit ManualCompaction(Args args) : args_(std::move(args)), begin_(args_.begin) {}

  // next_file_number: the smallest number of files that are created from here on.
  Step Next(const TreeView& view, const CompactionPolicy& policy, FileNumber next_file_number);
  // Call when the plan of the last Next is in the tree.
  void Installed(const CompactionPlan& plan);

 private:
  void EnterLevel(Level level);

  Args args_;
  Level level_ = 0;
  std::optional<std::string> begin_;         // start of the range that is left on level_
  std::optional<FileNumber> rewrite_below_;  // set once a rewrite in place of level_ has begun
  std::optional<std::string> done_through_;  // of the plan of the last Next
  std::optional<Level> last_written_;
  bool finished_ = false;
};

}  // namespace ashlar
