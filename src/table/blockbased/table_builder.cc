#include "table/blockbased/table_builder.h"

#include <algorithm>

#include "base/assert.h"
#include "base/coding.h"
#include "base/format.h"
#include "key/key_head.h"
#include "table/block/block_entries.h"
#include "table/blockbased/range_block.h"
#include "table/filter/filter_format.h"
#include "table/table_properties.h"

namespace ashlar {

namespace {

// The page cache stores a file in folios of the size of the writes that made it, if they begin at
// multiples of that size. Large folios are read faster, and a folio of a huge page's size is mapped
// by one page table entry. Small folios are allocated faster: for large ones a virtual machine
// needs memory that it had returned to its host. docs/measurements/writing.md has the figures.
size_t PieceBytes(TableReads reads) {
  switch (reads) {
    case TableReads::kBlockCache: return size_t{64} << 10;
    case TableReads::kPageCache: return size_t{256} << 10;
    case TableReads::kMapping: return size_t{2} << 20;
  }
  return 0;
}

// RocksDB's rule: separators of internal keys that were shortened carry the tag that sorts before
// every stored one.
constexpr uint64_t kSeparatorTag = PackTag(kSequenceNumberMax, ValueType::kWideColumnEntity);

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
  return ValidateCompressionType(args.compression);
}

// shared: bytes that both keys have in common.
bool Ascends(const KeyComparator& comparator, const Slice& last, const Slice& next, size_t shared) {
  // The first byte that differs decides, where both user keys have it: no second comparison in the
  // common case.
  if (shared + kTagBytes < next.size() && shared + kTagBytes < last.size()) [[likely]] {
    const auto a = static_cast<uint8_t>(last[shared]);
    const auto b = static_cast<uint8_t>(next[shared]);
    if (comparator.kind() == KeyComparator::Kind::kBytewise) return a < b;
    if (comparator.kind() == KeyComparator::Kind::kReverseBytewise) return b < a;
  }
  return comparator.CompareInternal(last, next) < 0;
}

std::string CompressionOptionsText(const CompressionParameters& parameters) {
  return StrCat("window_bits=", parameters.window_bits, "; level=", parameters.level,
                "; strategy=", parameters.strategy,
                "; max_dict_bytes=0; zstd_max_train_bytes=0; enabled=0; max_dict_buffer_bytes=0; "
                "use_zstd_dict_trainer=1; ");
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
      data_block_({.restart_interval = args_.config.restart_interval,
                   .delta_keys = args_.config.key_delta_encoding,
                   .values_have_length = true},
                  args_.compression == kNoCompression ? &output_ : &raw_),
      block_bytes_full_(
          std::min(args_.config.block_bytes *
                       static_cast<size_t>(100 - args_.config.block_bytes_deviation_percent) / 100,
                   args_.config.block_bytes - 1)),
      range_block_({.restart_interval = 1, .delta_keys = true, .values_have_length = true}),
      collectors_(args_.collector_factories, CollectorContext(args_), args_.logger) {
  const bool something_to_filter =
      args_.config.whole_key_filtering || args_.prefix_extractor != nullptr;
  if (args_.config.filter_millibits_per_key > 0 && something_to_filter) {
    filter_ = std::make_unique<FilterBuilder>(
        FilterBuilderArgs{.millibits_per_key = args_.config.filter_millibits_per_key,
                          .whole_keys = args_.config.whole_key_filtering,
                          .prefix_extractor = args_.prefix_extractor.get()});
  }
  output_.Reserve(piece_bytes_ + 2 * std::min(args_.config.block_bytes, piece_bytes_));
}

TableBuilder::~TableBuilder() = default;

void TableBuilder::Add(const Slice& internal_key, const Slice& value) {
  if (!status_.ok()) return;
  ASHLAR_ASSERT(internal_key.size() >= kTagBytes);
  if (!EntryFits(ExtractUserKey(internal_key).size(), value.size())) {
    status_ = Status::InvalidArgument(args_.file_name,
                                      "a key and its value of more than 512 MiB together");
    return;
  }
  const bool first = last_key_.empty();
  const size_t shared = CommonPrefixBytes(last_key(), internal_key);
  ASHLAR_ASSERT(first || Ascends(args_.comparator, last_key(), internal_key, shared));  // I1

  if (BlockIsFull(internal_key, value)) FinishDataBlock(false);
  if (has_pending_block_) AddSeparator(internal_key);
  if (filter_ != nullptr) {
    const Slice user_key = ExtractUserKey(internal_key);
    const bool same_user_key =
        !first && internal_key.size() == last_key_.size() && shared >= user_key.size();
    if (!same_user_key) filter_->AddKey(user_key);
  }
  data_block_.Add(internal_key, value, shared);
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
  ASHLAR_ASSERT(comparator.Compare(tombstone.begin, tombstone.end) < 0);
  const std::string key =
      MakeInternalKey(tombstone.begin, tombstone.sequence, ValueType::kRangeDeletion);
  ASHLAR_ASSERT(last_range_.empty() || comparator.CompareInternal(last_range_, key) < 0);  // I1
  if (!EntryFits(tombstone.begin.size(), tombstone.end.size()) ||
      range_block_.CurrentBytes() + key.size() + tombstone.end.size() > kBlockBytesMax / 2) {
    status_ = Status::InvalidArgument(args_.file_name, "range deletions of more than 512 MiB");
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
  block_deletions_ = block_deletion_bytes_ = 0;
  if (!collectors_.empty()) collectors_.BlockAdd(data_block_.CurrentBytes());
  pending_block_bytes_ =
      static_cast<uint32_t>(FinishBlock(&data_block_, compressor_ == nullptr).size);
  has_pending_block_ = true;
  raw_.Clear();
  properties_.data_size = offset_;
  ++properties_.num_data_blocks;
  data_block_.Reset();
}

void TableBuilder::AddSeparator(const Slice& next_key) {
  ASHLAR_DCHECK(has_pending_block_);
  const Slice last_user_key = ExtractUserKey(last_key());
  Slice separator = last_key();
  if (!next_key.empty() && args_.comparator.Equal(last_user_key, ExtractUserKey(next_key))) {
    separators_are_user_keys_ = false;
  } else if (args_.config.index_shortening != IndexShortening::kNone) {
    std::string& shorter = separator_;
    shorter.assign(last_user_key.data(), last_user_key.size());
    const Comparator* const user = args_.comparator.user_comparator();
    if (!next_key.empty()) {
      user->FindShortestSeparator(&shorter, ExtractUserKey(next_key));
    } else if (args_.config.index_shortening == IndexShortening::kSeparatorsAndSuccessor) {
      user->FindShortSuccessor(&shorter);
    }
    if (shorter.size() <= last_user_key.size() &&
        args_.comparator.Compare(last_user_key, shorter) < 0) {
      ASHLAR_DCHECK(next_key.empty() ||
                    args_.comparator.Compare(shorter, ExtractUserKey(next_key)) < 0);  // I2
      PutFixed64(&shorter, kSeparatorTag);
      separator = shorter;
    }
  }
  separators_.insert(separators_.end(), separator.data(), separator.data() + separator.size());
  index_.push_back(
      {.key_bytes = static_cast<uint32_t>(separator.size()), .block_bytes = pending_block_bytes_});
  has_pending_block_ = false;
}

bool TableBuilder::Compress(const Slice& raw) {
  const Recorder& recorder = args_.recorder;
  const bool timed = recorder.WantsDetailedTimes();
  const uint64_t start_nanos = timed ? MonotonicNanos() : 0;
  const bool smaller = compressor_->Compress(raw, &compressed_);
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

BlockHandle TableBuilder::FinishBlock(BlockBuilder* block, bool in_output) {
  const Slice raw = block->Finish();
  return in_output ? EndBlock(output_.size() - raw.size(), kNoCompression) : WriteBlock(raw, true);
}

BlockHandle TableBuilder::WriteBlock(const Slice& raw, bool may_compress) {
  const size_t start = output_.size();
  const bool compressed = may_compress && compressor_ != nullptr && Compress(raw);
  output_.Append(compressed ? Slice(compressed_) : raw);
  return EndBlock(start, compressed ? args_.compression : kNoCompression);
}

BlockHandle TableBuilder::EndBlock(size_t start, CompressionType type) {
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

void TableBuilder::WaitForLimiter(size_t bytes) {
  StopWatch watch(args_.recorder, RATE_LIMITER_WAIT_MICROS_WRITE);
  args_.rate_limiter->Request(static_cast<int64_t>(bytes), args_.priority);
  args_.recorder.Tick(RATE_LIMITER_TOTAL_WAIT_MICROS_WRITE, watch.Stop());
  args_.recorder.Tick(RATE_LIMITER_REQUESTS_WRITE);
  args_.recorder.Tick(RATE_LIMITER_BYTES_WRITE, bytes);
}

void TableBuilder::HandOver(size_t bytes) {
  ASHLAR_DCHECK(bytes <= output_.size());
  if (!status_.ok() || bytes == 0) return;
  if (args_.rate_limiter != nullptr) WaitForLimiter(bytes);
  const StopWatch watch(args_.recorder, SST_WRITE_MICROS);
  status_ = args_.file->Append(Slice(output_.data(), bytes));
  output_.RemoveFront(bytes);
}

BlockHandle TableBuilder::WriteIndex() {
  const bool delta_values = args_.config.format_version >= 4;
  const bool in_output = compressor_ == nullptr || !args_.config.enable_index_compression;
  BlockBuilder block({.restart_interval = args_.config.index_restart_interval,
                      .delta_keys = true,
                      .values_have_length = !delta_values},
                     in_output ? &output_ : nullptr);
  std::string value;
  Slice previous;
  const char* separator = separators_.data();
  BlockHandle handle;
  uint64_t previous_bytes = 0;
  for (const IndexEntry& entry : index_) {
    handle.size = entry.block_bytes;
    const Slice key(separator, entry.key_bytes - (separators_are_user_keys_ ? kTagBytes : 0));
    separator += entry.key_bytes;
    const size_t shared = block.AtRestart() ? 0 : CommonPrefixBytes(previous, key);
    value.clear();
    // A reader distinguishes the two forms by the shared bytes.
    if (delta_values && shared != 0) {
      PutZigZag64(&value, static_cast<int64_t>(handle.size) - static_cast<int64_t>(previous_bytes));
    } else {
      PutBlockHandle(&value, handle);
    }
    block.Add(key, value, shared);
    previous = key;
    previous_bytes = handle.size;
    handle.offset += handle.size + kBlockTrailerBytes;
  }
  ASHLAR_ASSERT(separator == separators_.data() + separators_.size());
  ASHLAR_ASSERT(handle.offset == properties_.data_size);  // blocks follow each other without gaps
  return FinishBlock(&block, in_output);
}

void TableBuilder::FillProperties() {
  TableProperties& p = properties_;
  p.orig_file_number = args_.file_number;
  p.index_key_is_user_key = separators_are_user_keys_ ? 1 : 0;
  p.index_value_is_delta_encoded = args_.config.format_version >= 4 ? 1 : 0;
  p.column_family_id = args_.column_family_id;
  p.column_family_name = args_.column_family_name;
  p.comparator_name = args_.comparator.user_comparator()->Name();
  p.merge_operator_name = args_.merge_operator_name.empty() ? "nullptr" : args_.merge_operator_name;
  p.prefix_extractor_name =
      args_.prefix_extractor != nullptr ? args_.prefix_extractor->GetId() : "nullptr";
  p.compression_name = CompressionTypeName(args_.compression);
  p.compression_options = CompressionOptionsText(args_.compression_parameters);
  p.creation_time = args_.creation_unix_seconds;
  p.oldest_key_time = args_.oldest_key_unix_seconds;
  p.file_creation_time = args_.file_creation_unix_seconds;
  p.db_id = args_.db_id;
  p.db_session_id = args_.db_session_id;
  p.db_host_id = args_.db_host_id;
  if (filter_ != nullptr) {
    p.filter_policy_name = kFilterPolicyPropertyValue;
    p.num_filter_entries = filter_->entries();
  }
  std::string index_type;
  PutFixed32(&index_type, 0);
  p.user_collected_properties[kPropertyIndexType] = index_type;
  p.user_collected_properties[kPropertyWholeKeyFiltering] =
      args_.config.whole_key_filtering ? "1" : "0";
  p.user_collected_properties[kPropertyPrefixFiltering] =
      args_.prefix_extractor != nullptr ? "1" : "0";
  collectors_.Finish(&p);
}

Status TableBuilder::Finish(TableWriteResult* result) {
  if (!data_block_.Empty()) FinishDataBlock(true);
  if (has_pending_block_) AddSeparator(Slice());
  ASHLAR_ASSERT(index_.size() == properties_.num_data_blocks);

  BlockBuilder metaindex({.restart_interval = 1, .delta_keys = true, .values_have_length = true});
  std::string handle;
  if (filter_ != nullptr && filter_->entries() > 0) {
    const size_t start = output_.size();
    const size_t filter_bytes = filter_->BlockBytes();
    filter_->Finish(output_.Reserve(filter_bytes + kBlockTrailerBytes));
    output_.Extend(filter_bytes);
    const BlockHandle filter_handle = EndBlock(start, kNoCompression);
    properties_.filter_size = filter_handle.size;
    PutBlockHandle(&handle, filter_handle);
    metaindex.Add(StrCat(kFullFilterPrefix, kBuiltinFilterName), handle, 0);
  }
  Footer footer;
  footer.format_version = args_.config.format_version;
  footer.checksum = args_.config.checksum;
  footer.index = WriteIndex();
  properties_.index_size = footer.index.size + kBlockTrailerBytes;

  BlockHandle ranges_handle;
  if (!range_block_.Empty()) ranges_handle = WriteBlock(range_block_.Finish(), false);

  FillProperties();
  const BlockHandle properties_handle = WriteBlock(EncodeTableProperties(properties_), false);
  handle.clear();
  PutBlockHandle(&handle, properties_handle);
  metaindex.Add("rocksdb.properties", handle, 0);
  if (!range_block_.Empty()) {
    handle.clear();
    PutBlockHandle(&handle, ranges_handle);
    metaindex.Add(kMetaRangeDeletions, handle, 0);
  }
  footer.metaindex = WriteBlock(metaindex.Finish(), false);
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
