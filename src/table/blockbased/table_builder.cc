#include "table/blockbased/table_builder.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "base/coding.h"
#include "base/format.h"
#include "execute/rate_limiter.h"
#include "key/key_head.h"
#include "table/block/block_entries.h"
#include "table/blockbased/dictionary_samples.h"
#include "table/blockbased/meta_block_names.h"
#include "table/filter/filter_format.h"
#include "table/table_properties.h"

namespace ashlar {

namespace {

// The page cache stores a file in folios of the size of the writes that made it, if they begin at
// multiples of that size. Large folios are read faster, and a folio of a huge page's size is mapped
// by one page table entry. Small folios are allocated faster, because large ones need memory that a
// virtual machine had returned to its host. docs/measurements/writing.md has the figures.
size_t PieceBytes(TableReads reads) {
  switch (reads) {
    case TableReads::kBlockCache: return size_t{64} << 10;
    case TableReads::kPageCache: return size_t{256} << 10;
    case TableReads::kMapping: return size_t{2} << 20;
  }
  return 0;
}

// The alignment of data blocks in aligned tables: a page, or the block size if that is smaller.
uint64_t Alignment(const BlockBasedTableConfig& config) {
  constexpr uint64_t kPageBytes = 4096;
  return config.block_align ? std::min<uint64_t>(config.block_bytes, kPageBytes) : 1;
}

// The largest block of range tombstones, not counting the lengths and restart of its last entry.
constexpr uint64_t kRangeBlockBytesMax = kBlockBytesMax - 64;

// An aligned block that exceeds the block size takes one more page.
constexpr size_t kAlignedEntryOverhead =
    3 * kVarint32BytesMax + sizeof(uint32_t) + kBlockTrailerBytes;

size_t FullBlockBytes(const BlockBasedTableConfig& config) {
  if (config.block_align) return 0;
  return std::min(
      config.block_bytes * static_cast<size_t>(100 - config.block_bytes_deviation_percent) / 100,
      config.block_bytes - 1);
}

bool DeltaCodesHandles(const BlockBasedTableConfig& config) {
  // The handle of an aligned block does not follow from the previous handle.
  return config.format_version >= 4 && !config.block_align;
}

// Old releases of RocksDB, which read these versions, read only the legacy Bloom filter
// (filter_builder.h).
FilterKind KindOfFilter(const BlockBasedTableConfig& config) {
  const bool legacy = config.filter_kind == FilterKind::kBloom && config.format_version < 5;
  return legacy ? FilterKind::kLegacyBloom : config.filter_kind;
}

bool BuffersBlocks(const TableWriteArgs& args) {
  return args.dictionary.bytes_max > 0 && TakesDictionary(args.compression);
}

uint64_t BufferBytesMax(const TableWriteArgs& args) {
  const auto bound = [](uint64_t bytes) { return bytes == 0 ? UINT64_MAX : bytes; };
  return std::min(bound(args.dictionary.buffer_bytes_max), bound(args.target_file_bytes));
}

Status ValidateConfig(const TableWriteArgs& args) {
  const BlockBasedTableConfig& config = args.config;
  const auto bad = [](const char* option, const char* why) {
    return Status::InvalidArgument(option, why);
  };
  if (args.file == nullptr) return bad("table writer", "no file");
  if (args.comparator.user_comparator() == nullptr) return bad("table writer", "no comparator");
  if (config.format_version < kFormatVersionWriteMin ||
      config.format_version > kFormatVersionWriteMax) {
    return Status::NotSupported(
        StrCat("format_version ", config.format_version, ": tables are written with 2 to 5"));
  }
  if (config.block_bytes == 0 || config.block_bytes > kBlockBytesMax / 4)
    return bad("block_size", "must be between 1 byte and 256 MiB");
  if (config.block_bytes_deviation_percent < 0 || config.block_bytes_deviation_percent > 100)
    return bad("block_size_deviation", "must be 0 to 100");
  if (config.restart_interval < 1) return bad("block_restart_interval", "must be at least 1");
  if (config.index_restart_interval < 1)
    return bad("index_block_restart_interval", "must be at least 1");
  if (config.filter_millibits_per_key != 0 &&
      (config.filter_millibits_per_key < 1000 || config.filter_millibits_per_key > 100000)) {
    return bad("filter_policy", "bits per key must be 1 to 100");
  }
  if (config.block_align && !std::has_single_bit(config.block_bytes))
    return bad("block_size", "must be a power of two for block_align");
  if (config.index_kind == IndexKind::kHash && args.prefix_extractor == nullptr)
    return bad("index_type", "kHashSearch needs a prefix_extractor");
  return ValidateCompressionType(args.compression);
}

// shared: bytes that both keys have in common.
bool Ascends(const KeyComparator& comparator, const Slice& last, const Slice& next, size_t shared) {
  // The first byte that differs decides, if both user keys have it. So the common case needs no
  // second comparison.
  if (shared + kTagBytes < next.size() && shared + kTagBytes < last.size()) [[likely]] {
    const auto a = static_cast<uint8_t>(last[shared]);
    const auto b = static_cast<uint8_t>(next[shared]);
    if (comparator.kind() == KeyComparator::Kind::kBytewise) return a < b;
    if (comparator.kind() == KeyComparator::Kind::kReverseBytewise) return b < a;
  }
  return comparator.CompareInternal(last, next) < 0;
}

std::string CompressionOptionsText(const CompressionParameters& parameters,
                                   const DictionaryParameters& dictionary) {
  return StrCat("window_bits=", parameters.window_bits, "; level=", parameters.level,
                "; strategy=", parameters.strategy, "; max_dict_bytes=", dictionary.bytes_max,
                "; zstd_max_train_bytes=", dictionary.train_bytes_max,
                "; enabled=0; max_dict_buffer_bytes=", dictionary.buffer_bytes_max,
                "; use_zstd_dict_trainer=", dictionary.use_trainer ? 1 : 0, "; ");
}

int IndexRestartInterval(const BlockBasedTableConfig& config) {
  // RocksDB finds the blocks of a prefix by their restart number.
  return config.index_kind == IndexKind::kHash ? 1 : config.index_restart_interval;
}

IndexBuilder::Args IndexArgs(const TableWriteArgs& args) {
  const BlockBasedTableConfig& config = args.config;
  return {.comparator = args.comparator,
          .kind = config.index_kind,
          .shortening = config.index_shortening,
          .restart_interval = IndexRestartInterval(config),
          .partition_bytes = config.partition_bytes,
          .block_bytes_max = config.meta_block_bytes_max,
          .delta_values = DeltaCodesHandles(config),
          .alignment = Alignment(config),
          .prefix_extractor = args.prefix_extractor.get()};
}

BlockBuilder::Args DataBlockArgs(const TableWriteArgs& args) {
  // A hash index identifies keys by their bytes.
  const bool by_bytes =
      !args.comparator.user_comparator()->CanKeysWithDifferentByteContentsBeEqual();
  return {.restart_interval = args.config.restart_interval,
          .delta_keys = args.config.key_delta_encoding,
          .values_have_length = true,
          .hash_buckets_per_entry = by_bytes ? args.config.hash_buckets_per_entry : 0};
}

// About as many entries as a Bloom filter of this size has.
size_t EntriesOfPartition(const BlockBasedTableConfig& config) {
  const uint64_t entries = uint64_t{config.partition_bytes} * 8000 /
                           static_cast<uint64_t>(config.filter_millibits_per_key);
  return std::max<size_t>(static_cast<size_t>(entries), 1);
}

}  // namespace

Result<std::unique_ptr<TableBuilder>> TableBuilder::Create(TableWriteArgs args) {
  ASHLAR_RETURN_IF_ERROR(ValidateConfig(args));
  std::unique_ptr<Compressor> compressor;
  if (args.compression != kNoCompression) {
    ASHLAR_ASSIGN_OR_RETURN(
        compressor, Compressor::Create(args.compression, args.compression_parameters, Slice()));
  }
  auto writer = std::unique_ptr<TableBuilder>(new TableBuilder(std::move(args)));
  writer->compressor_ = std::move(compressor);
  return writer;
}

TableBuilder::TableBuilder(TableWriteArgs args)
    : args_(std::move(args)),
      piece_bytes_(PieceBytes(args_.reads)),
      buffering_(BuffersBlocks(args_)),
      buffer_bytes_max_(BufferBytesMax(args_)),
      data_block_(DataBlockArgs(args_), args_.compression == kNoCompression ? &output_ : &raw_),
      block_bytes_full_(FullBlockBytes(args_.config)),
      entry_overhead_(args_.config.block_align ? kAlignedEntryOverhead : 3),
      alignment_(Alignment(args_.config)),
      index_(IndexArgs(args_)),
      range_block_({.restart_interval = 1, .delta_keys = true, .values_have_length = true}),
      collectors_(args_.collector_factories, CollectorContext(args_), args_.logger) {
  const bool something_to_filter =
      args_.config.whole_key_filtering || args_.prefix_extractor != nullptr;
  if (args_.config.filter_millibits_per_key > 0 && something_to_filter) {
    filter_ = std::make_unique<FilterBuilder>(
        FilterBuilderArgs{.kind = KindOfFilter(args_.config),
                          .millibits_per_key = args_.config.filter_millibits_per_key,
                          .whole_keys = args_.config.whole_key_filtering,
                          .prefix_extractor = args_.prefix_extractor.get()});
    if (args_.config.partition_filters && args_.config.index_kind == IndexKind::kTwoLevel) {
      filter_partitions_ =
          std::make_unique<FilterPartitions>(filter_.get(), EntriesOfPartition(args_.config));
    }
  }
  output_.Reserve(piece_bytes_ + 2 * std::min(args_.config.block_bytes, piece_bytes_));
}

TableBuilder::~TableBuilder() = default;

void TableBuilder::Add(const Slice& internal_key, const Slice& value) {
  if (!status_.ok()) return;
  ASHLAR_ASSERT(internal_key.size() >= kTagBytes);  // Requires: an internal key
  if (!EntryFits(ExtractUserKey(internal_key).size(), value.size())) {
    status_ = Status::InvalidArgument(args_.file_name,
                                      "a key and its value of more than 512 MiB together");
    return;
  }
  const bool first = last_key_.empty();
  const size_t shared = CommonPrefixBytes(last_key(), internal_key);
  ASHLAR_ASSERT(first || Ascends(args_.comparator, last_key(), internal_key, shared));  // I1

  if (BlockIsFull(internal_key, value) || SharesTooMuch(shared)) FinishDataBlock(false);
  if (has_pending_block_) AddToIndex(internal_key);
  if (index_.wants_keys()) [[unlikely]] {
    index_.AddKey(internal_key);
  }
  if (filter_ != nullptr) {
    const Slice user_key = ExtractUserKey(internal_key);
    const bool same_user_key =
        !first && internal_key.size() == last_key_.size() && shared >= user_key.size();
    if (!same_user_key) filter_->AddKey(user_key);
  }
  data_block_.Add(internal_key, value, shared);
  block_shared_bytes_ += shared;
  if (first) smallest_.assign(internal_key.data(), internal_key.size());
  CountEntry(internal_key, value);
  if (!collectors_.empty()) [[unlikely]] {
    collectors_.Add(internal_key, value, offset_);
  }
  last_key_.Clear();
  CopyShort(last_key_.Reserve(internal_key.size()), internal_key.data(), internal_key.size());
  last_key_.Extend(internal_key.size());
}

void TableBuilder::AddRangeDeletion(const RangeTombstone& tombstone) {
  if (!status_.ok()) return;
  const KeyComparator& comparator = args_.comparator;
  ASHLAR_ASSERT(comparator.Compare(tombstone.begin, tombstone.end) < 0);  // Requires
  const std::string key =
      MakeInternalKey(tombstone.begin, tombstone.sequence, ValueType::kRangeDeletion);
  ASHLAR_ASSERT(last_range_.empty() || comparator.CompareInternal(last_range_, key) < 0);  // I1
  if (!EntryFits(tombstone.begin.size(), tombstone.end.size()) ||
      range_block_.CurrentBytes() + key.size() + tombstone.end.size() > kRangeBlockBytesMax) {
    status_ = Status::InvalidArgument(args_.file_name, "range deletions of more than 1 GiB");
    return;
  }
  range_block_.Add(key, tombstone.end, 0);
  if (smallest_range_.empty() || comparator.Compare(range_end_, tombstone.end) < 0)
    range_end_.assign(tombstone.end.data(), tombstone.end.size());
  if (smallest_range_.empty()) smallest_range_ = key;
  last_range_ = key;
  CountAdded(tombstone.sequence, key, tombstone.end);
  if (!collectors_.empty()) collectors_.Add(key, tombstone.end, offset_);
  ++properties_.num_deletions;
  ++properties_.num_range_deletions;
}

void TableBuilder::FinishDataBlock(bool is_last) {
  constexpr uint64_t kDenseDeletions = 100;
  ASHLAR_DCHECK(!has_pending_block_);  // its separator was added before this block's first entry
  if (block_deletions_ >= kDenseDeletions ||
      (!is_last && block_deletion_bytes_ * 2 >= data_block_.CurrentBytes()))
    ++dense_blocks_;
  block_deletions_ = block_deletion_bytes_ = block_shared_bytes_ = 0;
  if (!collectors_.empty()) collectors_.BlockAdd(data_block_.CurrentBytes());
  pending_block_bytes_ = StoreDataBlock();
  has_pending_block_ = true;
  properties_.data_size = offset_;
  ++properties_.num_data_blocks;
  data_block_.Reset();
}

uint32_t TableBuilder::StoreDataBlock() {
  const Slice raw = data_block_.Finish();
  properties_.uncompressed_data_size += raw.size();
  if (buffering_) {
    ASHLAR_DCHECK(offset_ == 0 && output_.empty());  // I4
    buffered_bytes_.push_back(static_cast<uint32_t>(raw.size()));
    if (raw_.size() < buffer_bytes_max_) return 0;
    EndBuffering();
    return pending_block_bytes_;
  }
  Compressor* const compressor =
      dictionary_compressor_ != nullptr ? dictionary_compressor_.get() : compressor_.get();
  const BlockHandle handle = compressor == nullptr
                                 ? EndBlock(output_.size() - raw.size(), kNoCompression)
                                 : WriteBlock(raw, compressor);
  raw_.Clear();
  if (alignment_ > 1) AlignOutput();
  return static_cast<uint32_t>(handle.size);
}

void TableBuilder::EndBuffering() {
  ASHLAR_ASSERT(buffering_ && offset_ == 0);  // I4
  buffering_ = false;
  const DictionaryParameters& parameters = args_.dictionary;
  const size_t sample_bytes =
      parameters.train_bytes_max > 0 ? parameters.train_bytes_max : parameters.bytes_max;
  {
    const DictionarySamples samples = TakeSamples(raw_.From(0), buffered_bytes_, sample_bytes);
    dictionary_ = MakeDictionary(parameters, args_.compression_parameters.level, samples.bytes,
                                 samples.sizes);
  }
  if (!dictionary_.empty()) {
    Result<std::unique_ptr<Compressor>> made =
        Compressor::Create(args_.compression, args_.compression_parameters, dictionary_);
    if (made.ok()) {
      dictionary_compressor_ = std::move(made).value();
    } else {
      status_ = made.status().WithContext(args_.file_name);
    }
  }
  Compressor* const compressor =
      dictionary_compressor_ != nullptr ? dictionary_compressor_.get() : compressor_.get();
  size_t at = 0;
  for (size_t i = 0; i < buffered_bytes_.size(); ++i) {
    const BlockHandle handle = WriteBlock(Slice(raw_.data() + at, buffered_bytes_[i]), compressor);
    at += buffered_bytes_[i];
    if (alignment_ > 1) AlignOutput();
    const auto bytes = static_cast<uint32_t>(handle.size);
    // The index does not have the last block yet, unless the table is complete.
    if (i < index_.blocks()) {
      index_.SetBlockBytes(i, bytes);
    } else {
      ASHLAR_ASSERT(i == index_.blocks() && i + 1 == buffered_bytes_.size());  // I4
      pending_block_bytes_ = bytes;
    }
  }
  ASHLAR_ASSERT(at == raw_.size());  // I4: raw_ holds only these blocks
  buffered_bytes_ = {};
  raw_.Clear();
  properties_.data_size = offset_;
}

void TableBuilder::AlignOutput() {
  const auto padding = static_cast<size_t>((alignment_ - offset_ % alignment_) % alignment_);
  if (padding == 0) return;
  memset(output_.Reserve(padding), 0, padding);
  output_.Extend(padding);
  offset_ += padding;
}

void TableBuilder::AddToIndex(const Slice& next_key) {
  ASHLAR_DCHECK(has_pending_block_);  // a finished block waits for its separator
  const bool new_user_key = index_.AddBlock(last_key(), next_key, pending_block_bytes_);
  has_pending_block_ = false;
  if (filter_partitions_ == nullptr || next_key.empty() || !new_user_key) return;
  filter_partitions_->EndBlock(index_.last_separator(), ExtractUserKey(last_key()),
                               ExtractUserKey(next_key));
}

bool TableBuilder::Compress(Compressor* compressor, const Slice& raw) {
  const Recorder& recorder = args_.recorder;
  const bool timed = recorder.WantsDetailedTimes();
  const uint64_t start_nanos = timed ? MonotonicNanos() : 0;
  const bool smaller = compressor->Compress(raw, &compressed_);
  if (timed) recorder.Record(COMPRESSION_TIMES_NANOS, MonotonicNanos() - start_nanos);
  if (smaller) {
    recorder.Tick(NUMBER_BLOCK_COMPRESSED);
    recorder.Tick(BYTES_COMPRESSED_FROM, raw.size());
    recorder.Tick(BYTES_COMPRESSED_TO, compressed_.size());
  } else {
    recorder.Tick(NUMBER_BLOCK_COMPRESSION_REJECTED);
    recorder.Tick(BYTES_COMPRESSION_REJECTED, raw.size());
  }
  return smaller;
}

BlockHandle TableBuilder::WriteBlock(const Slice& raw, Compressor* compressor) {
  const size_t start = output_.size();
  const bool compressed = compressor != nullptr && Compress(compressor, raw);
  output_.Append(compressed ? Slice(compressed_) : raw);
  return EndBlock(start, compressed ? args_.compression : kNoCompression);
}

BlockHandle TableBuilder::EndBlock(size_t start, CompressionType type) {
  ASHLAR_DCHECK(start <= output_.size());  // the block begins in output_
  const Slice stored = output_.From(start);
  const BlockHandle handle{offset_, stored.size()};
  offset_ += stored.size() + kBlockTrailerBytes;
  char* const trailer = output_.Reserve(kBlockTrailerBytes);
  trailer[0] = static_cast<char>(type);
  EncodeFixed32(trailer + 1,
                ComputeBlockChecksum(args_.config.checksum, output_.data() + start, stored.size()));
  output_.Extend(kBlockTrailerBytes);
  if (output_.size() >= piece_bytes_) HandOver(output_.size() / piece_bytes_ * piece_bytes_);
  return handle;
}

void TableBuilder::HandOver(size_t bytes) {
  ASHLAR_DCHECK(bytes <= output_.size());   // bytes of output_
  if (!status_.ok() || bytes == 0) return;  // I3
  WaitForLimiter({.limiter = args_.rate_limiter, .priority = args_.priority}, bytes,
                 args_.recorder);
  const StopWatch watch(args_.recorder, SST_WRITE_MICROS);
  status_ = args_.file->Append(Slice(output_.data(), bytes));
  output_.RemoveFront(bytes);
}

void TableBuilder::AddMetaBlock(const std::string& name, const BlockHandle& handle,
                                MetaBlocks* blocks) {
  PutBlockHandle(&(*blocks)[name], handle);
}

void TableBuilder::WriteFilter(MetaBlocks* blocks) {
  if (filter_ == nullptr) return;
  properties_.num_filter_entries =
      filter_partitions_ != nullptr ? filter_partitions_->entries() : filter_->entries();
  if (properties_.num_filter_entries == 0) return;
  if (filter_partitions_ == nullptr) {
    WriteWholeFilter(blocks);
    return;
  }
  const FilterPartitions::Written written = filter_partitions_->Finish(
      {.last_separator = index_.last_separator(),
       .restart_interval = args_.config.index_restart_interval,
       .delta_values = DeltaCodesHandles(args_.config)},
      index_, [this](const Slice& block) { return WriteBlock(block, nullptr); });
  properties_.filter_size = written.bytes;
  AddMetaBlock(StrCat(kPartitionedFilterPrefix, kBuiltinFilterName), written.top, blocks);
}

void TableBuilder::WriteWholeFilter(MetaBlocks* blocks) {
  const size_t start = output_.size();
  const size_t bytes_max = filter_->BlockBytesMax();
  if (bytes_max > args_.config.meta_block_bytes_max) {
    properties_.num_filter_entries = 0;
    return;
  }
  const size_t bytes = filter_->Finish(output_.Reserve(bytes_max + kBlockTrailerBytes));
  ASHLAR_ASSERT(bytes <= bytes_max);  // the most that Finish writes
  output_.Extend(bytes);
  const BlockHandle handle = EndBlock(start, kNoCompression);
  properties_.filter_size = handle.size;
  AddMetaBlock(StrCat(kFullFilterPrefix, kBuiltinFilterName), handle, blocks);
}

BlockHandle TableBuilder::WriteIndex(MetaBlocks* blocks) {
  Compressor* const compressor =
      args_.config.enable_index_compression ? compressor_.get() : nullptr;
  const IndexBuilder::Written written = index_.Finish(
      [this, compressor](const Slice& block) { return WriteBlock(block, compressor); });
  index_kind_ = written.kind;
  properties_.index_size = written.bytes;
  properties_.index_partitions = written.partitions;
  properties_.top_level_index_size = written.top_level_bytes;
  const IndexBuilder::Prefixes prefixes = index_.TakePrefixes();
  const size_t bytes = std::max(prefixes.prefixes.size(), prefixes.metadata.size());
  if (index_kind_ == IndexKind::kHash && bytes > 0 && bytes <= args_.config.meta_block_bytes_max) {
    AddMetaBlock(kMetaHashIndexPrefixes, WriteBlock(prefixes.prefixes, nullptr), blocks);
    AddMetaBlock(kMetaHashIndexMetadata, WriteBlock(prefixes.metadata, nullptr), blocks);
  }
  return written.top;
}

void TableBuilder::FillProperties() {
  TableProperties& p = properties_;
  p.orig_file_number = args_.file_number;
  p.index_key_is_user_key = index_.separators_are_user_keys() ? 1 : 0;
  p.index_value_is_delta_encoded = DeltaCodesHandles(args_.config) ? 1 : 0;
  p.column_family_id = args_.column_family_id;
  p.column_family_name = args_.column_family_name;
  p.comparator_name = args_.comparator.user_comparator()->Name();
  p.merge_operator_name = args_.merge_operator_name.empty() ? "nullptr" : args_.merge_operator_name;
  p.prefix_extractor_name =
      args_.prefix_extractor != nullptr ? args_.prefix_extractor->GetId() : "nullptr";
  p.compression_name = CompressionTypeName(args_.compression);
  p.compression_options = CompressionOptionsText(args_.compression_parameters, args_.dictionary);
  p.creation_time = args_.creation_unix_seconds;
  p.oldest_key_time = args_.oldest_key_unix_seconds;
  p.file_creation_time = args_.file_creation_unix_seconds;
  p.db_id = args_.db_id;
  p.db_session_id = args_.db_session_id;
  p.db_host_id = args_.db_host_id;
  if (filter_ != nullptr) p.filter_policy_name = args_.config.filter_policy_property;
  std::string index_type;
  PutFixed32(&index_type, static_cast<uint32_t>(index_kind_));
  p.user_collected_properties[kPropertyIndexType] = index_type;
  p.user_collected_properties[kPropertyWholeKeyFiltering] =
      args_.config.whole_key_filtering ? "1" : "0";
  p.user_collected_properties[kPropertyPrefixFiltering] =
      args_.prefix_extractor != nullptr ? "1" : "0";
  if (args_.is_external) {
    PutFixed32(&p.user_collected_properties[kPropertyExternalVersion], kExternalVersion);
    PutFixed64(&p.user_collected_properties[kPropertyGlobalSequence], 0);
  }
  collectors_.Finish(&p);
}

Status TableBuilder::Finish(TableWriteResult* result) {
  if (!data_block_.Empty()) FinishDataBlock(true);
  if (has_pending_block_) AddToIndex(Slice());
  if (buffering_) EndBuffering();
  ASHLAR_ASSERT(index_.blocks() == properties_.num_data_blocks);  // each block is in the index

  MetaBlocks blocks;
  WriteFilter(&blocks);
  Footer footer;
  footer.format_version = args_.config.format_version;
  footer.checksum = args_.config.checksum;
  footer.index = WriteIndex(&blocks);
  if (!dictionary_.empty())
    AddMetaBlock(kMetaDictionary, WriteBlock(dictionary_, nullptr), &blocks);
  if (!range_block_.Empty())
    AddMetaBlock(kMetaRangeDeletions, WriteBlock(range_block_.Finish(), nullptr), &blocks);
  FillProperties();
  AddMetaBlock(kMetaProperties, WriteBlock(EncodeTableProperties(properties_), nullptr), &blocks);
  BlockBuilder metaindex({.restart_interval = 1, .delta_keys = true, .values_have_length = true});
  for (const auto& [name, handle] : blocks) metaindex.Add(name, handle, 0);
  footer.metaindex = WriteBlock(metaindex.Finish(), nullptr);
  std::string footer_bytes;
  PutFooter(&footer_bytes, footer);
  output_.Append(footer_bytes);
  offset_ += footer_bytes.size();
  HandOver(output_.size());
  if (!status_.ok()) return status_;

  result->file_bytes = offset_;
  result->properties = properties_;
  FillBounds(result);
  const bool empty = properties_.num_entries == 0;
  // TableWriteResult: no bounds without entries, otherwise bounds in order.
  ASHLAR_ASSERT(empty == result->smallest.empty() && empty == result->largest.empty());
  ASHLAR_DCHECK(empty || args_.comparator.CompareInternal(result->smallest, result->largest) <= 0);
  ASHLAR_ASSERT(empty || smallest_sequence_ <= largest_sequence_);
  result->smallest_sequence = empty ? 0 : smallest_sequence_;
  result->largest_sequence = largest_sequence_;
  result->dense_blocks = dense_blocks_;
  result->collectors_need_compaction = collectors_.NeedCompact();
  return status_;
}

void TableBuilder::FillBounds(TableWriteResult* result) const {
  result->smallest = smallest_;
  result->largest = last_key().ToString();
  if (smallest_range_.empty()) return;
  const KeyComparator& comparator = args_.comparator;
  const std::string end =
      MakeInternalKey(range_end_, kSequenceNumberMax, ValueType::kRangeDeletion);
  const bool only_ranges = smallest_.empty();
  if (only_ranges || comparator.CompareInternal(smallest_range_, smallest_) < 0)
    result->smallest = smallest_range_;
  if (only_ranges || comparator.CompareInternal(result->largest, end) < 0) result->largest = end;
}

}  // namespace ashlar
