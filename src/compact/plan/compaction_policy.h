// CompactionPolicy: the decisions of one compaction style about the tree of one column family. It
// decides; the engine runs and installs the plans.
//
//   tree --Pick / PickManual--> plan --(run, install)--> tree
//        --Stall--> the speed of writers
//
// The styles are leveled (compaction_picker.h), universal (universal_picker.h) and FIFO
// (fifo_picker.h). Another style needs a class here, and rows where options become a config
// (lsm/resolve_options.h). Nothing else depends on the style of a family.
//
// I1: every plan satisfies the invariants of compaction_plan.h.
// I2: if Needed is true, Pick returns a plan now or after the running plans have ended.
// Thread safety: none; each call needs the mutex that guards the tree.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "compact/plan/compaction_config.h"
#include "compact/plan/compaction_picker.h"
#include "compact/plan/compaction_plan.h"
#include "compact/plan/file_plans.h"
#include "compact/plan/ingestion_plan.h"
#include "compact/plan/level_targets.h"
#include "compact/plan/write_stall.h"

namespace ashlar {

// The sizes of a tree, for decisions that need no files.
struct TreeSizes {
  std::vector<uint64_t> level_bytes;  // [level]
  size_t level0_files = 0;
};

class CompactionPolicy {
 public:
  virtual ~CompactionPolicy() = default;

  const CompactionConfig& config() const { return config_; }
  // Requires: the same style.
  void SetConfig(CompactionConfig config);

  // Returns the next automatic compaction, or nothing if there is no work or none that can run
  // concurrently with view.running. Ignores disable_auto_compactions.
  virtual std::optional<CompactionPlan> Pick(const TreeView& view) const = 0;
  // Call for each plan of Pick that will run.
  virtual void Accept(const CompactionPlan& /*plan*/) {}
  // Restores CompactionPlan::next_cursor of the last plan from this level, which was made before
  // the database was opened.
  virtual void RestoreCursor(Level /*level*/, const std::string& /*internal_key*/) {}
  // Returns true if Pick may find work now or after running plans end.
  virtual bool Needed(const TreeView& view) const = 0;
  virtual ManualPick PickManual(const TreeView& view, const ManualRequest& request) const = 0;
  // See PlanFiles, PlanRefit and PlanMoveOfLevel0.
  virtual Result<CompactionPlan> PickFiles(const TreeView& view, const FilesRequest& request) const;
  virtual Result<std::optional<CompactionPlan>> PickRefit(const TreeView& view, Level from,
                                                          std::optional<Level> to) const;
  virtual Result<std::optional<CompactionPlan>> PickMoveOfLevel0(const TreeView& view,
                                                                 Level to) const;

  // The urgency of each level, the highest score first.
  virtual std::vector<LevelScore> Scores(const TreeView& view) const = 0;
  // The level that level 0 is compacted into.
  virtual Level BaseLevel(const TreeSizes& sizes) const = 0;
  // The levels that may hold an ingested file.
  virtual IngestionRules MakeIngestionRules(const TreeSizes& sizes) const;
  // True unless compactions can always move files of level 0 to a deeper level.
  virtual bool MergesWithinLevel0Only() const { return true; }
  // The bytes that compactions still have to read and write.
  virtual uint64_t PendingBytes(const TreeSizes& sizes) const = 0;

  // level0_files of the result is the number of sorted runs that slow reads down, without those
  // that no compaction can reduce. Writers would wait for these forever.
  StallInputs MakeStallInputs(const TreeSizes& sizes, int immutable_memtables) const;
  WriteStall Stall(const StallInputs& inputs, const WriteStall& previous) const;
  // Returns true if more compactions than usual should run at once.
  bool WantsMoreCompactions(const StallInputs& inputs) const;

 protected:
  explicit CompactionPolicy(CompactionConfig config) : config_(std::move(config)) {}
  virtual size_t RunsThatStall(const TreeSizes& sizes) const { return sizes.level0_files; }

 private:
  // Estimates the most tables of the only level that a merge cannot reduce: they overlap nowhere
  // and are too large, because the size of a table has a limit (PlanBuilder::MakesFewerFiles).
  size_t TablesThatStay(const TreeSizes& sizes) const;

  CompactionConfig config_;
};

// A policy of the config's style. Style kCompactionStyleNone is leveled without automatic plans.
std::unique_ptr<CompactionPolicy> NewCompactionPolicy(const CompactionConfig& config);

}  // namespace ashlar
