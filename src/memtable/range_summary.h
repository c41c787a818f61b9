// RangeSummary: the CoverSummary of a growing set of range tombstones.
//
//   log       the tombstones as heads, in chunks of the arena    writer only
//   current   a CoverSummary built from the log, to which each new tombstone is added. Once there
//             are twice as many as it was built for, the next one is built
//
// Each summary has room for twice as many tombstones, and for the next bytes if they ascend. The
// next summary is built early if a quarter of the tombstones has bytes that the current one lacks.
// So all of them together take constant time per tombstone and twice the memory of the last one,
// except that each position (at most 64) at which bytes begin to vary rebuilds the summary.
//
// I1: the log has all tombstones, by the bytes at which their bounds vary.
// I2: a summary is published after all tombstones of the log were added to it. So the summary that
//     a reader loads has every tombstone whose Add happened before the load. Later summaries have
//     it, too, and earlier ones are no longer loaded.
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

  // Copies no key. The summary stays correct if an allocation fails.
  void Add(const RangeTombstone& tombstone);
  // Returns false only if no tombstone whose Add happened before covers the key.
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
  // Stored with release (I2); null: few tombstones, or an order without heads.
  std::atomic<CoverSummary*> current_{nullptr};

  // For the writer only.
  Chunk* newest_ = nullptr;
  size_t count_ = 0;
  size_t remake_at_ = 0;
  size_t unknown_ = 0;  // tombstones with bytes that the current summary does not know
  VaryingBytes varying_;
};

}  // namespace ashlar
