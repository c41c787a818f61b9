#include "table/blockbased/table_cursor.h"

#include <algorithm>
#include <cstring>

#include "ashlar/vfs.h"
#include "base/assert.h"
#include "base/coding.h"
#include "base/format.h"
#include "platform/cpu.h"

namespace ashlar {

namespace {

static_assert(KeyBuffer::kSlackBytes >= ShortKey::kBytes);

constexpr size_t kPrefetchDistanceBytes = 2048;
constexpr size_t kPrefetchAheadBytes = 2 * kCacheLineBytes;
constexpr size_t kSeekPrefetchBytes = 512;

}  // namespace

size_t ReadAhead::PieceBytes(uint32_t block) {
  if (fixed_bytes_ > 0) return Hints() ? std::min(fixed_bytes_, kHintedPieceBytes) : fixed_bytes_;
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

void ReadAhead::WaitToRead(size_t bytes) const {
  if (input_reads_ != nullptr) WaitForLimiter(input_reads_->limit, bytes, table_->recorder());
}

void ReadAhead::Announce(uint64_t offset) {
  if (!Hints() || fixed_bytes_ <= kHintedPieceBytes || offset < announced_end_) return;
  table_->file().file()->Hint(vfs::AccessPattern::kWillNeed, offset, fixed_bytes_);
  announced_end_ = offset + fixed_bytes_;
}

Result<const FileSpan*> ReadAhead::Prepare(uint32_t block) {
  ASHLAR_DCHECK(block < table_->index().blocks());  // Requires
  const BlockHandle handle = table_->index().handle(block);
  const uint64_t block_bytes = handle.size + kBlockTrailerBytes;
  if (table_->file().mapped()) return nullptr;
  if (span_.Covers(handle.offset, block_bytes)) {
    last_block_ = block;
    return &span_;
  }
  const bool backwards = last_block_ != UINT32_MAX && block + 1 == last_block_;
  const size_t piece = PieceBytes(block);
  last_block_ = block;
  if (piece <= block_bytes) {
    WaitToRead(block_bytes);
    return nullptr;
  }
  uint64_t begin = handle.offset;
  uint64_t end = begin + block_bytes;
  if (backwards) {
    begin = end - std::min<uint64_t>(piece, end);
  } else {
    const BlockHandle last = table_->index().handle(table_->index().blocks() - 1);
    const uint64_t data_end = last.offset + last.size + kBlockTrailerBytes;
    // The program chooses the piece size, which is not limited.
    end = begin + std::min<uint64_t>(piece, data_end - begin);
  }
  const auto n = static_cast<size_t>(end - begin);
  ASHLAR_DCHECK(n >= block_bytes);  // the last block ends the data
  if (capacity_ < n) {
    buffer_ = std::make_unique_for_overwrite<char[]>(n);
    capacity_ = n;
  }
  span_ = {};
  WaitToRead(n);
  Announce(begin);
  ASHLAR_ASSIGN_OR_RETURN(const Slice bytes, table_->file().ReadBytes(begin, n, buffer_.get()));
  table_->recorder().Tick(PREFETCH_BYTES, bytes.size());
  span_ = {begin, bytes};
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
  // Compaction uses cached blocks too.
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
    // A copy, because values of this block may be pinned through it.
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
    FailInBlock(made.status());
    return false;
  }
  block_ = BlockRef(*made);
  ASHLAR_DCHECK(block_->has_side_index());  // Create was asked for it
  UseBlock();
  return true;
}

// --- batches ---

void TableCursor::Lengthen() { batch_ = std::clamp(2 * batch_, kBatchMin, kBatchMax); }

// last_key_ may be in the memory that is replaced.
void TableCursor::GrowKeyBuffer(uint32_t entries, size_t key_bytes, size_t shared) {
  ASHLAR_DCHECK(shared <= last_key_.size() && shared <= key_bytes);  // I1 of block_entries.h
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

// Prefetches the bytes kPrefetchDistanceBytes after p, which an iteration reads soon. At the end of
// the block they are in the next block. The processor cannot prefetch them itself, because the
// position of an entry is known only after the previous entry has been read.
inline void TableCursor::PrefetchAhead(const char* p) const {
  const auto left = static_cast<size_t>(limit_ - p);
  if (left > kPrefetchDistanceBytes) {
    PrefetchRange(p + kPrefetchDistanceBytes, kPrefetchAheadBytes);
  } else if (walked_next_ != nullptr) {
    PrefetchRange(walked_next_ + (kPrefetchDistanceBytes - left), kPrefetchAheadBytes);
  }
}

uint32_t TableCursor::Decode(uint32_t n) {
  ASHLAR_DCHECK(n > 0 && block_ && block_->first() <= next_ && next_ <= limit_);  // I3
  if (n > entries_max_) [[unlikely]] {
    GrowKeyBuffer(n <= kBatchShort ? kBatchShort : kBatchMax, last_key_.size(), last_key_.size());
  }
  const char* previous = last_key_.data();
  size_t previous_bytes = last_key_.size();
  ShortKey key;  // the previous key, if key_is_current
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
    BlockEntry entry;
    if (!DecodeEntry(p, limit, previous_bytes, kTagBytes, &entry)) [[unlikely]] {
      break;
    }
    const char* const suffix = entry.suffix;
    const size_t key_bytes = entry.key_bytes();
    if (key_bytes > room) [[unlikely]] {
      if (count > 0) break;
      GrowKeyBuffer(entries_max_, key_bytes, entry.shared);
      previous = last_key_.data();
      entries = entries_;
      to = keys_;
      room = keys_bytes_;
    }
    if (key_bytes <= ShortKey::kBytes && static_cast<size_t>(suffix - first) >= entry.shared &&
        static_cast<size_t>(readable_end - suffix) + entry.shared >= ShortKey::kBytes) [[likely]] {
      if (!key_is_current) key = ShortKey(previous);
      key.Follow(entry.shared, suffix);
      key.Store(to);
      key_is_current = true;
    } else {
      // The previous key may overlap this one, but its bytes are read before they are overwritten.
      if (entry.shared > 0) CopyInSteps(to, previous, entry.shared);
      if (static_cast<size_t>(readable_end - suffix) >= size_t{entry.unshared} + 16) {
        CopyInSteps(to + entry.shared, suffix, entry.unshared);
      } else {
        memcpy(to + entry.shared, suffix, entry.unshared);
      }
      key_is_current = false;
    }
    if (!IsPointType(static_cast<ValueType>(static_cast<uint8_t>(to[key_bytes - kTagBytes]))))
        [[unlikely]] {
      break;
    }
    entries[count] = {Slice(to, key_bytes), entry.value()};
    ++count;
    previous = to;
    previous_bytes = key_bytes;
    to += key_bytes;
    room -= key_bytes;
    p = entry.end();
    PrefetchAhead(p);
  }
  if (count == 0) return 0;
  last_key_ = Slice(previous, previous_bytes);
  next_ = p;
  ShowDecoded(entries, count);
  return count;
}

inline void TableCursor::ShowDecoded(CursorEntry* entries, uint32_t n) {
  if (table_->sequence_override().active()) [[unlikely]] {
    OverrideSequences(entries, n);
  }
  ShowBatch(entries, entries, entries + n);
  if constexpr (kDebugChecks) CheckInvariants();
}

void TableCursor::CheckInvariants() const {
  ASHLAR_ASSERT(block_ && block_->first() <= next_ && next_ <= limit_);  // I3
  ASHLAR_ASSERT(batch_begin() < batch_end());                            // Requires: Valid()
  const bool overridden = table_->sequence_override().active();
  for (const CursorEntry* entry = batch_begin(); entry != batch_end(); ++entry) {
    ASHLAR_ASSERT(entry->key.size() >= kTagBytes);  // I1 of cursor.h
    const char* const value_end = entry->value.data() + entry->value.size();
    ASHLAR_ASSERT(block_->first() <= entry->value.data() && value_end <= next_);  // I2
    const char* const key = entry->key.data();
    ASHLAR_ASSERT(overridden || (keys_ <= key && key < keys_ + keys_bytes_) ||
                  key == one_key_.data());  // I2
  }
  const CursorEntry& last = *(batch_end() - 1);
  ASHLAR_ASSERT(last.value.data() + last.value.size() == next_);  // I1
  ASHLAR_ASSERT(last_key_.size() == last.key.size());             // I1
}

// The stored keys are not changed, because the next entry shares bytes with them.
void TableCursor::OverrideSequences(CursorEntry* entries, uint32_t n) {
  size_t bytes = 0;
  for (uint32_t i = 0; i < n; ++i) bytes += entries[i].key.size();
  if (overridden_keys_.size() < bytes) overridden_keys_.resize(bytes);
  char* to = overridden_keys_.data();
  for (uint32_t i = 0; i < n; ++i) {
    Slice& key = entries[i].key;
    memcpy(to, key.data(), key.size());
    EncodeFixed64(to + key.size() - kTagBytes, table_->sequence_override().Apply(ExtractTag(key)));
    key = Slice(to, key.size());
    to += key.size();
  }
}

void TableCursor::DecodeOrFail(uint32_t n) {
  if (Decode(n) == 0) [[unlikely]] {
    FailInBlock(FaultAtNext());
  }
}

void TableCursor::FailInBlock(const Status& status) {
  Fail(table_->file().AddPlace(status, table_->index().handle(block_number_).offset));
}

Status TableCursor::FaultAtNext() const {
  BlockEntry entry;
  if (!DecodeEntry(next_, limit_, last_key_.size(), kTagBytes, &entry)) return DamagedEntryError();
  const size_t at = entry.key_bytes() - kTagBytes;
  const char type = at < entry.shared ? last_key_[at] : entry.suffix[at - entry.shared];
  return Status::NotSupported(
      StrCat("entry of type ", static_cast<unsigned>(static_cast<uint8_t>(type))));
}

void TableCursor::DecodeFromStart() {
  next_ = block_->first();
  last_key_ = Slice();
  DecodeOrFail(batch_);
}

void TableCursor::ShowEntry(uint32_t i) {
  ASHLAR_DCHECK(i < block_->entries());  // Requires
  last_key_ = block_->Key(table_->comparator(), i, &one_key_);
  const Slice value = block_->View(i).value();
  if (const ValueType type = ExtractType(last_key_); !IsPointType(type)) [[unlikely]] {
    return FailInBlock(Status::NotSupported(StrCat("entry of type ", static_cast<unsigned>(type))));
  }
  next_ = value.data() + value.size();
  entries_[0] = {last_key_, value};
  ShowDecoded(entries_, 1);
}

void TableCursor::ShowBefore(uint32_t end) {
  ASHLAR_DCHECK(end > 0 && end <= block_->entries());  // Requires
  // Most keys are as long as the last one: decode no more than there is memory for.
  const size_t room =
      std::max(keys_bytes_, kBatchShort * kKeysBytesPerEntry - KeyBuffer::kSlackBytes) /
      block_->View(end - 1).key_bytes();
  for (uint32_t n = std::clamp(static_cast<uint32_t>(room), uint32_t{1},
                               std::min({batch_, kBatchShort, end}));
       ; n /= 2) {
    const uint32_t first = end - n;
    next_ = block_->entry(first);
    // The bytes that the entry shares with the previous key are those of its own key.
    last_key_ = block_->Key(table_->comparator(), first, &one_key_);
    const uint32_t count = Decode(n);
    if (count == n) break;
    if (n == 1) return FailInBlock(FaultAtNext());
  }
  ShowBatch(batch_begin(), batch_end() - 1, batch_end());
  // The previous batch is about as long as this one.
  const char* const first = block_->entry(end - static_cast<uint32_t>(batch_end() - batch_begin()));
  const ptrdiff_t bytes = std::min(next_ - first, first - block_->first());
  PrefetchRange(first - bytes, static_cast<size_t>(bytes));
}

// --- moves ---

void TableCursor::MoveNext() {
  Lengthen();
  if (next_ < limit_) {
    // An iteration that has just begun outruns PrefetchAhead.
    if (batch_ < kBatchShort) PrefetchRange(next_, kPrefetchDistanceBytes / 2);
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
  ASHLAR_DCHECK(low > 0);  // the first entry of the batch begins before its end
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
  for (SeekStage stage = SeekStage::kGroup; StagedSeek(internal_target, stage);
       stage = NextStage(stage)) {
  }
}

bool TableCursor::StagedSeek(const Slice& internal_target, SeekStage stage) {
  switch (stage) {
    case SeekStage::kGroup: return FindGroup(internal_target);
    case SeekStage::kBlock: FindBlock(internal_target); return true;
    case SeekStage::kEntry: return FindEntry(internal_target);
    case SeekStage::kShow: break;
  }
  ShowFound(internal_target);
  return false;
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
  // Steps follow most seeks.
  if (found_ < block_->entries()) PrefetchRange(block_->entry(found_), kSeekPrefetchBytes);
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
  while (Valid() && table_->sequence_override().active() &&
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
  if (!restart.ok()) return FailInBlock(restart.status());
  next_ = *restart;
  last_key_ = Slice();
  DecodeOrFail(kBatchShort);
  while (Valid() && table_->comparator().CompareInternal(key(), internal_target) < 0) Next();
}

// The result is in the found block or before it, because the next block is after the target.
void TableCursor::SeekForPrev(const Slice& internal_target) {
  if (!FindGroup(internal_target)) return;
  FindBlock(internal_target);
  if (!LoadBlock(found_, true) || !EnsureSideIndex()) return;
  const uint32_t entry = block_->LowerBound(table_->comparator(), ExtractUserKey(internal_target),
                                            SoughtTag(internal_target));
  if (entry < block_->entries()) {
    ShowEntry(entry);
    // With a sequence override the entry may be before the target.
    if (!Valid() || table_->comparator().CompareInternal(key(), internal_target) <= 0) return;
    Hide();
  }
  Lengthen();
  if (entry > 0) {
    ShowBefore(entry);
  } else {
    PrevBlock();
  }
}

}  // namespace ashlar
