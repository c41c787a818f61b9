// TableCursor: a walk over one block-based table.
//
//   current block (counted)   [ ... | entry | entry | entry | next_ ...         | limit_ )
//                                       \       |       /
//   batch                          [ key, value | ... ]       keys: put together in keys_; values: in place
//
// It decodes a batch of entries at once, forwards, checking each; a seek shows one entry, and the
// batches that follow double in length up to kBatchMax, so that a short range costs little more
// than what it shows. Backwards it finds the batch's first entry through the block's side index,
// which also serves seeks. Blocks come from the cache by their slots; those that are not there are
// read, with readahead when the reads turn out to be sequential, and offered to the cache.
//
// A cursor that does not fill the cache (there is none, or it scans or compacts) builds no side
// index until somebody moves it backwards: it seeks by the block's restarts.
//
// I1: last_key_ is the stored key of the batch's last entry, whose bytes the next entry shares;
//     next_ is where that one begins.
// I2: a batch lies in one block, and in the memory of entries_ and keys_, or one_key_.
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
  // readahead_bytes: 0 for growing pieces.
  ReadAhead(const BlockBasedTable* table, const TableReadOptions& options)
      : table_(table), fixed_bytes_(options.readahead_bytes), hints_(options.hint_readahead) {}

  // Tells of a block that is about to be read. Returns bytes that cover it, or null when it should
  // be read on its own.
  Result<const FileSpan*> Prepare(uint32_t block);

 private:
  // Pieces of this size are still in the processor's cache when their blocks are decoded.
  static constexpr size_t kHintedPieceBytes = size_t{256} << 10;

  size_t PieceBytes(uint32_t block);
  // Tells the file system what will be read from `offset` on.
  void Announce(uint64_t offset);

  const BlockBasedTable* const table_;
  const size_t fixed_bytes_;
  const bool hints_;
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
  bool SeekStage(const Slice& internal_target, uint32_t step) override;
  Status status() const override { return status_; }
  PinSource OwnerOf(const CursorEntry&) const override { return table_->OwnerOf(block_.get()); }

 private:
  static constexpr uint32_t kBatchMin = 4;
  static constexpr uint32_t kBatchShort =
      16;  // the longest backwards, and from a restart to a target
  static constexpr uint32_t kBatchMax = 64;
  // Memory for keys, for each entry of a batch that has no longer ones.
  static constexpr size_t kKeysBytesPerEntry = 64;

  void MoveNext() override;
  void MovePrev() override;

  // Makes `block` the current one, without an entry; with a side index if asked to and it has to be
  // read. False: status_ says why.
  bool LoadBlock(uint32_t block, bool side_index);
  bool EnsureSideIndex();
  void UseBlock();
  // What the next batch may have.
  void Lengthen();
  // Shows up to n entries from next_ on and stands at the first of them: fewer where the block or
  // the room for keys ends, or behind the last that can be shown. Returns how many. 0: that at
  // next_ cannot be shown.
  uint32_t Decode(uint32_t n);
  void PrefetchAhead(const char* p) const;
  // Room for so many entries, the first of whose keys has this length and shares bytes with
  // last_key_.
  void GrowKeyBuffer(uint32_t entries, size_t key_bytes, size_t shared);
  void PatchSequences(CursorEntry* entries, uint32_t n);
  void DecodeOrFail(uint32_t n);
  Status FaultAtNext() const;
  // Shows entries of the first block behind the current one that has any; of the last before it.
  void NextBlock();
  void PrevBlock();
  void DecodeFromStart();
  // Shows the entries before entry `end` of the current block, and stands at the last of them.
  // Precondition: end > 0.
  void ShowBefore(uint32_t end);
  // Stored tags say nothing under a global sequence: begin with the newest.
  uint64_t SoughtTag(const Slice& internal_target) const {
    return table_->global_sequence() ? ~uint64_t{0} : ExtractTag(internal_target);
  }
  // The steps of a seek; false: it has ended.
  bool FindGroup(const Slice& internal_target);
  void FindBlock(const Slice& internal_target);
  bool FindEntry(const Slice& internal_target);
  void ShowFound(const Slice& internal_target);
  void SeekByRestarts(const Slice& internal_target);
  // Shows entry i of the current block on its own.
  void ShowEntry(uint32_t i);
  void Fail(Status status);

  BlockBasedTable* const table_;
  const TableReadOptions options_;
  const bool fills_cache_;
  BlockRef block_;
  uint32_t block_number_ = 0;
  BlockIndex::Group group_;  // by the first step of a seek
  uint32_t found_ = 0;       // by the last step of a seek: the block, then the entry
  uint32_t batch_ = 1;       // entries that the next batch may have
  const char* next_ = nullptr;
  const char* limit_ = nullptr;
  const char* readable_end_ = nullptr;
  const char* walked_next_ =
      // where the entries of the next block lie, if a walk came here and that is known: never read,
      // only asked for
      nullptr;
  Slice last_key_;
  KeyBuffer one_key_;
  // What a batch is decoded into: these few, until a longer one is asked for.
  CursorEntry few_entries_[kBatchMin];
  char few_keys_[kBatchMin * 32 + KeyBuffer::kSlackBytes];
  CursorEntry* entries_ = few_entries_;
  uint32_t entries_max_ = kBatchMin;
  char* keys_ = few_keys_;
  size_t keys_bytes_ = sizeof(few_keys_) - KeyBuffer::kSlackBytes;
  std::unique_ptr<CursorEntry[]> more_entries_;
  std::unique_ptr<char[]> more_keys_;
  std::string patched_keys_;  // with a global sequence: the batch's keys as they are shown
  ReadAhead read_ahead_;
  Status status_;
};

}  // namespace ashlar
