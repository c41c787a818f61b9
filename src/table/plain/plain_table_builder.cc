#include "table/plain/plain_table_builder.h"

#include <algorithm>

#include "ashlar/table.h"
#include "base/assert.h"
#include "base/format.h"
#include "execute/rate_limiter.h"
#include "key/key_prefix.h"
#include "table/block/block_builder.h"
#include "table/table_properties.h"

namespace ashlar {

namespace {

constexpr size_t kOutputPieceBytes = size_t{64} << 10;
// Room for properties and footer is left at the end of the file.
constexpr uint64_t kPropertiesRoomBytes = uint64_t{1} << 20;
constexpr size_t kHeaderBytesMax = 2 * (1 + kVarint32BytesMax);

void PutKindAndSize(PlainKeyKind kind, size_t size, std::string* out) {
  const auto kind_bits = static_cast<unsigned>(kind) << 6;
  if (size < kPlainSizeMask) {
    out->push_back(static_cast<char>(kind_bits | size));
  } else {
    out->push_back(static_cast<char>(kind_bits | kPlainSizeMask));
    PutVarint32(out, static_cast<uint32_t>(size - kPlainSizeMask));
  }
}

}  // namespace

Result<std::unique_ptr<PlainTableBuilder>> PlainTableBuilder::Create(
    TableWriteArgs args, const PlainTableConfig& config) {
  if (args.file == nullptr) return Status::InvalidArgument("PlainTable writer", "no file");
  if (args.comparator.user_comparator() == nullptr)
    return Status::InvalidArgument("PlainTable writer", "no comparator");
  return std::unique_ptr<PlainTableBuilder>(new PlainTableBuilder(std::move(args), config));
}

PlainTableBuilder::PlainTableBuilder(TableWriteArgs args, const PlainTableConfig& config)
    : args_(std::move(args)),
      config_(config),
      prefix_extractor_(args_.prefix_extractor.get()),
      // Without prefixes no bytes can be left out.
      encoding_(prefix_extractor_ == nullptr ? PlainEncoding::kPlain : config_.encoding),
      needs_prefixes_(prefix_extractor_ != nullptr &&
                      (encoding_ == PlainEncoding::kPrefix || config_.store_index_in_file)),
      collectors_(args_.collector_factories, CollectorContext(args_), args_.logger) {
  // Keys of any length may have been written while there was a prefix extractor.
  if (encoding_ != config_.encoding) config_.user_key_bytes = 0;
  if (config_.store_index_in_file)
    index_.emplace(prefix_extractor_ == nullptr ? 0 : config_.hash_table_ratio,
                   config_.Sparseness());
  output_.reserve(kOutputPieceBytes + (size_t{4} << 10));
}

Status PlainTableBuilder::CheckEntry(const Slice& user_key, const Slice& value) const {
  if (encoding_ == PlainEncoding::kPlain && config_.user_key_bytes != 0 &&
      user_key.size() != config_.user_key_bytes) {
    return Status::InvalidArgument(
        args_.file_name,
        StrCat("a key of ", user_key.size(), " bytes in a PlainTable whose user_key_len is ",
               config_.user_key_bytes));
  }
  const uint64_t index_bytes = index_ ? IndexBytesMax(1) : 0;
  const uint64_t entry_bytes =
      uint64_t{user_key.size()} + value.size() + kTagBytes + kHeaderBytesMax + kVarint32BytesMax;
  if (offset_ + entry_bytes + index_bytes + kPropertiesRoomBytes > kPlainFileBytesMax) {
    return Status::InvalidArgument(args_.file_name,
                                   "a PlainTable cannot grow beyond 2 GiB: set a smaller "
                                   "write_buffer_size or target_file_size_base");
  }
  return Status::OK();
}

void PlainTableBuilder::Add(const Slice& internal_key, const Slice& value) {
  if (!status_.ok()) return;
  ASHLAR_ASSERT(internal_key.size() >= kTagBytes);  // Requires: an internal key
  const bool first = properties_.num_entries == 0;
  ASHLAR_ASSERT(first || args_.comparator.CompareInternal(last_key_, internal_key) < 0);  // I1
  const Slice user_key = ExtractUserKey(internal_key);
  status_ = CheckEntry(user_key, value);
  if (!status_.ok()) return;

  // Without an extractor all keys have one prefix. A key outside the extractor's domain is its own
  // prefix. Prefixes are not needed if keys are whole and no index is written.
  const Slice prefix =
      !needs_prefixes_ ? Slice() : KeyPrefix(prefix_extractor_, user_key).value_or(user_key);
  const bool new_prefix = first || Slice(last_prefix_) != prefix;
  const size_t start = output_.size();
  if (index_) {
    const uint32_t hash = PlainTableHash(prefix_extractor_ == nullptr ? user_key : prefix);
    hashes_.push_back(hash);
    index_->Add(new_prefix, hash, static_cast<uint32_t>(offset_));
  }
  const size_t left_out = PutKeyBegin(user_key, prefix, new_prefix, &output_);
  ASHLAR_DCHECK(left_out <= user_key.size());  // a prefix of the key
  const uint64_t tag = ExtractTag(internal_key);
  if (tag == PackTag(0, ValueType::kValue)) {
    output_.append(user_key.data() + left_out, user_key.size() - left_out);
    output_.push_back(static_cast<char>(kPlainZeroSequenceByte));
  } else {
    output_.append(internal_key.data() + left_out, internal_key.size() - left_out);
  }
  PutVarint32(&output_, static_cast<uint32_t>(value.size()));
  output_.append(value.data(), value.size());
  offset_ += output_.size() - start;

  if (first) smallest_.assign(internal_key.data(), internal_key.size());
  if (new_prefix) last_prefix_.assign(prefix.data(), prefix.size());
  CountEntry(internal_key, tag, value);
  if (!collectors_.empty()) collectors_.Add(internal_key, value, offset_);
  last_key_.assign(internal_key.data(), internal_key.size());
  if (output_.size() >= kOutputPieceBytes) FlushOutput();
}

size_t PlainTableBuilder::PutKeyBegin(const Slice& user_key, const Slice& prefix, bool new_prefix,
                                      std::string* out) {
  if (encoding_ == PlainEncoding::kPlain) {
    if (config_.user_key_bytes == 0) PutVarint32(out, static_cast<uint32_t>(user_key.size()));
    return 0;
  }
  shared_bytes_ += prefix.size();
  // For good, because the index refers to every sparseness-th key of a prefix, which must be full.
  if (shared_bytes_ > std::max(kPlainSharedBytesMax, kPlainSharedExpansionMax * offset_))
    shares_ = false;
  if (new_prefix || !shares_ || entries_since_full_key_ % config_.Sparseness() == 0) {
    entries_since_full_key_ = 1;
    PutKindAndSize(PlainKeyKind::kFull, user_key.size(), out);
    return 0;
  }
  ASHLAR_DCHECK(prefix.size() <= user_key.size());  // KeyPrefix: within the key
  ++entries_since_full_key_;
  if (entries_since_full_key_ == 2) PutKindAndSize(PlainKeyKind::kSharedBytes, prefix.size(), out);
  PutKindAndSize(PlainKeyKind::kRest, user_key.size() - prefix.size(), out);
  return prefix.size();
}

void PlainTableBuilder::AddRangeDeletion(const RangeTombstone& /*tombstone*/) {
  if (!status_.ok()) return;
  status_ = Status::NotSupported("table_factory", "a PlainTable holds no range deletions");
}

void PlainTableBuilder::CountEntry(const Slice& internal_key, uint64_t tag, const Slice& value) {
  const ValueType type = TagType(tag);
  ASHLAR_ASSERT(IsPointType(type));  // Requires of Add
  smallest_sequence_ = std::min(smallest_sequence_, TagSequence(tag));
  largest_sequence_ = std::max(largest_sequence_, TagSequence(tag));
  ++properties_.num_entries;
  properties_.raw_key_size += internal_key.size();
  properties_.raw_value_size += value.size();
  if (IsTombstone(type)) ++properties_.num_deletions;
  if (IsOperand(type)) ++properties_.num_merge_operands;
}

BlockHandle PlainTableBuilder::WriteBlock(const Slice& contents) {
  const BlockHandle handle{offset_, contents.size()};
  output_.append(contents.data(), contents.size());
  offset_ += contents.size();
  if (output_.size() >= kOutputPieceBytes) FlushOutput();
  return handle;
}

void PlainTableBuilder::FlushOutput() {
  if (!status_.ok() || output_.empty()) return;  // I3
  WaitForLimiter({.limiter = args_.rate_limiter, .priority = args_.priority}, output_.size(),
                 args_.recorder);
  status_ = args_.file->Append(output_);
  output_.clear();
}

void PlainTableBuilder::FillProperties() {
  TableProperties& p = properties_;
  p.num_data_blocks = 1;
  p.format_version = config_.encoding == PlainEncoding::kPlain ? 0 : 1;
  p.fixed_key_len = config_.user_key_bytes;
  p.prefix_extractor_name = prefix_extractor_ == nullptr ? "nullptr" : prefix_extractor_->GetId();
  std::string encoding;
  PutFixed32(&encoding, static_cast<uint32_t>(encoding_));
  p.user_collected_properties[PlainTablePropertyNames::kEncodingType] = encoding;
  p.comparator_name = args_.comparator.user_comparator()->Name();
  p.merge_operator_name = args_.merge_operator_name.empty() ? "nullptr" : args_.merge_operator_name;
  p.column_family_id = args_.column_family_id;
  p.column_family_name = args_.column_family_name;
  p.orig_file_number = args_.file_number;
  p.creation_time = args_.creation_unix_seconds;
  p.oldest_key_time = args_.oldest_key_unix_seconds;
  p.file_creation_time = args_.file_creation_unix_seconds;
  p.db_id = args_.db_id;
  p.db_session_id = args_.db_session_id;
  p.db_host_id = args_.db_host_id;
  if (!collectors_.empty()) collectors_.Finish(&p);
}

Status PlainTableBuilder::Finish(TableWriteResult* result) {
  properties_.data_size = offset_;
  // Names must be added in ascending order.
  BlockBuilder metaindex({.restart_interval = 1, .delta_keys = true, .values_have_length = true});
  const auto add = [&metaindex](const char* name, const BlockHandle& handle) {
    std::string text;
    PutBlockHandle(&text, handle);
    metaindex.Add(name, text, 0);
  };
  const bool has_index = index_ && properties_.num_entries > 0;
  ASHLAR_ASSERT(hashes_.size() == (index_ ? properties_.num_entries : 0));  // one for each entry
  std::optional<BlockHandle> bloom_handle;
  if (index_) properties_.user_collected_properties[PlainTablePropertyNames::kBloomVersion] = "1";
  if (has_index && config_.bloom_bits_per_key > 0) {
    const PlainBloomBlock bloom =
        BuildPlainBloom(hashes_, config_.bloom_bits_per_key, config_.local_bloom);
    std::string lines;
    PutVarint32(&lines, bloom.lines);
    properties_.user_collected_properties[PlainTablePropertyNames::kNumBloomBlocks] = lines;
    properties_.filter_size = bloom.bytes.size();
    bloom_handle = WriteBlock(bloom.bytes);
  }
  if (has_index) {
    const std::string index = index_->Finish();
    properties_.index_size = index.size();
    add(kPlainIndexBlock, WriteBlock(index));
  }
  if (bloom_handle) add(kPlainBloomBlock, *bloom_handle);

  FillProperties();
  add(kPlainPropertiesBlock, WriteBlock(EncodeTableProperties(properties_)));
  const BlockHandle metaindex_handle = WriteBlock(metaindex.Finish());
  const size_t before_footer = output_.size();
  PutPlainFooter(&output_, metaindex_handle);
  offset_ += output_.size() - before_footer;
  FlushOutput();
  ASHLAR_DCHECK(properties_.data_size <= offset_);  // offset_ only grew
  if (!status_.ok()) return status_;
  if (offset_ > kPlainFileBytesMax)
    return Status::InvalidArgument(args_.file_name, "a PlainTable of more than 2 GiB");

  result->file_bytes = offset_;
  result->properties = properties_;
  result->smallest = smallest_;
  result->largest = last_key_;
  result->smallest_sequence = properties_.num_entries == 0 ? 0 : smallest_sequence_;
  result->largest_sequence = largest_sequence_;
  result->collectors_need_compaction = collectors_.NeedCompact();
  return status_;
}

}  // namespace ashlar
