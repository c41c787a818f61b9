// CompactionRanges: the range tombstones of a flush or compaction. It decides which entries, and
// which tombstones, are written.
//
// A tombstone covers the entries of its range that are older and in its snapshot stripe
// (compaction_iterator.h). No reader sees them. The largest tombstone of each stripe is written.
// Every reader sees the oldest stripe's tombstone, so it is dropped if no older run has keys of it.
//
// I1: at every snapshot and at the newest sequence, each user key reads the same before and after.
// Requires: the keys of successive calls of Covers do not descend.
// Lifetime: borrows snapshots; the tombstones' keys are copied. Thread safety: one thread.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "key/key_comparator.h"
#include "ranges/fragmented_ranges.h"
#include "table/file_metadata.h"

namespace ashlar {

class CompactionRanges {
 public:
  struct Args {
    KeyComparator comparator{nullptr};
    std::span<const SequenceNumber> snapshots;  // ascending
    // CompactionPlan::older: the files that may have older data. Null: all keys may have some.
    const std::vector<std::vector<FileMetaData*>>* older = nullptr;
    const Slice* begin = nullptr;  // user keys [begin, end); null: unbounded
    const Slice* end = nullptr;
  };
  // tombstones: those of all inputs.
  CompactionRanges(const Args& args, std::vector<RangeTombstone> tombstones);
  CompactionRanges(const CompactionRanges&) = delete;
  CompactionRanges& operator=(const CompactionRanges&) = delete;

  bool Covers(const Slice& user_key, SequenceNumber sequence);
  // True if the tombstones delete all that a deletion with this sequence would delete. Calls may be
  // in any order.
  bool Replace(const Slice& user_key, SequenceNumber sequence) const;
  // The tombstones that stay, within [begin, end).
  const FragmentedRanges& kept() const { return kept_; }

 private:
  FragmentedRanges FindKept() const;
  bool HasOlder(const FragmentedRanges::Fragment& fragment) const;

  const Args args_;
  const FragmentedRanges all_;
  const FragmentedRanges kept_;
  FragmentedRanges::Cursor at_;  // the first fragment that ends after the last key
};

// Adds the tombstones of a table or memtable to the list. They refer to keys of `ranges`.
void AppendTombstones(const FragmentedRanges& ranges, std::vector<RangeTombstone>* tombstones);

// The tombstones of several tables that are read as one run, as far as a reader at one of the
// snapshots or at the newest sequence can see them. A hostile table may have thousands at one key.
// Each would split all fragments of the other tables (fragmented_ranges.h).
// Lifetime: the ranges outlive it. Thread safety: one thread.
class MetTombstones {
 public:
  // snapshots: ascending, borrowed.
  explicit MetTombstones(std::span<const SequenceNumber> snapshots) : snapshots_(snapshots) {}
  MetTombstones(const MetTombstones&) = delete;
  MetTombstones& operator=(const MetTombstones&) = delete;

  void Add(const FragmentedRanges& ranges);
  bool IsEmpty() const { return list_.empty(); }
  // The tombstones refer to keys of the ranges and of this object.
  std::vector<RangeTombstone> Take() { return std::move(list_); }

 private:
  const std::span<const SequenceNumber> snapshots_;
  std::vector<FragmentedRanges> reduced_;  // moving an element does not move its keys
  std::vector<RangeTombstone> list_;
};

}  // namespace ashlar
