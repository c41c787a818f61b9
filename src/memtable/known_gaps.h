// KnownGaps: the key ranges without a visible entry that iterators have stepped over, so that the
// next iterator seeks over them. Each memtable has one. docs/range-deletions.md ("Known gaps")
// proves that a gap also holds for the sources below the memtable.
//
//   iterator   Announce --> pending --search of the memtable--> Prove --> known
//   writer         each entry added splits the pending and the known gaps at its key
//   iterator   Find --> the known gap around a key
//
//   a gap   an edge between keys ... an edge between keys, and `since`:
//               c | d  e  f | g          [d, f] from (d, not after) to (f, after)
//
// I1: known gaps are in key order and not empty, and at least one key is between any two of them.
// I2: no key of a known gap has an entry that is visible to a reader at sequence `since` or later
//     whose newest source is this memtable.
// I3: a gap is pending from before the search for newer entries until after it. Each newer entry is
//     found by the search, passed to Added, or both.
// I4: there are at most kGapsMax known gaps, each with keys of at most kKeyBytesMax bytes.
//
// Thread safety: any thread. The mutex is a leaf. Gaps are hints, and are forgotten if an
// allocation fails or there is no room.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "ashlar/slice.h"
#include "ashlar/types.h"
#include "key/key_comparator.h"
#include "platform/mutex.h"

namespace ashlar {

// The place right before or right after a user key.
struct KeyEdge {
  std::string key;
  bool after = false;
};

struct KeyGap {
  KeyEdge begin;
  KeyEdge end;
  SequenceNumber since = 0;
};

class KnownGaps {
 public:
  static constexpr size_t kGapsMax = 1024;
  static constexpr size_t kKeyBytesMax = 1024;
  static constexpr size_t kPendingMax = 8;
  // A pending gap with more newer keys than this is forgotten.
  static constexpr size_t kNewerKeysMax = 64;

  struct Pending;

  explicit KnownGaps(const KeyComparator& comparator);
  ~KnownGaps();
  KnownGaps(const KnownGaps&) = delete;
  KnownGaps& operator=(const KnownGaps&) = delete;

  // Adds a pending gap that an iterator at gap.since has stepped over. Returns null if it is empty,
  // known, or not worth keeping. Otherwise the caller finds the memtable's entries in the gap newer
  // than `since`, calls AddNewer for each, then Prove. The result is valid until Prove or Forget.
  Pending* Announce(KeyGap gap);
  // Returns false if the gap has too many newer keys, or one that is too long.
  bool AddNewer(Pending* pending, const Slice& user_key);
  void Prove(Pending* pending);
  void Forget(Pending* pending);

  // Splits the gaps at the key, because an entry of it was added to the memtable.
  void Added(const Slice& user_key) noexcept;

  // Copies the gap that has the key and holds for readers at this sequence. Returns false if none.
  bool Find(const Slice& user_key, SequenceNumber visible, KeyGap* gap) const;

  size_t size() const;
  // Asserts I1 and I4.
  void CheckInvariants() const;

 private:
  int Compare(const Slice& a, bool after_a, const Slice& b, bool after_b) const;
  int Compare(const KeyEdge& a, const KeyEdge& b) const {
    return Compare(a.key, a.after, b.key, b.after);
  }
  bool IsEmpty(const KeyGap& gap) const { return Compare(gap.begin, gap.end) >= 0; }
  bool Has(const KeyGap& gap, const Slice& user_key) const;
  // The index of the first known gap that ends after the edge.
  size_t FirstEndingAfter(const Slice& key, bool after) const ASHLAR_REQUIRES(mutex_);
  bool IsKnown(const KeyGap& gap) const ASHLAR_REQUIRES(mutex_);
  // Adds the gap, merged with those that it overlaps or touches.
  void Join(KeyGap gap) ASHLAR_REQUIRES(mutex_);
  void Split(size_t place, const Slice& user_key) ASHLAR_REQUIRES(mutex_);
  std::unique_ptr<Pending> Take(Pending* pending) ASHLAR_REQUIRES(mutex_);
  void AssertInvariants() const ASHLAR_REQUIRES(mutex_);

  const KeyComparator comparator_;
  mutable Mutex mutex_;
  std::vector<KeyGap> gaps_ ASHLAR_GUARDED_BY(mutex_);
  std::vector<std::unique_ptr<Pending>> pending_ ASHLAR_GUARDED_BY(mutex_);
};

}  // namespace ashlar
