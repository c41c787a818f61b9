// HashIndexBuilder: the hash index at the end of a data block, with which RocksDB finds the restart
// interval of a key. Ashlar skips it, because blocks in memory have a side index (data_block.h).
//
//   index   u8 restart per bucket: 255 no key, 254 keys of several restarts | u16 buckets
//   bucket  LegacyHash32(user key, seed 397) % buckets; the number of buckets is odd
//
// A block with more than 254 restarts, or of more than 64 KiB, has no hash index.
// Thread safety: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "ashlar/slice.h"
#include "base/assert.h"
#include "base/byte_buffer.h"
#include "base/coding.h"
#include "base/hash.h"

namespace ashlar {

class HashIndexBuilder {
 public:
  // Requires: buckets_per_entry > 0.
  explicit HashIndexBuilder(double buckets_per_entry) : buckets_per_entry_(buckets_per_entry) {
    ASHLAR_ASSERT(buckets_per_entry > 0);  // Requires
  }

  void Add(const Slice& user_key, size_t restart) {
    if (restart > kRestartMax) usable_ = false;
    if (!usable_) return;
    entries_.push_back({.hash = LegacyHash32(user_key.data(), user_key.size(), kSeed),
                        .restart = static_cast<uint8_t>(restart)});
    wanted_buckets_ += buckets_per_entry_;
  }
  // The size of the index that Finish would append now; 0 if none is possible.
  size_t Bytes() const { return usable_ && IsSmall() ? Buckets() + sizeof(uint16_t) : 0; }
  // Whether a block of this size, index included, may have the index.
  bool Fits(size_t block_bytes) const {
    return usable_ && IsSmall() && block_bytes <= kBlockBytesMax;
  }
  // Appends the index. Requires: Fits.
  void Finish(ByteBuffer* block) const {
    ASHLAR_ASSERT(usable_ && IsSmall());  // Requires
    const size_t buckets = Buckets();
    char* const p = block->Reserve(buckets + sizeof(uint16_t));
    memset(p, kNoEntry, buckets);
    for (const Entry& entry : entries_) {
      char* const bucket = p + entry.hash % buckets;
      const auto present = static_cast<uint8_t>(*bucket);
      if (present == entry.restart) continue;
      *bucket = static_cast<char>(present == kNoEntry ? entry.restart : kCollision);
    }
    EncodeFixed16(p + buckets, static_cast<uint16_t>(buckets));
    block->Extend(buckets + sizeof(uint16_t));
  }
  void Reset() {
    entries_.clear();
    wanted_buckets_ = 0;
    usable_ = true;
  }

 private:
  struct Entry {
    uint32_t hash;
    uint8_t restart;
  };
  static constexpr uint32_t kSeed = 397;
  static constexpr uint8_t kNoEntry = 255;
  static constexpr uint8_t kCollision = 254;
  static constexpr size_t kRestartMax = 253;
  static constexpr size_t kBlockBytesMax = size_t{1} << 16;

  bool IsSmall() const { return wanted_buckets_ < UINT16_MAX; }
  size_t Buckets() const { return static_cast<size_t>(wanted_buckets_) | 1; }

  const double buckets_per_entry_;
  double wanted_buckets_ = 0;
  bool usable_ = true;
  std::vector<Entry> entries_;
};

}  // namespace ashlar
