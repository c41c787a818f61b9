// MemTableCursor: the InternalCursor over a memtable. Use it on the stack inside an EpochGuard
// (kBorrowed), or for longer with a count (kPinned).
//
//   kind       total order                                      a seek for a prefix
//   tree       the tree itself                                  the same
//   buckets    all entries, sorted at the first seek            the target's bucket: a list or a
//                                                               tree, possibly with other prefixes
//   vector     all entries, sorted at the first seek            the same
//
// A seek is for a prefix if SeekPrefix::Find returns one for the memtable's own extractor. Then a
// bloom filter of prefixes is checked first. If it rules the prefix out, the cursor becomes
// invalid. SeekToFirst and SeekToLast are always in total order.
//
// I1: a cursor sees all entries added before its last seek, and may see later ones. Over sorted
//     entries it sees those added before the first seek that needed them.
//
// walk_ is a variant instead of a virtual object, so that the default costs only one comparison per
// call more than a cursor over the tree alone.
#pragma once

#include <memory>
#include <variant>

#include "key/seek_prefix.h"
#include "memtable/memtable.h"

namespace ashlar {

class MemTableCursor final : public InternalCursor {
 public:
  enum class PinMode : uint8_t {
    kBorrowed,  // the caller's guard or count outlives the cursor
    // takes a count; the memtable must be reachable in the caller's guard, or counted, at
    // construction
    kPinned,
  };

  // seek: is notified before every Seek and SeekForPrev; null: total order. Requires: it outlives
  // the cursor.
  MemTableCursor(const MemTable* memtable, PinMode pin_mode, SeekPrefix* seek);

  void SeekToFirst() override {
    if (!always_tree_) EnterAll();
    Move([](auto& walk) { walk.SeekToFirst(); });
  }
  void SeekToLast() override {
    if (!always_tree_) EnterAll();
    Move([](auto& walk) { walk.SeekToLast(); });
  }
  void Seek(const Slice& internal_target) override {
    const Slice user_key = ExtractUserKey(internal_target);
    if (!always_tree_ && !Enter()) return Hide();
    Move([&](auto& walk) { walk.Seek(user_key, ExtractTag(internal_target)); });
  }
  void SeekForPrev(const Slice& internal_target) override {
    const Slice user_key = ExtractUserKey(internal_target);
    if (!always_tree_ && !Enter()) return Hide();
    Move([&](auto& walk) { walk.SeekForPrev(user_key, ExtractTag(internal_target)); });
  }
  Status status() const override { return Status::OK(); }
  PinSource OwnerOf(const CursorEntry&) const override { return memtable_->pin_source(); }

 private:
  void MoveNext() override {
    Move([](auto& walk) { walk.Next(); });
  }
  void MovePrev() override {
    Move([](auto& walk) { walk.Prev(); });
  }
  void EnterAll();
  bool Enter();

  template <typename Step>
  void Move(Step step) {
    if (auto* const tree = std::get_if<EntryTree::Walk>(&walk_)) [[likely]] {
      step(*tree);
      return Show(*tree);
    }
    if (auto* const list = std::get_if<EntryBuckets::ListWalk>(&walk_)) {
      step(*list);
      return Show(*list);
    }
    auto* const sorted = std::get_if<SortedEntries::Walk>(&walk_);
    step(*sorted);
    Show(*sorted);
  }

  template <typename Walk>
  void Show(const Walk& walk) {
    if (!walk.Valid()) return Hide();
    const DecodedEntry entry = DecodeEntry(walk.entry());
    ShowOne(entry.internal_key(), entry.value());
  }

  const MemTable* const memtable_;
  const Pin pin_;
  SeekPrefix* const seek_;
  const bool always_tree_;                 // nothing to choose at a seek
  const SortedEntries* sorted_ = nullptr;  // null: not needed so far
  std::unique_ptr<const SortedEntries> own_sorted_;
  std::variant<EntryTree::Walk, EntryBuckets::ListWalk, SortedEntries::Walk> walk_;
};

}  // namespace ashlar
