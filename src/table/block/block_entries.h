// Reads the entries of a block. DecodeEntry is the only checked step from bytes to an entry.
//
//   block   entries | fixed32 restart offset ... | [u8 bucket ..., u16 buckets] | fixed32 packed
//   packed  bit 31      there are buckets: the data-block hash index, which is skipped
//           bit 29      a hint that keys are spread evenly
//           bit 28      values are stored apart: not supported
//           bits 0-27   number of restarts
//
//   entry   varint32 shared | varint32 unshared | varint32 value bytes | key suffix | value
//
// I1: after DecodeEntry returns true, the suffix and the value of the entry are inside the block,
//     and the entry shares no more bytes than the previous key has.
// Thread safety: values.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "ashlar/slice.h"
#include "ashlar/status.h"
#include "base/coding.h"
#include "base/compiler.h"
#include "base/result.h"
#include "key/internal_key.h"
#include "key/key_comparator.h"

namespace ashlar {

struct BlockLayout {
  const char* entries = nullptr;
  const char* entries_end = nullptr;
  uint32_t restarts = 0;

  uint32_t Restart(uint32_t i) const { return DecodeFixed32(entries_end + i * sizeof(uint32_t)); }
};

// Returns Corruption or NotSupported, without file and offset.
Status ParseBlockLayout(const Slice& block, BlockLayout* layout);

// One entry as it is stored in a block.
struct BlockEntry {
  uint32_t shared;  // bytes that the key has in common with the previous one
  uint32_t unshared;
  uint32_t value_bytes;
  const char* suffix;  // key[shared, key_bytes())

  size_t key_bytes() const { return size_t{shared} + unshared; }  // of the internal key
  size_t user_bytes() const { return key_bytes() - kTagBytes; }
  Slice value() const { return Slice(suffix + unshared, value_bytes); }
  // The next entry.
  const char* end() const { return suffix + unshared + value_bytes; }
};

// Checks only the first half of I1, for blocks whose entries were checked when they were loaded.
// Returns false if header, suffix and value do not fit before limit. Requires: p < limit.
bool DecodeStoredEntrySlow(const char* p, const char* limit, BlockEntry* entry);
ASHLAR_ALWAYS_INLINE bool DecodeStoredEntry(const char* p, const char* limit, BlockEntry* entry) {
  if (limit - p >= 3) [[likely]] {
    const auto a = static_cast<uint8_t>(p[0]);
    const auto b = static_cast<uint8_t>(p[1]);
    const auto c = static_cast<uint8_t>(p[2]);
    if ((a | b | c) < 0x80) [[likely]] {
      *entry = {a, b, c, p + 3};
      return static_cast<size_t>(limit - (p + 3)) >= size_t{b} + c;
    }
  }
  return DecodeStoredEntrySlow(p, limit, entry);
}

// The checked step. Decodes the entry at p, whose previous key has previous_bytes bytes (0 before
// the first entry and at a restart). Returns false if the entry is damaged, or its key has fewer
// than key_bytes_min bytes. Requires: p < limit.
ASHLAR_ALWAYS_INLINE bool DecodeEntry(const char* p, const char* limit, size_t previous_bytes,
                                      size_t key_bytes_min, BlockEntry* entry) {
  return DecodeStoredEntry(p, limit, entry) && entry->shared <= previous_bytes &&
         entry->key_bytes() >= key_bytes_min;
}

inline Status DamagedEntryError() { return Status::Corruption("damaged block entry"); }

// Copies n bytes in steps of 16, and writes up to 16 bytes after them. Requires: those may be read
// and written, and `to` is not within the n bytes. It may be within the bytes that the last step
// reads.
inline void CopyInSteps(char* to, const char* from, size_t n) {
  size_t i = 0;
  do {
    memmove(to + i, from + i, 16);
    i += 16;
  } while (i < n);
}

// A key of up to kBytes in registers, for a loop that assembles each key of a block from the
// previous one. Loading the previous key from memory, where it was just stored in two pieces, would
// stall until both stores have left the store buffer.
class ShortKey {
 public:
  static constexpr size_t kBytes = 32;

  ShortKey() = default;
  // Reads kBytes.
  explicit ShortKey(const char* key) { memcpy(words_, key, kBytes); }

  // Replaces everything after the first `shared` bytes with the bytes at `suffix`. Reads kBytes
  // from suffix - shared on. Requires: shared <= kBytes.
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
  // kBytes of ones, then kBytes of zeros: a mask for any number of kept bytes starts in it.
  static constexpr std::array<char, 2 * kBytes> kOnesAndZeros = [] {
    std::array<char, 2 * kBytes> bytes{};
    for (size_t i = 0; i < kBytes; ++i) bytes[i] = static_cast<char>(0xff);
    return bytes;
  }();
  static constexpr const char* kKept = kOnesAndZeros.data();

  uint64_t words_[kWords] = {};
};

// Finds by binary search the last restart at or before the first entry at or after (user_key, tag).
// Used for blocks that are read for a single search. Cached blocks have DataBlock's side index
// instead. Corruption names neither file nor offset. Requires: there are entries.
Result<const char*> FindRestart(const BlockLayout& layout, const KeyComparator& comparator,
                                const Slice& user_key, uint64_t tag);

// Iterates over the entries of a metaindex, properties or range deletion block.
//
// I2: the keys of one iteration have together at most kKeyBytesMin + block.size() +
//     min(kKeyExpansionMax * block.size(), kSharedBytesMax) bytes, so a caller may keep them all. A
//     hostile block may have many entries that share one long key, and may itself be 1 GiB that was
//     expanded from a few compressed kilobytes.
class BlockEntries {
 public:
  static constexpr size_t kKeyBytesMin = size_t{1} << 20;
  static constexpr size_t kKeyExpansionMax = 64;
  static constexpr size_t kSharedBytesMax = size_t{256} << 20;

  // The block outlives this object.
  explicit BlockEntries(const Slice& block)
      : status_(ParseBlockLayout(block, &layout_)),
        next_(layout_.entries),
        key_bytes_left_(kKeyBytesMin + block.size() +
                        std::min(kKeyExpansionMax * block.size(), kSharedBytesMax)) {}

  // Returns false at the end and after an error.
  bool Next();
  const Slice key() const { return key_; }
  const Slice& value() const { return value_; }
  const Status& status() const { return status_; }

 private:
  BlockLayout layout_;
  Status status_;
  const char* next_;
  size_t key_bytes_left_;  // of I2
  std::string key_;
  Slice value_;
};

}  // namespace ashlar
