// Recovery: from the bytes of a pool to a TreeState.
//
//   span map -> batch log, if the mark names one: apply, fence, clear the mark, fence
//     -> headers of all leaves, by spans, in parallel, in the order of memory: next,
//     separator, how many entries -> the chain: from the first leaf along the selected next
//     pointers, in what was just read -> separators of the leaves in the chain, by pieces of it, in
//     parallel -> index
//
// It reads two lines and one separator of each leaf. Which records are in use is found later, in
// the background (leaf_mark.h). Following the chain in the pool itself was rejected: each leaf
// would be a cache miss that waits for the one before.
//
// I1: nothing is stored but what a committed batch log says, in leaves; doing that again has the
//     same result. So a crash during recovery changes nothing.
// I2: whatever the bytes are, the answer is a state or Corruption with an offset: offsets are
//     checked against the span map, and a leaf is met once.
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
  uint32_t threads = 1;                     // that read leaves
  size_t spans_per_thread_min = 32;         // fewer are not worth a thread
};

// The medium's pool, whose header is checked here. If the rest cannot be read the medium is closed,
// which leaves a pool of class logged without a log.
Result<std::unique_ptr<TreeState>> RecoverTree(std::unique_ptr<Medium> medium,
                                               RecoveryConfig config);

// A batch log: the words to store that complete a change. Used by BatchWriter too.
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
// Writes the words into the pieces, which have room for them, and flushes. Returns the batch mark
// that commits them: the caller fences, and then stores it. Requires: at least one piece.
uint64_t WriteBatchLog(PoolOperation* op, std::span<const PoolObject> pieces,
                       std::span<const BatchWord> words);
// Makes the batch mark durable.
void StoreBatchMark(PoolOperation* op, uint64_t mark);
// Makes the words durable, and then the mark of no batch.
void CompleteBatch(PoolOperation* op, const std::vector<BatchWord>& words);

}  // namespace ashlar::pmem
