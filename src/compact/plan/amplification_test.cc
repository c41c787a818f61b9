// Write amplification of the plans for a tree that takes random overwrites, executed on sorted
// numbers instead of tables. A limit close to a measured figure records the current plans. A change
// that writes more must justify it.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/random.h"
#include "compact/plan/compaction_policy.h"
#include "compact/plan/file_cutter.h"

namespace ashlar {
namespace {

constexpr uint64_t kEntryBytes = 124;
constexpr size_t kMemtableEntries = 1754;
constexpr uint32_t kKeys = 100'000;
constexpr size_t kLevel0FilesMax = 20;  // then the writer waits

const std::string& Key(uint32_t number) {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> made;
    for (uint32_t i = 0; i < kKeys; ++i) {
      const std::string digits = std::to_string(i);
      made.push_back(std::string(8 - digits.size(), '0') + digits);
    }
    return made;
  }();
  return keys[number];
}

struct Table {
  FileMetaData meta;
  std::vector<uint32_t> keys;  // ascending
};

class Tree {
 public:
  // compacted_per_flushed: the bytes that compactions can read per flushed byte, or 0 for no limit.
  explicit Tree(double compacted_per_flushed, CompactionStyle style = kCompactionStyleLevel)
      : compacted_per_flushed_(compacted_per_flushed) {
    CompactionConfig config{.style = style};
    config.common.level_compaction_dynamic_level_bytes = true;
    config.common.target_file_size_base = 256 << 10;
    config.common.max_bytes_for_level_base = 1 << 20;
    config.common.max_compaction_bytes = 25 * config.common.target_file_size_base;
    levels_.resize(config.common.num_levels);
    policy_ = NewCompactionPolicy(config);
  }

  void Put(uint32_t key) {
    memtable_.push_back(key);
    if (memtable_.size() < kMemtableEntries) return;
    Flush();
    Compact();
    sum_of_runs_ += Runs();
    ++flushes_;
  }
  void FinishAll() {
    while (running_ != nullptr || Start()) Finish();
  }
  void ForgetWhatWasWritten() {
    flushed_ = compacted_ = 0;
    sum_of_runs_ = flushes_ = 0;
  }
  double Amplification() const {
    return static_cast<double>(flushed_ + compacted_) / static_cast<double>(flushed_);
  }
  double AverageRuns() const {
    return static_cast<double>(sum_of_runs_) / static_cast<double>(flushes_);
  }

 private:
  TreeView View() {
    files_.assign(levels_.size(), {});
    TreeView view;
    view.comparator = KeyComparator(BytewiseComparator());
    for (size_t level = 0; level < levels_.size(); ++level) {
      for (const auto& table : levels_[level]) files_[level].push_back(&table->meta);
      view.levels.emplace_back(files_[level]);
    }
    if (running_ != nullptr) view.running.push_back(running_.get());
    return view;
  }
  size_t Runs() const {
    size_t runs = levels_[0].size();
    for (size_t level = 1; level < levels_.size(); ++level)
      runs += levels_[level].empty() ? 0u : 1u;
    return runs;
  }

  std::unique_ptr<Table> MakeTable(std::vector<uint32_t> keys, SequenceNumber sequence) {
    auto table = std::make_unique<Table>();
    table->meta.number = ++tables_made_;
    table->meta.file_bytes = keys.size() * kEntryBytes;
    table->meta.smallest = MakeInternalKey(Key(keys.front()), sequence, ValueType::kValue);
    table->meta.largest = MakeInternalKey(Key(keys.back()), sequence, ValueType::kValue);
    table->meta.smallest_sequence = table->meta.largest_sequence = sequence;
    table->meta.entries = keys.size();
    table->keys = std::move(keys);
    return table;
  }
  void Flush() {
    std::sort(memtable_.begin(), memtable_.end());
    memtable_.erase(std::unique(memtable_.begin(), memtable_.end()), memtable_.end());
    levels_[0].insert(levels_[0].begin(), MakeTable(std::exchange(memtable_, {}), ++sequence_));
    flushed_ += levels_[0].front()->meta.file_bytes;
  }
  void Compact() {
    if (compacted_per_flushed_ == 0) return FinishAll();
    credit_ += compacted_per_flushed_ * static_cast<double>(levels_[0].front()->meta.file_bytes);
    while (running_ != nullptr || Start()) {
      const double cost =
          running_->WritesTables() ? static_cast<double>(running_->InputBytes()) : 0;
      if (cost > credit_ && levels_[0].size() < kLevel0FilesMax) return;
      credit_ = std::max(0.0, credit_ - cost);
      Finish();
    }
    credit_ = 0;  // idle time is not saved
  }

  bool Start() {
    auto plan = policy_->Pick(View());
    if (!plan.has_value()) return false;
    policy_->Accept(*plan);
    MarkInputs(*plan, true);
    running_ = std::make_unique<CompactionPlan>(std::move(*plan));
    return true;
  }
  void Finish() {
    const std::unique_ptr<CompactionPlan> plan = std::move(running_);
    MarkInputs(*plan, false);
    auto inputs = TakeInputs(*plan);
    auto& level = levels_[plan->output_level];
    for (auto& table : plan->WritesTables() ? Merge(*plan, inputs) : std::move(inputs))
      level.push_back(std::move(table));
    std::sort(level.begin(), level.end(), [&](const auto& a, const auto& b) {
      return IsSorted(plan->output_level) ? a->meta.smallest < b->meta.smallest
                                          : a->meta.largest_sequence > b->meta.largest_sequence;
    });
  }
  std::vector<std::unique_ptr<Table>> TakeInputs(const CompactionPlan& plan) {
    std::vector<std::unique_ptr<Table>> taken;
    for (const CompactionInputs& inputs : plan.inputs) {
      for (auto& table : levels_[inputs.level]) {
        if (plan.HasInput(&table->meta)) taken.push_back(std::move(table));
      }
      std::erase(levels_[inputs.level], nullptr);
    }
    return taken;
  }
  std::vector<std::unique_ptr<Table>> Merge(const CompactionPlan& plan,
                                            const std::vector<std::unique_ptr<Table>>& inputs) {
    std::vector<uint32_t> keys;
    SequenceNumber sequence = 0;
    for (const auto& table : inputs) {
      keys.insert(keys.end(), table->keys.begin(), table->keys.end());
      sequence = std::max(sequence, table->meta.largest_sequence);
    }
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());

    FileCutter cutter({.comparator = KeyComparator(BytewiseComparator()),
                       .target_file_bytes = plan.max_output_file_bytes,
                       .grandparents = &plan.grandparents,
                       .max_grandparent_overlap_bytes = plan.max_grandparent_overlap_bytes});
    std::vector<std::unique_ptr<Table>> outputs;
    std::vector<uint32_t> open;
    for (const uint32_t key : keys) {
      if (cutter.CutBefore(Key(key), open.size() * kEntryBytes) && !open.empty())
        outputs.push_back(MakeTable(std::exchange(open, {}), sequence));
      if (open.empty()) cutter.Begin();
      open.push_back(key);
    }
    outputs.push_back(MakeTable(std::move(open), sequence));
    compacted_ += keys.size() * kEntryBytes;
    return outputs;
  }

  const double compacted_per_flushed_;
  std::unique_ptr<CompactionPolicy> policy_;
  std::vector<std::vector<std::unique_ptr<Table>>> levels_;
  std::vector<std::vector<FileMetaData*>> files_;  // of the last view
  std::vector<uint32_t> memtable_;
  std::unique_ptr<CompactionPlan> running_;  // null: none
  uint64_t tables_made_ = 0;
  SequenceNumber sequence_ = 0;
  double credit_ = 0;
  uint64_t flushed_ = 0;
  uint64_t compacted_ = 0;
  uint64_t sum_of_runs_ = 0;
  uint64_t flushes_ = 0;
};

// Writes every key once in random order, then four times as many random keys.
void LoadAndOverwrite(Tree* tree, uint64_t seed) {
  Random random(seed);
  std::vector<uint32_t> keys(kKeys);
  for (uint32_t i = 0; i < kKeys; ++i) keys[i] = i;
  for (uint32_t i = kKeys - 1; i > 0; --i) std::swap(keys[i], keys[random.Uniform(i + 1)]);
  for (const uint32_t key : keys) tree->Put(key);
  tree->ForgetWhatWasWritten();
  for (uint32_t i = 0; i < 4 * kKeys; ++i) tree->Put(static_cast<uint32_t>(random.Uniform(kKeys)));
  tree->FinishAll();
}

TEST(Amplification, OfATreeThatKeepsUp) {
  Tree tree(0);
  LoadAndOverwrite(&tree, 1);
  EXPECT_LT(tree.Amplification(), 7.2);
  EXPECT_LT(tree.AverageRuns(), 4.6);
}

TEST(Amplification, OfATreeThatIsBehind) {
  Tree tree(4);
  LoadAndOverwrite(&tree, 1);
  EXPECT_LT(tree.Amplification(), 5.1);
  EXPECT_LT(tree.AverageRuns(), 12);
}

// 57 flushes write as many entries as there are keys, and at most four runs are kept.
TEST(Amplification, OfSortedRuns) {
  Tree tree(0, kCompactionStyleUniversal);
  LoadAndOverwrite(&tree, 1);
  EXPECT_LT(tree.Amplification(), 5.1);
  EXPECT_LT(tree.AverageRuns(), 3.4);
}

}  // namespace
}  // namespace ashlar
