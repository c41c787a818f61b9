// VectorIndex: the entries of a memtable in insertion order, for loads without concurrent reads.
//
//   chunk [entry entry ... entry] -> chunk [entry entry ... entry] -> chunk [entry ...
//   size_ is the number of entries
//
// An add writes one pointer, eight bytes per entry. A lookup scans all entries. Once the memtable
// is immutable, its lookups search sorted entries instead (SortedEntries).
//
// Thread safety: one thread at a time calls Add; any thread may call the rest. size_ is stored with
// release after the entries that it covers, and loaded with acquire before they are read. Lifetime:
// the chunks and the entries are in the arena.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/pin.h"
#include "key/key_comparator.h"
#include "key/lookup.h"
#include "memtable/arena.h"

namespace ashlar {

class VectorIndex {
 public:
  VectorIndex(const KeyComparator& comparator, Arena* arena)
      : comparator_(comparator), arena_(arena) {}
  VectorIndex(const VectorIndex&) = delete;
  VectorIndex& operator=(const VectorIndex&) = delete;

  // Adds an entry in the format of memtable/entry.h. Requires: the entry outlives the index.
  void Add(const char* entry);

  // Offers the lookup the versions of its key with tags up to its seek tag, newest first, until it
  // needs no more. Reads every entry.
  void Get(Lookup* lookup, const PinSource& owner) const;

  size_t size() const { return size_.load(std::memory_order_acquire); }
  // Appends all entries.
  void Collect(std::vector<const char*>* entries) const;

 private:
  static constexpr size_t kChunkEntries = 511;
  struct Chunk {
    std::array<const char*, kChunkEntries> entries;
    Chunk* next;
  };

  template <typename Visit>
  void ForEach(Visit visit) const;

  const KeyComparator comparator_;
  Arena* const arena_;
  std::atomic<size_t> size_{0};

  // Written once, before the first entry is covered by size_.
  Chunk* first_ = nullptr;
  // For the writer only.
  Chunk* last_ = nullptr;
};

}  // namespace ashlar
