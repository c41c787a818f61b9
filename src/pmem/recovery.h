// Recovery: from the bytes of a pool to a TreeState.
//
//   span map -> batch log, if the mark names one: apply, fence, clear the mark, fence
//     -> headers of all leaves, by spans, in parallel, in the order of memory: next,
//     separator, how many entries -> the chain: from the first leaf along the selected next
//     pointers, in what was just read -> separators of the leaves in the chain, by pieces of it, in
//     parallel -> index
//
// It reads two lines and one separator of each leaf. The records in use are found later, in the
// background (leaf_mark.h). Rejected: following the chain in the pool itself, because each leaf
// would be a cache miss that waits for the previous one.
//
// I1: only the words of a committed batch log are stored, in leaves, and storing them again has the
//     same result. So a crash during recovery changes nothing.
// I2: for any bytes the result is a state, or Corruption with an offset. Offsets are checked
//     against the span map, and no leaf is visited twice.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "pmem/tree_state.h"

namespace ashlar::pmem {

struct RecoveryConfig {
  const Comparator* comparator = nullptr;
  SplitStrategy split_strategy = SplitStrategy::kZeroCopySwap;
  std::function<bool()> refuse_allocation;  // see Heap
  uint32_t threads = 1;                     // for reading leaves
  size_t spans_per_thread_min = 32;         // fewer are not worth a thread
};

// Recovers the medium's pool and checks its header. If the rest cannot be read, the medium is
// closed, which leaves a pool of class logged without a log.
Result<std::unique_ptr<TreeState>> RecoverTree(std::unique_ptr<Medium> medium,
                                               RecoveryConfig config);

// A batch log has the words to store that complete a change. BatchWriter uses it too.
struct BatchWord {
  PoolOffset offset;
  uint64_t word;
};
constexpr uint64_t BatchLogBytes(size_t words) {
  return kBatchLogHeaderBytes + words * kBatchWordBytes;
}
constexpr size_t BatchWordsIn(uint64_t piece_bytes) {
  return static_cast<size_t>((piece_bytes - kBatchLogHeaderBytes) / kBatchWordBytes);
}
// Writes the words into the pieces and flushes. Returns the batch mark that commits them, which the
// caller stores after a fence. Requires: at least one piece, and enough room in the pieces.
uint64_t WriteBatchLog(PoolOperation* op, std::span<const PoolObject> pieces,
                       std::span<const BatchWord> words);
// Makes the batch mark durable.
void StoreBatchMark(PoolOperation* op, uint64_t mark);
// Makes the words durable, and then the mark of no batch.
void CompleteBatch(PoolOperation* op, const std::vector<BatchWord>& words);

}  // namespace ashlar::pmem
