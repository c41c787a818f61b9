#include "table/blockbased/table_loader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/coding.h"
#include "base/format.h"
#include "observe/perf.h"
#include "table/block/block_entries.h"
#include "table/blockbased/meta_block_names.h"
#include "table/blockbased/table_config.h"
#include "table/file_metadata.h"
#include "table/filter/filter_format.h"
#include "table/table_properties.h"

namespace ashlar {

namespace {

constexpr uint64_t kTailBytes = uint64_t{64} << 10;

constexpr char kMetaIndex[] = "rocksdb.index";

const std::string* FindProperty(const TableProperties& properties, const char* name) {
  const auto found = properties.user_collected_properties.find(name);
  return found == properties.user_collected_properties.end() ? nullptr : &found->second;
}
// The value of a fixed32 property, or 0 if it is absent or too short.
uint32_t Fixed32Property(const TableProperties& properties, const char* name) {
  const std::string* const value = FindProperty(properties, name);
  return value == nullptr || value->size() < sizeof(uint32_t) ? 0 : DecodeFixed32(value->data());
}
// True if the property of a feature says that it was off. Tables of old releases lack the property,
// and the feature was on where it was possible.
bool PropertySaysNo(const TableProperties& properties, const char* name) {
  const std::string* const value = FindProperty(properties, name);
  return value != nullptr && *value == "0";
}

// The value of the global sequence number in a properties block, or nothing if it has none.
std::optional<Slice> FindStoredSequence(const Slice& properties) {
  for (BlockEntries entries(properties); entries.Next();) {
    if (entries.key() == Slice(kPropertyGlobalSequence)) return entries.value();
  }
  return std::nullopt;
}

struct MetaBlock {
  std::string name;
  BlockHandle handle;
};

class TableLoader {
 public:
  explicit TableLoader(TableLoadArgs* args)
      : comparator_(args->comparator),
        with_slots_(args->with_slots),
        largest_sequence_(args->largest_sequence),
        prefix_extractors_(args->prefix_extractors),
        smallest_(args->smallest),
        largest_(args->largest),
        tolerant_(args->tolerant),
        parts_{.index = BlockIndex(args->comparator),
               .sequence_override = {},
               .filter = {},
               .file = BlockFile(std::move(args->file), std::move(args->file_name),
                                 args->file_bytes, args->mmap_reads, args->recorder),
               .properties = {},
               .meta_blocks = {},
               .ranges = {},
               .range_block = {},
               .damage = {}} {}

  Result<TableParts> Load();

 private:
  BlockFile& file() { return parts_.file; }
  const TableProperties& properties() const { return parts_.properties; }

  // A tolerant load notes the damage of a part and continues without the part.
  template <typename LeaveOut>
  Status Tolerate(Status loaded, const LeaveOut& leave_out) {
    if (!tolerant_ || !loaded.IsCorruption()) return loaded;
    parts_.damage.Note(loaded);
    leave_out();
    return Status::OK();
  }
  Status LoadTail();
  Status LoadFooter(Footer* footer);
  Status LoadMetaIndex(const Footer& footer);
  void NoteSequenceStoredLater(const BlockHandle& properties);
  Status LoadProperties();
  Status CheckSupported() const;
  Status LoadSequenceOverride();
  Status LoadDictionary();
  FileRanges CutToFile(FragmentedRanges ranges) const;
  Status LoadRanges();
  Status LoadIndex();
  Status LoadIndexPartitions(const Slice& top_level, const IndexCoding& coding);
  Status LoadIndexPartition(const BlockHandle& handle, const IndexCoding& coding);
  Status LoadFilter();
  Status LoadFilterPartitions(const BlockHandle& handle, TableFilter* filter);

  uint32_t index_type() const { return Fixed32Property(properties(), kPropertyIndexType); }
  bool IndexIs(IndexKind kind) const { return index_type() == static_cast<uint32_t>(kind); }
  IndexCoding Coding() const {
    return {.user_keys = properties().index_key_is_user_key != 0,
            .delta_values = properties().index_value_is_delta_encoded != 0,
            .first_keys = IndexIs(IndexKind::kBinaryWithFirstKey)};
  }
  // Appends the entries of an index block to an index.
  Status AddToIndex(const Slice& block, uint64_t offset, const IndexCoding& coding,
                    BlockIndex* index);
  // Null: the filter has no usable prefixes.
  std::shared_ptr<const SliceTransform> FindPrefixExtractor() const;
  const BlockHandle* FindMeta(const Slice& name) const;
  Result<BlockContents> ReadMeta(const BlockHandle& handle) const {
    return parts_.file.ReadBlock(
        {.handle = handle, .verify_checksum = true, .stays = true, .at_hand = &tail_});
  }
  // Every block of the file except data blocks, for verification.
  std::vector<BlockHandle> MetaBlocks() const;

  const KeyComparator comparator_;
  const bool with_slots_;
  const SequenceNumber largest_sequence_;
  PrefixExtractors* const prefix_extractors_;
  const Slice smallest_;
  const Slice largest_;
  const bool tolerant_;
  TableParts parts_;

  std::unique_ptr<char[]> tail_buffer_;
  FileSpan tail_;
  bool is_legacy_ = false;
  BlockHandle metaindex_;
  BlockHandle index_;
  std::vector<MetaBlock> named_blocks_;  // in the order of the metaindex
  std::vector<BlockHandle> index_partitions_;
  std::vector<BlockHandle> filter_partitions_;
};

Result<TableParts> TableLoader::Load() {
  ASHLAR_RETURN_IF_ERROR(LoadTail());
  Footer footer;
  ASHLAR_RETURN_IF_ERROR(LoadFooter(&footer));
  ASHLAR_RETURN_IF_ERROR(LoadMetaIndex(footer));
  ASHLAR_RETURN_IF_ERROR(LoadProperties());
  ASHLAR_RETURN_IF_ERROR(CheckSupported());
  ASHLAR_RETURN_IF_ERROR(LoadSequenceOverride());
  ASHLAR_RETURN_IF_ERROR(LoadDictionary());
  ASHLAR_RETURN_IF_ERROR(Tolerate(LoadRanges(), [this] {
    parts_.range_block.reset();
    parts_.damage.lost_ranges = true;
  }));
  ASHLAR_RETURN_IF_ERROR(LoadIndex());
  PerfCount(&PerfContext::index_block_read_count, 1 + index_partitions_.size());
  ASHLAR_RETURN_IF_ERROR(Tolerate(LoadFilter(), [this] { filter_partitions_.clear(); }));
  if (parts_.filter.IsPresent())
    PerfCount(&PerfContext::filter_block_read_count, 1 + filter_partitions_.size());
  ASHLAR_ASSERT(!with_slots_ || parts_.index.slots().size() == parts_.index.blocks());  // by Seal
  parts_.meta_blocks = MetaBlocks();
  return std::move(parts_);
}

Status TableLoader::LoadTail() {
  uint64_t actual_bytes = 0;
  ASHLAR_RETURN_IF_ERROR(file().file()->Size(&actual_bytes));
  if (actual_bytes != file().file_bytes()) {
    return Status::Corruption(file().name(), StrCat("the file has ", actual_bytes,
                                                    " bytes, expected ", file().file_bytes()));
  }
  const uint64_t n = std::min(file().file_bytes(), kTailBytes);
  const uint64_t offset = file().file_bytes() - n;
  if (!file().mapped())
    tail_buffer_ = std::make_unique_for_overwrite<char[]>(static_cast<size_t>(n));
  ASHLAR_ASSIGN_OR_RETURN(const Slice bytes,
                          file().ReadBytes(offset, static_cast<size_t>(n), tail_buffer_.get()));
  tail_ = {offset, bytes};
  return Status::OK();
}

Status TableLoader::LoadFooter(Footer* footer) {
  const Result<Footer> decoded = DecodeFooter(tail_.bytes, file().file_bytes());
  if (!decoded.ok()) {
    return file().AddPlace(
        decoded.status(),
        file().file_bytes() - std::min<uint64_t>(file().file_bytes(), kFooterBytes));
  }
  *footer = *decoded;
  file().SetFormat(*footer);
  return Status::OK();
}

Status TableLoader::LoadMetaIndex(const Footer& footer) {
  is_legacy_ = footer.magic == kLegacyBlockBasedTableMagic;
  metaindex_ = footer.metaindex;
  index_ = footer.index;
  ASHLAR_ASSIGN_OR_RETURN(const BlockContents contents, ReadMeta(metaindex_));
  BlockEntries entries(contents.data);
  // Blocks do not overlap. Names that share blocks would make verifying a small file slow.
  uint64_t bytes_left = file().file_bytes();
  while (entries.Next()) {
    Slice value = entries.value();
    MetaBlock meta{entries.key().ToString(), {}};
    if (!GetBlockHandle(&value, &meta.handle))
      return file().CorruptionAt(metaindex_.offset, "bad block handle in the metaindex");
    if (meta.handle.size > bytes_left)
      return file().CorruptionAt(metaindex_.offset,
                                 "the metaindex names more bytes than the file has");
    bytes_left -= meta.handle.size;
    named_blocks_.push_back(std::move(meta));
  }
  if (!entries.status().ok()) return file().AddPlace(entries.status(), metaindex_.offset);
  if (footer.format_version >= 6) {
    const BlockHandle* const index = FindMeta(kMetaIndex);
    if (index == nullptr)
      return file().CorruptionAt(metaindex_.offset, "the metaindex names no index");
    index_ = *index;
  }
  return Status::OK();
}

const BlockHandle* TableLoader::FindMeta(const Slice& name) const {
  for (const MetaBlock& meta : named_blocks_) {
    if (name == Slice(meta.name)) return &meta.handle;
  }
  return nullptr;
}

// RocksDB may store the sequence number of an ingested table in its file (write_global_seqno, once
// its default). It keeps the checksum that was computed with zeros there.
void TableLoader::NoteSequenceStoredLater(const BlockHandle& properties) {
  const Result<BlockContents> contents = file().ReadBlock(
      {.handle = properties, .verify_checksum = false, .stays = false, .at_hand = &tail_});
  if (!contents.ok()) return;
  const std::optional<Slice> stored = FindStoredSequence(contents->data);
  if (!stored) return;
  const auto at = static_cast<uint64_t>(stored->data() - contents->data.data());
  ASHLAR_ASSERT(at + stored->size() <= contents->data.size());  // I1 of block_entries.h
  file().SetBytesStoredLater(properties.offset + at, stored->size());
}

Status TableLoader::LoadProperties() {
  const BlockHandle* const handle = FindMeta(kMetaProperties);
  // LevelDB writes no properties. Its index has internal keys and handles that are not delta-coded.
  if (handle == nullptr && is_legacy_) return Status::OK();
  if (handle == nullptr)
    return file().CorruptionAt(metaindex_.offset, "the metaindex names no properties");
  Result<BlockContents> contents = ReadMeta(*handle);
  if (contents.status().IsCorruption()) {
    NoteSequenceStoredLater(*handle);
    contents = ReadMeta(*handle);
  }
  ASHLAR_RETURN_IF_ERROR(contents.status());
  Result<TableProperties> properties = DecodeTableProperties(contents->data);
  if (!properties.ok()) return file().AddPlace(properties.status(), handle->offset);
  parts_.properties = std::move(properties).value();
  const bool as_stored = contents->data.size() == handle->size;  // not compressed
  if (const std::optional<Slice> stored = FindStoredSequence(contents->data); stored && as_stored) {
    parts_.properties.external_sst_file_global_seqno_offset =
        handle->offset + static_cast<uint64_t>(stored->data() - contents->data.data());
  }
  return Status::OK();
}

Status TableLoader::CheckSupported() const {
  const std::string& name = parts_.file.name();
  const char* const comparator = comparator_.user_comparator()->Name();
  if (!properties().comparator_name.empty() && properties().comparator_name != comparator) {
    return Status::InvalidArgument(
        name,
        StrCat("was written with comparator ", properties().comparator_name, ", not ", comparator));
  }
  if (properties().udi_is_primary_index != 0)
    return Status::NotSupported(name, "the table has a user-defined index");
  return Status::OK();
}

Status TableLoader::LoadSequenceOverride() {
  const std::string& name = file().name();
  const std::string* const stored_version = FindProperty(properties(), kPropertyExternalVersion);
  if (stored_version != nullptr && stored_version->size() != sizeof(uint32_t))
    return Status::Corruption(name, "bad version of an external table");
  const uint32_t version = Fixed32Property(properties(), kPropertyExternalVersion);
  const std::string* const stored = FindProperty(properties(), kPropertyGlobalSequence);
  if (stored_version == nullptr || version == 1) {
    return stored == nullptr
               ? Status::OK()
               : Status::Corruption(name,
                                    "a global sequence number in a table that cannot have one");
  }
  if (version != 2)
    return Status::NotSupported(name, StrCat("external table of version ", version));
  if (stored != nullptr && stored->size() != sizeof(uint64_t))
    return Status::Corruption(name, "bad global sequence number");
  SequenceNumber sequence = stored != nullptr ? DecodeFixed64(stored->data()) : 0;
  if (largest_sequence_ < kSequenceNumberMax) {
    // Newer versions leave the file as it is, and record the number in the MANIFEST alone.
    if (sequence == 0) sequence = largest_sequence_;
    if (sequence != largest_sequence_)
      return Status::Corruption(name, "the global sequence number differs from the MANIFEST's");
  }
  if (sequence > kSequenceNumberMax) return Status::Corruption(name, "bad global sequence number");
  parts_.sequence_override = SequenceOverride(sequence);
  return Status::OK();
}

Status TableLoader::LoadDictionary() {
  const BlockHandle* const handle = FindMeta(kMetaDictionary);
  if (handle == nullptr) return Status::OK();
  ASHLAR_ASSIGN_OR_RETURN(const BlockContents contents, ReadMeta(*handle));
  if (!contents.data.empty())
    file().SetDictionary(std::make_unique<DecompressionDictionary>(contents.data));
  return Status::OK();
}

FileRanges TableLoader::CutToFile(FragmentedRanges ranges) const {
  if (smallest_.empty()) return FileRanges(std::move(ranges));
  ASHLAR_ASSERT(smallest_.size() >= kTagBytes && largest_.size() >= kTagBytes);  // internal keys
  return FileRanges::Cut(comparator_, std::move(ranges),
                         {.smallest = ExtractUserKey(smallest_),
                          .largest = ExtractUserKey(largest_),
                          .excludes_largest = ExtractTag(largest_) == kRangeEndTag});
}

// Old tables lack the property num_range_deletions.
Status TableLoader::LoadRanges() {
  const BlockHandle* const handle = FindMeta(kMetaRangeDeletions);
  const uint64_t recorded = properties().num_range_deletions;
  uint64_t found = 0;
  if (handle != nullptr) {
    parts_.range_block = *handle;
    parts_.ranges_are_ordered = FindProperty(properties(), kPropertyExternalVersion) == nullptr;
    ASHLAR_ASSIGN_OR_RETURN(const BlockContents contents, ReadMeta(*handle));
    Result<RangeBlock> decoded =
        DecodeRangeBlock(contents.data, {.comparator = comparator_,
                                         .sequence_override = parts_.sequence_override,
                                         .ordered = parts_.ranges_are_ordered});
    if (!decoded.ok()) return file().AddPlace(decoded.status(), handle->offset);
    found = decoded->entries;
    parts_.ranges = CutToFile(std::move(decoded->ranges));
  }
  if (recorded == 0 || recorded == found) return Status::OK();
  return Status::Corruption(
      file().name(), StrCat("holds ", found, " range deletions, its properties say ", recorded));
}

Status TableLoader::AddToIndex(const Slice& block, uint64_t offset, const IndexCoding& coding,
                               BlockIndex* index) {
  const auto add = [&](const IndexBlockEntry& entry) {
    return index->Add(entry, coding.user_keys, file().file_bytes());
  };
  const Status status = VisitIndexBlock(block, coding, add);
  return status.ok() ? status : file().AddPlace(status, offset);
}

Status TableLoader::LoadIndex() {
  if (index_type() > static_cast<uint32_t>(IndexKind::kBinaryWithFirstKey))
    return Status::NotSupported(file().name(), StrCat("index type ", index_type()));
  const IndexCoding coding = Coding();
  ASHLAR_ASSIGN_OR_RETURN(const BlockContents contents, ReadMeta(index_));
  if (IndexIs(IndexKind::kTwoLevel)) {
    ASHLAR_RETURN_IF_ERROR(LoadIndexPartitions(contents.data, coding));
  } else {
    ASHLAR_RETURN_IF_ERROR(AddToIndex(contents.data, index_.offset, coding, &parts_.index));
  }
  parts_.index.Seal(with_slots_);
  return Status::OK();
}

Status TableLoader::LoadIndexPartitions(const Slice& top_level, const IndexCoding& coding) {
  BlockIndex partitions(comparator_);  // checks the top level's order and handles
  ASHLAR_RETURN_IF_ERROR(AddToIndex(top_level, index_.offset, coding, &partitions));
  for (uint32_t i = 0; i < partitions.blocks(); ++i) {
    ASHLAR_RETURN_IF_ERROR(Tolerate(LoadIndexPartition(partitions.handle(i), coding),
                                    [this] { ++parts_.damage.lost_blocks; }));
  }
  // I3: only a tolerant load leaves parts out.
  ASHLAR_DCHECK(tolerant_ || index_partitions_.size() == partitions.blocks());
  return Status::OK();
}

Status TableLoader::LoadIndexPartition(const BlockHandle& handle, const IndexCoding& coding) {
  ASHLAR_ASSIGN_OR_RETURN(const BlockContents contents, ReadMeta(handle));
  ASHLAR_RETURN_IF_ERROR(AddToIndex(contents.data, handle.offset, coding, &parts_.index));
  index_partitions_.push_back(handle);
  return Status::OK();
}

std::shared_ptr<const SliceTransform> TableLoader::FindPrefixExtractor() const {
  const std::string& id = properties().prefix_extractor_name;
  if (prefix_extractors_ == nullptr || id.empty() ||
      PropertySaysNo(properties(), kPropertyPrefixFiltering))
    return nullptr;
  return prefix_extractors_->Find(id);
}

Status TableLoader::LoadFilter() {
  TableFilter filter(!PropertySaysNo(properties(), kPropertyWholeKeyFiltering),
                     FindPrefixExtractor());
  const BlockHandle* const whole = FindMeta(StrCat(kFullFilterPrefix, kBuiltinFilterName));
  const BlockHandle* const partitioned =
      FindMeta(StrCat(kPartitionedFilterPrefix, kBuiltinFilterName));
  if (!filter.IsUsable()) {
    // The blocks of an unusable filter are not read.
  } else if (whole != nullptr) {
    ASHLAR_ASSIGN_OR_RETURN(BlockContents contents, ReadMeta(*whole));
    filter.SetWhole(std::move(contents));
  } else if (partitioned != nullptr) {
    ASHLAR_RETURN_IF_ERROR(LoadFilterPartitions(*partitioned, &filter));
  }
  parts_.filter = std::move(filter);
  return Status::OK();
}

Status TableLoader::LoadFilterPartitions(const BlockHandle& handle, TableFilter* filter) {
  ASHLAR_ASSIGN_OR_RETURN(const BlockContents top_level, ReadMeta(handle));
  IndexCoding coding = Coding();
  coding.first_keys = false;
  BlockIndex index(comparator_);
  ASHLAR_RETURN_IF_ERROR(AddToIndex(top_level.data, handle.offset, coding, &index));
  index.Seal(false);
  // All partitions stay in memory. RocksDB compresses none of them, so many partitions of a few
  // kilobytes that each expand to a gigabyte are not a valid filter.
  uint64_t expanded_bytes = 0;
  std::vector<TableFilter::Partition> partitions;
  partitions.reserve(index.blocks());
  for (uint32_t i = 0; i < index.blocks(); ++i) {
    const BlockHandle stored = index.handle(i);
    filter_partitions_.push_back(stored);
    ASHLAR_ASSIGN_OR_RETURN(BlockContents contents, ReadMeta(stored));
    if (contents.data.size() > stored.size) expanded_bytes += contents.data.size() - stored.size;
    if (expanded_bytes > kBlockBytesMax)
      return file().CorruptionAt(stored.offset, "filter partitions that expand to more than 1 GiB");
    const FilterReader reader(contents.data);
    partitions.push_back({reader, std::move(contents)});
  }
  ASHLAR_DCHECK(partitions.size() == index.blocks());  // I2 of table_filter.h
  filter->SetPartitions(std::move(index), std::move(partitions));
  return Status::OK();
}

std::vector<BlockHandle> TableLoader::MetaBlocks() const {
  std::vector<BlockHandle> handles = index_partitions_;
  handles.push_back(metaindex_);
  handles.push_back(index_);
  for (const MetaBlock& meta : named_blocks_) handles.push_back(meta.handle);
  handles.insert(handles.end(), filter_partitions_.begin(), filter_partitions_.end());
  return handles;
}

}  // namespace

Result<TableParts> LoadTable(TableLoadArgs args) { return TableLoader(&args).Load(); }

void TableParts::CheckInvariants() const {
  index.CheckInvariants();
  filter.CheckInvariants();
  // I1: metaindex and index were read, and also properties, unless it is a table of LevelDB.
  ASHLAR_ASSERT(meta_blocks.size() >= 2);
}

}  // namespace ashlar
