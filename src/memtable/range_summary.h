// RangeSummary: the CoverSummary of a set of range tombstones that grows.
//
//   log       the tombstones as heads, in chunks of the arena    the writer's
//   current   a CoverSummary: made of the log, then each tombstone is added to it, until there
//             are twice as many as it was made for, and the next one is made
//
// Each has room for twice as many tombstones, and for the bytes that come next if they ascend. The
// next one is made early if a quarter of the tombstones has bytes that it does not know. So all
// summaries together take constant time for each tombstone, and twice the memory of the last one,
// unless bytes keep varying at new positions: each (at most 64) remakes the summary from the log.
//
// I1: the log has all tombstones, by the bytes at which their bounds vary.
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

#include "key/key_comparator.h"
#include "memtable/arena.h"
#include "ranges/cover_summary.h"
#include "ranges/range_tombstone.h"

namespace ashlar {

class RangeSummary {
 public:
  RangeSummary(const KeyComparator& comparator, Arena* arena)
      : comparator_(comparator), arena_(arena) {}
  RangeSummary(const RangeSummary&) = delete;
  RangeSummary& operator=(const RangeSummary&) = delete;

  // Keeps no key. Memory that runs out leaves the summary correct.
  void Add(const RangeTombstone& tombstone);
  // False: no tombstone whose Add happened before covers the key.
  bool MayCover(const Slice& user_key) const {
    const CoverSummary* const current = current_.load(std::memory_order_acquire);
    return current == nullptr || current->MayCover(user_key);
  }
  // Asserts I1 for the count, and the invariants of the current summary.
  void CheckInvariants() const;

 private:
  struct Chunk;

  void InsertByte(size_t slot, uint8_t byte, size_t limit_before);
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
  size_t unknown_ = 0;  // bounds that the current summary does not know
  VaryingBytes varying_;
};

}  // namespace ashlar
