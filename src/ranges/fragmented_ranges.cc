#include "ranges/fragmented_ranges.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <limits>

#include "key/key_head.h"

namespace ashlar {

namespace {

// With fewer bounds, a search without a summary is as fast.
constexpr size_t kSummaryBoundsMin = 16;

// The largest sequence <= visible, or 0 if there is none. Most readers see the first.
SequenceNumber FindVisible(std::span<const SequenceNumber> sequences, SequenceNumber visible) {
  if (sequences.empty()) return 0;
  if (sequences.front() <= visible) return sequences.front();
  const auto found =
      std::lower_bound(sequences.begin(), sequences.end(), visible, std::greater<>());
  return found == sequences.end() ? 0 : *found;
}

// Sweeps over tombstones in the order of their begins.
class Sweep {
 public:
  Sweep(const KeyComparator& comparator, std::vector<RangeTombstone> tombstones)
      : comparator_(comparator), tombstones_(std::move(tombstones)), builder_(comparator) {
    std::sort(tombstones_.begin(), tombstones_.end(),
              [this](const RangeTombstone& a, const RangeTombstone& b) {
                const int r = comparator_.Compare(a.begin, b.begin);
                return r != 0 ? r < 0 : IsNewer(a, b);
              });
  }

  // overlap_max: see MakeWithin.
  std::optional<FragmentedRanges> Run(uint64_t overlap_max) {
    auto next = tombstones_.cbegin();
    Slice at;
    while (next != tombstones_.cend() || !active_.empty()) {
      if (active_.empty()) at = next->begin;
      const auto first = next;
      while (next != tombstones_.cend() && comparator_.Compare(next->begin, at) <= 0) ++next;
      if (first != next) Activate({first, next});
      const Slice end = FirstEnd(next);
      const uint64_t overlap = active_.size() * (1 + end.size() / FragmentedRanges::kBytesOfStep);
      if (overlap > overlap_max) return std::nullopt;
      overlap_max -= overlap;
      AddFragment(at, end);
      std::erase_if(active_, [&](const RangeTombstone& tombstone) {
        return comparator_.Compare(tombstone.end, end) <= 0;
      });
      at = end;
    }
    return builder_.Finish();
  }

 private:
  using Tombstones = std::vector<RangeTombstone>;

  static bool IsNewer(const RangeTombstone& a, const RangeTombstone& b) {
    return a.sequence > b.sequence;
  }

  // Adds the tombstones that begin at the sweep's key. Requires: their sequences descend.
  void Activate(std::span<const RangeTombstone> beginning) {
    merged_.clear();
    std::merge(active_.begin(), active_.end(), beginning.begin(), beginning.end(),
               std::back_inserter(merged_), &IsNewer);
    active_.clear();
    for (const RangeTombstone& tombstone : merged_) {
      ASHLAR_DCHECK(comparator_.Compare(tombstone.begin, tombstone.end) < 0);  // Requires of Make
      if (active_.empty() || active_.back().sequence != tombstone.sequence) {
        active_.push_back(tombstone);
      } else if (comparator_.Compare(active_.back().end, tombstone.end) < 0) {
        // Of two with the same sequence, the one that ends later covers the rest of both.
        active_.back().end = tombstone.end;
      }
    }
  }

  // Returns where the set of active tombstones changes next.
  Slice FirstEnd(Tombstones::const_iterator next) const {
    Slice end = active_.front().end;
    for (const RangeTombstone& tombstone : active_) {
      if (comparator_.Compare(tombstone.end, end) < 0) end = tombstone.end;
    }
    if (next != tombstones_.cend() && comparator_.Compare(next->begin, end) < 0) end = next->begin;
    return end;
  }

  void AddFragment(const Slice& begin, const Slice& end) {
    sequences_.clear();
    for (const RangeTombstone& tombstone : active_) sequences_.push_back(tombstone.sequence);
    builder_.Add(begin, end, sequences_);
  }

  const KeyComparator comparator_;
  Tombstones tombstones_;
  Tombstones active_;  // those that cover the sweep's key; sequences descend
  Tombstones merged_;  // kept to reuse its memory
  std::vector<SequenceNumber> sequences_;
  FragmentedRanges::Builder builder_;
};

}  // namespace

FragmentedRanges FragmentedRanges::Make(const KeyComparator& comparator,
                                        std::vector<RangeTombstone> tombstones) {
  constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();
  return *MakeWithin(comparator, std::move(tombstones), kNoLimit);
}

std::optional<FragmentedRanges> FragmentedRanges::MakeWithin(const KeyComparator& comparator,
                                                             std::vector<RangeTombstone> tombstones,
                                                             uint64_t overlap_max) {
  if (tombstones.empty()) return FragmentedRanges(comparator);
  return Sweep(comparator, std::move(tombstones)).Run(overlap_max);
}

size_t FragmentedRanges::MemoryBytes() const {
  return keys_.capacity() + bounds_.capacity() * sizeof(Bound) +
         sequences_.capacity() * sizeof(SequenceNumber) + heads_.capacity() * sizeof(uint64_t) +
         parts_.capacity() * sizeof(uint32_t) + summary_bytes_;
}

size_t FragmentedRanges::CountBounds(const Slice& user_key) const {
  const Slice prefix(keys_.data() + bounds_[0].key_offset, prefix_bytes_);
  if (prefix_bytes_ > 0 && !user_key.starts_with(prefix))
    return comparator_.Compare(user_key, prefix) < 0 ? 0 : bounds_.size();
  const uint64_t head = comparator_.Head(user_key, prefix_bytes_);
  size_t begin = 0;
  size_t end = heads_.size();
  if (head > heads_.back()) return end;
  if (head > heads_.front()) {
    const uint64_t part = (head - heads_.front()) >> part_shift_;
    begin = parts_[part];
    begin += CountSmaller(std::span(heads_.data() + begin, heads_.data() + parts_[part + 1]), head);
  }
  if (heads_[begin] != head) return begin;
  // Equal heads do not decide. Few heads are equal, or all of them in an order without heads.
  end = begin + 1;
  if (end < heads_.size() && heads_[end] == head)
    end = static_cast<size_t>(
        std::upper_bound(heads_.begin() + static_cast<ptrdiff_t>(end), heads_.end(), head) -
        heads_.begin());
  while (begin < end) {
    const size_t middle = begin + (end - begin) / 2;
    if (comparator_.Compare(key(middle), user_key) <= 0) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

SequenceNumber FragmentedRanges::FindCovering(const Slice& user_key, SequenceNumber visible) const {
  const size_t before = CountBounds(user_key);
  return before == 0 || before == bounds_.size() ? 0 : FindVisible(sequences(before - 1), visible);
}

CoverInterval FragmentedRanges::FindCoverInterval(const Slice& user_key,
                                                  SequenceNumber visible) const {
  if (IsEmpty()) return {};
  const size_t before = CountBounds(user_key);
  CoverInterval interval;
  if (before > 0) interval.begin = key(before - 1);
  if (before < bounds_.size()) interval.end = key(before);
  if (before > 0 && before < bounds_.size())
    interval.sequence = FindVisible(sequences(before - 1), visible);
  return interval;
}

FragmentedRanges FragmentedRanges::Cut(const Slice* lower, const Slice* upper) const {
  Builder builder(comparator_);
  Cursor cursor(this);
  lower != nullptr ? cursor.Seek(*lower) : cursor.SeekToFirst();
  for (; cursor.Valid(); cursor.Next()) {
    Slice begin = cursor.begin();
    Slice end = cursor.end();
    if (lower != nullptr && comparator_.Compare(begin, *lower) < 0) begin = *lower;
    if (upper != nullptr && comparator_.Compare(*upper, end) < 0) end = *upper;
    if (comparator_.Compare(begin, end) >= 0) break;
    builder.Add(begin, end, cursor.sequences());
  }
  return builder.Finish();
}

FragmentedRanges FragmentedRanges::KeepForSnapshots(
    std::span<const SequenceNumber> snapshots) const {
  ASHLAR_DCHECK(std::is_sorted(snapshots.begin(), snapshots.end()));  // Requires
  Builder builder(comparator_);
  std::vector<SequenceNumber> kept;
  Cursor cursor(this);
  for (cursor.SeekToFirst(); cursor.Valid(); cursor.Next()) {
    kept.clear();
    for (const SequenceNumber sequence : cursor.sequences()) {
      // Hidden: every reader that sees this one sees the one kept last.
      const bool hidden =
          !kept.empty() && std::lower_bound(snapshots.begin(), snapshots.end(), sequence) ==
                               std::lower_bound(snapshots.begin(), snapshots.end(), kept.back());
      if (!hidden) kept.push_back(sequence);
    }
    builder.Add(cursor.begin(), cursor.end(), kept);
  }
  return builder.Finish();
}

void FragmentedRanges::MakeHeads() {
  if (bounds_.empty()) return;
  if (comparator_.HasHeads()) prefix_bytes_ = CommonKeyPrefixBytes(key(0), key(intervals()));
  heads_.reserve(bounds_.size());
  for (size_t i = 0; i < bounds_.size(); ++i)
    heads_.push_back(comparator_.Head(key(i), prefix_bytes_));
  MakeParts();
}

void FragmentedRanges::MakeParts() {
  const uint64_t width = heads_.back() - heads_.front();
  while ((width >> part_shift_) > heads_.size() / 4 + 1) ++part_shift_;
  parts_.reserve((width >> part_shift_) + 2);
  for (size_t i = 0; i < heads_.size(); ++i) {
    const uint64_t part = (heads_[i] - heads_.front()) >> part_shift_;
    while (parts_.size() <= part) parts_.push_back(static_cast<uint32_t>(i));
  }
  parts_.push_back(static_cast<uint32_t>(heads_.size()));
}

void FragmentedRanges::PrepareForLookups() {
  ASHLAR_DCHECK(summary_ == nullptr);  // Requires
  if (!comparator_.HasHeads() || bounds_.size() < kSummaryBoundsMin) return;
  VaryingBytes varying;
  for (size_t i = 0; i < bounds_.size(); ++i)
    varying.Include(ComparedPart(key(i)), [](size_t, uint8_t) {});
  CoverSummary::Geometry geometry(varying);
  for (size_t i = 0; i < bounds_.size(); ++i)
    geometry.Include(varying.HeadOf(ComparedPart(key(i))));
  geometry.Finish(bounds_.size());
  summary_words_ = std::make_unique<CoverSummary::Word[]>(geometry.words());
  summary_ = std::make_unique<CoverSummary>(comparator_, geometry, summary_words_.get());
  for (size_t i = 0; i < intervals(); ++i) {
    if (!IsGap(i)) summary_->Add(ComparedPart(key(i)), ComparedPart(key(i + 1)));
  }
  summary_bytes_ = sizeof(CoverSummary) + geometry.words() * sizeof(CoverSummary::Word);
  if constexpr (kDebugChecks) CheckInvariants();
}

void FragmentedRanges::CheckInvariants() const {
  ASHLAR_ASSERT(heads_.size() == bounds_.size() && bounds_.size() != 1);  // a head for each bound
  if (IsEmpty()) return;
  ASHLAR_ASSERT(!IsGap(0) && !IsGap(intervals() - 1));  // I3
  size_t fragments = 0;
  for (size_t i = 0; i < intervals(); ++i) {
    ASHLAR_ASSERT(comparator_.Compare(key(i), key(i + 1)) < 0);  // I1
    ASHLAR_ASSERT(heads_[i] <= heads_[i + 1]);                   // heads ascend with keys
    const auto own = sequences(i);
    for (size_t j = 1; j < own.size(); ++j) ASHLAR_ASSERT(own[j - 1] > own[j]);  // I2
    if (i > 0) {
      const auto before = sequences(i - 1);
      ASHLAR_ASSERT(!std::equal(own.begin(), own.end(), before.begin(), before.end()));  // I3
    }
    if (own.empty()) continue;
    ++fragments;
    ASHLAR_ASSERT(summary_ == nullptr || summary_->MayCover(key(i)));  // rules out no fragment
  }
  if (summary_ != nullptr) summary_->CheckInvariants();
  ASHLAR_ASSERT(fragments == fragments_);  // Builder counted them
}

// --- Builder ---

// Whether the last fragment has the same sequences. The bound at its end is then not needed.
bool FragmentedRanges::Builder::Continues(std::span<const SequenceNumber> sequences) const {
  const auto last = ranges_.sequences(ranges_.intervals() - 1);
  return std::equal(sequences.begin(), sequences.end(), last.begin(), last.end());
}

void FragmentedRanges::Builder::AddBound(const Slice& key) {
  // first_sequence has 32 bits.
  ASHLAR_ASSERT(ranges_.sequences_.size() <= std::numeric_limits<uint32_t>::max());
  ranges_.bounds_.push_back({.key_offset = ranges_.keys_.size(),
                             .key_bytes = static_cast<uint32_t>(key.size()),
                             .first_sequence = static_cast<uint32_t>(ranges_.sequences_.size())});
  ranges_.keys_.insert(ranges_.keys_.end(), key.data(), key.data() + key.size());
}

void FragmentedRanges::Builder::Add(const Slice& begin, const Slice& end,
                                    std::span<const SequenceNumber> sequences) {
  if (sequences.empty()) return;
  const KeyComparator& comparator = ranges_.comparator_;
  ASHLAR_DCHECK(comparator.Compare(begin, end) < 0);  // Requires
  bool touches = false;
  if (!ranges_.IsEmpty()) {
    const int r = comparator.Compare(ranges_.key(ranges_.intervals()), begin);
    ASHLAR_ASSERT(r <= 0);  // I1
    touches = r == 0;
  }
  if (touches && Continues(sequences)) {
    // The bound moves to the new end.
    ranges_.keys_.resize(ranges_.bounds_.back().key_offset);
    ranges_.bounds_.pop_back();
    AddBound(end);
    return;
  }
  if (!touches) AddBound(begin);
  for (const SequenceNumber sequence : sequences) ranges_.sequences_.push_back(sequence);
  AddBound(end);
  ++ranges_.fragments_;
}

FragmentedRanges FragmentedRanges::Builder::Finish() {
  ranges_.MakeHeads();
  if constexpr (kDebugChecks) ranges_.CheckInvariants();
  return std::move(ranges_);
}

// --- Cursor ---

void FragmentedRanges::Cursor::SeekToLast() {
  at_ = ranges_->intervals();
  if (at_ > 0) --at_;
}

void FragmentedRanges::Cursor::Seek(const Slice& user_key) {
  if (ranges_->IsEmpty()) return;
  const size_t before = ranges_->CountBounds(user_key);
  at_ = before == 0 ? 0 : before - 1;
  SkipGapForward();
}

void FragmentedRanges::Cursor::SeekForPrev(const Slice& user_key) {
  if (ranges_->IsEmpty()) return;
  const size_t before = ranges_->CountBounds(user_key);
  if (before == 0) {
    at_ = ranges_->intervals();
    return;
  }
  at_ = std::min(before, ranges_->intervals()) - 1;
  SkipGapBackward();
}

void FragmentedRanges::Cursor::Next() {
  ASHLAR_DCHECK(Valid());  // Requires
  ++at_;
  SkipGapForward();
}

void FragmentedRanges::Cursor::Prev() {
  ASHLAR_DCHECK(Valid());  // Requires
  if (at_ == 0) {
    at_ = ranges_->intervals();
    return;
  }
  --at_;
  SkipGapBackward();
}

// One step is enough, because no two gaps are neighbours and neither the first nor the last
// interval is a gap (I3).
void FragmentedRanges::Cursor::SkipGapForward() {
  if (Valid() && ranges_->IsGap(at_)) ++at_;
}
void FragmentedRanges::Cursor::SkipGapBackward() {
  if (ranges_->IsGap(at_)) --at_;
}

}  // namespace ashlar
