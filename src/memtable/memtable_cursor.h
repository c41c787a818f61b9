// MemTableCursor: the InternalCursor over a memtable. Use it on the stack inside an EpochGuard (kBorrowed), or for longer with a count (kPinned).
#pragma once

#include "memtable/memtable.h"

namespace ashlar {

class MemTableCursor final : public InternalCursor {
 public:
  enum class Hold : uint8_t {
    kBorrowed,  // the caller's guard or count outlives the cursor
    kPinned,    // takes a count; the memtable must be reachable in the caller's guard, or counted, at construction
  };

  MemTableCursor(const MemTable* memtable, Hold hold)
      : memtable_(memtable), pin_(hold == Hold::kPinned ? memtable->pin_source().Acquire() : Pin()), walk_(&memtable->tree()) {}

  void SeekToFirst() override {
    walk_.SeekToFirst();
    Show();
  }
  void SeekToLast() override {
    walk_.SeekToLast();
    Show();
  }
  void Seek(const Slice& internal_target) override {
    walk_.Seek(ExtractUserKey(internal_target), ExtractTag(internal_target));
    Show();
  }
  void SeekForPrev(const Slice& internal_target) override {
    walk_.SeekForPrev(ExtractUserKey(internal_target), ExtractTag(internal_target));
    Show();
  }
  void Next() override {
    walk_.Next();
    Show();
  }
  void Prev() override {
    walk_.Prev();
    Show();
  }
  Status status() const override { return Status::OK(); }
  PinSource value_owner() const override { return memtable_->pin_source(); }

 private:
  void Show() {
    valid_ = walk_.Valid();
    if (valid_) {
      const DecodedEntry entry = DecodeEntry(walk_.entry());
      key_ = entry.internal_key();
      value_ = entry.value();
    }
  }

  const MemTable* const memtable_;
  const Pin pin_;
  EntryTree::Walk walk_;
};

}  // namespace ashlar
