#include "table/blockbased/table_cursor.h"

#include <algorithm>
#include <cstring>

#include "base/coding.h"
#include "base/format.h"

namespace ashlar {

namespace {

// Copies n bytes in steps of 16, writing up to 15 behind them. The caller has checked that these may be read and written.
inline void CopyInSteps(char* to, const char* from, size_t n) {
  size_t i = 0;
  do {
    memcpy(to + i, from + i, 16);
    i += 16;
  } while (i < n);
}
static_assert(KeyBuffer::kSlackBytes >= 16);

constexpr size_t kPrefetchDistanceBytes = 2048;

}  // namespace

size_t ReadAhead::PieceBytes(uint32_t block) {
  if (fixed_bytes_ > 0) return fixed_bytes_;
  const bool sequential = last_block_ != UINT32_MAX && block == last_block_ + 1;
  if (!sequential) {
    piece_bytes_ = 0;
  } else if (piece_bytes_ == 0) {
    piece_bytes_ = table_->config().readahead_bytes_initial;
  } else {
    piece_bytes_ = std::min(2 * piece_bytes_, table_->config().readahead_bytes_max);
  }
  return piece_bytes_;
}

Result<const FileSpan*> ReadAhead::Prepare(uint32_t block) {
  const BlockHandle handle = table_->index().handle(block);
  const uint64_t block_bytes = handle.size + kBlockTrailerBytes;
  if (table_->file().mapped()) return nullptr;
  if (span_.Covers(handle.offset, block_bytes)) {
    last_block_ = block;
    return &span_;
  }
  const size_t piece = PieceBytes(block);
  last_block_ = block;
  if (piece <= block_bytes) return nullptr;
  const BlockHandle last = table_->index().handle(table_->index().blocks() - 1);
  const uint64_t data_end = last.offset + last.size + kBlockTrailerBytes;
  const auto n = static_cast<size_t>(std::min<uint64_t>(piece, data_end - handle.offset));
  if (capacity_ < n) {
    buffer_ = std::make_unique_for_overwrite<char[]>(n);
    capacity_ = n;
  }
  span_ = {};
  ASHLAR_ASSIGN_OR_RETURN(const Slice bytes, table_->file().ReadBytes(handle.offset, n, buffer_.get()));
  table_->recorder().Tick(PREFETCH_BYTES, bytes.size());
  span_ = {handle.offset, bytes};
  return &span_;
}

TableCursor::TableCursor(BlockBasedTable* table, const TableReadOptions& options)
    : table_(table), options_(options), fills_cache_(table->FillsCache(options)), read_ahead_(table, options.readahead_bytes) {
  table_->AddRef();
}

TableCursor::~TableCursor() {
  block_.Reset();
  table_->Release();
}

void TableCursor::Fail(Status status) {
  valid_ = false;
  block_.Reset();
  next_ = limit_ = nullptr;
  status_ = std::move(status);
}

bool TableCursor::LoadBlock(uint32_t block, bool side_index) {
  if (block_ && block == block_number_) return true;
  block_.Reset();
  // Compaction looks into the cache too: what is there need not be read.
  block_ = table_->FindCached(block);
  if (!block_) {
    if (options_.cached_only) {
      Fail(Status::Incomplete(table_->file().name(), "the block is not in the cache"));
      return false;
    }
    Result<const FileSpan*> at_hand = read_ahead_.Prepare(block);
    if (!at_hand.ok()) {
      Fail(std::move(at_hand).status());
      return false;
    }
    Result<BlockRef> read = table_->Read({.block = block,
                                          .verify_checksum = options_.verify_checksums,
                                          .fill_cache = options_.fill_cache,
                                          .side_index = side_index,
                                          .at_hand = *at_hand});
    if (!read.ok()) {
      Fail(std::move(read).status());
      return false;
    }
    block_ = std::move(read).value();
  }
  block_number_ = block;
  limit_ = block_->entries_end();
  readable_end_ = block_->contents_end();
  return true;
}

bool TableCursor::EnsureSideIndex() {
  if (block_->has_side_index()) return true;
  const auto current = static_cast<size_t>(current_ - block_->first());
  const auto next = static_cast<size_t>(next_ - block_->first());
  Slice contents(block_->first(), block_->contents_bytes());
  std::unique_ptr<char[]> bytes;
  if (!block_->in_mapping()) {
    // A copy: values of this block may be pinned through it already.
    bytes = std::make_unique_for_overwrite<char[]>(contents.size());
    memcpy(bytes.get(), contents.data(), contents.size());
    contents = Slice(bytes.get(), contents.size());
  }
  Result<DataBlock*> made = DataBlock::Create(
      {.contents = contents, .owned = std::move(bytes), .comparator = table_->comparator(), .side_index = true, .live_count = table_->live_blocks()});
  if (!made.ok()) {
    Fail(table_->file().AddPlace(made.status(), table_->index().handle(block_number_).offset));
    return false;
  }
  block_ = BlockRef(*made);
  limit_ = block_->entries_end();
  readable_end_ = block_->contents_end();
  current_ = block_->first() + current;
  next_ = block_->first() + next;
  // The number of the entry that begins there.
  uint32_t low = 0;
  uint32_t high = block_->entries();
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (block_->entry(middle) < current_) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  entry_ = low;
  return true;
}

void TableCursor::SetKey(char* stored_key, size_t n) {
  key_bytes_ = n;
  if (table_->global_sequence()) [[unlikely]] {
    char* const key = patched_.Reserve(n, 0);
    memcpy(key, stored_key, n);
    const uint64_t tag = DecodeFixed64(stored_key + n - kTagBytes);
    EncodeFixed64(key + n - kTagBytes, PackTag(*table_->global_sequence(), TagType(tag)));
    stored_key = key;
  }
  key_ = Slice(stored_key, n);
  valid_ = true;
  if (!IsPointType(static_cast<ValueType>(static_cast<uint8_t>(stored_key[n - kTagBytes])))) [[unlikely]] {
    const auto type = static_cast<unsigned>(static_cast<uint8_t>(stored_key[n - kTagBytes]));
    Fail(table_->file().AddPlace(Status::NotSupported(StrCat("entry of type ", type)), table_->index().handle(block_number_).offset));
  }
}

void TableCursor::ParseNext() {
  EntryHeader header;
  current_ = next_;
  const char* const suffix = DecodeEntryHeader(next_, limit_, &header);
  if (suffix == nullptr || header.shared > key_bytes_ || size_t{header.shared} + header.unshared < kTagBytes) [[unlikely]] {
    Fail(table_->file().CorruptionAt(table_->index().handle(block_number_).offset, "damaged block entry"));
    return;
  }
  const size_t n = size_t{header.shared} + header.unshared;
  char* const key = buffer_.Reserve(n, header.shared);
  if (static_cast<size_t>(readable_end_ - suffix) >= size_t{header.unshared} + 16) [[likely]] {
    CopyInSteps(key + header.shared, suffix, header.unshared);
  } else {
    memcpy(key + header.shared, suffix, header.unshared);
  }
  value_ = Slice(suffix + header.unshared, header.value_bytes);
  next_ = suffix + header.unshared + header.value_bytes;
  // Where the next entry begins is known only when this one has arrived, so the processor does not run ahead by itself.
  ASHLAR_PREFETCH(next_ + kPrefetchDistanceBytes);
  SetKey(key, n);
}

void TableCursor::ParseFirst() {
  next_ = block_->first();
  key_bytes_ = 0;
  entry_ = 0;
  ParseNext();
}

void TableCursor::MoveTo(uint32_t i) { Take(i, block_->Key(table_->comparator(), i, &buffer_)); }

void TableCursor::Take(uint32_t i, const Slice& stored_key) {
  entry_ = i;
  current_ = block_->entry(i);
  value_ = block_->View(i).value;
  next_ = value_.data() + value_.size();
  SetKey(buffer_.data(), stored_key.size());
}

void TableCursor::NextBlock() {
  for (uint32_t block = block_number_ + 1; block < table_->index().blocks(); ++block) {
    if (!LoadBlock(block, fills_cache_)) return;
    if (block_->first() < limit_) {
      if (fills_cache_) table_->PrefetchCached(block + 1);
      ParseFirst();
      return;
    }
  }
  Invalidate();
}

void TableCursor::PrevBlock() {
  for (uint32_t block = block_number_; block-- > 0;) {
    if (!LoadBlock(block, true)) return;
    if (block_->first() == limit_) continue;
    current_ = next_ = block_->first();
    if (!EnsureSideIndex()) return;
    MoveTo(block_->entries() - 1);
    return;
  }
  Invalidate();
}

void TableCursor::SeekToFirst() {
  status_ = Status::OK();
  Invalidate();
  if (table_->index().blocks() == 0 || !LoadBlock(0, fills_cache_)) return;
  if (block_->first() < limit_) {
    ParseFirst();
  } else {
    NextBlock();
  }
}

void TableCursor::SeekToLast() {
  status_ = Status::OK();
  Invalidate();
  if (table_->index().blocks() == 0) return;
  block_.Reset();
  block_number_ = table_->index().blocks();
  PrevBlock();
}

void TableCursor::Seek(const Slice& internal_target) {
  status_ = Status::OK();
  Invalidate();
  if (table_->index().blocks() == 0) return;
  const Slice user_key = ExtractUserKey(internal_target);
  // Stored tags say nothing under a global sequence: begin with the newest.
  const uint64_t tag = table_->global_sequence() ? ~uint64_t{0} : ExtractTag(internal_target);
  if (!LoadBlock(table_->index().Find(user_key, tag), fills_cache_)) return;
  SeekInBlock(user_key, tag, internal_target);
  while (valid_ && table_->global_sequence() && table_->comparator().CompareInternal(key_, internal_target) < 0) Next();
}

void TableCursor::SeekInBlock(const Slice& user_key, uint64_t tag, const Slice& internal_target) {
  if (block_->has_side_index()) {
    const uint32_t i = block_->LowerBound(table_->comparator(), user_key, tag);
    if (i < block_->entries()) {
      MoveTo(i);
    } else {
      NextBlock();
    }
    return;
  }
  if (block_->first() == limit_) {
    NextBlock();
    return;
  }
  BlockLayout layout;
  Result<const char*> restart = ParseBlockLayout(Slice(block_->first(), block_->contents_bytes()), &layout).ok()
                                    ? FindRestart(layout, table_->comparator(), user_key, tag)
                                    : Status::Corruption("damaged block");
  if (!restart.ok()) return Fail(table_->file().AddPlace(restart.status(), table_->index().handle(block_number_).offset));
  next_ = *restart;
  key_bytes_ = 0;
  ParseNext();
  while (valid_ && table_->comparator().CompareInternal(key_, internal_target) < 0) Next();
}

void TableCursor::SeekForPrev(const Slice& internal_target) {
  Seek(internal_target);
  if (!status_.ok()) return;
  if (!valid_) {
    SeekToLast();
  } else if (table_->comparator().CompareInternal(key_, internal_target) > 0) {
    Prev();
  }
}

void TableCursor::Prev() {
  if (!EnsureSideIndex()) return;
  if (entry_ == 0) {
    PrevBlock();
    return;
  }
  ASHLAR_PREFETCH(current_ - kPrefetchDistanceBytes);
  Take(entry_ - 1, block_->KeyBefore(entry_ - 1, &buffer_));
}

}  // namespace ashlar
