#include "table/blockbased/block_based_table.h"

#include <algorithm>
#include <cstring>

#include "base/coding.h"
#include "base/format.h"
#include "execute/epoch.h"
#include "execute/read_guard.h"
#include "observe/perf.h"
#include "table/block/block_builder.h"
#include "table/block/block_entries.h"
#include "table/blockbased/table_cursor.h"
#include "table/filter/filter_format.h"
#include "table/table_properties.h"

namespace ashlar {

namespace {

// What is read of a file when it is opened; index and filter of a small table lie in it.
constexpr uint64_t kTailBytes = uint64_t{64} << 10;

constexpr char kMetaProperties[] = "rocksdb.properties";
constexpr char kMetaIndex[] = "rocksdb.index";
constexpr char kMetaDictionary[] = "rocksdb.compression_dict";
constexpr char kMetaRangeDeletions[] = "rocksdb.range_del";

enum class IndexType : uint32_t { kBinary = 0, kHash = 1, kTwoLevel = 2, kBinaryWithFirstKey = 3 };

// The value of a fixed32 property; absent or too short: 0.
uint32_t Fixed32Property(const TableProperties& properties, const char* name) {
  const auto found = properties.user_collected_properties.find(name);
  if (found == properties.user_collected_properties.end() ||
      found->second.size() < sizeof(uint32_t))
    return 0;
  return DecodeFixed32(found->second.data());
}
// The property of a feature says that it was off. Tables of old releases do not have it: the
// feature was on where it was possible.
bool PropertySaysNo(const TableProperties& properties, const char* name) {
  const auto found = properties.user_collected_properties.find(name);
  return found != properties.user_collected_properties.end() && found->second == "0";
}
bool HasProperty(const TableProperties& properties, const char* name) {
  return properties.user_collected_properties.contains(name);
}

}  // namespace

BlockBasedTable::BlockBasedTable(TableOpenArgs* args)
    : TableReader(args->epochs),
      comparator_(args->comparator),
      config_(args->config),
      cache_(args->block_cache),
      recorder_(args->recorder),
      live_blocks_(args->live_blocks),
      file_(std::move(args->file), std::move(args->file_name), args->file_bytes, args->mmap_reads),
      index_(comparator_) {
  file_.SetRecorder(recorder_);
}

BlockBasedTable::~BlockBasedTable() {
  if (cache_ == nullptr) return;
  cache_->Erase(index_.slots());
  if (charged_bytes_ > 0) cache_->ReleaseMetadata(charged_bytes_);
}

Result<TableReaderPtr> BlockBasedTable::Open(TableOpenArgs args) {
  auto* const table = new BlockBasedTable(&args);
  TableReaderPtr owner(table);
  ASHLAR_RETURN_IF_ERROR(table->Load(args));
  table->tail_buffer_.reset();
  table->tail_ = {};
  if (table->cache_ != nullptr && table->config_.cache_index_and_filter_blocks) {
    const size_t bytes = table->MemoryBytes();
    // A cache full of pins has no room for it; the table works all the same.
    if (table->cache_->ReserveMetadata(bytes)) table->charged_bytes_ = bytes;
  }
  return owner;
}

Status BlockBasedTable::Load(const TableOpenArgs& args) {
  uint64_t actual_bytes = 0;
  ASHLAR_RETURN_IF_ERROR(file_.file()->Size(&actual_bytes));
  if (actual_bytes != file_.file_bytes()) {
    return Status::Corruption(file_.name(), StrCat("the file has ", actual_bytes,
                                                   " bytes, expected ", file_.file_bytes()));
  }
  ASHLAR_RETURN_IF_ERROR(LoadTail());
  const Result<Footer> footer = DecodeFooter(tail_.bytes, file_.file_bytes());
  if (!footer.ok())
    return file_.AddPlace(
        footer.status(), file_.file_bytes() - std::min<uint64_t>(file_.file_bytes(), kFooterBytes));
  file_.SetFormatVersion(footer->format_version);
  file_.SetChecksum(footer->checksum, footer->base_context);
  ASHLAR_RETURN_IF_ERROR(LoadMetaIndex(*footer));
  ASHLAR_RETURN_IF_ERROR(LoadProperties());
  ASHLAR_RETURN_IF_ERROR(CheckSupported());
  ASHLAR_RETURN_IF_ERROR(FindGlobalSequence(args.largest_sequence));
  ASHLAR_RETURN_IF_ERROR(LoadDictionary());
  ASHLAR_RETURN_IF_ERROR(LoadIndex());
  filters_whole_keys_ = !PropertySaysNo(properties_, kPropertyWholeKeyFiltering);
  prefix_extractor_ = FindPrefixExtractor(args.prefix_extractors.get());
  PerfCount(&PerfContext::index_block_read_count, 1 + index_partitions_.size());
  ASHLAR_RETURN_IF_ERROR(LoadFilter());
  if (HasFilter()) PerfCount(&PerfContext::filter_block_read_count, 1 + filter_partitions_.size());
  return Status::OK();
}

Status BlockBasedTable::LoadTail() {
  const uint64_t n = std::min(file_.file_bytes(), kTailBytes);
  const uint64_t offset = file_.file_bytes() - n;
  if (!file_.mapped())
    tail_buffer_ = std::make_unique_for_overwrite<char[]>(static_cast<size_t>(n));
  ASHLAR_ASSIGN_OR_RETURN(const Slice bytes,
                          file_.ReadBytes(offset, static_cast<size_t>(n), tail_buffer_.get()));
  tail_ = {offset, bytes};
  return Status::OK();
}

Result<BlockContents> BlockBasedTable::ReadMeta(const BlockHandle& handle) const {
  return file_.ReadBlock({.handle = handle,
                          .verify_checksum = true,
                          .stays = true,
                          .at_hand = tail_.bytes.empty() ? nullptr : &tail_});
}

Status BlockBasedTable::LoadMetaIndex(const Footer& footer) {
  metaindex_handle_ = footer.metaindex;
  index_handle_ = footer.index;
  ASHLAR_ASSIGN_OR_RETURN(const BlockContents contents, ReadMeta(metaindex_handle_));
  BlockEntries entries(contents.data);
  while (entries.Next()) {
    Slice value = entries.value();
    MetaBlock meta{entries.key().ToString(), {}};
    if (!GetBlockHandle(&value, &meta.handle))
      return file_.CorruptionAt(metaindex_handle_.offset, "bad block handle in the metaindex");
    meta_blocks_.push_back(std::move(meta));
  }
  if (!entries.status().ok()) return file_.AddPlace(entries.status(), metaindex_handle_.offset);
  if (footer.format_version >= 6) {
    const BlockHandle* const index = FindMeta(kMetaIndex);
    if (index == nullptr)
      return file_.CorruptionAt(metaindex_handle_.offset, "the metaindex names no index");
    index_handle_ = *index;
  }
  return Status::OK();
}

const BlockHandle* BlockBasedTable::FindMeta(const Slice& name) const {
  for (const MetaBlock& meta : meta_blocks_) {
    if (name == Slice(meta.name)) return &meta.handle;
  }
  return nullptr;
}

Status BlockBasedTable::LoadProperties() {
  const BlockHandle* const handle = FindMeta(kMetaProperties);
  if (handle == nullptr)
    return file_.CorruptionAt(metaindex_handle_.offset, "the metaindex names no properties");
  ASHLAR_ASSIGN_OR_RETURN(const BlockContents contents, ReadMeta(*handle));
  Result<TableProperties> properties = DecodeTableProperties(contents.data);
  if (!properties.ok()) return file_.AddPlace(properties.status(), handle->offset);
  properties_ = std::move(properties).value();
  return Status::OK();
}

Status BlockBasedTable::CheckSupported() const {
  const char* const comparator = comparator_.user_comparator()->Name();
  if (!properties_.comparator_name.empty() && properties_.comparator_name != comparator) {
    return Status::InvalidArgument(
        file_.name(),
        StrCat("was written with comparator ", properties_.comparator_name, ", not ", comparator));
  }
  if (properties_.num_range_deletions > 0 || FindMeta(kMetaRangeDeletions) != nullptr) {
    return Status::NotSupported(file_.name(), "the table holds range deletions");
  }
  if (const auto udi = properties_.user_collected_properties.find("rocksdb.udi.is.primary.index");
      udi != properties_.user_collected_properties.end() && udi->second != std::string(1, '\0')) {
    return Status::NotSupported(file_.name(), "the table has a user-defined index");
  }
  return Status::OK();
}

Status BlockBasedTable::FindGlobalSequence(SequenceNumber largest_sequence) {
  const uint32_t version = Fixed32Property(properties_, kPropertyExternalVersion);
  const auto found = properties_.user_collected_properties.find(kPropertyGlobalSequence);
  const bool has_sequence = found != properties_.user_collected_properties.end();
  if (!HasProperty(properties_, kPropertyExternalVersion) || version == 1) {
    if (has_sequence)
      return Status::Corruption(file_.name(),
                                "a global sequence number in a table that cannot have one");
    return Status::OK();
  }
  if (version != 2)
    return Status::NotSupported(file_.name(), StrCat("external table of version ", version));
  if (has_sequence && found->second.size() != sizeof(uint64_t))
    return Status::Corruption(file_.name(), "bad global sequence number");
  SequenceNumber sequence = has_sequence ? DecodeFixed64(found->second.data()) : 0;
  if (largest_sequence < kSequenceNumberMax) {
    // Newer versions leave the file as it is, and record the number in the MANIFEST alone.
    if (sequence == 0) sequence = largest_sequence;
    if (sequence != largest_sequence)
      return Status::Corruption(file_.name(),
                                "the global sequence number differs from the MANIFEST's");
  }
  if (sequence > kSequenceNumberMax)
    return Status::Corruption(file_.name(), "bad global sequence number");
  global_sequence_ = sequence;
  return Status::OK();
}

Status BlockBasedTable::LoadDictionary() {
  const BlockHandle* const handle = FindMeta(kMetaDictionary);
  if (handle == nullptr) return Status::OK();
  ASHLAR_ASSIGN_OR_RETURN(const BlockContents contents, ReadMeta(*handle));
  if (!contents.data.empty())
    file_.SetDictionary(std::make_unique<DecompressionDictionary>(contents.data));
  return Status::OK();
}

IndexCoding BlockBasedTable::Coding() const {
  const auto type = static_cast<IndexType>(Fixed32Property(properties_, kPropertyIndexType));
  return {.user_keys = properties_.index_key_is_user_key != 0,
          .delta_values = properties_.index_value_is_delta_encoded != 0,
          .first_keys = type == IndexType::kBinaryWithFirstKey};
}

Status BlockBasedTable::LoadIndex() {
  const auto type = static_cast<IndexType>(Fixed32Property(properties_, kPropertyIndexType));
  if (type > IndexType::kBinaryWithFirstKey) {
    return Status::NotSupported(file_.name(), StrCat("index type ", static_cast<uint32_t>(type)));
  }
  const IndexCoding coding = Coding();
  ASHLAR_ASSIGN_OR_RETURN(const BlockContents contents, ReadMeta(index_handle_));
  if (type == IndexType::kTwoLevel) {
    ASHLAR_RETURN_IF_ERROR(LoadIndexPartitions(contents.data, coding));
  } else {
    const auto add = [&](const IndexBlockEntry& entry) {
      return index_.Add(entry, coding.user_keys, file_.file_bytes());
    };
    const Status status = VisitIndexBlock(contents.data, coding, add);
    if (!status.ok()) return file_.AddPlace(status, index_handle_.offset);
  }
  index_.Seal(cache_ != nullptr);
  return Status::OK();
}

Status BlockBasedTable::LoadIndexPartitions(const Slice& top_level, const IndexCoding& coding) {
  BlockIndex partitions(comparator_);  // for its checks
  const auto add_partition = [&](const IndexBlockEntry& entry) {
    return partitions.Add(entry, coding.user_keys, file_.file_bytes());
  };
  const Status status = VisitIndexBlock(top_level, coding, add_partition);
  if (!status.ok()) return file_.AddPlace(status, index_handle_.offset);
  const auto add = [&](const IndexBlockEntry& entry) {
    return index_.Add(entry, coding.user_keys, file_.file_bytes());
  };
  for (uint32_t i = 0; i < partitions.blocks(); ++i) {
    const BlockHandle handle = partitions.handle(i);
    ASHLAR_ASSIGN_OR_RETURN(const BlockContents contents, ReadMeta(handle));
    const Status partition_status = VisitIndexBlock(contents.data, coding, add);
    if (!partition_status.ok()) return file_.AddPlace(partition_status, handle.offset);
    index_partitions_.push_back(handle);
  }
  return Status::OK();
}

std::shared_ptr<const SliceTransform> BlockBasedTable::FindPrefixExtractor(
    PrefixExtractors* known) const {
  const std::string& id = properties_.prefix_extractor_name;
  if (known == nullptr || id.empty() || PropertySaysNo(properties_, kPropertyPrefixFiltering))
    return nullptr;
  return known->Find(id);
}

Status BlockBasedTable::LoadFilter() {
  if (!filters_whole_keys_ && prefix_extractor_ == nullptr) return Status::OK();
  if (const BlockHandle* const full = FindMeta(StrCat(kFullFilterPrefix, kBuiltinFilterName));
      full != nullptr) {
    ASHLAR_ASSIGN_OR_RETURN(filter_contents_, ReadMeta(*full));
    filter_ = FilterReader(filter_contents_.data);
    return Status::OK();
  }
  const BlockHandle* const partitioned =
      FindMeta(StrCat(kPartitionedFilterPrefix, kBuiltinFilterName));
  return partitioned == nullptr ? Status::OK() : LoadFilterPartitions(*partitioned);
}

Status BlockBasedTable::LoadFilterPartitions(const BlockHandle& handle) {
  ASHLAR_ASSIGN_OR_RETURN(const BlockContents top_level, ReadMeta(handle));
  IndexCoding coding = Coding();
  coding.first_keys = false;
  filter_index_.emplace(comparator_);
  const auto add = [&](const IndexBlockEntry& entry) {
    return filter_index_->Add(entry, coding.user_keys, file_.file_bytes());
  };
  const Status status = VisitIndexBlock(top_level.data, coding, add);
  if (!status.ok()) return file_.AddPlace(status, handle.offset);
  filter_index_->Seal(false);
  filter_partitions_.reserve(filter_index_->blocks());
  for (uint32_t i = 0; i < filter_index_->blocks(); ++i) {
    ASHLAR_ASSIGN_OR_RETURN(BlockContents contents, ReadMeta(filter_index_->handle(i)));
    const FilterReader reader(contents.data);
    filter_partitions_.push_back({reader, std::move(contents)});
  }
  return Status::OK();
}

bool BlockBasedTable::FilterMayMatch(Lookup* lookup) const {
  if (!filters_whole_keys_) [[unlikely]] {
    return FilterMayMatchPrefix(lookup);
  }
  if (!filter_.MatchesAll()) [[likely]] {
    return filter_.MayMatch(lookup->filter_hash(), lookup->user_key());
  }
  if (filter_partitions_.empty()) return true;
  const uint32_t partition = filter_index_->Find(lookup->user_key(), lookup->seek_tag());
  return filter_partitions_[partition].reader.MayMatch(lookup->filter_hash(), lookup->user_key());
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
  if (!found || !HasFilter()) return;
  if (filters_whole_keys_) {
    recorder_.Tick(BLOOM_FILTER_FULL_TRUE_POSITIVE);
  } else if (lookup->prefix(prefix_extractor_.get()) != nullptr) {
    recorder_.Tick(BLOOM_FILTER_PREFIX_TRUE_POSITIVE);
  }
}

bool BlockBasedTable::PrefetchStep(Lookup* lookup, StagedLookup* staged) const {
  using Stage = StagedLookup::Stage;
  switch (staged->stage) {
    case Stage::kStart: {
      if (index_.blocks() == 0) return false;
      if (filters_whole_keys_ && !filter_.MatchesAll()) filter_.Prefetch(lookup->filter_hash());
      const BlockIndex::Group group = index_.FindGroup(lookup->user_key());
      staged->head = group.head;
      staged->block = group.first;
      staged->decided = group.decided;
      staged->stage = Stage::kIndex;
      return true;
    }
    case Stage::kIndex:
      if (!FilterMayMatch(lookup)) {
        staged->stage = Stage::kAbsent;
        return false;
      }
      staged->block = index_.FindInGroup(
          {.head = staged->head, .first = staged->block, .decided = staged->decided},
          lookup->user_key(), lookup->seek_tag());
      if (cache_ != nullptr) ASHLAR_PREFETCH(&index_.slot(staged->block));
      staged->stage = Stage::kBlock;
      return true;
    case Stage::kBlock: {
      DataBlock* const block = CachedAt(staged->block);
      if (block == nullptr) return false;
      block->Prefetch();
      staged->cached = block;
      staged->stage = Stage::kSideIndex;
      return true;
    }
    case Stage::kSideIndex: {
      const auto* const block = static_cast<const DataBlock*>(staged->cached);
      staged->has_entry = block->FindCandidates(
          comparator_, lookup->user_key(), CandidateTag(*lookup), &staged->head, &staged->entry);
      if (staged->has_entry) ASHLAR_PREFETCH(block->entry(staged->entry));
      staged->stage = Stage::kEntry;
      return false;
    }
    case Stage::kAbsent:
    case Stage::kEntry: break;
  }
  return false;
}

// For a filter without whole keys: the key is absent if its prefix is.
bool BlockBasedTable::FilterMayMatchPrefix(Lookup* lookup) const {
  const HashedPrefix* const prefix = lookup->prefix(prefix_extractor_.get());
  if (prefix == nullptr || !HasFilter()) return true;
  if (filter_partitions_.empty()) return filter_.MayMatch(prefix->filter_hash, prefix->bytes);
  const uint32_t partition = filter_index_->Find(lookup->user_key(), lookup->seek_tag());
  return filter_partitions_[partition].reader.MayMatch(prefix->filter_hash, prefix->bytes);
}

void BlockBasedTable::CountPrefixCheck(Lookup* lookup, bool may_match) const {
  if (lookup->prefix(prefix_extractor_.get()) == nullptr) return;
  recorder_.Tick(BLOOM_FILTER_PREFIX_CHECKED);
  if (!may_match) recorder_.Tick(BLOOM_FILTER_PREFIX_USEFUL);
}

bool BlockBasedTable::MayMatch(SeekPrefix* seek, const Slice& internal_target) const {
  if (prefix_extractor_ == nullptr || !HasFilter()) return true;
  const HashedPrefix* const prefix = seek->Find(prefix_extractor_.get());
  if (prefix == nullptr) return true;
  recorder_.Tick(BLOOM_FILTER_PREFIX_CHECKED);
  bool may_hold = false;
  if (filter_partitions_.empty()) {
    may_hold = filter_.MayMatch(prefix->filter_hash, prefix->bytes);
  } else {
    // What the seek looks for may begin in the next partition, because a separator lies behind the
    // last key; backward in the one before.
    const uint32_t here =
        filter_index_->Find(ExtractUserKey(internal_target), ExtractTag(internal_target));
    const uint32_t first = seek->forward() || here == 0 ? here : here - 1;
    const uint32_t last = seek->forward() ? std::min(here + 1, filter_index_->blocks() - 1) : here;
    for (uint32_t i = first; i <= last && !may_hold; ++i)
      may_hold = filter_partitions_[i].reader.MayMatch(prefix->filter_hash, prefix->bytes);
  }
  if (!may_hold) recorder_.Tick(BLOOM_FILTER_PREFIX_USEFUL);
  return may_hold;
}

void BlockBasedTable::CountFilterInPerfContext(Lookup* lookup, bool may_match) const {
  if (!HasFilter() || (!filters_whole_keys_ && lookup->prefix(prefix_extractor_.get()) == nullptr))
    return;
  PerfCount(may_match ? &PerfContext::bloom_sst_hit_count : &PerfContext::bloom_sst_miss_count);
}

void BlockBasedTable::CountFilter(Lookup* lookup, bool may_match) const {
  if (!HasFilter()) return;
  if (!filters_whole_keys_) return CountPrefixCheck(lookup, may_match);
  recorder_.Tick(may_match ? BLOOM_FILTER_FULL_POSITIVE : BLOOM_FILTER_USEFUL);
}

void BlockBasedTable::Get(const TableReadOptions& options, Lookup* lookup) {
  if (index_.blocks() == 0) return;
  // The memory of filter, index and slot arrives together.
  const bool has_key_filter = filters_whole_keys_ && !filter_.MatchesAll();
  if (has_key_filter) filter_.Prefetch(lookup->filter_hash());
  const BlockIndex::Group group = index_.FindGroup(lookup->user_key());
  const bool may_match = FilterMayMatch(lookup);
  if (has_key_filter) [[likely]] {
    PerfCount(may_match ? &PerfContext::bloom_sst_hit_count : &PerfContext::bloom_sst_miss_count);
  } else {
    CountFilterInPerfContext(lookup, may_match);
  }
  GetFiltered(may_match, lookup, [&] {
    GetFromBlocks(options, index_.FindInGroup(group, lookup->user_key(), lookup->seek_tag()),
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
  for (uint32_t i = block_number; i < index_.blocks(); ++i) {
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

ASHLAR_ALWAYS_INLINE bool BlockBasedTable::GetFromCandidates(DataBlock* block, uint64_t head,
                                                             uint32_t first, Lookup* lookup) {
  const Slice& user_key = lookup->user_key();
  const uint64_t seek_tag = lookup->seek_tag();
  uint32_t i = first;
  bool found = false;
  size_t user_bytes_before = 0;
  for (; i < block->entries() && block->head(i) == head; ++i) {
    const EntryView view = block->View(i);
    // Equal to the entry before, byte by byte; a custom order may have found another key than the
    // sought one there.
    const bool repeats =
        found && view.shared >= user_bytes_before && view.user_bytes() == user_bytes_before;
    user_bytes_before = view.user_bytes();
    if (!repeats) {
      const int r = block->CompareTail(comparator_, i, view, user_key);
      if (r < 0) continue;
      if (r > 0) return false;
      found = true;
    }
    uint64_t tag = block->Tag(comparator_, i, view);
    if (global_sequence_) [[unlikely]] {
      tag = PackTag(*global_sequence_, TagType(tag));
    }
    if (tag > seek_tag) continue;
    if (!lookup->Offer(TagType(tag), TagSequence(tag), view.value, OwnerOf(block))) return false;
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

void BlockBasedTable::GetStaged(const TableReadOptions& options, const StagedLookup& staged,
                                Lookup* lookup) {
  using Stage = StagedLookup::Stage;
  if (staged.stage == Stage::kStart || staged.stage == Stage::kIndex) return Get(options, lookup);
  const bool may_match = staged.stage != Stage::kAbsent;
  CountFilterInPerfContext(lookup, may_match);
  GetFiltered(may_match, lookup, [&] {
    if (staged.stage != Stage::kEntry) return GetFromBlocks(options, staged.block, lookup);
    auto* const block = static_cast<DataBlock*>(staged.cached);
    block->MarkUsed();
    CountHit(*block);
    if (staged.has_entry && GetFromCandidates(block, staged.head, staged.entry, lookup))
      GetFromBlocks(options, staged.block + 1, lookup);
  });
}

Result<bool> BlockBasedTable::GetFromFile(uint32_t block, const TableReadOptions& options,
                                          Lookup* lookup) {
  if (options.cached_only) return Status::Incomplete(file_.name(), "the block is not in the cache");
  if (options.guard != nullptr) options.guard->Keep(pin_source().Acquire());
  // To the end: what the search below uses has counts.
  const ReadGuard::Pause pause(options.guard);
  const StopWatch watch(recorder_, READ_BLOCK_GET_MICROS);
  if (FillsCache(options)) {
    ASHLAR_ASSIGN_OR_RETURN(const BlockRef read, Read({.block = block,
                                                       .verify_checksum = options.verify_checksums,
                                                       .fill_cache = true,
                                                       .side_index = true,
                                                       .at_hand = nullptr}));
    return GetFromBlock(read.get(), lookup);
  }
  const BlockHandle handle = index_.handle(block);
  ASHLAR_ASSIGN_OR_RETURN(BlockContents contents,
                          file_.ReadBlock({.handle = handle,
                                           .verify_checksum = options.verify_checksums,
                                           .use_dictionary = true,
                                           .at_hand = nullptr}));
  CountMiss();
  Result<bool> more = false;
  if (!contents.owned) {
    more = GetFromEntries(contents.data, pin_source(), lookup);
  } else {
    const Slice data = contents.data;
    Result<DataBlock*> made = DataBlock::Create({.contents = data,
                                                 .owned = std::move(contents.owned),
                                                 .comparator = comparator_,
                                                 .side_index = false,
                                                 .live_count = live_blocks_});
    if (!made.ok()) return file_.AddPlace(made.status(), handle.offset);
    const BlockRef holder(*made);
    more = GetFromEntries(data, holder->pin_source(), lookup);
  }
  return more.ok() ? more : file_.AddPlace(more.status(), handle.offset);
}

Result<bool> BlockBasedTable::GetFromEntries(const Slice& contents, const PinSource& owner,
                                             Lookup* lookup) const {
  BlockLayout layout;
  ASHLAR_RETURN_IF_ERROR(ParseBlockLayout(contents, &layout));
  if (layout.entries == layout.entries_end) return true;
  const Slice& user_key = lookup->user_key();
  const uint64_t seek_tag = lookup->seek_tag();
  ASHLAR_ASSIGN_OR_RETURN(const char* entry,
                          FindRestart(layout, comparator_, user_key, CandidateTag(*lookup)));
  KeyBuffer buffer;
  size_t key_bytes = 0;
  // What the key before has in common with the sought one, if it sorts before that; in a custom
  // order that says nothing.
  size_t matched = SIZE_MAX;
  while (entry < layout.entries_end) {
    EntryHeader header;
    const char* const suffix = DecodeEntryHeader(entry, layout.entries_end, &header);
    if (suffix == nullptr || header.shared > key_bytes ||
        size_t{header.shared} + header.unshared < kTagBytes) {
      return Status::Corruption("damaged block entry");
    }
    const size_t user_bytes_before = key_bytes - std::min(key_bytes, kTagBytes);
    key_bytes = size_t{header.shared} + header.unshared;
    char* const key = buffer.Reserve(key_bytes, header.shared);
    if (static_cast<size_t>(contents.data() + contents.size() - suffix) >=
        size_t{header.unshared} + KeyBuffer::kSlackBytes) [[likely]] {
      CopyInSteps(key + header.shared, suffix, header.unshared);
    } else {
      memcpy(key + header.shared, suffix, header.unshared);
    }
    const Slice value(suffix + header.unshared, header.value_bytes);
    entry = value.data() + value.size();
    const Slice found(key, key_bytes - kTagBytes);
    // It shares the byte that decided about the key before it.
    if (header.shared > matched && user_bytes_before > matched && found.size() > matched) continue;
    const int r = comparator_.Compare(found, user_key);
    if (r < 0) {
      if (comparator_.HasHeads()) matched = CommonPrefixBytes(found, user_key);
      continue;
    }
    if (r > 0) return false;
    matched = SIZE_MAX;
    uint64_t tag = DecodeFixed64(key + key_bytes - kTagBytes);
    if (global_sequence_) [[unlikely]] {
      tag = PackTag(*global_sequence_, TagType(tag));
    }
    if (tag > seek_tag) continue;
    if (!lookup->Offer(TagType(tag), TagSequence(tag), value, owner)) return false;
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
  if (block >= index_.blocks()) return nullptr;
  const EpochGuard guard(epochs());
  if (const DataBlock* const after = block + 1 < index_.blocks() ? CachedAt(block + 1) : nullptr;
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
  const BlockHandle handle = index_.handle(args.block);
  ASHLAR_ASSIGN_OR_RETURN(BlockContents contents,
                          file_.ReadBlock({.handle = handle,
                                           .verify_checksum = args.verify_checksum,
                                           .use_dictionary = true,
                                           .at_hand = args.at_hand}));
  Result<DataBlock*> made = DataBlock::Create({.contents = contents.data,
                                               .owned = std::move(contents.owned),
                                               .comparator = comparator_,
                                               .side_index = args.side_index,
                                               .live_count = live_blocks_});
  if (!made.ok()) return file_.AddPlace(made.status(), handle.offset);
  BlockRef block(*made);
  CountMiss();
  if (cache_ != nullptr && args.fill_cache && args.side_index) {
    block->AddRef();
    if (cache_->Insert(&index_.slot(args.block), &epochs(), block.get())) {
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
  if (index_.blocks() == 0) return file_.file_bytes();
  const Slice user_key = ExtractUserKey(internal_key);
  const uint64_t tag = ExtractTag(internal_key);
  const uint32_t block = index_.Find(user_key, tag);
  if (block + 1 == index_.blocks() && index_.IsBehindAll(user_key, tag)) return file_.file_bytes();
  return index_.handle(block).offset;
}

std::vector<std::string> BlockBasedTable::Anchors(size_t pieces) {
  std::vector<std::string> anchors;
  const uint32_t blocks = index_.blocks();
  if (pieces < 2 || blocks < 2) return anchors;
  const BlockHandle last = index_.handle(blocks - 1);
  const uint64_t data_bytes = last.offset + last.size;
  uint32_t previous = blocks;
  for (size_t piece = 1; piece < pieces; ++piece) {
    // The separator of a block is where the next one begins.
    const uint32_t next = index_.BlockAtOffset(data_bytes / pieces * piece);
    if (next == 0 || next >= blocks || next - 1 == previous) continue;
    previous = next - 1;
    const Slice separator = index_.separator(previous);
    anchors.push_back(index_.user_keys()
                          ? MakeInternalKey(separator, kSequenceNumberMax, ValueType::kMax)
                          : separator.ToString());
  }
  return anchors;
}

struct BlockBasedTable::VerifyState {
  std::string last_key;
  uint64_t entries = 0;
};

Status BlockBasedTable::Verify() {
  std::vector<BlockHandle> meta = index_partitions_;
  meta.push_back(metaindex_handle_);
  meta.push_back(index_handle_);
  for (const MetaBlock& block : meta_blocks_) meta.push_back(block.handle);
  for (uint32_t i = 0; i < filter_partitions_.size(); ++i) meta.push_back(filter_index_->handle(i));
  for (const BlockHandle& handle : meta) ASHLAR_RETURN_IF_ERROR(ReadMeta(handle).status());

  VerifyState state;
  for (uint32_t i = 0; i < index_.blocks(); ++i) {
    const Status status = VerifyBlock(i, &state);
    if (!status.ok()) return status;
  }
  recorder_.Tick(VERIFY_CHECKSUM_READ_BYTES, file_.file_bytes());
  if (state.entries != properties_.num_entries) {
    return Status::Corruption(
        file_.name(),
        StrCat("holds ", state.entries, " entries, its properties say ", properties_.num_entries));
  }
  return Status::OK();
}

Status BlockBasedTable::VerifyBlock(uint32_t block, VerifyState* state) {
  const uint64_t offset = index_.handle(block).offset;
  ASHLAR_ASSIGN_OR_RETURN(const BlockRef ref, Read({.block = block,
                                                    .verify_checksum = true,
                                                    .fill_cache = false,
                                                    .side_index = true,
                                                    .at_hand = nullptr}));
  KeyBuffer buffer;
  for (uint32_t i = 0; i < ref->entries(); ++i, ++state->entries) {
    const Slice key = ref->Key(comparator_, i, &buffer);
    if (!IsPointType(ExtractType(key)))
      return file_.AddPlace(Status::NotSupported("entry of a type that is not supported"), offset);
    if (!state->last_key.empty() && comparator_.CompareInternal(state->last_key, key) >= 0)
      return file_.CorruptionAt(offset, "keys out of order");
    state->last_key.assign(key.data(), key.size());
    const Slice separator = index_.separator(block);
    const int r = index_.user_keys() ? comparator_.Compare(ExtractUserKey(key), separator)
                                     : comparator_.CompareInternal(key, separator);
    if (r > 0) return file_.CorruptionAt(offset, "a key lies behind its block's separator");
  }
  return Status::OK();
}

TableReader::BlockCensus BlockBasedTable::CountBlocks() const {
  BlockCensus census;
  for (const BlockSlot& slot : index_.slots()) {
    const CacheEntry* const entry = slot.load(std::memory_order_acquire);
    if (entry == nullptr) continue;
    ++census.cached;
    census.any_pinned |= entry->Refs() > 1;
  }
  return census;
}

size_t BlockBasedTable::MemoryBytes() const {
  size_t bytes = sizeof(*this) + index_.MemoryBytes() + file_.DictionaryBytes();
  if (filter_contents_.owned) bytes += filter_contents_.data.size();
  if (filter_index_) bytes += filter_index_->MemoryBytes();
  for (const FilterPartition& partition : filter_partitions_)
    bytes += partition.contents.owned ? partition.contents.data.size() : 0;
  return bytes;
}

}  // namespace ashlar
