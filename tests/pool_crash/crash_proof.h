// CrashProof: a tree on recorded memory, and for each operation every state of the memory that a
// power cut during it may leave.
//
//   Run(operation) ──> epochs ──> images: one choice of a prefix per line ──> recover
//   recover ──> the entries before the operation, or after it
//        └──> epochs of the recovery ──> images ──> ...
//
// Every image must open, hold one of the two sets of entries, pass Verify, account for all its
// bytes, and accept changes. The memory at the return of the operation must hold its effect.
// Recoveries that store are cut off in the same way. With several concurrent writers, an image must
// hold each writer's returned changes, and all or nothing of its change in progress.
//
// Thread safety: one thread; RunTogether starts its own.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "ashlar/persistent_tree.h"
#include "base/random.h"
#include "pmem/tree.h"
#include "tests/pool_crash/change.h"
#include "tests/pool_crash/pool_memory.h"
#include "tests/pool_crash/proof_counts.h"

namespace ashlar::pmem {

struct ProofOptions {
  uint64_t pool_bytes = uint64_t{1} << 20;
  const Comparator* comparator = BytewiseComparator();
  SplitStrategy split_strategy = SplitStrategy::kZeroCopySwap;
  PoolMemory::CopyOrder copy_order = PoolMemory::CopyOrder::kUp;
  // An epoch with more images than this is sampled: no line, all lines, each line alone, all but
  // one, and random choices up to samples_per_epoch.
  uint64_t images_per_epoch_max = 4096;
  uint64_t samples_per_epoch = 256;
  // At most this many recoveries of an operation's images are cut off themselves.
  uint64_t recoveries_cut_max = 4;
  uint64_t seed = 1;
};

class CrashProof {
 public:
  explicit CrashProof(const ProofOptions& options);
  ~CrashProof();

  // Returns the error, or nothing. A change that fails must have no effect.
  Problem Run(const Change& change, Status* status = nullptr);
  // The same for concurrent writers, each with changes to keys of its own. `writer_of` returns the
  // writer of a key.
  Problem RunTogether(const std::vector<std::vector<Change>>& writers,
                      const std::function<size_t(const std::string&)>& writer_of);
  Problem Reopen();
  // The same, but the next change runs concurrently with the mark.
  Problem ReopenWithBackgroundMark();
  // Runs a change without checking images, to reach some state.
  Status RunUnseen(const Change& change);

  // Makes each n-th allocation fail (0: none), or only the n-th from now.
  void RefuseEach(uint64_t n) { refuse_each_ = n; }
  void RefuseOnce(uint64_t n) { allocations_until_refusal_ = n; }
  // Omits the n-th verb of that kind in the next operation. See PoolMemory::Omit.
  void Omit(Verb verb, uint64_t n) { memory_.Omit(verb, n); }
  bool WasOmitted() const { return memory_.WasOmitted(); }
  bool OmissionMatters() const { return memory_.OmissionMatters(); }

  PersistentTree* tree() { return tree_.get(); }
  const Model& model() const { return model_; }
  // The costs of the committed operations of the last Run.
  const std::vector<OperationCost>& costs() const { return costs_; }
  const ProofCounts& counts() const { return counts_; }

 private:
  // One level for crashes, one for crashes in the recovery from them, one for crashes in the
  // recovery from those.
  static constexpr size_t kLevels = 3;

  // The variants of one line that a crash may leave. Each differs from the previous one.
  struct LineChoices {
    PoolOffset offset;
    std::vector<LineBytes> contents;
  };

  Problem LookAtEpochs(size_t level, const std::vector<Epoch>& epochs,
                       const std::function<Permitted(const Epoch&)>& permitted_in);
  Problem LookAtEpoch(size_t level, const Epoch& epoch, const Permitted& permitted);
  Problem LookAtChoice(size_t level, const std::vector<LineChoices>& lines,
                       const std::vector<size_t>& chosen, const Permitted& permitted);
  Problem LookAtImage(size_t level, const Permitted& permitted, std::vector<Epoch>* recovery);
  void ForgetEpochs();
  bool RefusesAllocation();
  Result<std::unique_ptr<PersistentTree>> Open(PoolMemory* memory, std::function<bool()> refuse,
                                               MarkRun mark);

  const ProofOptions options_;
  Random random_;
  PoolMemory memory_;
  // [0] has the durable contents of memory_, and [i + 1] those of [i].
  std::vector<std::unique_ptr<PoolMemory>> images_;
  Model model_;
  uint64_t refuse_each_ = 0;
  uint64_t allocations_ = 0;
  uint64_t allocations_until_refusal_ = 0;
  std::vector<OperationCost> costs_;
  uint64_t recoveries_that_store_ = 0;
  uint64_t recoveries_cut_ = 0;  // in this operation
  ProofCounts counts_;
  std::unique_ptr<PersistentTree> tree_;
};

}  // namespace ashlar::pmem
