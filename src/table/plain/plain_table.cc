#include "table/plain/plain_table.h"

#include <algorithm>
#include <cstring>

#include "ashlar/table.h"
#include "base/assert.h"
#include "base/coding.h"
#include "base/format.h"
#include "base/xxph3.h"
#include "key/key_comparator.h"
#include "key/key_head.h"
#include "key/key_prefix.h"
#include "key/seek_prefix.h"
#include "table/block/block_builder.h"
#include "table/block/block_entries.h"
#include "table/plain/plain_table_cursor.h"
#include "table/table_properties.h"

namespace ashlar {

// One pass over all entries in file order. Checks that keys ascend, and that they do not share so
// much that an iteration over a hostile table takes hours.
class EntryScan {
 public:
  EntryScan(const PlainData* data, const KeyComparator& comparator)
      : data_(data),
        comparator_(comparator),
        shared_bytes_left_(
            std::max(kPlainSharedBytesMax,
                     kPlainSharedExpansionMax * static_cast<uint64_t>(data->end - data->begin))),
        decoder_(data),
        next_(data->begin) {}

  // Returns false at the end and after a fault.
  bool Next() {
    if (next_ == data_->end) return false;
    at_ = next_;
    const uint64_t last_tag = entry_.tag;
    const Slice last_user_key = user_key_;
    fault_ = decoder_.Read(at_, &entry_);
    if (fault_ != PlainFault::kNone) return false;
    ASHLAR_DCHECK(at_ < entry_.end && entry_.end <= data_->end);  // PlainDecoder
    if (entry_.shared.size() > shared_bytes_left_) {
      fault_ = PlainFault::kExpansion;
      return false;
    }
    shared_bytes_left_ -= entry_.shared.size();
    user_key_ = entry_.UserKey(&rooms_[entries_ % 2]);
    if (entries_ > 0) {
      const int r = comparator_.Compare(last_user_key, user_key_);
      if (r > 0 || (r == 0 && CompareTags(last_tag, entry_.tag) >= 0)) {
        fault_ = PlainFault::kOrder;
        return false;
      }
    }
    ++entries_;
    key_bytes_ += user_key_.size() + kTagBytes;
    value_bytes_ += entry_.value.size();
    next_ = entry_.end;
    return true;
  }

  const char* at() const { return at_; }
  const PlainEntry& entry() const { return entry_; }
  // Valid until Next has been called twice more.
  const Slice& user_key() const { return user_key_; }
  PlainFault fault() const { return fault_; }
  uint64_t entries() const { return entries_; }
  uint64_t key_bytes() const { return key_bytes_; }
  uint64_t value_bytes() const { return value_bytes_; }

 private:
  const PlainData* const data_;
  const KeyComparator comparator_;
  uint64_t shared_bytes_left_;
  PlainDecoder decoder_;
  const char* at_ = nullptr;
  const char* next_;
  PlainEntry entry_;
  Slice user_key_;
  std::string rooms_[2];  // used in turn for keys that are not complete in the data
  PlainFault fault_ = PlainFault::kNone;
  uint64_t entries_ = 0;
  uint64_t key_bytes_ = 0;
  uint64_t value_bytes_ = 0;
};

namespace {

// An entry has at least one byte each for tag and value size.
constexpr uint64_t kEntryBytesMin = 2;

// The size of one read of a file that is not mapped.
constexpr size_t kPieceBytes = size_t{4} << 20;

// Collects the prefixes of a table for its index, entry by entry.
class PrefixCollector {
 public:
  PrefixCollector(const SliceTransform* extractor, size_t sparseness)
      : extractor_(extractor), sparseness_(sparseness) {}

  // full_key_offset: of the last full key, here or earlier. entries_since: from that entry to here.
  void Add(const Slice& user_key, uint32_t full_key_offset, size_t entries_since) {
    const Slice prefix = KeyPrefix(extractor_, user_key).value_or(user_key);
    if (entries_ == 0 || prefix != last_prefix_) {
      Close();
      current_ = {Xxph3Hash64(prefix), full_key_offset, false};
      entries_ = entries_since;
    }
    ++entries_;
    last_prefix_ = prefix;
  }
  const std::vector<PlainIndex::Prefix>& Finish() {
    Close();
    return prefixes_;
  }

 private:
  void Close() {
    if (entries_ == 0) return;
    current_.many = entries_ > sparseness_;
    prefixes_.push_back(current_);
    entries_ = 0;
  }

  const SliceTransform* const extractor_;
  const size_t sparseness_;
  std::vector<PlainIndex::Prefix> prefixes_;
  PlainIndex::Prefix current_{};
  size_t entries_ = 0;  // from the current prefix's offset on
  Slice last_prefix_;   // in the user key that was added last
};

// Hashing bytes would miss keys that have different bytes but compare equal.
bool HashIsSafe(const KeyComparator& comparator) {
  return comparator.kind() != KeyComparator::Kind::kCustom ||
         !comparator.user_comparator()->CanKeysWithDifferentByteContentsBeEqual();
}

}  // namespace

PlainTable::PlainTable(PlainTableOpenArgs* args)
    : TableReader(args->epochs, &SearchInStages),
      comparator_(args->comparator),
      config_(args->config),
      prefix_extractor_(std::move(args->prefix_extractor)),
      recorder_(args->recorder),
      live_blocks_(args->live_blocks),
      file_(std::move(args->file)),
      name_(std::move(args->file_name)),
      file_bytes_(args->file_bytes) {
  if (live_blocks_ != nullptr) live_blocks_->fetch_add(1, std::memory_order_relaxed);
}

PlainTable::~PlainTable() {
  if (live_blocks_ != nullptr) live_blocks_->fetch_sub(1, std::memory_order_release);
}

Result<TableReaderPtr> PlainTable::Open(PlainTableOpenArgs args) {
  auto* const table = new PlainTable(&args);
  TableReaderPtr owner(table);
  ASHLAR_RETURN_IF_ERROR(table->Load());
  if constexpr (kDebugChecks) table->CheckInvariants();
  if (args.random_access_hint && table->memory_.empty())
    table->file_->Hint(vfs::AccessPattern::kRandom, 0, table->file_bytes_);
  return owner;
}

Status PlainTable::CorruptionAt(uint64_t offset, const Slice& what) const {
  return Status::Corruption(StrCat(name_, ": offset ", offset), what);
}

Status PlainTable::FaultAt(PlainFault fault, const char* at) const {
  const std::string place = StrCat(name_, ": offset ", at - data_.begin);
  const char* const text = PlainFaultText(fault);
  return fault == PlainFault::kUnknownType ? Status::NotSupported(place, text)
                                           : Status::Corruption(place, text);
}

Result<Slice> PlainTable::Block(const BlockHandle& handle) const {
  if (handle.offset > file_bytes_ || handle.size > file_bytes_ - handle.offset) {
    return CorruptionAt(handle.offset, "block handle points outside the file");
  }
  ASHLAR_DCHECK(contents_.size() == file_bytes_);  // Load
  return Slice(contents_.data() + handle.offset, static_cast<size_t>(handle.size));
}

Status PlainTable::CheckSize(uint64_t bytes) const {
  if (bytes == file_bytes_) return Status::OK();
  return Status::Corruption(name_,
                            StrCat("the file has ", bytes, " bytes, expected ", file_bytes_));
}

// Reads at least one byte and at most kPieceBytes. Requires: offset is inside the file.
Result<Slice> PlainTable::ReadPiece(uint64_t offset, char* scratch) const {
  const auto n = static_cast<size_t>(std::min<uint64_t>(file_bytes_ - offset, kPieceBytes));
  Slice piece;
  ASHLAR_RETURN_IF_ERROR(file_->Read(offset, n, &piece, scratch));
  if (piece.empty()) return CheckSize(offset);
  ASHLAR_ASSERT(piece.size() <= n);  // vfs::RandomAccessFile
  return piece;
}

// I4: a file of the program may return fewer bytes than requested, so only bytes that were returned
// count.
Status PlainTable::LoadContents() {
  uint64_t bytes = 0;
  ASHLAR_RETURN_IF_ERROR(file_->Size(&bytes));
  ASHLAR_RETURN_IF_ERROR(CheckSize(bytes));
  if (file_bytes_ > kPlainFileBytesMax)
    return Status::NotSupported(name_,
                                StrCat("a PlainTable of ", file_bytes_, " bytes, more than 2 GiB"));
  const Status mapped = file_->Map(&contents_);
  if (!mapped.IsNotSupported()) {
    ASHLAR_RETURN_IF_ERROR(mapped);
    return CheckSize(contents_.size());
  }
  memory_ = ZeroedArray<char>(static_cast<size_t>(file_bytes_));
  for (size_t offset = 0; offset < memory_.size();) {
    char* const place = memory_.data() + offset;
    ASHLAR_ASSIGN_OR_RETURN(const Slice piece, ReadPiece(offset, place));
    if (piece.data() != place) memcpy(place, piece.data(), piece.size());
    offset += piece.size();
  }
  contents_ = Slice(memory_.data(), memory_.size());
  return Status::OK();
}

// Reads the file again, because it may have changed since Open read it into memory.
Status PlainTable::CompareWithFile() const {
  if (memory_.empty()) return Status::OK();
  ZeroedArray<char> scratch(kPieceBytes);
  for (size_t offset = 0; offset < memory_.size();) {
    ASHLAR_ASSIGN_OR_RETURN(const Slice piece, ReadPiece(offset, scratch.data()));
    if (memcmp(piece.data(), memory_.data() + offset, piece.size()) != 0)
      return CorruptionAt(offset, "the file has other bytes than when it was opened");
    offset += piece.size();
  }
  return Status::OK();
}

Status PlainTable::Load() {
  ASHLAR_RETURN_IF_ERROR(LoadContents());
  const auto tail_bytes = static_cast<size_t>(std::min<uint64_t>(file_bytes_, kFooterBytes));
  const uint64_t tail_offset = file_bytes_ - tail_bytes;
  const Result<BlockHandle> metaindex =
      DecodePlainFooter(Slice(contents_.data() + tail_offset, tail_bytes), file_bytes_);
  if (!metaindex.ok())
    return metaindex.status().WithContext(StrCat(name_, ": offset ", tail_offset));
  ASHLAR_RETURN_IF_ERROR(LoadProperties(*metaindex));
  ASHLAR_RETURN_IF_ERROR(CheckSupported());
  return MakeIndex();
}

Status PlainTable::LoadProperties(const BlockHandle& metaindex) {
  ASHLAR_ASSIGN_OR_RETURN(const Slice contents, Block(metaindex));
  uint64_t data_limit = metaindex.offset;
  BlockHandle handle;
  bool found = false;
  BlockEntries entries(contents);
  while (entries.Next()) {
    Slice value = entries.value();
    BlockHandle block;
    if (!GetBlockHandle(&value, &block))
      return CorruptionAt(metaindex.offset, "bad block handle in the metaindex");
    data_limit = std::min(data_limit, block.offset);
    if (entries.key() != Slice(kPlainPropertiesBlock)) continue;
    handle = block;
    found = true;
  }
  if (!entries.status().ok())
    return entries.status().WithContext(StrCat(name_, ": offset ", metaindex.offset));
  if (!found) return CorruptionAt(metaindex.offset, "the metaindex names no properties");
  ASHLAR_ASSIGN_OR_RETURN(const Slice block, Block(handle));
  Result<TableProperties> properties = DecodeTableProperties(block);
  if (!properties.ok())
    return properties.status().WithContext(StrCat(name_, ": offset ", handle.offset));
  properties_ = std::move(properties).value();
  return SetData(data_limit);
}

Status PlainTable::SetData(uint64_t data_limit) {
  if (properties_.data_size > data_limit)
    return Status::Corruption(
        name_, StrCat("its properties say ", properties_.data_size, " bytes of data"));
  if (properties_.fixed_key_len > UINT32_MAX)
    return Status::Corruption(name_, StrCat("keys of ", properties_.fixed_key_len, " bytes"));
  data_ = {.begin = contents_.data(),
           .end = contents_.data() + properties_.data_size,
           .user_key_bytes = static_cast<uint32_t>(properties_.fixed_key_len)};
  const auto encoding =
      properties_.user_collected_properties.find(PlainTablePropertyNames::kEncodingType);
  if (encoding == properties_.user_collected_properties.end()) return Status::OK();
  if (encoding->second.size() < sizeof(uint32_t))
    return Status::Corruption(name_, "bad property for the encoding");
  data_.encoding = static_cast<PlainEncoding>(DecodeFixed32(encoding->second.data()));
  if (data_.encoding == PlainEncoding::kPlain || data_.encoding == PlainEncoding::kPrefix)
    return Status::OK();
  return Status::NotSupported(
      name_, StrCat("PlainTable with encoding ", static_cast<uint32_t>(data_.encoding)));
}

Status PlainTable::CheckSupported() const {
  const char* const comparator = comparator_.user_comparator()->Name();
  if (!properties_.comparator_name.empty() && properties_.comparator_name != comparator) {
    return Status::InvalidArgument(
        name_,
        StrCat("was written with comparator ", properties_.comparator_name, ", not ", comparator));
  }
  if (properties_.num_range_deletions > 0)
    return Status::NotSupported(name_, "the table holds range deletions");
  if (properties_.user_collected_properties.contains(kPropertyExternalVersion)) {
    return Status::NotSupported(name_, "a PlainTable that was made for ingestion");
  }
  return Status::OK();
}

Status PlainTable::MakeIndex() {
  const size_t sparseness = config_.Sparseness();
  const bool may_hash = !config_.full_scan_mode && HashIsSafe(comparator_);
  const bool by_prefix = may_hash && prefix_extractor_ != nullptr && config_.hash_table_ratio > 0;
  const bool filtered = may_hash && !by_prefix && config_.bloom_bits_per_key > 0;
  // In a custom order keys of different sizes may be equal.
  if (HashIsSafe(comparator_) && data_.encoding == PlainEncoding::kPlain)
    key_bytes_ = data_.user_key_bytes;
  PrefixCollector prefixes(prefix_extractor_.get(), sparseness);
  FilterBuilder filter(
      {.millibits_per_key =
           static_cast<int>(std::clamp(config_.bloom_bits_per_key, 1u, 100u)) * 1000});
  index_.ReserveSparseEntries(
      std::min(properties_.num_entries, properties_.data_size / kEntryBytesMin) / sparseness + 1);

  EntryScan scan(&data_, comparator_);
  std::string first_key;
  size_t since_sparse_entry = sparseness;
  uint32_t full_key_offset = 0;
  size_t since_full_key = 0;
  while (scan.Next()) {
    if (scan.entry().is_full) {
      full_key_offset = static_cast<uint32_t>(scan.at() - data_.begin);
      since_full_key = 0;
      if (since_sparse_entry >= sparseness) {
        index_.AddSparseEntry(full_key_offset);
        since_sparse_entry = 0;
      }
    }
    if (scan.entries() == 1) first_key = scan.user_key().ToString();
    if (by_prefix) prefixes.Add(scan.user_key(), full_key_offset, since_full_key);
    if (filtered) filter.AddHash(FilterHash(scan.user_key()));
    ++since_sparse_entry;
    ++since_full_key;
  }
  ASHLAR_RETURN_IF_ERROR(CheckScan(scan));
  if (by_prefix) index_.SetPrefixes(prefixes.Finish(), config_.hash_table_ratio);
  if (filtered) {
    filter_bytes_.resize(filter.BlockBytesMax());
    const size_t bytes = filter.Finish(filter_bytes_.data());
    ASHLAR_ASSERT(bytes == filter_bytes_.size());  // of a Bloom filter
    filter_ = FilterReader(Slice(filter_bytes_.data(), filter_bytes_.size()));
  }
  if (scan.entries() == 0) return Status::OK();
  AppendInternalKey(&last_key_, scan.user_key(), scan.entry().tag);
  return SetHeads(first_key, scan.user_key());
}

Status PlainTable::CheckScan(const EntryScan& scan) const {
  if (scan.fault() != PlainFault::kNone) return FaultAt(scan.fault(), scan.at());
  const auto differs = [this](const char* what, uint64_t found, uint64_t recorded) {
    return Status::Corruption(
        name_, StrCat("holds ", found, " ", what, ", its properties say ", recorded));
  };
  if (scan.entries() != properties_.num_entries)
    return differs("entries", scan.entries(), properties_.num_entries);
  if (scan.key_bytes() != properties_.raw_key_size)
    return differs("bytes of keys", scan.key_bytes(), properties_.raw_key_size);
  if (scan.value_bytes() != properties_.raw_value_size)
    return differs("bytes of values", scan.value_bytes(), properties_.raw_value_size);
  return Status::OK();
}

Status PlainTable::SetHeads(const Slice& first_key, const Slice& last_key) {
  const size_t common_bytes =
      comparator_.HasHeads() ? CommonKeyPrefixBytes(first_key, last_key) : 0;
  std::vector<uint64_t> heads;
  heads.reserve(index_.sparse_entries());
  PlainDecoder decoder(&data_);
  for (uint32_t sparse = 0; sparse < index_.sparse_entries(); ++sparse) {
    const char* const at = At(index_.offset(sparse));
    PlainEntry entry;
    const PlainFault fault = decoder.Read(at, &entry);
    if (fault != PlainFault::kNone) return FaultAt(fault, at);
    ASHLAR_DCHECK(entry.is_full);  // I1 of plain_index.h
    if (sparse == 0) common_ = Slice(entry.rest.data(), std::min(common_bytes, entry.rest.size()));
    heads.push_back(comparator_.Head(entry.rest, common_.size()));
  }
  ASHLAR_DCHECK(heads.size() == index_.sparse_entries());  // I2 of plain_index.h
  index_.SetHeads(std::move(heads));
  return Status::OK();
}

PlainFault PlainTable::FindAmong(PlainIndex::Range range, const Slice& user_key, uint64_t tag,
                                 uint32_t* sparse, const char** at) const {
  ASHLAR_DCHECK(range.first <= range.last && range.last <= index_.sparse_entries());  // of FindHead
  PlainDecoder decoder(&data_);
  PlainEntry entry;
  while (range.first < range.last) {
    const uint32_t middle = range.first + (range.last - range.first) / 2;
    *at = At(index_.offset(middle));
    const PlainFault fault = decoder.Read(*at, &entry);
    if (fault != PlainFault::kNone) return fault;
    ASHLAR_DCHECK(entry.is_full);  // I1 of plain_index.h
    const int r = ComparePlainKey(comparator_, entry, user_key);
    if (r < 0 || (r == 0 && CompareTags(entry.tag, tag) < 0)) {
      range.first = middle + 1;
    } else {
      range.last = middle;
    }
  }
  *sparse = range.first;
  return PlainFault::kNone;
}

PlainFault PlainTable::FindStart(const Slice& user_key, uint64_t tag, const char** at) const {
  *at = nullptr;
  if (index_.sparse_entries() == 0) return PlainFault::kNone;
  // Heads are comparable only among keys with the common bytes.
  const size_t n = std::min(common_.size(), user_key.size());
  int r = Slice(user_key.data(), n).compare(Slice(common_.data(), n));
  if (r == 0 && n < common_.size()) r = -1;
  if (comparator_.kind() == KeyComparator::Kind::kReverseBytewise) r = -r;
  uint32_t sparse = 0;
  if (r > 0) sparse = index_.sparse_entries();
  if (r == 0) {
    const PlainFault fault = FindAmong(index_.FindHead(comparator_.Head(user_key, common_.size())),
                                       user_key, tag, &sparse, at);
    if (fault != PlainFault::kNone) return fault;
  }
  *at = At(index_.offset(sparse == 0 ? 0 : sparse - 1));
  ASHLAR_DCHECK(data_.begin <= *at && *at < data_.end);  // I2
  return PlainFault::kNone;
}

PlainFault PlainTable::FindStartInPrefix(const Slice& user_key, uint64_t tag,
                                         const char** at) const {
  if (!index_.has_prefixes()) return FindStart(user_key, tag, at);
  const std::optional<Slice> prefix = KeyPrefix(prefix_extractor_.get(), user_key);
  if (!prefix) return FindStart(user_key, tag, at);
  *at = nullptr;
  for (PlainIndex::Probe probe(index_, Xxph3Hash64(*prefix)); probe.found(); probe.Next()) {
    if (probe.many()) return FindStart(user_key, tag, at);
    *at = At(probe.offset());
    PlainEntry entry;
    const PlainFault fault = PlainDecoder(&data_).Read(*at, &entry);
    if (fault != PlainFault::kNone) return fault;
    if (KeyPrefix(prefix_extractor_.get(), entry.rest) == prefix) return PlainFault::kNone;
  }
  // The slot belongs to another prefix with the same hash, or to a prefix that begins after its
  // full key.
  return *at == nullptr ? PlainFault::kNone : FindStart(user_key, tag, at);
}

bool PlainTable::MayMatch(SeekPrefix* seek, const Slice& /*internal_target*/) const {
  const HashedPrefix* const prefix =
      index_.has_prefixes() ? seek->Find(prefix_extractor_.get()) : nullptr;
  return prefix == nullptr || PlainIndex::Probe(index_, prefix->filter_hash).found();
}

PlainTable::Outcome PlainTable::GetFrom(const char* at, size_t entries_max, Lookup* lookup) {
  const Slice& user_key = lookup->user_key();
  PlainDecoder decoder(&data_);
  PlainEntry entry;
  Outcome at_end = Outcome::kAbsent;
  for (; at != data_.end; at = entry.end) {
    const PlainFault fault = decoder.Read(at, &entry);
    if (fault != PlainFault::kNone) [[unlikely]] {
      lookup->Fail(FaultAt(fault, at));
      return Outcome::kDone;
    }
    const int r = ComparePlainKey(comparator_, entry, user_key);
    if (r > 0) return at_end;
    if (r < 0) {
      if (entries_max-- == 0) return Outcome::kAbsent;
      continue;
    }
    // All versions of the key are adjacent, so no other slot has any.
    at_end = Outcome::kDone;
    if (!lookup->Sees(entry.tag)) continue;
    if (!lookup->Offer(TagType(entry.tag), TagSequence(entry.tag), entry.value, pin_source()))
      return Outcome::kDone;
  }
  return at_end;
}

PlainTable::Outcome PlainTable::GetBySearch(Lookup* lookup) {
  const char* at = nullptr;
  const PlainFault fault = FindStart(lookup->user_key(), lookup->seek_tag(), &at);
  if (fault != PlainFault::kNone) [[unlikely]] {
    lookup->Fail(FaultAt(fault, at));
    return Outcome::kDone;
  }
  return at == nullptr ? Outcome::kAbsent : GetFrom(at, SIZE_MAX, lookup);
}

void PlainTable::Get(const TableReadOptions& /*options*/, Lookup* lookup) {
  if (!MayHaveBytesOf(lookup->user_key())) return;
  if (index_.has_prefixes()) [[likely]] {
    PlainIndex::Probe probe(index_, PrefixHash(lookup));
    if (!probe.found()) recorder_.Tick(BLOOM_FILTER_USEFUL);
    for (; probe.found(); probe.Next()) {
      const Outcome outcome = probe.many()
                                  ? GetBySearch(lookup)
                                  : GetFrom(At(probe.offset()), config_.Sparseness(), lookup);
      if (outcome == Outcome::kDone) return;
    }
    return;
  }
  if (!filter_.MatchesAll() && !filter_.MayMatch(lookup->filter_hash(), lookup->user_key())) {
    recorder_.Tick(BLOOM_FILTER_USEFUL);
    return;
  }
  GetBySearch(lookup);
}

uint64_t PlainTable::PrefixHash(Lookup* lookup) const {
  const HashedPrefix* const prefix = lookup->prefix(prefix_extractor_.get());
  return prefix != nullptr ? prefix->filter_hash : lookup->filter_hash();
}

void PlainTable::SearchInStages(std::span<StagedLookup> batch) {
  const auto table_of = [](const StagedLookup& staged) -> const PlainTable& {
    return *static_cast<const PlainTable*>(staged.reader);
  };
  for (StagedLookup& staged : batch) table_of(staged).PrefetchIndex(staged.lookup);
  for (StagedLookup& staged : batch) table_of(staged).PrefetchEntry(staged.lookup);
}

void PlainTable::PrefetchIndex(Lookup* lookup) const {
  if (!MayHaveBytesOf(lookup->user_key())) return;
  if (index_.has_prefixes()) {
    index_.Prefetch(PrefixHash(lookup));
  } else {
    filter_.Prefetch(lookup->filter_hash());
  }
}

void PlainTable::PrefetchEntry(Lookup* lookup) const {
  if (!MayHaveBytesOf(lookup->user_key())) return;
  if (index_.has_prefixes()) {
    const PlainIndex::Probe probe(index_, PrefixHash(lookup));
    if (probe.found() && !probe.many()) ASHLAR_PREFETCH(At(probe.offset()));
    return;
  }
  const char* at = nullptr;
  if (!filter_.MatchesAll() && !filter_.MayMatch(lookup->filter_hash(), lookup->user_key())) return;
  // Get finds the fault too and reports it.
  if (FindStart(lookup->user_key(), lookup->seek_tag(), &at) == PlainFault::kNone && at != nullptr)
    ASHLAR_PREFETCH(at);
}

std::unique_ptr<InternalCursor> PlainTable::NewCursor(const TableReadOptions& options) {
  return std::make_unique<PlainTableCursor>(this, options);
}

uint64_t PlainTable::ApproximateOffsetOf(const Slice& internal_key) {
  if (last_key_.empty() || comparator_.CompareInternal(last_key_, internal_key) < 0)
    return file_bytes_;
  const char* at = nullptr;
  // This is an estimate. Reads of the entries report the damage.
  if (FindStart(ExtractUserKey(internal_key), ExtractTag(internal_key), &at) != PlainFault::kNone)
    return 0;
  return static_cast<uint64_t>(at - data_.begin);
}

std::vector<std::string> PlainTable::Anchors(size_t pieces) {
  std::vector<std::string> anchors;
  if (pieces < 2 || index_.sparse_entries() < 2) return anchors;
  uint32_t last = 0;
  for (size_t piece = 1; piece < pieces; ++piece) {
    const uint32_t sparse =
        index_.SparseEntryAtOffset(static_cast<uint32_t>(properties_.data_size / pieces * piece));
    if (sparse <= last) continue;
    last = sparse;
    PlainEntry entry;
    if (PlainDecoder(&data_).Read(At(index_.offset(sparse)), &entry) != PlainFault::kNone) break;
    std::string anchor = MakeInternalKey(entry.rest, kSequenceNumberMax, ValueType::kMax);
    if (anchors.empty() || anchors.back() != anchor) anchors.push_back(std::move(anchor));
  }
  return anchors;
}

Status PlainTable::Verify() {
  EntryScan scan(&data_, comparator_);
  while (scan.Next()) {
  }
  ASHLAR_RETURN_IF_ERROR(CheckScan(scan));
  return CompareWithFile();
}

Status PlainTable::VisitReadable(EntryVisitor visit, TableDamage* damage) {
  *damage = TableDamage();
  const std::unique_ptr<InternalCursor> cursor = NewCursor({});
  for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next())
    ASHLAR_RETURN_IF_ERROR(visit(cursor->key(), cursor->value()));
  if (!cursor->status().IsCorruption()) return cursor->status();
  damage->Note(cursor->status());
  ++damage->lost_blocks;
  return Status::OK();
}

void PlainTable::CheckInvariants() const {
  index_.CheckInvariants();
  PlainDecoder decoder(&data_);
  PlainEntry entry;
  for (uint32_t i = 0; i < index_.sparse_entries(); ++i) {
    ASHLAR_ASSERT(index_.offset(i) < static_cast<size_t>(data_.end - data_.begin));  // I2
    const PlainFault fault = decoder.Read(At(index_.offset(i)), &entry);
    ASHLAR_ASSERT(fault == PlainFault::kNone && entry.is_full);  // I1
  }
}

size_t PlainTable::MemoryBytes() const {
  return sizeof(*this) + memory_.size() + index_.MemoryBytes() + filter_bytes_.capacity() +
         last_key_.capacity();
}

}  // namespace ashlar
