#include "ranges/cover_summary.h"

#include <algorithm>

#include "base/assert.h"

namespace ashlar {

namespace {

// With this many, a neighbouring tombstone rarely sets a key's bit. All bits take one byte per
// bound, so that they stay in the processor's cache.
constexpr uint64_t kBucketsPerBound = 8;
constexpr uint64_t kBucketsMin = 512;

uint64_t WordsFor(uint64_t bits) { return (bits + 63) / 64; }

bool IsZeroFrom(const Slice& key, size_t from) {
  return from >= key.size() || std::all_of(key.data() + from, key.data() + key.size(),
                                           [](char byte) { return byte == 0; });
}

using Bytes = std::array<bool, 256>;

void SetAll(Bytes* bytes, size_t first, size_t last) {
  for (size_t byte = first; byte <= last; ++byte) (*bytes)[byte] = true;
}

bool AnyOf(const Bytes& bytes, size_t first, size_t last) {
  for (size_t byte = first; byte <= last; ++byte) {
    if (bytes[byte]) return true;
  }
  return false;
}

// Adds bytes of keys between the bounds. Text has the bytes of a class, numbers have all bytes.
void AddLikelyBytes(Bytes* bytes) {
  size_t first = 0;
  while (first < 255 && !(*bytes)[first]) ++first;
  size_t last = 255;
  while (last > first && !(*bytes)[last]) --last;
  if (first < ' ' || last > '~') return SetAll(bytes, first, last);
  if (AnyOf(*bytes, '0', '9')) SetAll(bytes, '0', '9');
  if (AnyOf(*bytes, 'A', 'Z')) SetAll(bytes, 'A', AnyOf(*bytes, 'G', 'Z') ? 'Z' : 'F');
  if (AnyOf(*bytes, 'a', 'z')) SetAll(bytes, 'a', AnyOf(*bytes, 'g', 'z') ? 'z' : 'f');
}

}  // namespace

HeadSpan HeadSpan::Of(const VaryingBytes& varying, const Slice& begin, const Slice& end) {
  return {
      .begin = varying.HeadOf(begin),
      .end = varying.HeadOf(end),
      .end_bytes = IsZeroFrom(end, varying.limit()) ? static_cast<uint32_t>(end.size()) : kNoSize};
}

// --- Geometry ---

void CoverSummary::Geometry::Include(uint64_t head) {
  for (size_t slot = 0; slot < varying_.count(); ++slot)
    bytes_[slot][VaryingBytes::ByteOf(head, slot)] = true;
}

void CoverSummary::Geometry::WidenFirstByte() {
  Bytes& first = bytes_[0];
  size_t smallest = 0;
  while (smallest < 256 && !first[smallest]) ++smallest;
  size_t largest = 255;
  while (largest > smallest && !first[largest]) --largest;
  for (size_t byte = largest + 1; byte < 256 && byte <= 2 * largest - smallest + 1; ++byte)
    first[byte] = true;
}

void CoverSummary::Geometry::Finish(size_t bounds) {
  const uint64_t buckets_max = std::max(kBucketsMin, kBucketsPerBound * bounds);
  buckets_ = 1;
  for (positions_ = 0; positions_ < varying_.count() && 2 * buckets_ <= buckets_max;) {
    Bytes& bytes = bytes_[positions_];
    AddLikelyBytes(&bytes);
    auto count = static_cast<uint32_t>(std::count(bytes.begin(), bytes.end(), true));
    for (last_shift_ = 0; buckets_ * count > buckets_max; ++last_shift_) count = (count + 1) / 2;
    digits_[positions_++] = count;
    buckets_ *= count;
  }
  buckets_ += 2;  // before and after
}

size_t CoverSummary::Geometry::words() const {
  size_t words = 0;
  uint64_t bits = buckets_;
  for (size_t level = 0; level < kLevels; ++level) {
    bits = WordsFor(bits);
    words += bits;
  }
  return words;
}

CoverSummary::CoverSummary(const KeyComparator& comparator, const Geometry& geometry, Word* words)
    : positions_(static_cast<uint32_t>(geometry.positions_)),
      is_bytewise_(comparator.kind() == KeyComparator::Kind::kBytewise),
      levels_{words, words + WordsFor(geometry.buckets_),
              words + WordsFor(geometry.buckets_) + WordsFor(WordsFor(geometry.buckets_))},
      buckets_(geometry.buckets_) {
  ASHLAR_DCHECK(comparator.HasHeads());  // Requires
  const VaryingBytes& varying = geometry.varying_;
  const bool uses_all = positions_ == varying.count();
  limit_ = uses_all ? varying.limit() : varying.position(positions_);
  words_ = static_cast<uint32_t>((limit_ + 7) / 8);
  zeros_follow_ = true;
  for (size_t position = 0; position < varying.limit(); ++position) {
    const uint64_t byte = uint64_t{0xff} << (56 - position % 8 * 8);
    if (position < limit_) {
      constant_[position / 8] |= byte;
      common_[position / 8] |= byte & (varying.common(position) * (~uint64_t{0} / 255));
    } else if (varying.common(position) != 0) {
      zeros_follow_ = false;
    }
  }
  uint64_t weight = 1;
  for (size_t i = positions_; i-- > 0;) {
    const size_t position = varying.position(i);
    constant_[position / 8] &= ~(uint64_t{0xff} << (56 - position % 8 * 8));
    position_[i] = static_cast<uint8_t>(position);
    weight_[i] = weight;
    weight *= geometry.digits_[i];
    const bool is_last = i + 1u == positions_;
    uint32_t smaller = 0;
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t shift = is_last ? geometry.last_shift_ : 0;
      const bool known = geometry.bytes_[i][byte];
      if (is_last && known && smaller % (1u << shift) == 0) begins_bucket_.set(byte);
      digits_[i][byte] = static_cast<uint16_t>(known ? smaller >> shift : smaller | kUnknown);
      if (known) ++smaller;
    }
  }
  last_shift_ = geometry.last_shift_;
  first_digits_ = positions_ == 0
                      ? 0
                      : static_cast<uint64_t>(
                            std::count(geometry.bytes_[0].begin(), geometry.bytes_[0].end(), true));
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

// begin, end: the buckets of the smaller bound and of the larger one.
void CoverSummary::AddBuckets(uint64_t begin, uint64_t end, bool excludes_end, size_t end_bytes) {
  ASHLAR_DCHECK(begin <= end && end < buckets_);  // I1
  if (excludes_end && begin < end) {
    --end;  // I3
    if (end_bytes_max_.load(std::memory_order_relaxed) < end_bytes)
      end_bytes_max_.store(static_cast<uint32_t>(end_bytes), std::memory_order_relaxed);
  }
  SetBits(0, begin, end);
}

uint64_t CoverSummary::BucketOf(uint64_t head) const {
  uint64_t bucket = 1;
  for (size_t i = 0; i < positions_; ++i)
    bucket += digits_[i][VaryingBytes::ByteOf(head, i)] * weight_[i];
  return bucket;
}

// Whether no known key of the bucket is before the keys that have the head.
bool CoverSummary::BeginsBucket(uint64_t head) const {
  if (!zeros_follow_) return false;
  if (positions_ == 0) return head == 0;
  const uint64_t unused = positions_ == 8 ? 0 : head << (8 * positions_);
  return unused == 0 && begins_bucket_.test(VaryingBytes::ByteOf(head, positions_ - 1u));
}

bool CoverSummary::BeginsBucket(const Slice& key, const KeyWords& words) const {
  return IsZeroFrom(key, limit_) &&
         (positions_ == 0 || begins_bucket_.test(words.byte(position_[positions_ - 1u])));
}

void CoverSummary::Add(const HeadSpan& span) {
  // In descending order the begin is the larger key.
  if (!is_bytewise_) return AddBuckets(BucketOf(span.end), BucketOf(span.begin), false, 0);
  AddBuckets(BucketOf(span.begin), BucketOf(span.end),
             span.end_bytes != HeadSpan::kNoSize && BeginsBucket(span.end), span.end_bytes);
}

bool CoverSummary::Add(const Slice& begin, const Slice& end) {
  const KeyWords begin_words(begin, words_);
  const KeyWords end_words(end, words_);
  const Place from = PlaceOf(begin_words);
  const Place to = PlaceOf(end_words);
  if (!is_bytewise_) {
    AddBuckets(to.bucket, from.bucket, false, 0);
  } else {
    AddBuckets(from.bucket, to.bucket, !to.is_nearest && BeginsBucket(end, end_words), end.size());
  }
  return !from.is_nearest && !to.is_nearest;
}

CoverSummary::Place CoverSummary::PlaceOf(const KeyWords& key) const {
  uint64_t bucket;
  if (FindBucket(key, &bucket)) [[likely]]
    return {bucket, false};
  return NearestPlaceOf(key);
}

// Finds the nearest bucket (I1).
CoverSummary::Place CoverSummary::NearestPlaceOf(const KeyWords& key) const {
  uint64_t bucket = 1;
  uint64_t width = buckets_ - 2;  // the number of buckets of the digits so far
  size_t slot = 0;
  for (size_t position = 0; position < limit_; ++position) {
    const uint8_t byte = key.byte(position);
    if (slot < positions_ && position_[slot] == position) {
      const uint16_t digit = digits_[slot][byte];
      if ((digit & kUnknown) != 0) {
        const bool is_last = slot + 1u == positions_;
        const uint64_t smaller = digit & ~uint32_t{kUnknown};
        if (smaller == 0) return {slot == 0 ? 0 : bucket, true};
        if (slot == 0 && smaller == first_digits_) return {buckets_ - 1, true};
        const uint64_t before = (smaller - 1) >> (is_last ? last_shift_ : 0);
        return {bucket + before * weight_[slot] + weight_[slot] - 1, true};
      }
      bucket += digit * weight_[slot];
      width = weight_[slot];
      ++slot;
      continue;
    }
    const auto common = static_cast<uint8_t>(common_[position / 8] >> (56 - position % 8 * 8));
    if (byte == common) continue;
    if (slot == 0) return {byte < common ? 0 : buckets_ - 1, true};
    return {byte < common ? bucket : bucket + width - 1, true};
  }
  return {bucket, false};
}

void CoverSummary::CheckInvariants() const {
  uint64_t buckets = 1;
  for (size_t i = positions_; i-- > 0;) {
    ASHLAR_ASSERT(weight_[i] == buckets);  // buckets of the digits after it
    uint64_t digits = 0;                   // the number of digits of the smaller bytes
    for (size_t byte = 0; byte < 256; ++byte) {
      if ((digits_[i][byte] & kUnknown) != 0) continue;
      const uint64_t digit = digits_[i][byte];
      ASHLAR_ASSERT(digit + 1 == digits || digit == digits);  // I1
      digits = digit + 1;
    }
    buckets *= digits;
  }
  ASHLAR_ASSERT(buckets_ == buckets + 2);  // those before and after all
  uint64_t bits = buckets_;
  for (size_t level = 0; level < kLevels; ++level) {
    // I2: a word covers words of the level before, or buckets.
    const uint64_t beyond = bits % 64 == 0 ? 0 : ~uint64_t{0} << (bits % 64);
    ASHLAR_ASSERT((levels_[level][WordsFor(bits) - 1].load() & beyond) == 0);  // I2
    bits = WordsFor(bits);
  }
}

bool CoverSummary::NearestMayCover(const KeyWords& key) const {
  const uint64_t bucket = NearestPlaceOf(key).bucket;
  return MaySet(bucket) || (bucket > 0 && MaySet(bucket - 1));  // I3
}

}  // namespace ashlar
