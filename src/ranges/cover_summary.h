// CoverSummary: for most keys, one bit proves that no range tombstone covers them. A search among
// 100,000 tombstones reads several cache lines, one after the other. The bit is in one cache line.
//
//   key      log [00 00 00 09] 01 [00 00 12 80]     the bytes where bounds differ (VaryingBytes)
//                          |             |  |
//   digits                 2             7  12      the number of smaller bytes that bounds
//                          |             |  |       have there. So text has few buckets, too
//   bucket                2 * w0 + 7 * w1 + 12
//
//   buckets   before |  0  |  1  |  1  |  0  | after     one bit each
//                        [b ........ e)                  the only tombstone
//
// The bits of 64 buckets form a word. A tombstone that covers all of them sets one bit of the next
// level, which has a bit for each word. So a tombstone sets bits in at most two partial words per
// level, and a search reads one bit of each of the three levels. A set bit proves nothing.
//
// I1: as keys ascend bytewise, their buckets never descend. A key is in the nearest bucket if it
//     differs from all bounds where these agree, or has a byte that none of them has.
// I2: every key that an added tombstone covers has a set bit from then on. Bits are never cleared.
// I3: a tombstone does not set the bit of its end's bucket if no key of that bucket is before the
//     end. Exceptions are keys in a nearest bucket, and keys of fewer bytes than the end. A search
//     for these also reads the bit of the bucket before, which is set then.
//
// Thread safety: one thread at a time calls Add, any number call MayCover. MayCover finds every
// tombstone whose Add happened before the call. Lifetime: the words outlive it.
#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>

#include "ashlar/slice.h"
#include "key/key_comparator.h"
#include "ranges/varying_bytes.h"

namespace ashlar {

// A range tombstone, as the varying bytes of its bounds.
struct HeadSpan {
  uint64_t begin = 0;
  uint64_t end = 0;
  // A key that agrees with the end up to VaryingBytes::limit() and has at least this size is not
  // before the end. kNoSize: the size does not prove this.
  uint32_t end_bytes = 0;

  static constexpr uint32_t kNoSize = UINT32_MAX;
  static HeadSpan Of(const VaryingBytes& varying, const Slice& begin, const Slice& end);
};

class CoverSummary {
 public:
  static constexpr size_t kLevels = 3;
  using Word = std::atomic<uint64_t>;

  // How keys become buckets. Made from all bounds, or from the bounds so far.
  class Geometry {
   public:
    explicit Geometry(const VaryingBytes& varying) : varying_(varying) {}
    void Include(uint64_t head);
    // Makes room for higher bytes at the first varying position.
    void WidenFirstByte();
    // Call once, after all heads were included.
    void Finish(size_t bounds);
    // Requires: Finish.
    size_t words() const;

   private:
    friend class CoverSummary;

    VaryingBytes varying_;
    // The bytes by position. Bits would take three instructions to set, and every bound sets some.
    std::array<std::array<bool, 256>, VaryingBytes::kPositionsMax> bytes_{};
    std::array<uint32_t, VaryingBytes::kPositionsMax> digits_{};  // numbers of digits by position
    size_t positions_ = 0;                                        // in use
    uint32_t last_shift_ = 0;  // of the last digit, whose low bits have no buckets
    uint64_t buckets_ = 0;
  };

  // words: geometry.words() zeroed words. Requires: the comparator has heads.
  CoverSummary(const KeyComparator& comparator, const Geometry& geometry, Word* words);
  CoverSummary(const CoverSummary&) = delete;
  CoverSummary& operator=(const CoverSummary&) = delete;

  // Adds a tombstone whose bounds the geometry includes.
  void Add(const HeadSpan& span);
  // Adds any tombstone. Returns false if a bound is in a nearest bucket, which many keys share.
  bool Add(const Slice& begin, const Slice& end);

  // Asserts the parts of I1 and I2 that need no tombstones: digits ascend with their bytes, and
  // only bits of buckets are set. Requires: no writer is active.
  void CheckInvariants() const;

  // Returns false only if no tombstone covers the key.
  bool MayCover(const Slice& user_key) const {
    const KeyWords key(user_key, words_);
    uint64_t bucket;
    if (!FindBucket(key, &bucket)) [[unlikely]]
      return NearestMayCover(key);
    if (MaySet(bucket)) return true;
    return user_key.size() < end_bytes_max_.load(std::memory_order_relaxed) && MaySet(bucket - 1);
  }

 private:
  // Marks a byte that no bound has, in addition to the number of smaller ones.
  static constexpr uint16_t kUnknown = 0x8000;
  struct Place {
    uint64_t bucket;
    bool is_nearest;
  };

  bool MaySet(uint64_t bucket) const {
    return ((BitOf(0, bucket) | BitOf(1, bucket >> 6) | BitOf(2, bucket >> 12)) & 1) != 0;
  }
  // The bit is the lowest one of the result.
  uint64_t BitOf(size_t level, uint64_t index) const {
    return levels_[level][index >> 6].load(std::memory_order_relaxed) >> (index & 63);
  }
  // Returns false if the key is in a nearest bucket (I1).
  bool FindBucket(const KeyWords& key, uint64_t* found) const {
    uint64_t differences = 0;
    for (size_t i = 0; i < words_; ++i) differences |= (key.words[i] ^ common_[i]) & constant_[i];
    uint64_t bucket = 1;
    uint32_t unknown = 0;
    for (size_t i = 0; i < positions_; ++i) {
      const uint16_t digit = digits_[i][key.byte(position_[i])];
      unknown |= digit;
      bucket += uint64_t{digit} * weight_[i];
    }
    *found = bucket;
    return differences == 0 && (unknown & kUnknown) == 0;
  }
  bool NearestMayCover(const KeyWords& key) const;
  Place PlaceOf(const KeyWords& key) const;
  Place NearestPlaceOf(const KeyWords& key) const;
  uint64_t BucketOf(uint64_t head) const;
  bool BeginsBucket(uint64_t head) const;
  bool BeginsBucket(const Slice& key, const KeyWords& words) const;
  void AddBuckets(uint64_t begin, uint64_t end, bool excludes_end, size_t end_bytes);
  void SetBits(size_t level, uint64_t first, uint64_t last);
  void Set(size_t level, uint64_t word, uint64_t bits);

  // The fields that a search reads come first. Constant, except end_bytes_max_ and the bits.
  uint32_t words_;      // of a key that are compared
  uint32_t positions_;  // that are digits
  // The size of the longest end of I3. Stored relaxed before the tombstone is published.
  std::atomic<uint32_t> end_bytes_max_{0};
  bool is_bytewise_;
  std::array<uint8_t, VaryingBytes::kPositionsMax> position_{};
  std::array<Word*, kLevels> levels_;
  std::array<uint64_t, VaryingBytes::kPositionsMax> weight_{};
  std::array<uint64_t, kKeyWords> common_{};
  std::array<uint64_t, kKeyWords> constant_{};  // ff where common_ is compared
  std::array<std::array<uint16_t, 256>, VaryingBytes::kPositionsMax> digits_{};
  size_t limit_;
  uint64_t buckets_;
  // For bytes at the last position: whether a byte is the smallest of those in its bucket.
  std::bitset<256> begins_bucket_;
  uint32_t last_shift_;    // Geometry::last_shift_
  uint64_t first_digits_;  // different bytes at the first position
  bool zeros_follow_;      // from limit_ to the limit of the varying bytes all bounds have zeros
};

}  // namespace ashlar
