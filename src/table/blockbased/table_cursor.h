// TableCursor: iterates over one block-based table.
//
//   current block (counted)   [ ... | entry | entry | entry | next_ ...         | limit_ )
//                                       \       |       /
//   batch                          [ key, value | ... ]       keys: in keys_; values: in place
//
// A batch is decoded at once, in forward order, and every entry is checked. A seek shows one entry.
// The batches after it double in length up to kBatchMax, so that a short range costs little more
// than its entries. For a backward move, the block's side index gives the first entry of the batch.
// Cached blocks are found by their slots. Others are read, with readahead if the reads are
// sequential, and offered to the cache.
//
// A cursor that does not fill the cache (there is no cache, or it serves a scan or a compaction)
// seeks by the block's restarts. It builds a side index only when it is moved backwards.
//
// I1: last_key_ is the stored key of the batch's last entry, with which the next entry shares
//     bytes. next_ is where the next entry begins.
// I2: a batch is in one block, and in the memory of entries_ and keys_, or of one_key_.
// I3: block_ is the current block: next_ and limit_ point into it, and next_ <= limit_.
// Lifetime: holds one count on the table and one on the current block.
// Thread safety: one thread.
#pragma once

#include <memory>

#include "key/cursor.h"
#include "table/blockbased/block_based_table.h"
#include "table/input_reads.h"
#include "table/table_reader.h"

namespace ashlar {

// Reads a file in pieces that grow while the reads are sequential. Pieces of a fixed size also
// follow a backward iteration. For a compaction it waits for the rate limiter before each read.
class ReadAhead {
 public:
  // readahead_bytes: 0 for growing pieces.
  ReadAhead(const BlockBasedTable* table, const TableReadOptions& options)
      : table_(table), fixed_bytes_(options.readahead_bytes), input_reads_(options.input_reads) {}

  // Announces that a block will be read next. Returns bytes that cover it, or null if the block is
  // to be read alone. Requires: the table has the block.
  Result<const FileSpan*> Prepare(uint32_t block);

 private:
  // Pieces of this size are still in the processor's cache when their blocks are decoded.
  static constexpr size_t kHintedPieceBytes = size_t{256} << 10;

  bool Hints() const { return input_reads_ != nullptr && input_reads_->hint; }
  size_t PieceBytes(uint32_t block);
  void WaitToRead(size_t bytes) const;
  // Hints to the file system that the bytes from `offset` on will be read.
  void Announce(uint64_t offset);

  const BlockBasedTable* const table_;
  const size_t fixed_bytes_;
  const InputReads* const input_reads_;  // null: reads for the program
  uint64_t announced_end_ = 0;
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
  bool StagedSeek(const Slice& internal_target, SeekStage stage) override;
  Status status() const override { return status_; }
  PinSource OwnerOf(const CursorEntry&) const override { return table_->OwnerOf(block_.get()); }
  // Asserts I1 to I3. Requires: Valid().
  void CheckInvariants() const;

 private:
  static constexpr uint32_t kBatchMin = 4;
  static constexpr uint32_t kBatchShort = 16;  // backwards, and from a restart to a target
  static constexpr uint32_t kBatchMax = 64;
  static constexpr size_t kKeysBytesPerEntry = 64;  // memory for keys, if none is longer
  static_assert(kBatchMin <= kBatchShort && kBatchShort <= kBatchMax);

  void MoveNext() override;
  void MovePrev() override;

  // Makes `block` the current one, at no entry. side_index: build it if the block has to be read.
  // Returns false if that fails. status_ has the reason.
  bool LoadBlock(uint32_t block, bool side_index);
  bool EnsureSideIndex();
  void UseBlock();
  // Doubles the length of the next batch.
  void Lengthen();
  // Shows up to n entries from next_ on, positioned at the first. Shows fewer at the end of the
  // block, at the end of the memory for keys, and before a damaged entry. Returns their number, or
  // 0 if the entry at next_ is damaged or of an unknown type.
  uint32_t Decode(uint32_t n);
  void PrefetchAhead(const char* p) const;
  // Makes room for `entries` entries. The first has a key of key_bytes, which shares bytes with
  // last_key_.
  void GrowKeyBuffer(uint32_t entries, size_t key_bytes, size_t shared);
  // Shows n decoded entries, positioned at the first, with the table's sequence override applied.
  void ShowDecoded(CursorEntry* entries, uint32_t n);
  void OverrideSequences(CursorEntry* entries, uint32_t n);
  void DecodeOrFail(uint32_t n);
  // The fault of the entry at next_.
  Status FaultAtNext() const;
  // Fails with an error of the current block.
  void FailInBlock(const Status& status);
  // Shows entries of the next or the previous block that has any.
  void NextBlock();
  void PrevBlock();
  void DecodeFromStart();
  // Shows the entries before entry `end` of the current block, positioned at the last.
  // Requires: 0 < end <= entries().
  void ShowBefore(uint32_t end);
  uint64_t SoughtTag(const Slice& internal_target) const {
    return table_->sequence_override().SoughtTag(ExtractTag(internal_target));
  }
  // The stages of a seek. They return false if the seek has ended.
  bool FindGroup(const Slice& internal_target);
  void FindBlock(const Slice& internal_target);
  bool FindEntry(const Slice& internal_target);
  void ShowFound(const Slice& internal_target);
  void SeekByRestarts(const Slice& internal_target);
  // Shows entry i of the current block, alone. Requires: i < entries().
  void ShowEntry(uint32_t i);
  void Fail(Status status);

  BlockBasedTable* const table_;
  const TableReadOptions options_;
  const bool fills_cache_;
  BlockRef block_;
  uint32_t block_number_ = 0;
  BlockIndex::Group group_;  // set by SeekStage::kGroup
  uint32_t found_ = 0;       // set by SeekStage::kBlock: the block; by kEntry: the entry
  uint32_t batch_ = 1;       // entries that the next batch may have
  const char* next_ = nullptr;
  const char* limit_ = nullptr;
  const char* readable_end_ = nullptr;
  // The address of the next block's entries, if they were cached when an iteration reached this
  // block. Only prefetched, never read.
  const char* walked_next_ = nullptr;
  Slice last_key_;
  KeyBuffer one_key_;
  // Batches are decoded into these, until a longer one is needed.
  CursorEntry few_entries_[kBatchMin];
  char few_keys_[kBatchMin * 32 + KeyBuffer::kSlackBytes];
  CursorEntry* entries_ = few_entries_;
  uint32_t entries_max_ = kBatchMin;
  char* keys_ = few_keys_;
  size_t keys_bytes_ = sizeof(few_keys_) - KeyBuffer::kSlackBytes;
  std::unique_ptr<CursorEntry[]> more_entries_;
  std::unique_ptr<char[]> more_keys_;
  std::string overridden_keys_;  // with a sequence override: the batch's keys as shown
  ReadAhead read_ahead_;
  Status status_;
};

}  // namespace ashlar
