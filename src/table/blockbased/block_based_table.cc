#include "table/blockbased/block_based_table.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "base/coding.h"
#include "base/format.h"
#include "execute/epoch.h"
#include "execute/read_guard.h"
#include "key/key_head.h"
#include "observe/perf.h"
#include "table/block/block_builder.h"
#include "table/block/block_entries.h"
#include "table/blockbased/table_cursor.h"

namespace ashlar {

BlockBasedTable::BlockBasedTable(const TableOpenArgs& args, TableParts parts)
    : TableReader(args.epochs, &SearchInStages, std::move(parts.ranges)),
      comparator_(args.comparator),
      config_(args.config),
      keeps_cache_(args.block_cache),
      cache_(keeps_cache_.get()),
      recorder_(args.recorder),
      live_blocks_(args.live_blocks),
      counts_mapping_(args.mmap_reads && args.live_blocks != nullptr),
      parts_(std::move(parts)) {
  if (counts_mapping_) live_blocks_->fetch_add(1, std::memory_order_relaxed);
}

BlockBasedTable::~BlockBasedTable() {
  if (cache_ != nullptr) {
    cache_->Erase(parts_.index.slots());
    if (charged_bytes_ > 0) cache_->ReleaseMetadata(charged_bytes_);
  }
  // After Erase, which uses the epochs of the database (I4).
  if (counts_mapping_) live_blocks_->fetch_sub(1, std::memory_order_release);
}

Result<TableReaderPtr> BlockBasedTable::Open(TableOpenArgs args) {
  ASHLAR_ASSIGN_OR_RETURN(TableParts parts,
                          LoadTable({.file = std::move(args.file),
                                     .file_name = std::move(args.file_name),
                                     .file_bytes = args.file_bytes,
                                     .comparator = args.comparator,
                                     .mmap_reads = args.mmap_reads,
                                     .with_slots = args.block_cache != nullptr,
                                     .recorder = args.recorder,
                                     .largest_sequence = args.largest_sequence,
                                     .prefix_extractors = args.prefix_extractors.get(),
                                     .smallest = args.smallest,
                                     .largest = args.largest,
                                     .tolerant = args.tolerant}));
  auto* const table = new BlockBasedTable(args, std::move(parts));
  TableReaderPtr owner(table);
  ASHLAR_RETURN_IF_ERROR(table->ChargeMetadata());
  if constexpr (kDebugChecks) table->CheckInvariants();
  return owner;
}

Status BlockBasedTable::ChargeMetadata() {
  ASHLAR_DCHECK(charged_bytes_ == 0);  // Open calls it once
  const bool charges = config_.cache_index_and_filter_blocks || config_.charge_table_readers;
  if (cache_ == nullptr || !charges) return Status::OK();
  const size_t bytes = MemoryBytes();
  if (cache_->ReserveMetadata(bytes)) {
    charged_bytes_ = bytes;
    return Status::OK();
  }
  // A cache full of pinned blocks has no room for the charge. The table is then not charged, unless
  // the program wants the limit to apply to tables, too.
  if (!config_.charge_table_readers || !cache_->HasStrictCapacityLimit()) return Status::OK();
  return Status::MemoryLimit(
      parts_.file.name(),
      StrCat("the block cache has a strict_capacity_limit and no room for the ", bytes,
             " bytes of the open table (CacheEntryRole::kBlockBasedTableReader)"));
}

void BlockBasedTable::CheckInvariants() const {
  parts_.CheckInvariants();
  ASHLAR_ASSERT(parts_.index.slots().size() ==
                (cache_ == nullptr ? 0 : parts_.index.blocks()));  // I2
  const EpochGuard guard(epochs());
  for (uint32_t i = 0; cache_ != nullptr && i < parts_.index.blocks(); ++i) {
    const DataBlock* const block = CachedAt(i);
    ASHLAR_ASSERT(block == nullptr || block->has_side_index());  // I2
  }
}

template <typename Search>
ASHLAR_ALWAYS_INLINE void BlockBasedTable::GetFiltered(bool may_match, Lookup* lookup,
                                                       const Search& search) {
  if (!recorder_.IsOn()) [[likely]] {
    if (may_match) search();
    return;
  }
  CountFilter(lookup, may_match);
  if (!may_match) return;
  const bool searched_before = lookup->state() == Lookup::State::kSearching;
  search();
  const bool found =
      searched_before ? lookup->state() != Lookup::State::kSearching : lookup->Done();
  if (!found || !parts_.filter.IsPresent()) return;
  if (parts_.filter.has_whole_keys()) {
    recorder_.Tick(BLOOM_FILTER_FULL_TRUE_POSITIVE);
  } else if (lookup->prefix(parts_.filter.prefix_extractor()) != nullptr) {
    recorder_.Tick(BLOOM_FILTER_PREFIX_TRUE_POSITIVE);
  }
}

void BlockBasedTable::SearchInStages(std::span<StagedLookup> batch) {
  const auto table_of = [](const StagedLookup& staged) -> const BlockBasedTable& {
    ASHLAR_DCHECK(staged.reader != nullptr);  // StagedSearch: a reader of this class
    return *static_cast<const BlockBasedTable*>(staged.reader);
  };
  for (StagedLookup& staged : batch) table_of(staged).FindGroup(&staged);
  for (StagedLookup& staged : batch) table_of(staged).FindBlock(&staged);
  for (StagedLookup& staged : batch) table_of(staged).FindCached(&staged);
  for (StagedLookup& staged : batch) table_of(staged).FindEntry(&staged);
}

inline void BlockBasedTable::FindGroup(StagedLookup* staged) const {
  if (parts_.index.blocks() == 0) return;
  if (parts_.filter.HasOneForKeys()) parts_.filter.Prefetch(staged->lookup->filter_hash());
  const BlockIndex::Group group = parts_.index.FindGroup(staged->lookup->user_key());
  staged->head = group.head;
  staged->block = group.first;
  staged->decided = group.decided;
  staged->stage = StagedLookup::Stage::kIndex;
}

inline void BlockBasedTable::FindBlock(StagedLookup* staged) const {
  if (staged->stage != StagedLookup::Stage::kIndex) return;
  Lookup* const lookup = staged->lookup;
  if (!parts_.filter.MayMatch(lookup)) {
    staged->stage = StagedLookup::Stage::kAbsent;
    return;
  }
  staged->block = parts_.index.FindInGroup(
      {.head = staged->head, .first = staged->block, .decided = staged->decided},
      lookup->user_key(), lookup->seek_tag());
  ASHLAR_DCHECK(staged->block < parts_.index.blocks());  // BlockIndex::Find: the last one at most
  if (cache_ != nullptr) ASHLAR_PREFETCH(&parts_.index.slot(staged->block));
  staged->stage = StagedLookup::Stage::kBlock;
}

inline void BlockBasedTable::FindCached(StagedLookup* staged) const {
  if (staged->stage != StagedLookup::Stage::kBlock) return;
  DataBlock* const block = CachedAt(staged->block);
  if (block == nullptr) return;
  block->Prefetch();
  staged->cached = block;
  staged->stage = StagedLookup::Stage::kSideIndex;
}

inline void BlockBasedTable::FindEntry(StagedLookup* staged) const {
  if (staged->stage != StagedLookup::Stage::kSideIndex) return;
  const auto* const block = static_cast<const DataBlock*>(staged->cached);
  staged->has_entry =
      block->FindCandidates(comparator_, staged->lookup->user_key(), CandidateTag(*staged->lookup),
                            &staged->head, &staged->entry);
  if (staged->has_entry) ASHLAR_PREFETCH(block->entry(staged->entry));
  staged->stage = StagedLookup::Stage::kEntry;
}

void BlockBasedTable::CountPrefixCheck(Lookup* lookup, bool may_match) const {
  if (lookup->prefix(parts_.filter.prefix_extractor()) == nullptr) return;
  recorder_.Tick(BLOOM_FILTER_PREFIX_CHECKED);
  if (!may_match) recorder_.Tick(BLOOM_FILTER_PREFIX_USEFUL);
}

bool BlockBasedTable::MayMatch(SeekPrefix* seek, const Slice& internal_target) const {
  const TableFilter& filter = parts_.filter;
  if (filter.prefix_extractor() == nullptr || !filter.IsPresent()) return true;
  const HashedPrefix* const prefix = seek->Find(filter.prefix_extractor());
  if (prefix == nullptr) return true;
  recorder_.Tick(BLOOM_FILTER_PREFIX_CHECKED);
  const bool may_match = filter.MayMatch(*prefix, internal_target, seek->forward());
  if (!may_match) recorder_.Tick(BLOOM_FILTER_PREFIX_USEFUL);
  PerfCount(may_match ? &PerfContext::bloom_sst_hit_count : &PerfContext::bloom_sst_miss_count);
  return may_match;
}

void BlockBasedTable::CountFilterInPerfContext(Lookup* lookup, bool may_match) const {
  const TableFilter& filter = parts_.filter;
  if (!filter.IsPresent() ||
      (!filter.has_whole_keys() && lookup->prefix(filter.prefix_extractor()) == nullptr))
    return;
  PerfCount(may_match ? &PerfContext::bloom_sst_hit_count : &PerfContext::bloom_sst_miss_count);
}

void BlockBasedTable::CountFilter(Lookup* lookup, bool may_match) const {
  if (!parts_.filter.IsPresent()) return;
  if (!parts_.filter.has_whole_keys()) return CountPrefixCheck(lookup, may_match);
  recorder_.Tick(may_match ? BLOOM_FILTER_FULL_POSITIVE : BLOOM_FILTER_USEFUL);
}

void BlockBasedTable::Get(const TableReadOptions& options, Lookup* lookup) {
  if (parts_.index.blocks() == 0) return;
  const bool has_key_filter = parts_.filter.HasOneForKeys();
  if (has_key_filter) {
    if (lookup->expects_absence() && !parts_.filter.MayMatch(lookup)) {
      PerfCount(&PerfContext::bloom_sst_miss_count);
      return GetFiltered(false, lookup, [] {});
    }
    // The prefetched lines of filter, index and slot arrive together.
    parts_.filter.Prefetch(lookup->filter_hash());
  }
  const BlockIndex::Group group = parts_.index.FindGroup(lookup->user_key());
  const bool may_match = parts_.filter.MayMatch(lookup);
  if (has_key_filter) [[likely]] {
    PerfCount(may_match ? &PerfContext::bloom_sst_hit_count : &PerfContext::bloom_sst_miss_count);
  } else {
    CountFilterInPerfContext(lookup, may_match);
  }
  GetFiltered(may_match, lookup, [&] {
    GetFromBlocks(options, parts_.index.FindInGroup(group, lookup->user_key(), lookup->seek_tag()),
                  lookup);
  });
}

inline void BlockBasedTable::CountHit(const DataBlock& block) const {
  PerfCount(&PerfContext::block_cache_hit_count);
  if (!recorder_.IsOn()) [[likely]] {
    return;
  }
  recorder_.Tick(BLOCK_CACHE_HIT);
  recorder_.Tick(BLOCK_CACHE_DATA_HIT);
  recorder_.Tick(BLOCK_CACHE_BYTES_READ, block.charge());
}

void BlockBasedTable::CountMiss() const {
  recorder_.Tick(BLOCK_CACHE_MISS);
  recorder_.Tick(BLOCK_CACHE_DATA_MISS);
}

void BlockBasedTable::GetFromBlocks(const TableReadOptions& options, uint32_t block_number,
                                    Lookup* lookup) {
  for (uint32_t i = block_number; i < parts_.index.blocks(); ++i) {
    DataBlock* const block = CachedAt(i);
    if (block != nullptr) [[likely]] {
      block->Prefetch();
      block->MarkUsed();
      CountHit(*block);
      if (!GetFromBlock(block, lookup)) return;
      continue;
    }
    const Result<bool> more = GetFromFile(i, options, lookup);
    if (!more.ok()) {
      lookup->Fail(more.status());
      return;
    }
    if (!*more) return;
  }
}

ASHLAR_ALWAYS_INLINE bool BlockBasedTable::OfferEntry(uint64_t stored_tag, const Slice& value,
                                                      const PinSource& owner,
                                                      Lookup* lookup) const {
  const uint64_t tag = parts_.sequence_override.Apply(stored_tag);
  if (!lookup->Sees(tag)) return true;
  return lookup->Offer(TagType(tag), TagSequence(tag), value, owner);
}

ASHLAR_ALWAYS_INLINE bool BlockBasedTable::GetFromCandidates(DataBlock* block, uint64_t head,
                                                             uint32_t first, Lookup* lookup) {
  const Slice& user_key = lookup->user_key();
  ASHLAR_DCHECK(block->has_side_index() && first <= block->entries());  // I2
  uint32_t i = first;
  bool found = false;
  size_t user_bytes_before = 0;
  for (; i < block->entries() && block->head(i) == head; ++i) {
    const BlockEntry view = block->View(i);
    // The key has the same bytes as the previous key, which was equal to the sought key. (In a
    // custom order keys with different bytes may be equal.)
    const bool repeats =
        found && view.shared >= user_bytes_before && view.user_bytes() == user_bytes_before;
    user_bytes_before = view.user_bytes();
    if (!repeats) {
      const int r = block->CompareTail(comparator_, i, view, user_key);
      if (r < 0) continue;
      if (r > 0) return false;
      found = true;
    }
    if (!OfferEntry(block->Tag(comparator_, i, view), view.value(), OwnerOf(block), lookup))
      return false;
  }
  return i == block->entries();
}

bool BlockBasedTable::GetFromBlock(DataBlock* block, Lookup* lookup) {
  uint64_t head = 0;
  uint32_t first = 0;
  return block->FindCandidates(comparator_, lookup->user_key(), CandidateTag(*lookup), &head,
                               &first) &&
         GetFromCandidates(block, head, first, lookup);
}

void BlockBasedTable::GetStaged(const TableReadOptions& options, const StagedLookup& staged) {
  using Stage = StagedLookup::Stage;
  Lookup* const lookup = staged.lookup;
  if (staged.stage == Stage::kStart) return Get(options, lookup);
  const bool may_match = staged.stage != Stage::kAbsent;
  CountFilterInPerfContext(lookup, may_match);
  GetFiltered(may_match, lookup, [&] {
    if (staged.stage != Stage::kEntry) return GetFromBlocks(options, staged.block, lookup);
    auto* const block = static_cast<DataBlock*>(staged.cached);
    ASHLAR_DCHECK(block != nullptr && block->has_side_index());  // I2
    block->MarkUsed();
    CountHit(*block);
    if (staged.has_entry && GetFromCandidates(block, staged.head, staged.entry, lookup))
      GetFromBlocks(options, staged.block + 1, lookup);
  });
}

Result<bool> BlockBasedTable::GetFromFile(uint32_t block, const TableReadOptions& options,
                                          Lookup* lookup) {
  if (options.cached_only)
    return Status::Incomplete(parts_.file.name(), "the block is not in the cache");
  if (options.guard != nullptr) options.guard->Keep(pin_source().Acquire());
  // The pause lasts until the end of the function, because the search uses counted objects only.
  const ReadGuard::Pause pause(options.guard);
  const StopWatch watch(recorder_, READ_BLOCK_GET_MICROS);
  if (!FillsCache(options)) return GetFromUncached(block, options, lookup);
  ASHLAR_ASSIGN_OR_RETURN(const BlockRef read, Read({.block = block,
                                                     .verify_checksum = options.verify_checksums,
                                                     .fill_cache = true,
                                                     .side_index = true,
                                                     .at_hand = nullptr}));
  return GetFromBlock(read.get(), lookup);
}

Result<bool> BlockBasedTable::GetFromUncached(uint32_t block, const TableReadOptions& options,
                                              Lookup* lookup) {
  const BlockHandle handle = parts_.index.handle(block);
  ASHLAR_ASSIGN_OR_RETURN(BlockContents contents,
                          parts_.file.ReadBlock({.handle = handle,
                                                 .verify_checksum = options.verify_checksums,
                                                 .use_dictionary = true,
                                                 .at_hand = nullptr}));
  CountMiss();
  const Slice data = contents.data;
  BlockRef holder;  // none: the mapping owns the bytes
  if (contents.owned) {
    Result<DataBlock*> made = DataBlock::Create({.contents = data,
                                                 .owned = std::move(contents.owned),
                                                 .comparator = comparator_,
                                                 .side_index = false,
                                                 .live_count = live_blocks_});
    if (!made.ok()) return parts_.file.AddPlace(made.status(), handle.offset);
    holder = BlockRef(*made);
  }
  const Result<bool> more =
      GetFromEntries(data, holder ? holder->pin_source() : pin_source(), lookup);
  if (!more.ok()) return parts_.file.AddPlace(more.status(), handle.offset);
  return *more;
}

Result<bool> BlockBasedTable::GetFromEntries(const Slice& contents, const PinSource& owner,
                                             Lookup* lookup) const {
  BlockLayout layout;
  ASHLAR_RETURN_IF_ERROR(ParseBlockLayout(contents, &layout));
  if (layout.entries == layout.entries_end) return true;
  const Slice& user_key = lookup->user_key();
  ASHLAR_ASSIGN_OR_RETURN(const char* p,
                          FindRestart(layout, comparator_, user_key, CandidateTag(*lookup)));
  const char* const readable_end = contents.data() + contents.size();
  KeyBuffer buffer;
  size_t key_bytes = 0;
  // Bytes that the previous key, if it is smaller, has in common with the sought key. SIZE_MAX: not
  // known, as always in a custom order.
  size_t matched = SIZE_MAX;
  while (p < layout.entries_end) {
    BlockEntry entry;
    if (!DecodeEntry(p, layout.entries_end, key_bytes, kTagBytes, &entry))
      return DamagedEntryError();
    const size_t user_bytes_before = key_bytes - std::min(key_bytes, kTagBytes);
    key_bytes = entry.key_bytes();
    char* const key = buffer.Reserve(key_bytes, entry.shared);
    if (static_cast<size_t>(readable_end - entry.suffix) >=
        size_t{entry.unshared} + KeyBuffer::kSlackBytes) [[likely]] {
      CopyInSteps(key + entry.shared, entry.suffix, entry.unshared);
    } else {
      memcpy(key + entry.shared, entry.suffix, entry.unshared);
    }
    p = entry.end();
    const Slice found(key, key_bytes - kTagBytes);
    // The key shares the byte that made the previous key smaller, so it is smaller, too.
    if (entry.shared > matched && user_bytes_before > matched && found.size() > matched) continue;
    const int r = comparator_.Compare(found, user_key);
    if (r < 0) {
      if (comparator_.HasHeads()) matched = CommonKeyPrefixBytes(found, user_key);
      continue;
    }
    if (r > 0) return false;
    matched = SIZE_MAX;
    if (!OfferEntry(DecodeFixed64(key + key_bytes - kTagBytes), entry.value(), owner, lookup))
      return false;
  }
  return true;
}

BlockRef BlockBasedTable::FindCached(uint32_t block) {
  const EpochGuard guard(epochs());
  DataBlock* const cached = CachedAt(block);
  if (cached == nullptr) return BlockRef();
  cached->AddRef();
  cached->MarkUsed();
  CountHit(*cached);
  return BlockRef(cached);
}

void BlockBasedTable::PrefetchSideIndex(uint32_t block) const {
  const EpochGuard guard(epochs());
  if (const DataBlock* const cached = CachedAt(block); cached != nullptr) cached->Prefetch();
}

const char* BlockBasedTable::WhereCached(uint32_t block) const {
  if (block >= parts_.index.blocks()) return nullptr;
  const EpochGuard guard(epochs());
  if (const DataBlock* const after =
          block + 1 < parts_.index.blocks() ? CachedAt(block + 1) : nullptr;
      after != nullptr)
    after->PrefetchHeader();
  const DataBlock* const cached = CachedAt(block);
  return cached == nullptr ? nullptr : cached->first();
}

void BlockBasedTable::PrefetchBackwards(uint32_t block) const {
  const EpochGuard guard(epochs());
  if (const DataBlock* const before = block == 0 ? nullptr : CachedAt(block - 1); before != nullptr)
    before->PrefetchHeader();
  const DataBlock* const cached = CachedAt(block);
  if (cached == nullptr) return;
  cached->Prefetch();
  cached->PrefetchLastEntries();
}

Result<BlockRef> BlockBasedTable::Read(const ReadArgs& args) {
  ASHLAR_DCHECK(args.block < parts_.index.blocks());  // one of the index
  const BlockHandle handle = parts_.index.handle(args.block);
  bool offered = cache_ != nullptr && args.fill_cache && args.side_index;
  BlockFile::ReadArgs read{.handle = handle,
                           .verify_checksum = args.verify_checksum || offered,  // I3
                           .use_dictionary = true,
                           .at_hand = args.at_hand};
  Result<BlockContents> contents = parts_.file.ReadBlock(read);
  if (contents.status().IsCorruption() && read.verify_checksum && !args.verify_checksum) {
    read.verify_checksum = offered = false;
    contents = parts_.file.ReadBlock(read);
  }
  if (!contents.ok()) return contents.status();
  Result<DataBlock*> made = DataBlock::Create({.contents = contents->data,
                                               .owned = std::move(contents->owned),
                                               .comparator = comparator_,
                                               .side_index = args.side_index,
                                               .is_walked = !args.side_index,
                                               .live_count = live_blocks_});
  if (!made.ok()) return parts_.file.AddPlace(made.status(), handle.offset);
  BlockRef block(*made);
  ASHLAR_DCHECK(block->has_side_index() == args.side_index);  // I2
  CountMiss();
  if (offered) {
    block->AddRef();
    if (cache_->Insert(&parts_.index.slot(args.block), &epochs(), block.get())) {
      recorder_.Tick(BLOCK_CACHE_ADD);
      recorder_.Tick(BLOCK_CACHE_DATA_ADD);
      recorder_.Tick(BLOCK_CACHE_DATA_BYTES_INSERT, block->charge());
      recorder_.Tick(BLOCK_CACHE_BYTES_WRITE, block->charge());
    } else {
      block->Release();
      recorder_.Tick(BLOCK_CACHE_ADD_FAILURES);
    }
  }
  return block;
}

std::unique_ptr<InternalCursor> BlockBasedTable::NewCursor(const TableReadOptions& options) {
  return std::make_unique<TableCursor>(this, options);
}

uint64_t BlockBasedTable::ApproximateOffsetOf(const Slice& internal_key) {
  if (parts_.index.blocks() == 0) return parts_.file.file_bytes();
  const Slice user_key = ExtractUserKey(internal_key);
  const uint64_t tag = ExtractTag(internal_key);
  const uint32_t block = parts_.index.Find(user_key, tag);
  ASHLAR_DCHECK(block < parts_.index.blocks());  // BlockIndex::Find: the last one at most
  if (block + 1 == parts_.index.blocks() && parts_.index.IsAfterAll(user_key, tag))
    return parts_.file.file_bytes();
  return parts_.index.handle(block).offset;
}

std::vector<std::string> BlockBasedTable::Anchors(size_t pieces) {
  std::vector<std::string> anchors;
  const uint32_t blocks = parts_.index.blocks();
  if (pieces < 2 || blocks < 2) return anchors;
  const BlockHandle last = parts_.index.handle(blocks - 1);
  const uint64_t data_bytes = last.offset + last.size;
  uint32_t previous = blocks;
  for (size_t piece = 1; piece < pieces; ++piece) {
    // The separator of the block before it is an anchor.
    const uint32_t next = parts_.index.BlockAtOffset(data_bytes / pieces * piece);
    if (next == 0 || next >= blocks || next - 1 == previous) continue;
    previous = next - 1;
    const Slice separator = parts_.index.separator(previous);
    anchors.push_back(parts_.index.user_keys()
                          ? MakeInternalKey(separator, kSequenceNumberMax, ValueType::kMax)
                          : separator.ToString());
  }
  return anchors;
}

TableReader::BlockCensus BlockBasedTable::CountBlocks() const {
  BlockCensus census{.cached = counts_mapping_ ? 1 : 0};
  for (const BlockSlot& slot : parts_.index.slots()) {
    const CacheEntry* const entry = slot.load(std::memory_order_acquire);
    if (entry == nullptr) continue;
    ++census.cached;
    census.any_pinned |= entry->Refs() > 1;
  }
  return census;
}

size_t BlockBasedTable::MemoryBytes() const {
  return sizeof(*this) + parts_.index.MemoryBytes() + parts_.file.DictionaryBytes() +
         parts_.filter.MemoryBytes() + file_ranges().MemoryBytes();
}

}  // namespace ashlar
