// DataBlock: a data block in memory, with a side index that leads straight to an entry.
//
//   one allocation   [DataBlock | common prefix | heads: u32 x n | offsets: u16 x n | custom
//                    orders: restarts: u16 x n]
//                                                  or u64 x n     or u32 x n                            or u32 x n
//   the block's bytes: an allocation of their own, or the table's mapping
//
//   key of entry i   [common prefix: P bytes][head: the next H bytes][tail] [tag]
//                     same for all entries    heads[i], zero-padded   lies in the entry's own suffix whenever shared <= P + H
//
// Neighbours in a sorted block differ soon behind what all of them share, so H = 4 tells most keys
// apart, and six bytes an entry are what a lookup waits for and what the cache pays for. (Twelve
// took 4 % more memory, and a Get 8 % more time.) Where eight bytes tell more of the keys apart, as
// in a block that holds the ends of two groups of keys, H = 8. Offsets and restarts have 32 bits in
// a block of more than 64 KiB.
//
// So a lookup compares the prefix once, searches the heads as integers, and settles what is left in
// place: in the common case it touches one entry, and waits for memory twice, for the side index
// and for that entry. Seek and Prev go through the same arrays. The side index is built once, when
// the block enters the cache, in the pass that checks the block.
//
// I1: with a side index, every entry's header, key and value lie inside the block, shared never
//     exceeds the length of the key before, and heads do not descend. What reads through the side
//     index checks nothing again.
// I2: a custom order has no heads and no common prefix: both are zero, and every comparison takes
//     the whole key. So it has restarts[i], the last entry up to i whose key is whole in its place:
//     keys are put together forwards from there, and a search looks at restarts first.
// I3: a block without a side index (compaction reads it once, forwards) has been checked for
//     nothing but its frame; TableCursor checks each entry as it goes.
//
// Lifetime: counted (CacheEntry). A block in the mapping does not keep the mapping alive; its
// values are pinned through the table. Thread safety: constant once made.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "cache/block_cache.h"
#include "key/internal_key.h"
#include "key/key_comparator.h"
#include "table/block/block_buffer.h"
#include "table/block/block_entries.h"

namespace ashlar {

// Room for a key that is put together from several entries: on the stack until it grows.
class KeyBuffer {
 public:
  KeyBuffer() = default;
  KeyBuffer(const KeyBuffer&) = delete;
  KeyBuffer& operator=(const KeyBuffer&) = delete;

  char* data() { return data_; }
  // Room for n bytes and kSlackBytes more; keeps the first `keep`.
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

// One entry as it lies in the block.
struct EntryView {
  uint32_t shared;
  uint32_t key_bytes;  // of the internal key
  const char* suffix;  // key[shared, key_bytes)
  Slice value;

  size_t user_bytes() const { return key_bytes - kTagBytes; }
};

class DataBlock final : public CacheEntry {
 public:
  struct Args {
    Slice contents;
    BlockBuffer owned;  // none: contents lie in the table's mapping
    KeyComparator comparator{nullptr};
    bool side_index = true;
    std::atomic<int64_t>* live_count =
        nullptr;  // counts this block while it exists; null: nobody counts
  };

  // Returns the block with one count, the caller's. Corruption or NotSupported without file and
  // offset.
  static Result<DataBlock*> Create(Args args);

  bool in_mapping() const { return !owned_; }
  bool has_side_index() const { return has_side_index_; }
  uint32_t entries() const { return shape_.entries; }  // with a side index
  const char* first() const { return begin_; }
  const char* entries_end() const { return begin_ + entries_bytes_; }
  // Bytes that may be read, restarts included.
  const char* contents_end() const { return begin_ + contents_bytes_; }
  size_t contents_bytes() const { return contents_bytes_; }

  // The rest needs the side index.
  // In the width of this block: 32 or 64 bits.
  uint64_t head(uint32_t i) const {
    return shape_.wide_heads ? wide_heads()[i] : narrow_heads()[i];
  }
  const char* entry(uint32_t i) const { return begin_ + Number(i); }
  EntryView View(uint32_t i) const;
  // Puts the internal key of entry i into the buffer and returns it.
  Slice Key(const KeyComparator& comparator, uint32_t i, KeyBuffer* buffer) const;

  // The first entry at or after (user_key, tag); entries() when there is none.
  uint32_t LowerBound(const KeyComparator& comparator, const Slice& user_key, uint64_t tag) const;

  // For point lookups: entries i >= *first with head(i) == *head may have this user key, until one
  // compares beyond it; versions with larger tags may have been left out. False when no entry of
  // this block can be it.
  bool FindCandidates(const KeyComparator& comparator, const Slice& user_key, uint64_t tag,
                      uint64_t* head, uint32_t* first) const;
  // The user key of entry i, whose head equals that of user_key, against user_key: < 0, 0, > 0.
  int CompareTail(const KeyComparator& comparator, uint32_t i, const EntryView& view,
                  const Slice& user_key) const;
  uint64_t Tag(const KeyComparator& comparator, uint32_t i, const EntryView& view) const;

  // Asks for the side index of a block of ordinary size, whose header may not have arrived yet.
  void Prefetch() const {
    constexpr size_t kLineBytes = 64;
    constexpr size_t kLines = 6;
    const auto* const lines = reinterpret_cast<const char*>(this);
    for (size_t i = 0; i < kLines; ++i) ASHLAR_PREFETCH(lines + i * kLineBytes);
  }
  // Asks for what a walk needs of the block besides its entries.
  void PrefetchHeader() const {
    ASHLAR_PREFETCH(this);
    ASHLAR_PREFETCH(&contents_bytes_);
  }
  // Asks for as many of them as a walk backwards reads at once.
  void PrefetchLastEntries() const {
    constexpr size_t kBytes = 2048;
    for (const char* line = entries_end() - std::min<size_t>(entries_bytes_, kBytes);
         line < entries_end(); line += 64)
      ASHLAR_PREFETCH(line);
  }

 private:
  struct Shape {
    uint32_t entries;
    uint16_t prefix_bytes;  // a longer prefix is cut
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
  DataBlock(Args* args, const BlockLayout& layout, const Shape& shape, size_t charge);
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
  // The offsets of the entries, behind them in custom orders the restarts.
  uint32_t Number(size_t i) const {
    return shape_.wide_numbers ? reinterpret_cast<const uint32_t*>(numbers())[i]
                               : reinterpret_cast<const uint16_t*>(numbers())[i];
  }
  uint32_t restart(uint32_t i) const { return Number(size_t{shape_.entries} + i); }
  void PutHeads(const std::vector<uint64_t>& heads);
  void PutNumbers(size_t from, const std::vector<uint32_t>& numbers);
  // The head of a key that is looked for, in the width of this block.
  uint64_t HeadOf(const KeyComparator& comparator, const Slice& user_key) const {
    const uint64_t head = comparator.Head(user_key, shape_.prefix_bytes);
    return shape_.wide_heads ? head : head >> 32;
  }

  // Puts in what the prefix and the head tell of the key of entry i; returns how many bytes that
  // is.
  size_t PutKnownBytes(const KeyComparator& comparator, uint32_t i, const EntryView& view,
                       char* key) const;
  class KeyWalk;
  // Puts in the rest.
  Slice CompleteKey(uint32_t i, const EntryView& view, size_t known, char* key) const;
  // < 0 or > 0: user_key sorts before or after every key with the common prefix; 0: it begins with
  // the prefix.
  int ComparePrefix(const KeyComparator& comparator, const Slice& user_key) const;
  uint32_t LowerBoundOfHead(uint64_t head) const;
  uint32_t UpperBoundOfHead(uint64_t head) const;
  // LowerBound in a custom order.
  uint32_t LowerBoundOfKey(const KeyComparator& comparator, const Slice& user_key,
                           uint64_t tag) const;
  int CompareEntry(const KeyComparator& comparator, uint32_t i, const Slice& user_key,
                   uint64_t tag) const;

  // What a lookup needs comes first: with the base class it fills one cache line.
  const char* const begin_;
  const Shape shape_;
  const uint32_t entries_bytes_;
  const uint32_t contents_bytes_;
  const BlockBuffer owned_;
  const bool has_side_index_;
  std::atomic<int64_t>* const live_count_;  // null: nobody counts
};

}  // namespace ashlar
