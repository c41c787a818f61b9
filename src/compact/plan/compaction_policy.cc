#include "compact/plan/compaction_policy.h"

#include <algorithm>

#include "base/assert.h"
#include "base/format.h"
#include "compact/plan/fifo_picker.h"
#include "compact/plan/plan_builder.h"
#include "compact/plan/universal_picker.h"

namespace ashlar {

namespace {

class LeveledPolicy final : public CompactionPolicy {
 public:
  explicit LeveledPolicy(CompactionConfig config) : CompactionPolicy(std::move(config)) {}

  std::optional<CompactionPlan> Pick(const TreeView& view) const override {
    return PickCompaction(view, config().common, cursors_);
  }
  void Accept(const CompactionPlan& plan) override { cursors_.Advance(plan); }
  void RestoreCursor(Level level, const std::string& internal_key) override {
    cursors_.SetNext(level, internal_key);
  }
  bool Needed(const TreeView& view) const override {
    return NeedsCompaction(view, config().common);
  }
  ManualPick PickManual(const TreeView& view, const ManualRequest& request) const override {
    return ashlar::PickManual(view, config().common, request);
  }
  std::vector<LevelScore> Scores(const TreeView& view) const override {
    return CompactionScores(view, config().common, ComputeLevelTargets(view, config().common));
  }
  Level BaseLevel(const TreeSizes& sizes) const override {
    return ComputeLevelTargets(sizes.level_bytes, config().common).base_level;
  }
  uint64_t PendingBytes(const TreeSizes& sizes) const override {
    return EstimatePendingBytes(sizes.level_bytes, sizes.level0_files, config().common,
                                ComputeLevelTargets(sizes.level_bytes, config().common));
  }
  bool MergesWithinLevel0Only() const override {
    return config().style == kCompactionStyleNone || config().common.num_levels == 1;
  }

 private:
  CompactCursors cursors_;
};

class UniversalPolicy final : public CompactionPolicy {
 public:
  explicit UniversalPolicy(CompactionConfig config) : CompactionPolicy(std::move(config)) {}

  std::optional<CompactionPlan> Pick(const TreeView& view) const override {
    return PickUniversal(view, config());
  }
  bool Needed(const TreeView& view) const override { return NeedsUniversal(view, config()); }
  ManualPick PickManual(const TreeView& view, const ManualRequest& request) const override {
    return PickManualUniversal(view, config(), request);
  }
  std::vector<LevelScore> Scores(const TreeView& view) const override {
    return {{.level = 0, .score = UniversalScore(view, config())}};
  }
  Level BaseLevel(const TreeSizes& sizes) const override {
    ASHLAR_ASSERT(!sizes.level_bytes.empty());  // each tree has level 0
    return static_cast<Level>(sizes.level_bytes.size()) - 1;
  }
  IngestionRules MakeIngestionRules(const TreeSizes& sizes) const override {
    IngestionRules rules = CompactionPolicy::MakeIngestionRules(sizes);
    rules.fills_levels_only = true;
    return rules;
  }
  uint64_t PendingBytes(const TreeSizes& /*sizes*/) const override { return 0; }

 private:
  size_t RunsThatStall(const TreeSizes& sizes) const override {
    ASHLAR_ASSERT(!sizes.level_bytes.empty());  // each tree has level 0
    return sizes.level0_files +
           static_cast<size_t>(std::count_if(sizes.level_bytes.begin() + 1, sizes.level_bytes.end(),
                                             [](uint64_t bytes) { return bytes > 0; }));
  }
};

class FifoPolicy final : public CompactionPolicy {
 public:
  explicit FifoPolicy(CompactionConfig config) : CompactionPolicy(std::move(config)) {}

  std::optional<CompactionPlan> Pick(const TreeView& view) const override {
    return PickFifo(view, config());
  }
  bool Needed(const TreeView& view) const override { return NeedsFifo(view, config()); }
  // Picks nothing, because due compactions run anyway.
  ManualPick PickManual(const TreeView& /*view*/, const ManualRequest& /*request*/) const override {
    return {};
  }
  Result<CompactionPlan> PickFiles(const TreeView& view,
                                   const FilesRequest& request) const override {
    if (request.output_level > 0) {
      return Status::InvalidArgument(StrCat("output level ", request.output_level,
                                            ": with FIFO compaction all tables are on level 0"));
    }
    return CompactionPolicy::PickFiles(view, request);
  }
  Result<std::optional<CompactionPlan>> PickMoveOfLevel0(const TreeView& /*view*/,
                                                         Level /*to*/) const override {
    return Status::NotSupported("with FIFO compaction all tables are on level 0");
  }
  std::vector<LevelScore> Scores(const TreeView& view) const override {
    return {{.level = 0, .score = FifoScore(view, config())}};
  }
  Level BaseLevel(const TreeSizes& /*sizes*/) const override { return 0; }
  IngestionRules MakeIngestionRules(const TreeSizes& sizes) const override {
    IngestionRules rules = CompactionPolicy::MakeIngestionRules(sizes);
    rules.only_level0 = true;
    return rules;
  }
  uint64_t PendingBytes(const TreeSizes& /*sizes*/) const override { return 0; }
};

}  // namespace

std::unique_ptr<CompactionPolicy> NewCompactionPolicy(const CompactionConfig& config) {
  switch (config.style) {
    case kCompactionStyleUniversal: return std::make_unique<UniversalPolicy>(config);
    case kCompactionStyleFIFO: return std::make_unique<FifoPolicy>(config);
    case kCompactionStyleLevel:
    case kCompactionStyleNone: break;
  }
  return std::make_unique<LeveledPolicy>(config);
}

void CompactionPolicy::SetConfig(CompactionConfig config) {
  ASHLAR_ASSERT(config.style == config_.style);  // Requires
  config_ = std::move(config);
}

Result<CompactionPlan> CompactionPolicy::PickFiles(const TreeView& view,
                                                   const FilesRequest& request) const {
  return PlanFiles(view, config_.common, request);
}

Result<std::optional<CompactionPlan>> CompactionPolicy::PickRefit(const TreeView& view, Level from,
                                                                  std::optional<Level> to) const {
  return PlanRefit(view, config_.common, from, to);
}

Result<std::optional<CompactionPlan>> CompactionPolicy::PickMoveOfLevel0(const TreeView& view,
                                                                         Level to) const {
  return PlanMoveOfLevel0(view, config_.common, to);
}

IngestionRules CompactionPolicy::MakeIngestionRules(const TreeSizes& sizes) const {
  ASHLAR_ASSERT(config_.common.num_levels > 0);  // each tree has level 0
  return {.base_level = BaseLevel(sizes), .last_level = config_.common.num_levels - 1};
}

size_t CompactionPolicy::TablesThatStay(const TreeSizes& sizes) const {
  const LeveledConfig& common = config_.common;
  if (common.num_levels > 1 || common.level0_file_bytes_max == UINT64_MAX) return 0;
  ASHLAR_ASSERT(!sizes.level_bytes.empty());  // each tree has level 0
  const uint64_t full = sizes.level_bytes[0] / FullLevel0Bytes(common);
  // In each group of `width` neighbours, the most that a universal merge takes, one more may stay.
  const uint64_t width = std::max<uint64_t>(2, config_.universal.merge_width_max);
  return static_cast<size_t>(full + full / (width - 1));
}

StallInputs CompactionPolicy::MakeStallInputs(const TreeSizes& sizes,
                                              int immutable_memtables) const {
  const size_t runs = RunsThatStall(sizes);
  return {.immutable_memtables = immutable_memtables,
          .level0_files = static_cast<int>(runs - std::min(runs, TablesThatStay(sizes))),
          .pending_bytes = PendingBytes(sizes)};
}

WriteStall CompactionPolicy::Stall(const StallInputs& inputs, const WriteStall& previous) const {
  return ComputeStall(inputs, config_.common, previous);
}

bool CompactionPolicy::WantsMoreCompactions(const StallInputs& inputs) const {
  return ashlar::WantsMoreCompactions(inputs, config_.common);
}

}  // namespace ashlar
