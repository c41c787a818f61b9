// TreeIterator: iterates over the tree in both directions, within bounds.
//
// It copies the sorted slots of one leaf at a time and pins only the current record. While the leaf
// has the copied version, the records of the copy are live and the bounds of the leaf lead to its
// neighbours. If the version has changed, the next move seeks from the current key. So the iterator
// never shows an entry twice or out of order, and shows every entry that exists all the time.
//
// Thread safety: one thread. Lifetime: the tree stays open while it lives.
#pragma once

#include <optional>
#include <vector>

#include "ashlar/iterator.h"
#include "ashlar/persistent_tree.h"
#include "pmem/tree_state.h"

namespace ashlar::pmem {

// Makes the slice refer to the record's value, with a pin that the slice gives back. Requires: the
// guard in which the record was found, or a pin on the record.
inline void PinRecord(PinTable* pins, PoolOffset offset, const Record& record,
                      PinnableSlice* value) {
  const auto unpin = [](void* word, void* start) {
    PinTable::Unpin(static_cast<PinTable::Word*>(word), start);
  };
  value->PinSlice(record.value(), unpin, pins->Pin(offset), const_cast<char*>(record.start));
}

class TreeIterator final : public Iterator {
 public:
  TreeIterator(TreeState* state, const ReadOptions& options, const KeyRange& range);
  ~TreeIterator() override;

  bool Valid() const override { return pin_ != nullptr; }
  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& target) override;
  void SeekForPrev(const Slice& target) override;
  void Next() override;
  void Prev() override;
  Slice key() const override { return record_.key(); }
  Slice value() const override { return record_.value(); }
  void PinValue(PinnableSlice* value) const override;
  Status status() const override { return status_; }
  Status Refresh() override { return Refresh(nullptr); }
  Status Refresh(const Snapshot* snapshot) override;

 private:
  struct Bound {
    Slice key;
    bool inclusive;
  };

  // Calls move() in a guard. If an allocation fails, the iterator is invalid until the next seek.
  template <typename Function>
  void Run(const Function& move);
  // In a guard. Forward moves to the first entry after `from`, Backward to the last one before it.
  // `inclusive`: or at it. Null `from`: from the tree's edge.
  void Forward(const Slice* from, bool inclusive);
  void Backward(const Slice* from, bool inclusive);
  bool CopyLeaf(const BoundedLeaf& leaf);
  void Show(size_t position);
  void SetInvalid();
  void SetDamaged(const char* separator);
  bool IsInside(const Slice& key) const;

  TreeState* const state_;
  const bool verify_checksums_;
  std::optional<Bound> lower_;
  std::optional<Bound> upper_;

  BoundedLeaf leaf_;
  LeafContents contents_;  // of leaf_ in its version
  size_t position_ = 0;
  Record record_ = {};
  PoolOffset offset_ = 0;
  PinTable::Word* pin_ = nullptr;  // on record_; null: not valid
  Status status_;
};

}  // namespace ashlar::pmem
