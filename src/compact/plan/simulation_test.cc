// Random flushes fill a tree, and several plans of a style at a time compact it and finish in any
// order. Its files hold (key, sequence) pairs. Manual compactions proceed step by step while
// automatic ones run, start and finish between their steps. The order of the tree is checked after
// every step. Without flushes it must come to rest with every level within its target.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "base/format.h"
#include "base/random.h"
#include "compact/plan/compaction_policy.h"
#include "compact/plan/manual_compaction.h"
#include "compact/plan/plan_builder.h"
#include "compact/run/key_not_below.h"

namespace ashlar {
namespace {

constexpr uint64_t kEntryBytes = 10;

struct SimFile {
  FileMetaData meta;
  std::vector<std::pair<std::string, SequenceNumber>> entries;  // ascending, one per key
};

class Simulation {
 public:
  Simulation(const CompactionConfig& config, uint64_t seed)
      : config_(config.common),
        style_(config),
        policy_(NewCompactionPolicy(config)),
        random_(seed),
        levels_(config_.num_levels) {}

  // Another style takes the tree over, as when a database is opened with it.
  void SetStyle(CompactionConfig config) {
    config.common = config_;
    style_ = config;
    policy_ = NewCompactionPolicy(config);
  }

  void Flush() {
    std::set<std::string> keys;
    const uint64_t count = random_.Between(1, 20);
    const bool sequential = random_.OneIn(3);
    for (uint64_t i = 0; i < count; ++i)
      keys.insert(Key(sequential ? next_key_++ % 5000 : random_.Uniform(5000)));
    std::vector<std::pair<std::string, SequenceNumber>> entries;
    for (const std::string& key : keys) entries.emplace_back(key, ++sequence_);
    levels_[0].insert(levels_[0].begin(), MakeFile(std::move(entries)));
  }

  bool StartOne() {
    const TreeView view = View();
    auto plan = policy_->Pick(view);
    if (!plan.has_value()) return false;
    Accept(std::move(*plan), view);
    return true;
  }
  void BeginManual() {
    ManualCompaction::Args args{.begin = Key(random_.Uniform(5000)), .end = {}};
    if (random_.OneIn(2)) args.end = *args.begin + "5";
    if (random_.OneIn(4)) args.begin.reset();
    args.rewrite_last_level = random_.OneIn(3);
    args.skip_own_files = random_.OneIn(2);
    args.first_new_file = files_.size() + 1;
    walks_.push_back({.walk = ManualCompaction(std::move(args)), .plan = nullptr});
  }
  // Runs one step of each manual compaction that has no running plan.
  void StepManual() {
    for (size_t i = 0; i < walks_.size();) {
      Walk& walk = walks_[i];
      if (walk.plan == nullptr) {
        const TreeView view = View();
        ManualCompaction::Step step = walk.walk.Next(view, *policy_, files_.size() + 1);
        if (step.done) {
          walks_.erase(walks_.begin() + static_cast<std::ptrdiff_t>(i));
          continue;
        }
        conflicts_ += step.conflict ? 1 : 0;
        if (step.plan.has_value()) walk.plan = Accept(std::move(*step.plan), view);
      }
      ++i;
    }
  }

  void FinishOne() {
    const size_t which = random_.Uniform(running_.size());
    const std::unique_ptr<CompactionPlan> plan = std::move(running_[which]);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(which));
    MarkInputs(*plan, false);
    const auto walk = std::find_if(walks_.begin(), walks_.end(),
                                   [&](const Walk& other) { return other.plan == plan.get(); });
    if (walk != walks_.end()) walk->plan = nullptr;
    if (random_.OneIn(20)) return;  // the plan failed, so nothing changed
    ASSERT_EQ(FindPlanViolation(View(), *plan), "");
    if (walk != walks_.end()) walk->walk.Installed(*plan);
    if (!plan->drops_inputs) CheckOlderRuns(*plan);
    std::vector<SimFile*> outputs = Outputs(*plan);
    for (const CompactionInputs& inputs : plan->inputs) {
      for (const FileMetaData* file : inputs.files)
        std::erase_if(levels_[inputs.level],
                      [&](const SimFile* other) { return &other->meta == file; });
    }
    auto& level = levels_[plan->output_level];
    level.insert(level.end(), outputs.begin(), outputs.end());
    std::sort(level.begin(), level.end(), [&](const SimFile* a, const SimFile* b) {
      return IsSorted(plan->output_level) ? a->meta.smallest < b->meta.smallest
                                          : a->meta.largest_sequence > b->meta.largest_sequence;
    });
  }

  void FinishAll() {
    while (!running_.empty()) ASSERT_NO_FATAL_FAILURE(FinishOne());
  }

  size_t running() const { return running_.size(); }
  size_t walks() const { return walks_.size(); }
  uint64_t conflicts() const { return conflicts_; }
  uint64_t moves() const { return moves_; }
  uint64_t rewrites() const { return rewrites_; }
  uint64_t within_level0() const { return within_level0_; }
  bool Needs() { return policy_->Needed(View()); }
  size_t Runs() const {
    size_t runs = levels_[0].size();
    for (size_t level = 1; level < levels_.size(); ++level)
      runs += levels_[level].empty() ? 0u : 1u;
    return runs;
  }
  uint64_t Bytes() const {
    uint64_t bytes = 0;
    for (const auto& level : levels_) {
      for (const SimFile* file : level) bytes += file->meta.file_bytes;
    }
    return bytes;
  }
  // Returns the largest share of the tree that one automatic plan rewrote since the last call.
  double TakeLargestShare() { return std::exchange(largest_share_, 0); }

  void Check() {
    for (Level level = 1; level < config_.num_levels; ++level) {
      for (size_t i = 1; i < levels_[level].size(); ++i) {
        ASSERT_LT(levels_[level][i - 1]->meta.largest_user_key(),
                  levels_[level][i]->meta.smallest_user_key())
            << "level " << level;
      }
    }
    // The sequences of a key decrease from the newest file to the oldest.
    std::map<std::string, SequenceNumber> oldest;
    for (const auto& level : levels_) {
      for (const SimFile* file : level) {
        for (const auto& [key, sequence] : file->entries) {
          const auto [it, first] = oldest.emplace(key, sequence);
          ASSERT_TRUE(first || sequence < it->second) << "older data above newer";
          it->second = sequence;
        }
      }
    }
  }

  TreeView View() {
    spans_.assign(levels_.size(), {});
    TreeView view;
    view.comparator = KeyComparator(BytewiseComparator());
    for (size_t level = 0; level < levels_.size(); ++level) {
      for (SimFile* file : levels_[level]) spans_[level].push_back(&file->meta);
      view.levels.emplace_back(spans_[level]);
    }
    for (const auto& plan : running_) view.running.push_back(plan.get());
    return view;
  }

 private:
  static std::string Key(uint64_t i) {
    std::string digits = std::to_string(i);
    return std::string(4 - digits.size(), '0') + digits;
  }

  SimFile* MakeFile(std::vector<std::pair<std::string, SequenceNumber>> entries) {
    auto file = std::make_unique<SimFile>();
    file->meta.number = files_.size() + 1;
    file->meta.file_bytes = entries.size() * kEntryBytes;
    file->meta.entries = entries.size();
    file->meta.smallest_sequence = UINT64_MAX;
    for (const auto& [key, sequence] : entries) {
      file->meta.smallest_sequence = std::min(file->meta.smallest_sequence, sequence);
      file->meta.largest_sequence = std::max(file->meta.largest_sequence, sequence);
    }
    file->meta.smallest =
        MakeInternalKey(entries.front().first, entries.front().second, ValueType::kValue);
    file->meta.largest =
        MakeInternalKey(entries.back().first, entries.back().second, ValueType::kValue);
    file->entries = std::move(entries);
    by_meta_[&file->meta] = file.get();
    files_.push_back(std::move(file));
    return files_.back().get();
  }

  const CompactionPlan* Accept(CompactionPlan plan, const TreeView& view) {
    SCOPED_TRACE(DebugString(plan));
    for (const CompactionPlan* other : view.running) {
      if (other->output_level != plan.output_level || plan.output_level == 0) continue;
      EXPECT_TRUE(other->largest < plan.smallest || plan.largest < other->smallest)
          << "two plans write the same range of a level";
    }
    CheckPlanInvariants(view, plan);
    EXPECT_LE(TemporaryBytes(plan), TemporaryBytesMax(view, plan));
    MarkInputs(plan, true);  // asserts that no input was busy
    policy_->Accept(plan);
    ++(plan.trivial_move ? moves_ : rewrites_);
    if (plan.WritesTables() && plan.reason != PlanReason::kManual) {
      largest_share_ = std::max(
          largest_share_, static_cast<double>(plan.InputBytes()) / static_cast<double>(Bytes()));
    }
    running_.push_back(std::make_unique<CompactionPlan>(std::move(plan)));
    return running_.back().get();
  }

  // The space that the outputs may need before the inputs are deleted.
  static uint64_t TemporaryBytes(const CompactionPlan& plan) {
    return plan.WritesTables() ? plan.InputBytes() : 0;
  }
  // The bound of README.md ("Temporary space"), which options.h states for programs.
  uint64_t TemporaryBytesMax(const TreeView& view, const CompactionPlan& plan) const {
    const Level last = view.LastLevel();
    const bool is_for_size = plan.reason == PlanReason::kSizeAmplification ||
                             plan.reason == PlanReason::kSizeRatio ||
                             plan.reason == PlanReason::kSortedRuns;
    if (!is_for_size || !style_.universal.incremental || last < 2) return Bytes();
    uint64_t bytes =
        std::max(Bytes() - view.LevelBytes(last), 2 * style_.common.max_compaction_bytes);
    const TreeFiles tree(view);
    for (const FileMetaData* file : plan.inputs.front().files) {
      const auto below = tree.Overlapping(last, TreeFiles::RangeOf(*file).range());
      bytes = std::max(bytes, file->file_bytes + TotalBytes(below));
    }
    return bytes;
  }

  std::vector<SimFile*> Outputs(const CompactionPlan& plan) {
    std::vector<SimFile*> outputs;
    if (plan.drops_inputs) return outputs;
    if (plan.trivial_move) {
      for (const FileMetaData* file : plan.inputs.front().files) outputs.push_back(by_meta_[file]);
      return outputs;
    }
    std::map<std::string, SequenceNumber> newest;
    for (const CompactionInputs& inputs : plan.inputs) {
      for (const FileMetaData* file : inputs.files) {
        for (const auto& [key, sequence] : by_meta_[file]->entries)
          newest[key] = std::max(newest[key], sequence);
      }
    }
    std::vector<std::pair<std::string, SequenceNumber>> entries;
    for (const auto& entry : newest) {
      if (!entries.empty() && entries.size() * kEntryBytes >= plan.max_output_file_bytes)
        outputs.push_back(MakeFile(std::exchange(entries, {})));
      entries.push_back(entry);
    }
    outputs.push_back(MakeFile(std::move(entries)));
    return outputs;
  }

  // I4 of compaction_plan.h: the plan's list of older runs is still complete.
  void CheckOlderRuns(const CompactionPlan& plan) {
    std::set<std::string> older;
    const auto add = [&](const SimFile* file) {
      for (const auto& entry : file->entries) older.insert(entry.first);
    };
    if (!IsSorted(plan.output_level)) {
      for (const SimFile* file : levels_[0]) {
        if (file->meta.largest_sequence < plan.inputs.front().files.back()->largest_sequence)
          add(file);
      }
      within_level0_++;
    }
    for (Level level = plan.output_level + 1; level < config_.num_levels; ++level) {
      for (const SimFile* file : levels_[level]) add(file);
    }
    std::set<std::string> keys;
    for (const CompactionInputs& inputs : plan.inputs) {
      for (const FileMetaData* file : inputs.files) {
        for (const auto& entry : by_meta_[file]->entries) keys.insert(entry.first);
      }
    }
    KeyNotBelow not_below(KeyComparator(BytewiseComparator()), plan.older);
    for (const std::string& key : keys) {
      const bool certain = not_below.Check(key);
      ASSERT_TRUE(certain || !plan.bottommost);
      ASSERT_FALSE(certain && older.contains(key)) << DebugString(plan);
    }
  }

  const LeveledConfig config_;
  CompactionConfig style_;
  std::unique_ptr<CompactionPolicy> policy_;
  Random random_;
  std::vector<std::vector<SimFile*>> levels_;
  std::vector<std::vector<FileMetaData*>> spans_;
  std::vector<std::unique_ptr<SimFile>> files_;
  std::map<const FileMetaData*, SimFile*> by_meta_;
  struct Walk {
    ManualCompaction walk;
    const CompactionPlan* plan;  // null: none is running
  };
  std::vector<std::unique_ptr<CompactionPlan>> running_;
  std::vector<Walk> walks_;
  uint64_t conflicts_ = 0;
  SequenceNumber sequence_ = 0;
  double largest_share_ = 0;
  uint64_t next_key_ = 0;
  uint64_t moves_ = 0;
  uint64_t rewrites_ = 0;
  uint64_t within_level0_ = 0;
};

LeveledConfig RandomConfig(Random* random) {
  LeveledConfig config;
  config.num_levels = static_cast<Level>(random->Between(2, 6));
  config.level0_file_num_compaction_trigger = static_cast<int>(random->Between(1, 5));
  config.max_bytes_for_level_base = random->Between(100, 2000);
  config.max_bytes_for_level_multiplier = static_cast<double>(random->Between(2, 10));
  config.level_compaction_dynamic_level_bytes = random->OneIn(2);
  config.target_file_size_base = random->Between(50, 300);
  config.max_compaction_bytes = config.target_file_size_base * random->Between(5, 25);
  return config;
}

// Runs flushes together with several automatic and manual plans.
void RunSteps(Simulation* tree, Random* random, int steps) {
  for (int step = 0; step < steps; ++step) {
    SCOPED_TRACE(testing::Message() << "step " << step);
    tree->Flush();
    for (uint64_t i = random->Uniform(4); i > 0 && tree->running() < 4; --i) tree->StartOne();
    if (random->OneIn(10) && tree->walks() < 3) tree->BeginManual();
    tree->StepManual();
    while (tree->running() > 0 && random->OneIn(2)) ASSERT_NO_FATAL_FAILURE(tree->FinishOne());
    ASSERT_NO_FATAL_FAILURE(tree->Check());
  }
}
void ComeToRest(Simulation* tree, Random* random) {
  int rounds = 0;
  while (tree->StartOne() || tree->running() > 0 || tree->walks() > 0) {
    ASSERT_LT(++rounds, 5000) << "does not come to rest";
    tree->StepManual();
    while (tree->running() > 0 && (tree->running() > 3 || random->OneIn(2)))
      ASSERT_NO_FATAL_FAILURE(tree->FinishOne());
  }
  ASSERT_NO_FATAL_FAILURE(tree->Check());
  EXPECT_FALSE(tree->Needs()) << "work is left that nobody picks";
}

CompactionConfig RandomUniversal(Random* random) {
  CompactionConfig config{.style = kCompactionStyleUniversal, .common = RandomConfig(random)};
  config.common.num_levels = static_cast<Level>(random->Between(1, 6));
  config.common.level_compaction_dynamic_level_bytes = false;
  config.universal.size_ratio_percent = static_cast<uint32_t>(random->Uniform(50));
  config.universal.merge_width_min = static_cast<uint32_t>(random->Between(2, 4));
  if (random->OneIn(3)) config.universal.merge_width_max = 6;
  config.universal.size_amplification_percent_max = static_cast<uint32_t>(random->Between(20, 300));
  config.universal.stops_at_similar_size = random->OneIn(3);
  config.universal.may_move = random->OneIn(2);
  config.universal.incremental = random->OneIn(2);
  return config;
}

CompactionConfig RandomFifo(Random* random) {
  CompactionConfig config{.style = kCompactionStyleFIFO, .common = RandomConfig(random)};
  config.fifo.table_bytes_max = random->Between(500, 5000);
  config.fifo.may_compact = random->OneIn(2);
  config.fifo.merged_file_bytes_max = 2000;
  return config;
}

TEST(Simulation, UniversalConvergesAndKeepsItsInvariants) {
  uint64_t moves = 0;
  uint64_t conflicts = 0;
  uint64_t within_level0 = 0;
  for (uint64_t seed = 1; seed <= 25; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const CompactionConfig config = RandomUniversal(&random);
    Simulation tree(config, seed);
    ASSERT_NO_FATAL_FAILURE(RunSteps(&tree, &random, 300));
    ASSERT_NO_FATAL_FAILURE(ComeToRest(&tree, &random));
    EXPECT_LE(tree.Runs(),
              static_cast<size_t>(config.common.level0_file_num_compaction_trigger) + 1);
    moves += tree.moves();
    conflicts += tree.conflicts();
    within_level0 += tree.within_level0();
  }
  EXPECT_GT(moves, 10u);
  EXPECT_GT(conflicts, 100u);
  EXPECT_GT(within_level0, 500u);
}

TEST(Simulation, FifoStaysBelowItsLimit) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const CompactionConfig config = RandomFifo(&random);
    Simulation tree(config, seed);
    ASSERT_NO_FATAL_FAILURE(RunSteps(&tree, &random, 200));
    ASSERT_NO_FATAL_FAILURE(ComeToRest(&tree, &random));
    EXPECT_LE(tree.Bytes(), config.fifo.table_bytes_max);
  }
}

TEST(Simulation, AnotherStyleTakesTheTreeOver) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    CompactionConfig leveled{.common = RandomConfig(&random)};
    leveled.common.level_compaction_dynamic_level_bytes = false;
    Simulation tree(leveled, seed);
    for (int round = 0; round < 4; ++round) {
      tree.SetStyle(round % 2 == 0 ? RandomUniversal(&random) : leveled);
      ASSERT_NO_FATAL_FAILURE(RunSteps(&tree, &random, 60));
      ASSERT_NO_FATAL_FAILURE(ComeToRest(&tree, &random));
    }
  }
}

// Overwrites the same keys, so that the tree reaches a stable size.
TEST(Simulation, IncrementalModeBoundsTheTemporarySpace) {
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    CompactionConfig config{.style = kCompactionStyleUniversal};
    config.common.num_levels = 6;
    config.common.target_file_size_base = 1000;
    config.common.max_compaction_bytes = 5000;
    config.universal.size_amplification_percent_max = 25;
    for (const bool incremental : {false, true}) {
      config.universal.incremental = incremental;
      Simulation tree(config, seed);
      for (int step = 0; step < 900; ++step) {
        tree.Flush();
        while (tree.StartOne()) ASSERT_NO_FATAL_FAILURE(tree.FinishAll());
        if (step == 500) static_cast<void>(tree.TakeLargestShare());
      }
      const double largest = tree.TakeLargestShare();
      if (incremental) {
        EXPECT_LT(largest, 0.45);
      } else {
        EXPECT_GT(largest, 0.95);
      }
    }
  }
}

TEST(Simulation, ConvergesAndKeepsItsInvariants) {
  uint64_t moves = 0;
  uint64_t rewrites = 0;
  uint64_t conflicts = 0;
  uint64_t within_level0 = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    Simulation tree(CompactionConfig{.common = RandomConfig(&random)}, seed);
    ASSERT_NO_FATAL_FAILURE(RunSteps(&tree, &random, 300));
    ASSERT_NO_FATAL_FAILURE(ComeToRest(&tree, &random));
    moves += tree.moves();
    rewrites += tree.rewrites();
    conflicts += tree.conflicts();
    within_level0 += tree.within_level0();
  }
  EXPECT_GT(moves, 50u);
  EXPECT_GT(rewrites, 500u);
  EXPECT_GT(conflicts, 100u);
  EXPECT_GT(within_level0, 50u);
}

}  // namespace
}  // namespace ashlar
