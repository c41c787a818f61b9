// FragmentedRanges: an immutable set of range tombstones, cut into fragments that do not overlap.
//
//   tombstones   [a, d)@5   [b, f)@9   [h, k)@7
//
//   bounds       a       b       d       f       h       k
//   sequences      5       9 5     9       none    7
//
// Interval i is [bound i, bound i + 1). It is a fragment, or a gap if it has no sequences. A search
// takes the part of the bounds that the key's head (key_comparator.h) falls into, counts the
// smaller heads in it, and compares keys among equal heads only.
//
// I1: bounds ascend strictly in the order of user keys.
// I2: the sequences of an interval descend strictly.
// I3: neighbouring intervals have different sequences. So no two gaps are neighbours, and neither
//     the first interval nor the last is a gap.
// I4: for each key and each visible sequence, CoveringSequence is the same as for the tombstones
//     from which the value was made.
//
// A set of n tombstones of which k overlap at one key takes O(n log n + n k) to make. The second
// term is at most the size of the result. The memtable's RangeTree has no such term. MakeWithin
// limits this term for the tombstones of a file.
//
// Thread safety: const, once prepared for lookups. Lifetime: owns its keys, not the comparator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ashlar/slice.h"
#include "base/assert.h"
#include "key/key_comparator.h"
#include "ranges/cover_interval.h"
#include "ranges/cover_summary.h"
#include "ranges/range_tombstone.h"

namespace ashlar {

class FragmentedRanges {
 public:
  struct Fragment {
    Slice begin;
    Slice end;
    std::span<const SequenceNumber> sequences;  // descending, at least one
  };
  class Builder;
  class Cursor;

  // An empty set.
  FragmentedRanges() : FragmentedRanges(KeyComparator(BytewiseComparator())) {}
  // Copies the keys. Requires: begin < end for each tombstone.
  static FragmentedRanges Make(const KeyComparator& comparator,
                               std::vector<RangeTombstone> tombstones);
  static constexpr size_t kBytesOfStep = 64;
  // The same, for tombstones of a file that may be hostile. Returns nullopt if they overlap so much
  // that they take more than overlap_max steps. A fragment takes a step for each tombstone over it,
  // and one for each kBytesOfStep bytes of its end that are compared with the tombstone's.
  static std::optional<FragmentedRanges> MakeWithin(const KeyComparator& comparator,
                                                    std::vector<RangeTombstone> tombstones,
                                                    uint64_t overlap_max);

  FragmentedRanges(FragmentedRanges&&) noexcept = default;
  FragmentedRanges& operator=(FragmentedRanges&&) noexcept = default;
  FragmentedRanges(const FragmentedRanges&) = delete;
  FragmentedRanges& operator=(const FragmentedRanges&) = delete;

  bool IsEmpty() const { return bounds_.empty(); }
  size_t fragments() const { return fragments_; }
  // The number of tombstones in a file of these ranges: one for each sequence of each fragment.
  size_t tombstones() const { return sequences_.size(); }
  size_t MemoryBytes() const;

  // The largest sequence <= visible of a tombstone that covers the key. 0: no visible entry of the
  // key is deleted.
  SequenceNumber CoveringSequence(const Slice& user_key, SequenceNumber visible) const {
    if (summary_ != nullptr && !summary_->MayCover(user_key)) return 0;
    return IsEmpty() ? 0 : FindCovering(user_key, visible);
  }

  // Makes CoveringSequence faster for keys that no tombstone covers, at the cost of memory and two
  // passes over the bounds. For sets that are searched as long as a table is open. Call it once,
  // before other threads have the value.
  void PrepareForLookups();

  // The fragment or gap that has the key, with CoveringSequence of all its keys.
  CoverInterval FindCoverInterval(const Slice& user_key, SequenceNumber visible) const;

  // The part within [lower, upper); null: unbounded.
  FragmentedRanges Cut(const Slice* lower, const Slice* upper) const;
  // Keeps, for each fragment, the largest sequence of each snapshot stripe. Readers at the
  // snapshots, or at the newest sequence, meet no others. Requires: snapshots ascend.
  FragmentedRanges KeepForSnapshots(std::span<const SequenceNumber> snapshots) const;

  // Asserts I1 to I3, and that the summary rules out no fragment.
  void CheckInvariants() const;

 private:
  struct Bound {
    size_t key_offset;
    uint32_t key_bytes;
    uint32_t first_sequence;
  };

  explicit FragmentedRanges(const KeyComparator& comparator) : comparator_(comparator) {}

  size_t intervals() const { return bounds_.empty() ? 0 : bounds_.size() - 1; }
  Slice key(size_t bound) const {
    return Slice(keys_.data() + bounds_[bound].key_offset, bounds_[bound].key_bytes);
  }
  std::span<const SequenceNumber> sequences(size_t interval) const {
    return {sequences_.data() + bounds_[interval].first_sequence,
            sequences_.data() + bounds_[interval + 1].first_sequence};
  }
  bool IsGap(size_t interval) const { return sequences(interval).empty(); }
  // The number of bounds at or before the key.
  size_t CountBounds(const Slice& user_key) const;
  SequenceNumber FindCovering(const Slice& user_key, SequenceNumber visible) const;
  void MakeHeads();
  void MakeParts();

  KeyComparator comparator_;
  std::vector<char> keys_;
  std::vector<Bound> bounds_;  // empty, or one more than there are intervals
  std::vector<SequenceNumber> sequences_;
  std::vector<uint64_t> heads_;  // of the bounds, after prefix_bytes_
  size_t prefix_bytes_ = 0;      // that all bounds share; 0 without heads
  // Divides the numbers from the first head to the last into parts of 2^part_shift_, with about
  // four bounds each if they are spread evenly. It has for each part the number of bounds before
  // it, and at the end the number of all bounds.
  std::vector<uint32_t> parts_;
  uint32_t part_shift_ = 0;
  size_t fragments_ = 0;
  // The summary of all fragments. Null: not prepared, few bounds, or an order without heads.
  std::unique_ptr<CoverSummary> summary_;
  std::unique_ptr<CoverSummary::Word[]> summary_words_;
  size_t summary_bytes_ = 0;
};

// Makes a FragmentedRanges from disjoint fragments in key order. Joins neighbours with the same
// sequences (I3). Thread safety: one thread.
class FragmentedRanges::Builder {
 public:
  explicit Builder(const KeyComparator& comparator) : ranges_(comparator) {}

  // Copies the keys. Requires: begin < end, begin is not before the last end, and sequences descend
  // strictly. Without sequences, nothing is added.
  void Add(const Slice& begin, const Slice& end, std::span<const SequenceNumber> sequences);
  // Call once.
  FragmentedRanges Finish();

 private:
  bool Continues(std::span<const SequenceNumber> sequences) const;
  void AddBound(const Slice& key);

  FragmentedRanges ranges_;
};

// A position at a fragment, or past either end (not valid). Thread safety: one thread.
// Lifetime: the ranges outlive it.
class FragmentedRanges::Cursor {
 public:
  explicit Cursor(const FragmentedRanges* ranges) : ranges_(ranges), at_(ranges->intervals()) {}

  bool Valid() const { return at_ < ranges_->intervals(); }
  // Requires: Valid().
  Slice begin() const { return ranges_->key(Interval()); }
  Slice end() const { return ranges_->key(Interval() + 1); }
  std::span<const SequenceNumber> sequences() const { return ranges_->sequences(Interval()); }
  Fragment fragment() const { return {begin(), end(), sequences()}; }

  void SeekToFirst() { at_ = 0; }
  void SeekToLast();
  // The first fragment that ends after the key: it covers the key or begins after it.
  void Seek(const Slice& user_key);
  // The last fragment that begins at or before the key: it covers the key or ends at or before it.
  void SeekForPrev(const Slice& user_key);
  // Requires: Valid().
  void Next();
  void Prev();

 private:
  size_t Interval() const {
    ASHLAR_DCHECK(Valid() && !ranges_->IsGap(at_));  // Requires; the place is a fragment
    return at_;
  }
  void SkipGapForward();
  void SkipGapBackward();

  const FragmentedRanges* ranges_;
  size_t at_;  // intervals(): not valid
};

}  // namespace ashlar
