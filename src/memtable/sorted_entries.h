// SortedEntries: the entries of a memtable at one moment, in order. Memtables that do not keep all
// entries in order use it for scans in total order and for flushes.
//
//   items   (head, entry)(head, entry) ...      ascending
//
// A head starts after the bytes that all keys share (KeyComparator::Head). So sorting and searching
// compare integers and seldom read an entry.
//
// Rejected: pointers without heads, because sorting a million keys then misses the cache at every
// comparison.
//
// Thread safety: immutable. Lifetime: the entries and the comparator outlive it. It takes 16 bytes
// of the heap per entry.
#pragma once

#include <cstdint>
#include <vector>

#include "base/pin.h"
#include "key/key_comparator.h"
#include "key/lookup.h"
#include "memtable/entry.h"

namespace ashlar {

class SortedEntries {
 public:
  SortedEntries(const KeyComparator& comparator, const std::vector<const char*>& entries);
  SortedEntries(const SortedEntries&) = delete;
  SortedEntries& operator=(const SortedEntries&) = delete;

  size_t size() const { return items_.size(); }

  // Offers the lookup the versions of its key with tags up to its seek tag, newest first, until it
  // needs no more.
  void Get(Lookup* lookup, const PinSource& owner) const;

  class Walk;

 private:
  struct Item {
    uint64_t head;
    const char* entry;
  };

  // The number of entries that sort before the target.
  size_t Rank(const EntryTarget& target) const;

  const KeyComparator comparator_;
  Slice prefix_;  // the common prefix of all keys; empty for orders without heads
  std::vector<Item> items_;
};

// A position, with the calls of EntryTree::Walk.
class SortedEntries::Walk {
 public:
  explicit Walk(const SortedEntries* entries) : entries_(entries), position_(entries->size()) {}

  bool Valid() const { return position_ < entries_->size(); }
  // entry, Next and Prev require Valid().
  const char* entry() const { return entries_->items_[position_].entry; }
  void Next() {
    ++position_;
    PrefetchAhead(position_ + kAhead);
  }
  void Prev() {
    --position_;  // wraps below 0 to a value that is not valid
    PrefetchAhead(position_ - kAhead);
  }

  void SeekToFirst() { position_ = 0; }
  void SeekToLast() { position_ = entries_->size() - 1; }
  void Seek(const Slice& user_key, uint64_t tag) { position_ = entries_->Rank({user_key, tag}); }
  void SeekForPrev(const Slice& user_key, uint64_t tag);

 private:
  static constexpr size_t kAhead = 8;

  void PrefetchAhead(size_t position) const {
    if (position < entries_->size()) ASHLAR_PREFETCH(entries_->items_[position].entry);
  }

  const SortedEntries* entries_;
  size_t position_;
};

}  // namespace ashlar
