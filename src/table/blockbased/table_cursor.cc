#include "table/blockbased/table_cursor.h"

#include <algorithm>
#include <cstring>

#include "base/coding.h"
#include "base/format.h"

namespace ashlar {

namespace {

static_assert(KeyBuffer::kSlackBytes >= ShortKey::kBytes);

constexpr size_t kPrefetchDistanceBytes = 2048;
constexpr size_t kLineBytes = 64;
constexpr size_t kSeekPrefetchBytes = 512;

inline void PrefetchFrom(const char* p, size_t n) {
  for (size_t i = 0; i < n; i += kLineBytes) ASHLAR_PREFETCH(p + i);
}

}  // namespace

size_t ReadAhead::PieceBytes(uint32_t block) {
  if (fixed_bytes_ > 0) return hints_ ? std::min(fixed_bytes_, kHintedPieceBytes) : fixed_bytes_;
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

void ReadAhead::Announce(uint64_t offset) {
  if (!hints_ || fixed_bytes_ <= kHintedPieceBytes || offset < announced_end_) return;
  table_->file().file()->Hint(AccessPattern::kWillNeed, offset, fixed_bytes_);
  announced_end_ = offset + fixed_bytes_;
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
  Announce(handle.offset);
  ASHLAR_ASSIGN_OR_RETURN(const Slice bytes,
                          table_->file().ReadBytes(handle.offset, n, buffer_.get()));
  table_->recorder().Tick(PREFETCH_BYTES, bytes.size());
  span_ = {handle.offset, bytes};
  return &span_;
}

TableCursor::TableCursor(BlockBasedTable* table, const TableReadOptions& options)
    : table_(table),
      options_(options),
      fills_cache_(table->FillsCache(options)),
      read_ahead_(table, options) {
  table_->AddRef();
}

TableCursor::~TableCursor() {
  block_.Reset();
  table_->Release();
}

void TableCursor::Fail(Status status) {
  Hide();
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
  UseBlock();
  return true;
}

void TableCursor::UseBlock() {
  limit_ = block_->entries_end();
  readable_end_ = block_->contents_end();
  walked_next_ = nullptr;
}

bool TableCursor::EnsureSideIndex() {
  if (block_->has_side_index()) return true;
  Slice contents(block_->first(), block_->contents_bytes());
  BlockBuffer bytes;
  if (!block_->in_mapping()) {
    // A copy: values of this block may be pinned through it already.
    bytes = BlockBuffer(contents.size());
    memcpy(bytes.get(), contents.data(), contents.size());
    contents = Slice(bytes.get(), contents.size());
  }
  Result<DataBlock*> made = DataBlock::Create({.contents = contents,
                                               .owned = std::move(bytes),
                                               .comparator = table_->comparator(),
                                               .side_index = true,
                                               .live_count = table_->live_blocks()});
  if (!made.ok()) {
    Fail(table_->file().AddPlace(made.status(), table_->index().handle(block_number_).offset));
    return false;
  }
  block_ = BlockRef(*made);
  UseBlock();
  return true;
}

// --- batches ---

void TableCursor::Lengthen() { batch_ = std::clamp(2 * batch_, kBatchMin, kBatchMax); }

// last_key_ may lie in what is given up.
void TableCursor::GrowKeyBuffer(uint32_t entries, size_t key_bytes, size_t shared) {
  const size_t n = std::max(entries * kKeysBytesPerEntry - KeyBuffer::kSlackBytes, 2 * key_bytes);
  auto keys = std::make_unique_for_overwrite<char[]>(n + KeyBuffer::kSlackBytes);
  if (shared > 0) memcpy(keys.get(), last_key_.data(), shared);
  last_key_ = Slice(keys.get(), shared);
  more_keys_ = std::move(keys);
  keys_ = more_keys_.get();
  keys_bytes_ = n;
  if (entries <= entries_max_) return;
  more_entries_ = std::make_unique<CursorEntry[]>(entries);
  entries_ = more_entries_.get();
  entries_max_ = entries;
}

// Asks for what a walk will read when it is kPrefetchDistanceBytes further than p, beyond the
// block's end in the next one. Where an entry begins is known only when the one before it has
// arrived, so the processor does not run ahead by itself.
inline void TableCursor::PrefetchAhead(const char* p) const {
  const auto left = static_cast<size_t>(limit_ - p);
  if (left > kPrefetchDistanceBytes) {
    PrefetchFrom(p + kPrefetchDistanceBytes, 2 * kLineBytes);
  } else if (walked_next_ != nullptr) {
    PrefetchFrom(walked_next_ + (kPrefetchDistanceBytes - left), 2 * kLineBytes);
  }
}

uint32_t TableCursor::Decode(uint32_t n) {
  if (n > entries_max_) [[unlikely]] {
    GrowKeyBuffer(n <= kBatchShort ? kBatchShort : kBatchMax, last_key_.size(), last_key_.size());
  }
  const char* previous = last_key_.data();
  size_t previous_bytes = last_key_.size();
  ShortKey key;  // the key before, if it is current
  bool key_is_current = previous_bytes == 0;
  const char* p = next_;
  const char* const first = block_->first();
  const char* const limit = limit_;
  const char* const readable_end = readable_end_;
  CursorEntry* entries = entries_;
  char* to = keys_;
  size_t room = keys_bytes_;
  uint32_t count = 0;
  while (count < n && p < limit) {
    EntryHeader header;
    const char* const suffix = DecodeEntryHeader(p, limit, &header);
    if (suffix == nullptr) [[unlikely]] {
      break;
    }
    const size_t key_bytes = size_t{header.shared} + header.unshared;
    if (header.shared > previous_bytes || key_bytes < kTagBytes) [[unlikely]] {
      break;
    }
    if (key_bytes > room) [[unlikely]] {
      if (count > 0) break;
      GrowKeyBuffer(entries_max_, key_bytes, header.shared);
      previous = last_key_.data();
      entries = entries_;
      to = keys_;
      room = keys_bytes_;
    }
    if (key_bytes <= ShortKey::kBytes && static_cast<size_t>(suffix - first) >= header.shared &&
        static_cast<size_t>(readable_end - suffix) + header.shared >= ShortKey::kBytes) [[likely]] {
      if (!key_is_current) key = ShortKey(previous);
      key.Follow(header.shared, suffix);
      key.Store(to);
      key_is_current = true;
    } else {
      // The key before lies further back, or where this one goes: bytes are read before they are
      // overwritten.
      if (header.shared > 0) CopyInSteps(to, previous, header.shared);
      if (static_cast<size_t>(readable_end - suffix) >= size_t{header.unshared} + 16) {
        CopyInSteps(to + header.shared, suffix, header.unshared);
      } else {
        memcpy(to + header.shared, suffix, header.unshared);
      }
      key_is_current = false;
    }
    if (!IsPointType(static_cast<ValueType>(static_cast<uint8_t>(to[key_bytes - kTagBytes]))))
        [[unlikely]] {
      break;
    }
    entries[count] = {Slice(to, key_bytes), Slice(suffix + header.unshared, header.value_bytes)};
    ++count;
    previous = to;
    previous_bytes = key_bytes;
    to += key_bytes;
    room -= key_bytes;
    p = suffix + header.unshared + header.value_bytes;
    PrefetchAhead(p);
  }
  if (count == 0) return 0;
  last_key_ = Slice(previous, previous_bytes);
  next_ = p;
  if (table_->global_sequence()) [[unlikely]] {
    PatchSequences(entries, count);
  }
  ShowBatch(entries, entries, entries + count);
  return count;
}

// The stored keys stay: the keys behind them share their bytes.
void TableCursor::PatchSequences(CursorEntry* entries, uint32_t n) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < n; ++i) bytes += entries[i].key.size();
  if (patched_keys_.size() < bytes) patched_keys_.resize(bytes);
  char* to = patched_keys_.data();
  for (uint32_t i = 0; i < n; ++i) {
    Slice& key = entries[i].key;
    memcpy(to, key.data(), key.size());
    EncodeFixed64(to + key.size() - kTagBytes,
                  PackTag(*table_->global_sequence(), ExtractType(key)));
    key = Slice(to, key.size());
    to += key.size();
  }
}

void TableCursor::DecodeOrFail(uint32_t n) {
  if (Decode(n) == 0) [[unlikely]] {
    Fail(table_->file().AddPlace(FaultAtNext(), table_->index().handle(block_number_).offset));
  }
}

Status TableCursor::FaultAtNext() const {
  EntryHeader header;
  const char* const suffix = DecodeEntryHeader(next_, limit_, &header);
  if (suffix == nullptr) return Status::Corruption("damaged block entry");
  const size_t key_bytes = size_t{header.shared} + header.unshared;
  if (header.shared > last_key_.size() || key_bytes < kTagBytes)
    return Status::Corruption("damaged block entry");
  const size_t at = key_bytes - kTagBytes;
  const char type = at < header.shared ? last_key_[at] : suffix[at - header.shared];
  return Status::NotSupported(
      StrCat("entry of type ", static_cast<unsigned>(static_cast<uint8_t>(type))));
}

void TableCursor::DecodeFromStart() {
  next_ = block_->first();
  last_key_ = Slice();
  DecodeOrFail(batch_);
}

void TableCursor::ShowEntry(uint32_t i) {
  last_key_ = block_->Key(table_->comparator(), i, &one_key_);
  const Slice value = block_->View(i).value;
  if (const ValueType type = ExtractType(last_key_); !IsPointType(type)) [[unlikely]] {
    return Fail(table_->file().AddPlace(
        Status::NotSupported(StrCat("entry of type ", static_cast<unsigned>(type))),
        table_->index().handle(block_number_).offset));
  }
  next_ = value.data() + value.size();
  entries_[0] = {last_key_, value};
  if (table_->global_sequence()) [[unlikely]] {
    PatchSequences(entries_, 1);
  }
  ShowBatch(entries_, entries_, entries_ + 1);
}

void TableCursor::ShowBefore(uint32_t end) {
  // Keys are mostly as long as the last: no more of them than there is room for.
  const size_t room =
      std::max(keys_bytes_, kBatchShort * kKeysBytesPerEntry - KeyBuffer::kSlackBytes) /
      block_->View(end - 1).key_bytes;
  for (uint32_t n = std::clamp(static_cast<uint32_t>(room), uint32_t{1},
                               std::min({batch_, kBatchShort, end}));
       ; n /= 2) {
    const uint32_t first = end - n;
    next_ = block_->entry(first);
    // What an entry shares with the one before it, it shares with itself.
    last_key_ = block_->Key(table_->comparator(), first, &one_key_);
    const uint32_t count = Decode(n);
    if (count == n) break;
    if (n == 1)
      return Fail(
          table_->file().AddPlace(FaultAtNext(), table_->index().handle(block_number_).offset));
  }
  ShowBatch(batch_begin(), batch_end() - 1, batch_end());
  // What the next batch will read.
  const char* const first = block_->entry(end - static_cast<uint32_t>(batch_end() - batch_begin()));
  for (const char* line = first - std::min(next_ - first, first - block_->first()); line < first;
       line += kLineBytes)
    ASHLAR_PREFETCH(line);
}

// --- moves ---

void TableCursor::MoveNext() {
  Lengthen();
  if (next_ < limit_) {
    // A walk that has just begun outruns what Decode asks for as it goes.
    if (batch_ < kBatchShort) PrefetchFrom(next_, kPrefetchDistanceBytes / 2);
    DecodeOrFail(batch_);
  } else {
    NextBlock();
  }
}

void TableCursor::MovePrev() {
  // The batch's first entry ends here.
  const auto end_offset = static_cast<size_t>(value().data() + value().size() - block_->first());
  if (!EnsureSideIndex()) return;
  uint32_t low = 0;
  uint32_t high = block_->entries();
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (static_cast<size_t>(block_->entry(middle) - block_->first()) < end_offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  Lengthen();
  if (low > 1) {
    ShowBefore(low - 1);
  } else {
    PrevBlock();
  }
}

void TableCursor::NextBlock() {
  for (uint32_t block = block_number_ + 1; block < table_->index().blocks(); ++block) {
    if (!LoadBlock(block, fills_cache_)) return;
    if (block_->first() < limit_) {
      if (fills_cache_) walked_next_ = table_->WhereCached(block + 1);
      return DecodeFromStart();
    }
  }
  Hide();
}

void TableCursor::PrevBlock() {
  for (uint32_t block = block_number_; block-- > 0;) {
    if (!LoadBlock(block, true)) return;
    if (block_->first() == limit_) continue;
    if (block > 0) table_->PrefetchBackwards(block - 1);
    if (EnsureSideIndex()) ShowBefore(block_->entries());
    return;
  }
  Hide();
}

void TableCursor::SeekToFirst() {
  status_ = Status::OK();
  batch_ = kBatchMin;
  Hide();
  if (table_->index().blocks() == 0 || !LoadBlock(0, fills_cache_)) return;
  if (block_->first() < limit_) {
    DecodeFromStart();
  } else {
    NextBlock();
  }
}

void TableCursor::SeekToLast() {
  status_ = Status::OK();
  batch_ = kBatchMin;
  Hide();
  if (table_->index().blocks() == 0) return;
  block_.Reset();
  block_number_ = table_->index().blocks();
  PrevBlock();
}

void TableCursor::Seek(const Slice& internal_target) {
  for (uint32_t step = 0; SeekStage(internal_target, step); ++step) {
  }
}

bool TableCursor::SeekStage(const Slice& internal_target, uint32_t step) {
  switch (step) {
    case 0: return FindGroup(internal_target);
    case 1: FindBlock(internal_target); return true;
    case 2: return FindEntry(internal_target);
    default: ShowFound(internal_target); return false;
  }
}

bool TableCursor::FindGroup(const Slice& internal_target) {
  status_ = Status::OK();
  batch_ = 1;
  Hide();
  if (table_->index().blocks() == 0) return false;
  group_ = table_->index().FindGroup(ExtractUserKey(internal_target));
  return true;
}

void TableCursor::FindBlock(const Slice& internal_target) {
  found_ = table_->index().FindInGroup(group_, ExtractUserKey(internal_target),
                                       SoughtTag(internal_target));
  table_->PrefetchSideIndex(found_);
}

bool TableCursor::FindEntry(const Slice& internal_target) {
  if (!LoadBlock(found_, fills_cache_)) return false;
  if (!block_->has_side_index()) return true;
  found_ = block_->LowerBound(table_->comparator(), ExtractUserKey(internal_target),
                              SoughtTag(internal_target));
  // A seek is mostly followed by steps.
  if (found_ < block_->entries()) PrefetchFrom(block_->entry(found_), kSeekPrefetchBytes);
  return true;
}

void TableCursor::ShowFound(const Slice& internal_target) {
  if (!block_->has_side_index()) {
    SeekByRestarts(internal_target);
  } else if (found_ < block_->entries()) {
    ShowEntry(found_);
  } else {
    NextBlock();
  }
  while (Valid() && table_->global_sequence() &&
         table_->comparator().CompareInternal(key(), internal_target) < 0)
    Next();
}

void TableCursor::SeekByRestarts(const Slice& internal_target) {
  if (block_->first() == limit_) return NextBlock();
  BlockLayout layout;
  Result<const char*> restart =
      ParseBlockLayout(Slice(block_->first(), block_->contents_bytes()), &layout).ok()
          ? FindRestart(layout, table_->comparator(), ExtractUserKey(internal_target),
                        SoughtTag(internal_target))
          : Status::Corruption("damaged block");
  if (!restart.ok())
    return Fail(
        table_->file().AddPlace(restart.status(), table_->index().handle(block_number_).offset));
  next_ = *restart;
  last_key_ = Slice();
  DecodeOrFail(kBatchShort);
  while (Valid() && table_->comparator().CompareInternal(key(), internal_target) < 0) Next();
}

void TableCursor::SeekForPrev(const Slice& internal_target) {
  Seek(internal_target);
  if (!status_.ok()) return;
  if (!Valid()) {
    SeekToLast();
  } else if (table_->comparator().CompareInternal(key(), internal_target) > 0) {
    Prev();
  }
}

}  // namespace ashlar
