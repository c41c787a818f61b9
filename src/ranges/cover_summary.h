// CoverSummary: shows for most keys, by one bit, that no range tombstone covers them. A search among
// 100,000 tombstones reads several cache lines, one after the other. The bit is in one.
//
//   heads     first_head_                                        of keys after the common prefix
//               |         |         |         |         |
//   buckets     |    0    |    1    |    1    |    0    |        each of 2^shift_ heads
//                           [b ......... e)                      the only tombstone
//
// The bits of 64 buckets are a word. A tombstone that covers all of them sets one bit of the next
// level, which has a bit for each word. So a tombstone sets at most two partial words per level,
// and a key looks at one bit of each of the three levels.
//
// A bucket with a set bit decides nothing. Outside the buckets one flag on each side takes their
// place.
//
// I1: every key that an added tombstone covers has a set bit or flag, in all of its life: bits and
//     flags are only ever set.
// I2: a tombstone sets no bit of the bucket that begins with its end, unless the bucket has shorter
//     keys before the end. Keys of fewer bytes than such ends are not decided.
//
// Thread safety: one thread at a time calls Add, any number call MayCover. A key finds every
// tombstone whose Add happened before the call. Lifetime: the words, the bytes of the prefix and
// the comparator outlive it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "ashlar/slice.h"
#include "key/key_comparator.h"

namespace ashlar {

// A range tombstone as the heads of its bounds.
struct HeadSpan {
  uint64_t begin = 0;
  uint64_t end = 0;
  // Keys that have the end's head and at least this size are not before the end. kNoSize: the size
  // does not tell.
  uint32_t end_bytes = 0;

  static constexpr uint32_t kNoSize = UINT32_MAX;
  // Requires: both keys begin with the prefix.
  static HeadSpan Of(const KeyComparator& comparator, const Slice& begin, const Slice& end,
                     size_t prefix_bytes);
  // The same span after a prefix that is shorter than `prefix`, which the keys begin with.
  HeadSpan AfterShorterPrefix(const KeyComparator& comparator, const Slice& prefix,
                              size_t prefix_bytes) const;
};

class CoverSummary {
 public:
  static constexpr size_t kLevels = 3;
  using Word = std::atomic<uint64_t>;

  // The buckets that a number of bounds needs.
  struct Geometry {
    uint64_t first_head = 0;
    uint32_t shift = 0;
    uint64_t buckets = 0;

    // For bounds whose heads are from first to last.
    static Geometry For(uint64_t first_head, uint64_t last_head, size_t bounds);
    size_t words() const;
  };

  // words: geometry.words() of them, zero. Requires: the comparator has heads.
  CoverSummary(const KeyComparator& comparator, const Slice& prefix, const Geometry& geometry,
               Word* words);
  CoverSummary(const CoverSummary&) = delete;
  CoverSummary& operator=(const CoverSummary&) = delete;

  void Add(const HeadSpan& span);
  // For bounds that need not begin with the prefix.
  void Add(const Slice& begin, const Slice& end);

  // False: no tombstone covers the key.
  bool MayCover(const Slice& user_key) const {
    if (user_key.size() < short_bytes_.load(std::memory_order_relaxed)) return true;
    if (!user_key.starts_with(prefix_)) [[unlikely]]
      return OutsideMayCover(comparator_.Compare(user_key, prefix_) < 0);
    const uint64_t head = comparator_.Head(user_key, prefix_.size());
    const uint64_t bucket = (head - first_head_) >> shift_;
    if (head < first_head_ || bucket >= buckets_) [[unlikely]]
      return OutsideMayCover(head < first_head_);
    return ((BitOf(0, bucket) | BitOf(1, bucket >> 6) | BitOf(2, bucket >> 12)) & 1) != 0;
  }

 private:
  bool OutsideMayCover(bool before) const {
    return (before ? before_ : after_).load(std::memory_order_relaxed);
  }
  // In the lowest bit.
  uint64_t BitOf(size_t level, uint64_t index) const {
    return levels_[level][index >> 6].load(std::memory_order_relaxed) >> (index & 63);
  }
  // The bucket of a head, or the nearest one.
  uint64_t NearestBucket(uint64_t head) const {
    return head < first_head_ ? 0 : std::min((head - first_head_) >> shift_, buckets_ - 1);
  }
  bool BeginsBucket(uint64_t head) const {
    return head > first_head_ && ((head - first_head_) & ((uint64_t{1} << shift_) - 1)) == 0;
  }
  void SetBits(size_t level, uint64_t first, uint64_t last);
  void Set(size_t level, uint64_t word, uint64_t bits);

  // What a search reads comes first.
  const KeyComparator comparator_;
  const Slice prefix_;
  const uint64_t first_head_;
  const uint64_t buckets_;
  const uint32_t shift_;
  // By I2. Written by the writer, relaxed, before the tombstone that needs it is published.
  std::atomic<uint32_t> short_bytes_{0};
  // Of levels 0, 1 and 2.
  const std::array<Word*, kLevels> levels_;
  std::atomic<bool> before_{false};
  std::atomic<bool> after_{false};
};

}  // namespace ashlar
