// EntryBuckets: the entries of a memtable by the hash of their keys' prefixes, for lookups and for
// scans within one prefix. A bucket is one word. README.md has the rejected designs.
//
//   buckets   [0][ * ][0][ *|1 ] ...
//                  |        +--> EntryTree, once the list has reached list_entries_max entries
//                  +--> node: next | entries | entry  ->  node  ->  null      in order
//
// The entries of a bucket, which may have several prefixes, are in internal key order. If a prefix
// is alone in its bucket and has one entry, such as a prefix as long as the key, it costs a word
// and the header of a node, which are 20 bytes plus alignment. Its lookup reads two cache lines.
//
// I1: a list only grows. Nodes are never unlinked, and only their `next` changes, so a reader may
//     continue in a list whose bucket has become a tree.
// I2: a tree replaces its list only when it has all entries of the list.
// I3: a key outside the extractor's domain is its own prefix.
//
// Memory orders: a node is stored into its bucket or its predecessor with release after it was
// written, and loaded with acquire. The same holds for a tree and for the array of buckets. Only
// the writer accesses `entries`.
// Thread safety: one thread at a time calls Add. Any thread may call everything else. Lifetime:
// everything is in the arena.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/pin.h"
#include "key/key_comparator.h"
#include "key/lookup.h"
#include "memtable/arena.h"
#include "memtable/entry_tree.h"

namespace ashlar {

class EntryBuckets {
 private:
  struct Node {
    std::atomic<Node*> next{nullptr};
    uint32_t entries = 1;  // in the first node of a list: the length of the list
    // The entry follows at kEntryOffset.

    static constexpr size_t kEntryOffset = sizeof(std::atomic<Node*>) + sizeof(uint32_t);
    const char* entry() const { return reinterpret_cast<const char*>(this) + kEntryOffset; }
  };

 public:
  EntryBuckets(const KeyComparator& comparator, Arena* arena, size_t bucket_count,
               uint32_t list_entries_max)
      : comparator_(comparator),
        arena_(arena),
        bucket_count_(bucket_count == 0 ? 1 : bucket_count),
        list_entries_max_(list_entries_max) {}
  EntryBuckets(const EntryBuckets&) = delete;
  EntryBuckets& operator=(const EntryBuckets&) = delete;

  // Allocates the buckets. Requires: Add has not been called.
  void Allocate();
  bool allocated() const { return buckets_.load(std::memory_order_relaxed) != nullptr; }

  // Adds an entry. hash: the hash of the key's prefix, here and below.
  void Add(uint64_t hash, const Slice& user_key, uint64_t tag, const Slice& value);

  // Offers the lookup the versions of its key with tags up to its seek tag, newest first, until it
  // needs no more.
  void Get(uint64_t hash, Lookup* lookup, const PinSource& owner) const;

  // Appends all entries, in no order.
  void Collect(std::vector<const char*>* entries) const;

  class ListWalk;
  // The contents of a bucket: at most one of them is not null.
  struct Bucket {
    const EntryTree* tree = nullptr;
    const Node* list = nullptr;
  };
  Bucket Find(uint64_t hash) const;

  const KeyComparator& comparator() const { return comparator_; }

  // Asserts the order within buckets and the counts of lists. Requires: no concurrent Add. Returns
  // the number of entries.
  uint64_t CheckInvariants() const;

 private:
  using Word = std::atomic<uintptr_t>;
  static constexpr uintptr_t kTreeBit = 1;

  static Bucket Decode(uintptr_t word);
  Word* WordOf(uint64_t hash) const;
  void AddToList(Word* word, Node* first, const Slice& user_key, uint64_t tag, const Slice& value);
  EntryTree* MakeTree(const Node* first);

  const KeyComparator comparator_;
  Arena* const arena_;
  const size_t bucket_count_;
  const uint32_t list_entries_max_;
  std::atomic<Word*> buckets_{nullptr};
};

// A position in the list of a bucket, with the calls of EntryTree::Walk. It sees the entries that
// were in the list when the bucket was found, and may see later ones.
class EntryBuckets::ListWalk {
 public:
  // list: null for a bucket without entries.
  ListWalk(const KeyComparator& comparator, const Node* list)
      : comparator_(comparator), list_(list) {}

  bool Valid() const { return at_ != nullptr; }
  // entry, Next and Prev require Valid().
  const char* entry() const { return at_->entry(); }
  void Next() { at_ = at_->next.load(std::memory_order_acquire); }
  void Prev() { GoBefore(at_); }

  void SeekToFirst() { at_ = list_; }
  void SeekToLast() { GoBefore(nullptr); }
  void Seek(const Slice& user_key, uint64_t tag);
  void SeekForPrev(const Slice& user_key, uint64_t tag);

 private:
  void GoBefore(const Node* end);

  KeyComparator comparator_;
  const Node* list_;
  const Node* at_ = nullptr;
};

}  // namespace ashlar
