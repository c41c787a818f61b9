// PlainTableCursor: iterates over one PlainTable.
//
//   forwards    entry after entry, each checked. A key that is whole in the file is shown in place.
//   backwards   reads the entries of one sparse-index interval once and remembers them. A step goes
//               back by one of them.
//   seeks       PlainTable::FindStart, or FindStartInPrefix if SeekPrefix has a prefix of the
//               table's extractor; then forwards
//
// A cursor with readahead serves compaction. It checks the order of keys again, because the
// compaction writes them in this order and a mapping shows the current bytes of the file.
//
// I1: decoder_ has just read the current entry, so it can read the next.
// I2: group_ is empty, or has the entries from a sparse-index entry up to the current one, which is
//     group_.back().
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

  // An entry, and the decoder in its state before it read the entry.
  struct Place {
    const char* at;
    PlainDecoder decoder;
  };

  void Start();
  // Step shows the next entry. Take shows the entry at `at`, which decoder_ can read. Show shows
  // the entry at `at`, which decoder_ has just read.
  void Step();
  void Take(const char* at);
  void Show(const char* at);
  // Moves from `at` to the first entry at or after the target. Null `at`: there is none.
  void SeekOn(PlainFault fault, const char* at, const Slice& internal_target);
  void NextInOrder();
  // Shows the entry before `end`. Requires: an entry or the end of the data is at `end`; group_ is
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
  KeyBuffer buffer_;          // a key that is not complete in the file
  std::vector<Place> group_;
  std::string last_key_;  // with checks_order_
  Status status_;
};

}  // namespace ashlar
