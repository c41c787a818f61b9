// DataBlock: a data block in memory, with a side index that leads straight to an entry.
//
//   one allocation   [DataBlock | common prefix | heads: 4 or 8 bytes x n | offsets: 2 or 4 x n |
//                     in custom orders: restarts, 2 or 4 x n]
//   another, or the table's mapping   [the block's bytes]
//
//   key of entry i   [common prefix: P bytes][head: the next H bytes][tail][tag]
//                     the same for all        heads[i], zero-padded   in entry i if shared <= P + H
//
// A lookup compares the prefix once, searches the heads as integers, and compares the tail in
// place. In the common case it reads one entry. The side index is built in the pass that checks the
// block, when the block enters the cache. README.md gives the reasons for the widths.
//
// I1: with a side index, each entry with its suffix and value is inside the block, entries follow
//     each other without gaps, `shared` never exceeds the length of the previous key, and heads
//     ascend. Reads through the side index do not check this again.
// I2: in a custom order there are no heads and no common prefix. Both are zero, and comparisons use
//     whole keys. restarts[i] is the last entry up to i that stores its whole key.
// I3: without a side index, only the block's layout was checked, and I5 if its entries are iterated
//     over. TableCursor checks each entry that it decodes.
// I4: a key is assembled from at most 2 * kRunMax + kAnchorDistance entries and one anchor.
// I5: the keys share no more bytes than block_format.h allows. README.md explains I4 and I5.
//
// Lifetime: counted (CacheEntry). A block in the mapping does not keep the mapping alive, so values
// in it are pinned through the table. Thread safety: constant once created.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cache/block_cache.h"
#include "key/internal_key.h"
#include "key/key_comparator.h"
#include "platform/cpu.h"
#include "table/block/block_buffer.h"
#include "table/block/block_entries.h"

namespace ashlar {

// Memory for a key that is assembled from several entries. On the stack until it grows.
class KeyBuffer {
 public:
  KeyBuffer() = default;
  KeyBuffer(const KeyBuffer&) = delete;
  KeyBuffer& operator=(const KeyBuffer&) = delete;

  char* data() { return data_; }
  const char* data() const { return data_; }
  // Makes room for n + kSlackBytes bytes. Keeps the first `keep`. Requires: they exist, keep <= n.
  char* Reserve(size_t n, size_t keep) {
    if (n + kSlackBytes > capacity_) [[unlikely]] {
      Grow(n, keep);
    }
    return data_;
  }

  static constexpr size_t kSlackBytes = 32;

 private:
  void Grow(size_t n, size_t keep);

  char inline_[128 + kSlackBytes];
  std::unique_ptr<char[]> heap_;
  char* data_ = inline_;
  size_t capacity_ = sizeof(inline_);
};

// The complete key of an entry that is more than kRunMax entries after the last one that stores its
// whole key (I4 of DataBlock).
struct KeyAnchor {
  uint32_t entry;
  std::string key;
};

class DataBlock final : public CacheEntry {
 public:
  static constexpr uint32_t kRunMax = 128;
  static constexpr uint32_t kAnchorDistance = 64;

  struct Args {
    Slice contents;
    BlockBuffer owned;  // none: contents are in the table's mapping
    KeyComparator comparator{nullptr};
    bool side_index = true;
    bool is_walked = false;                      // all entries are read without a side index
    std::atomic<int64_t>* live_count = nullptr;  // counts this block while it exists; null: none
  };

  // Returns the block with one count, which the caller owns. Corruption and NotSupported name
  // neither file nor offset.
  static Result<DataBlock*> Create(Args args);

  bool in_mapping() const { return !owned_; }
  bool has_side_index() const { return has_side_index_; }
  uint32_t entries() const { return shape_.entries; }  // 0 without a side index
  const char* first() const { return begin_; }
  const char* entries_end() const { return begin_ + entries_bytes_; }
  // The end of the bytes that may be read, restarts included.
  const char* contents_end() const { return begin_ + contents_bytes_; }
  size_t contents_bytes() const { return contents_bytes_; }

  // Asserts I1 to I3, and that anchors are the keys of their entries.
  void CheckInvariants(const KeyComparator& comparator) const;

  // The methods below require has_side_index() and, for each i, i < entries().
  // Returns the head in the width of this block: 32 or 64 bits.
  uint64_t head(uint32_t i) const {
    return shape_.wide_heads ? wide_heads()[i] : narrow_heads()[i];
  }
  const char* entry(uint32_t i) const { return begin_ + Number(i); }
  BlockEntry View(uint32_t i) const;
  // Assembles the internal key of entry i in the buffer and returns it.
  Slice Key(const KeyComparator& comparator, uint32_t i, KeyBuffer* buffer) const;

  // Returns the first entry at or after (user_key, tag), or entries() if there is none.
  uint32_t LowerBound(const KeyComparator& comparator, const Slice& user_key, uint64_t tag) const;

  // For point lookups. Entries i >= *first with head(i) == *head may have this user key, up to the
  // first that compares larger. Versions with larger tags may be left out. Returns false if no
  // entry of this block has the key.
  bool FindCandidates(const KeyComparator& comparator, const Slice& user_key, uint64_t tag,
                      uint64_t* head, uint32_t* first) const;
  // Compares the user key of entry i with user_key: < 0, 0, > 0. Requires: their heads are equal.
  int CompareTail(const KeyComparator& comparator, uint32_t i, const BlockEntry& view,
                  const Slice& user_key) const;
  uint64_t Tag(const KeyComparator& comparator, uint32_t i, const BlockEntry& view) const;

  // Assembles consecutive keys, each from the previous one. Key, in contrast, looks for the bytes
  // of one key in all entries back to a restart, and in a hostile block only the first entry may be
  // a restart.
  class KeyWalk {
   public:
    // at: the first entry, or one that stores its whole key, or one whose previous key is in the
    // buffer.
    KeyWalk(const DataBlock& block, uint32_t at, KeyBuffer* buffer)
        : block_(block), next_(at), buffer_(*buffer) {}

    // The internal key of the next entry, valid until the next call.
    Slice Next() {
      const BlockEntry view = block_.View(next_++);
      char* const key = buffer_.Reserve(view.key_bytes(), view.shared);
      memcpy(key + view.shared, view.suffix, view.unshared);
      return Slice(key, view.key_bytes());
    }

   private:
    const DataBlock& block_;
    uint32_t next_;
    KeyBuffer& buffer_;
  };

  // Prefetches a side index of typical size without reading the header, which may not have arrived.
  void Prefetch() const {
    constexpr size_t kLines = 6;
    PrefetchRange(this, kLines * kCacheLineBytes);
  }
  // Prefetches the fields of the block that an iteration over its entries reads.
  void PrefetchHeader() const {
    ASHLAR_PREFETCH(this);
    ASHLAR_PREFETCH(&contents_bytes_);
  }
  // Prefetches as many entries as a backward iteration reads at once.
  void PrefetchLastEntries() const {
    const size_t bytes = std::min<size_t>(entries_bytes_, 2048);
    PrefetchRange(entries_end() - bytes, bytes);
  }

 private:
  struct Shape {
    uint32_t entries;
    uint16_t prefix_bytes;  // a longer prefix is truncated
    bool wide_heads;        // 64 bits, not 32
    bool wide_numbers;      // offsets and restarts: 32 bits, not 16

    size_t PaddedPrefixBytes() const { return (size_t{prefix_bytes} + 7) / 8 * 8; }
    size_t HeadBytes() const { return wide_heads ? sizeof(uint64_t) : sizeof(uint32_t); }
    size_t NumberBytes() const { return wide_numbers ? sizeof(uint32_t) : sizeof(uint16_t); }
    size_t SideIndexBytes(bool has_restarts) const {
      return PaddedPrefixBytes() +
             size_t{entries} * (HeadBytes() + NumberBytes() * (has_restarts ? 2 : 1));
    }
  };
  using Anchors = std::vector<KeyAnchor>;

  DataBlock(Args* args, const BlockLayout& layout, const Shape& shape,
            std::unique_ptr<const Anchors> anchors, size_t charge);
  ~DataBlock();
  static void DestroyIndexed(CacheEntry* entry);
  static void DestroyPlain(CacheEntry* entry);

  char* prefix() { return reinterpret_cast<char*>(this + 1); }
  const char* prefix() const { return reinterpret_cast<const char*>(this + 1); }
  char* heads() { return prefix() + shape_.PaddedPrefixBytes(); }
  const char* heads() const { return prefix() + shape_.PaddedPrefixBytes(); }
  const uint64_t* wide_heads() const { return reinterpret_cast<const uint64_t*>(heads()); }
  const uint32_t* narrow_heads() const { return reinterpret_cast<const uint32_t*>(heads()); }
  char* numbers() { return heads() + shape_.entries * shape_.HeadBytes(); }
  const char* numbers() const { return heads() + shape_.entries * shape_.HeadBytes(); }
  // The offsets of the entries and, in custom orders, the restarts after them.
  uint32_t Number(size_t i) const {
    return shape_.wide_numbers ? reinterpret_cast<const uint32_t*>(numbers())[i]
                               : reinterpret_cast<const uint16_t*>(numbers())[i];
  }
  uint32_t restart(uint32_t i) const { return Number(size_t{shape_.entries} + i); }
  void PutHeads(const std::vector<uint64_t>& heads);
  void PutNumbers(size_t from, const std::vector<uint32_t>& numbers);
  // The head of a sought key, in the width of this block.
  uint64_t HeadOf(const KeyComparator& comparator, const Slice& user_key) const {
    const uint64_t head = comparator.Head(user_key, shape_.prefix_bytes);
    return shape_.wide_heads ? head : head >> 32;
  }

  // Writes the bytes of the key of entry i that are known from prefix and head. Returns how many.
  size_t PutKnownBytes(const KeyComparator& comparator, uint32_t i, const BlockEntry& view,
                       char* key) const;
  // Writes the rest of the key.
  Slice CompleteKey(uint32_t i, const BlockEntry& view, size_t known, char* key) const;
  // The last anchor before entry `end`. Null if there is none.
  const KeyAnchor* AnchorBefore(uint32_t end) const;
  // Returns < 0 or > 0 if user_key is smaller or larger than every key with the common prefix, and
  // 0 if it has the prefix.
  int ComparePrefix(const KeyComparator& comparator, const Slice& user_key) const;
  uint32_t LowerBoundOfHead(uint64_t head) const;
  uint32_t UpperBoundOfHead(uint64_t head) const;
  // LowerBound in a custom order.
  uint32_t LowerBoundOfKey(const KeyComparator& comparator, const Slice& user_key,
                           uint64_t tag) const;
  int CompareEntry(const KeyComparator& comparator, uint32_t i, const Slice& user_key,
                   uint64_t tag) const;

  // The members that a lookup reads come first. With the base class they fill one cache line.
  const char* const begin_;
  const Shape shape_;
  const uint32_t entries_bytes_;
  const uint32_t contents_bytes_;
  const BlockBuffer owned_;
  const bool has_side_index_;
  std::atomic<int64_t>* const live_count_;        // null: none
  const std::unique_ptr<const Anchors> anchors_;  // ascending; null: none
};
// Heads and wide numbers follow the object.
static_assert(sizeof(DataBlock) % alignof(uint64_t) == 0);

// A data block and one count on it.
class BlockRef {
 public:
  BlockRef() = default;
  explicit BlockRef(DataBlock* block) : block_(block) {}  // adopts the count
  BlockRef(BlockRef&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  BlockRef& operator=(BlockRef&& other) noexcept {
    if (this != &other) {
      Reset();
      block_ = std::exchange(other.block_, nullptr);
    }
    return *this;
  }
  BlockRef(const BlockRef&) = delete;
  BlockRef& operator=(const BlockRef&) = delete;
  ~BlockRef() { Reset(); }

  void Reset() {
    if (block_ != nullptr) std::exchange(block_, nullptr)->Release();
  }
  DataBlock* get() const { return block_; }
  DataBlock* operator->() const { return block_; }
  explicit operator bool() const { return block_ != nullptr; }

 private:
  DataBlock* block_ = nullptr;
};

}  // namespace ashlar
