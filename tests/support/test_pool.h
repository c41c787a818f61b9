// Pools of persistent memory for tests. They are in anonymous memory, on a medium that counts the
// verbs.
#pragma once

#include <functional>
#include <memory>

#include "platform/pool_file.h"
#include "pmem/medium.h"
#include "pmem/tree.h"

namespace ashlar::pmem {

// A pool in an anonymous file. It outlives the media on it, as memory outlives a process.
class TestPool {
 public:
  static constexpr uint64_t kId = 77;

  explicit TestPool(uint64_t bytes, const Comparator* comparator = BytewiseComparator());

  SplitStrategy split_strategy = SplitStrategy::kZeroCopySwap;

  PoolFile* file() { return file_.get(); }
  const Comparator* comparator() const { return comparator_; }

 private:
  std::unique_ptr<PoolFile> file_;
  const Comparator* const comparator_;
};

struct VerbCounts {
  uint64_t fences = 0;
  uint64_t lines_flushed = 0;

  VerbCounts operator-(const VerbCounts& before) const {
    return {.fences = fences - before.fences,
            .lines_flushed = lines_flushed - before.lines_flushed};
  }
};

// The engine's view is read-only, so a store that bypasses the verbs faults. The verbs write
// through a second mapping of the same file and are counted. Requires: one thread uses the counts.
class CountingMedium final : public Medium {
 public:
  static std::unique_ptr<CountingMedium> Create(PoolFile* file);

  DurabilityClass durability_class() const override { return DurabilityClass::kCpuFlush; }
  const VerbCounts& counts() const { return counts_; }
  // on_begin runs in Begin, where an operation of class logged waits for a checkpoint.
  void set_on_begin(std::function<void()> on_begin) { on_begin_ = std::move(on_begin); }
  // on_fence runs in each fence. In those of a new span, the heap's mutex is held.
  void set_on_fence(std::function<void()> on_fence) { on_fence_ = std::move(on_fence); }
  // on_commit runs in Commit, where class logged appends to the log.
  void set_on_commit(std::function<void()> on_commit) { on_commit_ = std::move(on_commit); }

 private:
  CountingMedium(const std::string& path, std::unique_ptr<PoolMapping> view,
                 std::unique_ptr<PoolMapping> writable);
  void Begin(PoolOperation* /*operation*/) override {
    if (on_begin_) on_begin_();
  }
  void Store(PoolOperation* /*operation*/, PoolOffset to, uint64_t word) override {
    WordAt(writable_->data(), to).store(word, std::memory_order_release);
  }
  void Copy(PoolOperation* /*operation*/, PoolOffset to, const char* from, size_t n) override {
    memcpy(writable_->data() + to, from, n);
  }
  void Flush(PoolOffset from, size_t n) override {
    counts_.lines_flushed += (from + n - 1) / kLineBytes - from / kLineBytes + 1;
  }
  void Fence() override {
    counts_.fences++;
    if (on_fence_) on_fence_();
  }
  void Commit(PoolOperation* /*operation*/) override {
    if (on_commit_) on_commit_();
  }
  void End(PoolOperation* /*operation*/) override {}
  Status AwaitDurable(PoolOperation* /*operation*/) override { return Status::OK(); }

  const std::unique_ptr<PoolMapping> view_mapping_;
  const std::unique_ptr<PoolMapping> writable_;
  VerbCounts counts_;
  std::function<void()> on_begin_;
  std::function<void()> on_fence_;
  std::function<void()> on_commit_;
};

// Opens a tree on a TestPool, and returns once the mark has finished. If medium is not null, sets
// *medium, which the tree owns.
std::unique_ptr<PersistentTree> OpenTestTree(TestPool* pool, CountingMedium** medium = nullptr,
                                             std::function<bool()> refuse_allocation = {});

}  // namespace ashlar::pmem
