#include "compact/run/compaction_ranges.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "compact/run/snapshot_stripe.h"

namespace ashlar {

CompactionRanges::CompactionRanges(const Args& args, std::vector<RangeTombstone> tombstones)
    : args_(args),
      all_(FragmentedRanges::Make(args.comparator, std::move(tombstones))
               .Cut(args.begin, args.end)
               .KeepForSnapshots(args.snapshots)),
      kept_(FindKept()),
      at_(&all_) {
  at_.SeekToFirst();
}

bool CompactionRanges::HasOlder(const FragmentedRanges::Fragment& fragment) const {
  if (args_.older == nullptr) return true;
  return std::any_of(
      args_.older->begin(), args_.older->end(), [&](const std::vector<FileMetaData*>& run) {
        const auto first =
            std::partition_point(run.begin(), run.end(), [&](const FileMetaData* file) {
              return file->EndsBefore(args_.comparator, fragment.begin);
            });
        return first != run.end() &&
               args_.comparator.Compare((*first)->smallest_user_key(), fragment.end) < 0;
      });
}

FragmentedRanges CompactionRanges::FindKept() const {
  FragmentedRanges::Builder builder(args_.comparator);
  FragmentedRanges::Cursor cursor(&all_);
  for (cursor.SeekToFirst(); cursor.Valid(); cursor.Next()) {
    const FragmentedRanges::Fragment fragment = cursor.fragment();
    std::span<const SequenceNumber> sequences = fragment.sequences;
    ASHLAR_ASSERT(!sequences.empty());  // a fragment, no gap
    // Every reader sees a tombstone of the first stripe. All that it covers here is dropped.
    if (StripeOf(args_.snapshots, sequences.back()) == 0 && !HasOlder(fragment))
      sequences = sequences.first(sequences.size() - 1);
    builder.Add(fragment.begin, fragment.end, sequences);
  }
  return builder.Finish();
}

bool CompactionRanges::Covers(const Slice& user_key, SequenceNumber sequence) {
  while (at_.Valid() && args_.comparator.Compare(at_.end(), user_key) <= 0) at_.Next();
  if (!at_.Valid() || args_.comparator.Compare(user_key, at_.begin()) < 0) return false;
  const size_t stripe = StripeOf(args_.snapshots, sequence);
  const std::span<const SequenceNumber> sequences = at_.sequences();
  return std::any_of(sequences.begin(), sequences.end(), [&](SequenceNumber tombstone) {
    return tombstone > sequence && StripeOf(args_.snapshots, tombstone) == stripe;
  });
}

bool CompactionRanges::Replace(const Slice& user_key, SequenceNumber sequence) const {
  FragmentedRanges::Cursor at(&all_);
  at.Seek(user_key);
  if (!at.Valid() || args_.comparator.Compare(user_key, at.begin()) < 0) return false;
  const size_t stripe = StripeOf(args_.snapshots, sequence);
  const std::span<const SequenceNumber> sequences = at.sequences();
  return std::any_of(sequences.begin(), sequences.end(), [&](SequenceNumber tombstone) {
    return tombstone >= sequence && StripeOf(args_.snapshots, tombstone) == stripe;
  });
}

void AppendTombstones(const FragmentedRanges& ranges, std::vector<RangeTombstone>* tombstones) {
  FragmentedRanges::Cursor cursor(&ranges);
  for (cursor.SeekToFirst(); cursor.Valid(); cursor.Next()) {
    for (const SequenceNumber sequence : cursor.sequences())
      tombstones->push_back({.begin = cursor.begin(), .end = cursor.end(), .sequence = sequence});
  }
}

void MetTombstones::Add(const FragmentedRanges& ranges) {
  if (ranges.tombstones() == ranges.fragments()) {
    AppendTombstones(ranges, &list_);
    return;
  }
  reduced_.push_back(ranges.KeepForSnapshots(snapshots_));
  AppendTombstones(reduced_.back(), &list_);
}

}  // namespace ashlar
