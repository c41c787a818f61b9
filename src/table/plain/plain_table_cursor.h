// PlainTableCursor: a walk over one PlainTable.
//
//   forwards    entry after entry, each checked; a key that lies whole in the file is handed out as
//               it lies there
//   backwards   the entries from one mark to the next are read once and remembered; a step goes
//               back by one of them
//   seeks       PlainTable::FindStart, or FindStartInPrefix where SeekPrefix names a prefix of the
//               table's; from there forwards
//
// What compaction reads (a cursor with readahead) is checked for order again: what it writes must
// be in order, and a mapping shows the file as it is now, not as it was when the table was opened.
//
// I1: decoder_ has just read the current entry, so that it can read the next.
// I2: group_ is empty, or holds the entries from a mark up to the current one, and the current one
//     at group_.back().
// Lifetime: holds one count on the table. Thread safety: one thread.
#pragma once

#include <string>
#include <vector>

#include "key/cursor.h"
#include "key/seek_prefix.h"
#include "table/block/data_block.h"
#include "table/plain/plain_table.h"

namespace ashlar {

class PlainTableCursor final : public InternalCursor {
 public:
  PlainTableCursor(PlainTable* table, const TableReadOptions& options);
  ~PlainTableCursor() override { table_->Release(); }

  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& internal_target) override;
  void SeekForPrev(const Slice& internal_target) override;
  Status status() const override { return status_; }
  PinSource OwnerOf(const CursorEntry&) const override { return table_->pin_source(); }

 private:
  void MoveNext() override {
    if (checks_order_) [[unlikely]] {
      NextInOrder();
    } else {
      Step();
    }
  }
  void MovePrev() override;

  // An entry, and the decoder as it was before it read it.
  struct Place {
    const char* at;
    PlainDecoder decoder;
  };

  void Start();
  // To the entry behind the current one; to the one at `at`, which decoder_ can read; to the one at
  // `at`, which it has just read.
  void Step();
  void Take(const char* at);
  void Show(const char* at);
  // Reads on from `at` to the first entry at or behind the target. at: null for none.
  void SeekOn(PlainFault fault, const char* at, const Slice& internal_target);
  void NextInOrder();
  // To the entry before `end`, which is where an entry begins or the end of the data; group_ is
  // empty.
  void TakeLastBefore(const char* end);
  void Fail(PlainFault fault, const char* at);
  bool IsWithinPrefix() const {
    return seek_ != nullptr && seek_->Find(table_->prefix_extractor()) != nullptr;
  }

  PlainTable* const table_;
  SeekPrefix* const seek_;
  const bool checks_order_;
  PlainDecoder decoder_;
  PlainEntry entry_;
  const char* at_ = nullptr;  // where the current entry begins
  KeyBuffer buffer_;          // a key that does not lie whole in the file
  std::vector<Place> group_;
  std::string last_key_;  // with checks_order_
  Status status_;
};

}  // namespace ashlar
