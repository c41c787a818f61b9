// TableCursor: a walk over one block-based table.
//
//   current block (counted)   [ ... | entry | next_ ... | limit_ )        key_: put together in buffer_        value_: in place
//
// Forwards it decodes one entry after another, checking each. Backwards and for seeks it uses the block's side index. Blocks come from the cache by
// their cells; those that are not there are read, with readahead when the reads turn out to be sequential, and offered to the cache.
//
// A cursor that does not fill the cache (there is none, or it scans or compacts) builds no side index until somebody moves it backwards: it seeks by
// the block's restarts.
//
// I1: buffer_ holds the stored key of the current entry, whose bytes the next entry shares.
// I2: entry_ is the current entry's number when the block has a side index; EnsureSideIndex finds it when the block had none.
// Lifetime: holds one count on the table and one on the current block.
// Thread safety: one thread.
#pragma once

#include <memory>

#include "key/cursor.h"
#include "table/blockbased/block_based_table.h"
#include "table/table_reader.h"

namespace ashlar {

// Reads a file in pieces that grow while it is read from front to back.
class ReadAhead {
 public:
  // fixed_bytes: 0 for growing pieces.
  ReadAhead(const BlockBasedTable* table, size_t fixed_bytes) : table_(table), fixed_bytes_(fixed_bytes) {}

  // Tells of a block that is about to be read. Returns bytes that cover it, or null when it should be read on its own.
  Result<const FileSpan*> Prepare(uint32_t block);

 private:
  size_t PieceBytes(uint32_t block);

  const BlockBasedTable* const table_;
  const size_t fixed_bytes_;
  size_t piece_bytes_ = 0;
  uint32_t last_block_ = UINT32_MAX;
  std::unique_ptr<char[]> buffer_;
  size_t capacity_ = 0;
  FileSpan span_;
};

class TableCursor final : public InternalCursor {
 public:
  TableCursor(BlockBasedTable* table, const TableReadOptions& options);
  ~TableCursor() override;

  void SeekToFirst() override;
  void SeekToLast() override;
  void Seek(const Slice& internal_target) override;
  void SeekForPrev(const Slice& internal_target) override;
  void Next() override {
    if (next_ < limit_) [[likely]] {
      ++entry_;
      ParseNext();
    } else {
      NextBlock();
    }
  }
  void Prev() override;
  Status status() const override { return status_; }
  PinSource value_owner() const override { return table_->OwnerOf(block_.get()); }

 private:
  // Makes `block` the current one, without an entry; with a side index if asked to and it has to be read. False: status_ says why.
  bool LoadBlock(uint32_t block, bool side_index);
  bool EnsureSideIndex();
  void ParseNext();
  void ParseFirst();
  // Goes to the first entry of the blocks behind the current one; to the last entry of those before.
  void NextBlock();
  void PrevBlock();
  // Makes entry i of the current block current, wherever the cursor was.
  void MoveTo(uint32_t i);
  // The same once its key is in the buffer.
  void Take(uint32_t i, const Slice& stored_key);
  void SeekInBlock(const Slice& user_key, uint64_t tag, const Slice& internal_target);
  void SetKey(char* stored_key, size_t n);
  void Invalidate() { valid_ = false; }
  void Fail(Status status);

  BlockBasedTable* const table_;
  const TableReadOptions options_;
  const bool fills_cache_;
  BlockRef block_;
  uint32_t block_number_ = 0;
  uint32_t entry_ = 0;
  const char* current_ = nullptr;  // where the current entry begins
  const char* next_ = nullptr;
  const char* limit_ = nullptr;
  const char* readable_end_ = nullptr;
  size_t key_bytes_ = 0;  // of the stored key in buffer_
  KeyBuffer buffer_;
  KeyBuffer patched_;  // the key with the table's global sequence
  ReadAhead read_ahead_;
  Status status_;
};

}  // namespace ashlar
