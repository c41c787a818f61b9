#include "ranges/cover_summary.h"

#include "base/assert.h"

namespace ashlar {

namespace {

// By measurement: with 4 a bit is set by a neighbour too often, with 16 the bits take too much of
// the processor's cache.
constexpr uint64_t kBucketsPerBound = 8;
constexpr uint64_t kBucketsMin = 512;
// Longer ends do not make all shorter keys undecided.
constexpr size_t kEndTailMax = 64;

uint64_t WordsFor(uint64_t bits) { return (bits + 63) / 64; }

// Whether keys of a bytewise order that have the head and size of `end` are not before it: nothing
// but zeros follows its head.
bool EndsInZeros(const Slice& end, size_t prefix_bytes) {
  const size_t head_end = std::min(end.size(), prefix_bytes + 8);
  if (end.size() - head_end > kEndTailMax) return false;
  return std::all_of(end.data() + head_end, end.data() + end.size(),
                     [](char byte) { return byte == 0; });
}

}  // namespace

HeadSpan HeadSpan::Of(const KeyComparator& comparator, const Slice& begin, const Slice& end,
                      size_t prefix_bytes) {
  const bool size_tells = comparator.kind() == KeyComparator::Kind::kBytewise &&
                          EndsInZeros(end, prefix_bytes);
  return {.begin = comparator.Head(begin, prefix_bytes),
          .end = comparator.Head(end, prefix_bytes),
          .end_bytes = size_tells ? static_cast<uint32_t>(end.size()) : kNoSize};
}

HeadSpan HeadSpan::AfterShorterPrefix(const KeyComparator& comparator, const Slice& prefix,
                                      size_t prefix_bytes) const {
  const size_t bytes = prefix.size() - prefix_bytes;
  ASHLAR_DCHECK(prefix_bytes < prefix.size());
  // Heads of descending orders are inverted.
  const uint64_t inverted =
      comparator.kind() == KeyComparator::Kind::kBytewise ? 0 : ~uint64_t{0};
  const uint64_t front = comparator.Head(prefix, prefix_bytes) ^ inverted;
  const auto shift = [&](uint64_t head) {
    return (bytes < 8 ? front | ((head ^ inverted) >> (8 * bytes)) : front) ^ inverted;
  };
  const uint64_t lost = bytes < 8 ? end << (64 - 8 * bytes) : end;
  return {.begin = shift(begin),
          .end = shift(end),
          .end_bytes = lost == 0 ? end_bytes : kNoSize};
}

CoverSummary::Geometry CoverSummary::Geometry::For(uint64_t first_head, uint64_t last_head,
                                                   size_t bounds) {
  const uint64_t buckets_max = std::max(kBucketsMin, kBucketsPerBound * bounds);
  Geometry geometry;
  // Buckets begin at round numbers, so that ends do, too (I2).
  for (uint64_t shift = 0;; ++shift) {
    geometry.shift = static_cast<uint32_t>(shift);
    geometry.first_head = first_head >> shift << shift;
    const uint64_t last_bucket = (last_head - geometry.first_head) >> shift;
    geometry.buckets = last_bucket + 1;
    if (last_bucket < buckets_max) return geometry;
  }
}

size_t CoverSummary::Geometry::words() const {
  size_t words = 0;
  uint64_t bits = buckets;
  for (size_t level = 0; level < kLevels; ++level) {
    bits = WordsFor(bits);
    words += bits;
  }
  return words;
}

CoverSummary::CoverSummary(const KeyComparator& comparator, const Slice& prefix,
                           const Geometry& geometry, Word* words)
    : comparator_(comparator),
      prefix_(prefix),
      first_head_(geometry.first_head),
      buckets_(geometry.buckets),
      shift_(geometry.shift),
      levels_{words, words + WordsFor(buckets_),
              words + WordsFor(buckets_) + WordsFor(WordsFor(buckets_))} {
  ASHLAR_DCHECK(comparator.HasHeads());
}

void CoverSummary::Set(size_t level, uint64_t word, uint64_t bits) {
  Word& at = levels_[level][word];
  // One thread writes, so no locked instruction is needed.
  at.store(at.load(std::memory_order_relaxed) | bits, std::memory_order_relaxed);
}

void CoverSummary::SetBits(size_t level, uint64_t first, uint64_t last) {
  const uint64_t from_first = ~uint64_t{0} << (first & 63);
  const uint64_t to_last = ~uint64_t{0} >> (63 - (last & 63));
  uint64_t word = first >> 6;
  uint64_t end = last >> 6;
  if (word == end) return Set(level, word, from_first & to_last);
  if (from_first != ~uint64_t{0}) Set(level, word++, from_first);
  if (to_last != ~uint64_t{0}) {
    Set(level, end, to_last);
  } else {
    ++end;
  }
  if (word == end) return;
  if (level + 1 < kLevels) return SetBits(level + 1, word, end - 1);
  for (; word < end; ++word) Set(level, word, ~uint64_t{0});
}

void CoverSummary::Add(const HeadSpan& span) {
  if (span.begin < first_head_) before_.store(true, std::memory_order_relaxed);
  uint64_t end = span.end;
  if (span.end_bytes != HeadSpan::kNoSize && BeginsBucket(end) && span.begin < end) {
    --end;  // I2
    if (short_bytes_.load(std::memory_order_relaxed) < span.end_bytes)
      short_bytes_.store(span.end_bytes, std::memory_order_relaxed);
  }
  if (end >= first_head_ && ((end - first_head_) >> shift_) >= buckets_)
    after_.store(true, std::memory_order_relaxed);
  SetBits(0, NearestBucket(span.begin), NearestBucket(end));
}

void CoverSummary::Add(const Slice& begin, const Slice& end) {
  const bool begins_inside = begin.starts_with(prefix_);
  const bool ends_inside = end.starts_with(prefix_);
  if (begins_inside && ends_inside)
    return Add(HeadSpan::Of(comparator_, begin, end, prefix_.size()));
  // A bound without the prefix is before or after all keys that have it.
  const bool begins_before = !begins_inside && comparator_.Compare(begin, prefix_) < 0;
  const bool ends_before = !ends_inside && comparator_.Compare(end, prefix_) < 0;
  if (begins_before) before_.store(true, std::memory_order_relaxed);
  if (!ends_inside && !ends_before) after_.store(true, std::memory_order_relaxed);
  if (ends_before || (!begins_inside && !begins_before)) return;
  Add(HeadSpan{
      .begin = begins_inside ? comparator_.Head(begin, prefix_.size()) : first_head_,
      .end = ends_inside ? comparator_.Head(end, prefix_.size()) : ~uint64_t{0},
      .end_bytes = HeadSpan::kNoSize});
}

}  // namespace ashlar
