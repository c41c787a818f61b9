// VectorIndex: the entries of a memtable in insertion order, for loads without concurrent reads.
//
//   chunk [entry entry ... entry] -> chunk [entry entry ... entry] -> chunk [entry ...
//   size_ is the number of entries
//
// An add writes one pointer, eight bytes per entry. A lookup scans all of them. A memtable with
// frequent lookups, or with lookups after its last add, sorts them first (SortedEntries).
//
// Thread safety: one writer for Add; the others from any thread. size_ is stored with release after
// the entries it covers, and loaded with acquire before they are read. Lifetime: the chunks live in
// the arena, as do the entries.
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

  // Adds an entry of memtable/entry.h, which lives as long as the log.
  void Add(const char* entry);

  // Offers the versions of lookup's key with tags up to its seek tag, newest first, until it needs
  // no more. Looks at every entry.
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
  // The writer's own.
  Chunk* last_ = nullptr;
};

}  // namespace ashlar
