// RangeSummary: the CoverSummary of a set of range tombstones that grows.
//
//   log       the tombstones as heads, in chunks of the arena    the writer's
//   current   a CoverSummary: made of the log, then each tombstone is added to it, until there are
//             twice as many as it was made for, and the next one is made
//
// Each has room for twice as many tombstones, and for the heads that come next if they ascend or
// descend. So all summaries together take constant time for each tombstone, and twice the memory of
// the last one.
//
// I1: the log has all tombstones. Their heads are of the keys after log_prefix_, with which all
//     bounds begin.
// I2: a summary is published after all tombstones of the log were added to it. So a reader finds in
//     the one that it loads every tombstone whose Add happened before: a later summary has it, too.
//     An earlier one is not loaded any more.
//
// Thread safety: one thread at a time calls Add. MayCover from any thread. Lifetime: the arena and
// the comparator outlive it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/arena.h"
#include "key/key_comparator.h"
#include "ranges/cover_summary.h"
#include "ranges/range_tombstone.h"

namespace ashlar {

class RangeSummary {
 public:
  RangeSummary(const KeyComparator& comparator, Arena* arena)
      : comparator_(comparator), arena_(arena) {}
  RangeSummary(const RangeSummary&) = delete;
  RangeSummary& operator=(const RangeSummary&) = delete;

  // Copies of the keys are not kept, except a common prefix. Memory that runs out leaves the
  // summary correct.
  void Add(const RangeTombstone& tombstone);
  // False: no tombstone whose Add happened before covers the key.
  bool MayCover(const Slice& user_key) const {
    const CoverSummary* const current = current_.load(std::memory_order_acquire);
    return current == nullptr || current->MayCover(user_key);
  }
  // Asserts I1 for the prefix and the count.
  void CheckInvariants() const;

 private:
  struct Chunk;

  void ShortenPrefix(const RangeTombstone& tombstone);
  void Append(const HeadSpan& span);
  void Remake();

  const KeyComparator comparator_;
  Arena* const arena_;
  // Release by I2; null: few tombstones, or an order without heads.
  std::atomic<CoverSummary*> current_{nullptr};

  // The writer's.
  Chunk* newest_ = nullptr;
  size_t count_ = 0;
  size_t remake_at_ = 0;
  Slice log_prefix_;    // in the arena
  HeadSpan all_;        // from the first head to the last
  HeadSpan all_before_;  // when the current summary was made
};

}  // namespace ashlar
