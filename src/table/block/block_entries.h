// Reading the entries of a block, checked against its bounds.
//
//   block   entries | fixed32 restart offset ... | [u8 bucket ... , u16 number of buckets] |
//           fixed32 packed
//   packed  bit 31: there are buckets (data-block hash index) · bit 29: keys are spread evenly, a
//           hint bit 28: values are stored apart (not supported) bits 0 to 27: number of restarts
//
// The hash index is skipped: DataBlock's own side index serves its purpose.
// Thread safety: values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "base/coding.h"
#include "base/result.h"
#include "key/key_comparator.h"

namespace ashlar {

struct BlockLayout {
  const char* entries = nullptr;
  const char* entries_end = nullptr;
  uint32_t restarts = 0;

  uint32_t Restart(uint32_t i) const { return DecodeFixed32(entries_end + i * sizeof(uint32_t)); }
};

// Corruption or NotSupported, without file and offset.
Status ParseBlockLayout(const Slice& block, BlockLayout* layout);

struct EntryHeader {
  uint32_t shared;
  uint32_t unshared;
  uint32_t value_bytes;
};

const char* DecodeEntryHeaderSlow(const char* p, const char* limit, EntryHeader* header);

// Reads the header at p < limit; returns where the key's bytes begin, or nullptr when header, key
// and value do not fit before limit.
inline const char* DecodeEntryHeader(const char* p, const char* limit, EntryHeader* header) {
  if (limit - p >= 3) [[likely]] {
    const auto a = static_cast<uint8_t>(p[0]);
    const auto b = static_cast<uint8_t>(p[1]);
    const auto c = static_cast<uint8_t>(p[2]);
    if ((a | b | c) < 0x80) [[likely]] {
      *header = {a, b, c};
      p += 3;
      return static_cast<size_t>(limit - p) >= size_t{b} + c ? p : nullptr;
    }
  }
  return DecodeEntryHeaderSlow(p, limit, header);
}

// Copies n bytes in steps of 16, writing up to 15 behind them. The caller has checked that these
// may be read and written. `to` is not within the n bytes; what a step reads behind them may be
// what it writes.
inline void CopyInSteps(char* to, const char* from, size_t n) {
  size_t i = 0;
  do {
    memmove(to + i, from + i, 16);
    i += 16;
  } while (i < n);
}

// A key of up to kBytes, held in registers while a walk puts the keys of a block together. Each
// takes what it shares from the one before it: loaded from where that was just stored in two
// pieces, it would have to wait until both have left the processor.
class ShortKey {
 public:
  static constexpr size_t kBytes = 32;

  ShortKey() = default;
  // Reads kBytes.
  explicit ShortKey(const char* key) { memcpy(words_, key, kBytes); }

  // Becomes its first `shared` bytes and what lies at `suffix`. Reads kBytes from suffix - shared
  // on; shared <= kBytes.
  void Follow(size_t shared, const char* suffix) {
    for (size_t i = 0; i < kWords; ++i) {
      uint64_t kept = 0;
      uint64_t other = 0;
      memcpy(&kept, kKept + kBytes - shared + i * sizeof(kept), sizeof(kept));
      memcpy(&other, suffix - shared + i * sizeof(other), sizeof(other));
      words_[i] = other ^ ((words_[i] ^ other) & kept);
    }
  }
  // Writes kBytes.
  void Store(char* to) const { memcpy(to, words_, kBytes); }

 private:
  static constexpr size_t kWords = kBytes / sizeof(uint64_t);
  // As many ones as bytes are kept, from a place in it on.
  static constexpr std::array<char, 2 * kBytes> kOnesAndZeros = [] {
    std::array<char, 2 * kBytes> bytes{};
    for (size_t i = 0; i < kBytes; ++i) bytes[i] = static_cast<char>(0xff);
    return bytes;
  }();
  static constexpr const char* kKept = kOnesAndZeros.data();

  uint64_t words_[kWords] = {};
};

// Where a walk has to begin so as to meet the first entry at or after (user_key, tag): the restart
// at or before it, found by halving. For blocks that are read for one search only; those that stay
// have DataBlock's side index. Corruption without file and offset. Precondition: there are entries.
Result<const char*> FindRestart(const BlockLayout& layout, const KeyComparator& comparator,
                                const Slice& user_key, uint64_t tag);

// Walks a block whose values have a length, one entry after another: metaindex, properties.
class BlockEntries {
 public:
  // The block must outlive the walk.
  explicit BlockEntries(const Slice& block)
      : status_(ParseBlockLayout(block, &layout_)), next_(layout_.entries) {}

  // False at the end and after an error.
  bool Next();
  const Slice key() const { return key_; }
  const Slice& value() const { return value_; }
  const Status& status() const { return status_; }

 private:
  BlockLayout layout_;
  Status status_;
  const char* next_;
  std::string key_;
  Slice value_;
};

}  // namespace ashlar
