#include "ashlar/write_batch.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "ashlar/db.h"
#include "base/assert.h"
#include "base/format.h"
#include "base/hash.h"
#include "base/result.h"
#include "key/write_batch_internal.h"

namespace ashlar {
namespace {

constexpr size_t kHeaderBytes = WriteBatchInternal::kHeaderBytes;
constexpr uint64_t kFieldBytesMax = std::numeric_limits<uint32_t>::max();

// Set if the bytes came from outside, so that nothing is known about them.
constexpr uint32_t kForeign = 1u << 31;
static_assert(FindRecordKind(static_cast<ValueType>(31)) == nullptr);

std::string EmptyBatch() { return std::string(kHeaderBytes, '\0'); }

// A key or value given in one piece or several.
struct Field {
  explicit Field(const Slice& s) : parts(&s), num_parts(1), bytes(s.size()) {}
  explicit Field(const SliceParts& p) : parts(p.parts), num_parts(p.num_parts) {
    for (int i = 0; i < num_parts; ++i) bytes += parts[i].size();
  }

  // Returns the position after the last byte.
  ASHLAR_ALWAYS_INLINE char* EncodeTo(char* p) const {
    p = EncodeVarint32(p, static_cast<uint32_t>(bytes));
    for (int i = 0; i < num_parts; ++i) {
      if (!parts[i].empty()) memcpy(p, parts[i].data(), parts[i].size());
      p += parts[i].size();
    }
    return p;
  }
  uint64_t EncodedBytes() const { return VarintLength(bytes) + bytes; }

  const Slice* parts;
  int num_parts;
  uint64_t bytes = 0;
};

// Extends the checksum of some records by the next one. For a given record it is a bijection of the
// previous checksum, so that records after a damaged one do not hide the damage.
uint64_t ChainChecksum(uint64_t checksum, const Slice& record) {
  return (checksum + Hash64(record)) * 0x9e3779b97f4a7c15;
}

uint32_t IdOf(const ColumnFamilyHandle* column_family) {
  return column_family == nullptr ? 0 : column_family->GetID();
}

}  // namespace

// ---- BatchReader

void BatchReader::FailHeader(size_t bytes) {
  status_ = Status::Corruption(
      StrCat("write batch: ", bytes, " bytes are fewer than its header of ", kHeaderBytes));
}

void BatchReader::FailCount() {
  status_ = Status::Corruption(StrCat(
      "write batch: ", counted_, " records, but its header at offset 8 says ", expected_count_));
  expected_count_ = counted_;
}

bool BatchReader::Fail(const char* what) {
  status_ = Status::Corruption(StrCat("write batch: ", what, " at offset ", record_.offset));
  rest_ = Slice();
  expected_count_ = counted_;
  return false;
}

bool BatchReader::Parse() {
  record_ = BatchRecord{};
  record_.offset = static_cast<size_t>(rest_.data() - begin_);
  const uint8_t tag = static_cast<uint8_t>(rest_[0]);
  const RecordKind* kind = FindRecordKind(static_cast<ValueType>(tag));
  if (kind == nullptr || kind->fields == RecordFields::kNotInBatches)
    return Fail(StrCat("record of unknown type ", static_cast<unsigned>(tag)).c_str());
  rest_.remove_prefix(1);
  record_.type = kind->type;
  record_.counted = kind->counted;
  const bool has_family = static_cast<ValueType>(tag) != kind->type;
  if (has_family && !GetVarint32(&rest_, &record_.column_family_id))
    return Fail("bad column family in the record");
  const RecordFields fields = kind->fields;
  if ((fields == RecordFields::kKey || fields == RecordFields::kKeyAndValue) &&
      !GetLengthPrefixedSlice(&rest_, &record_.key))
    return Fail("bad key length in the record");
  if ((fields == RecordFields::kValue || fields == RecordFields::kKeyAndValue) &&
      !GetLengthPrefixedSlice(&rest_, &record_.value))
    return Fail("bad value length in the record");
  if (record_.counted) ++counted_;
  return true;
}

// ---- WriteBatchInternal

uint32_t WriteBatchInternal::ScanFlags(const Slice& contents) {
  uint32_t flags = kForeign;
  BatchReader reader(contents);
  while (reader.Next()) flags |= RecordTypeBit(reader.record().type);
  return flags;
}

Status WriteBatchInternal::ChainRecords(const Slice& contents, uint64_t* checksum) {
  BatchReader reader(contents);
  while (reader.Next()) *checksum = ChainChecksum(*checksum, reader.record_bytes());
  return reader.status();
}

bool WriteBatchInternal::IsKnownApplicable(const WriteBatch* batch) {
  constexpr uint32_t kApplicable =
      RecordTypesOf({RecordRole::kNone, RecordRole::kValue, RecordRole::kTombstone,
                     RecordRole::kOperand, RecordRole::kRange});
  return (batch->content_flags_ & ~kApplicable) == 0;
}

Status WriteBatchInternal::CheckApplicable(const WriteBatch* batch) {
  if (IsKnownApplicable(batch)) return Status::OK();
  BatchReader reader(Contents(batch));
  Status unsupported;
  while (reader.Next()) {
    const BatchRecord& record = reader.record();
    if (unsupported.ok() && !IsApplicable(record.type)) {
      unsupported =
          Status::NotSupported(StrCat("write batch: ", ValueTypeName(record.type), " (type ",
                                      static_cast<unsigned>(record.type), ") at offset ",
                                      record.offset, " is not implemented"));
    }
  }
  if (!reader.status().ok()) return reader.status();
  return unsupported;
}

Status WriteBatchInternal::Validate(const Slice& contents) {
  BatchReader reader(contents);
  while (reader.Next()) {
  }
  return reader.status();
}

Status WriteBatchInternal::SetContents(WriteBatch* batch, const Slice& contents) {
  Status s = Validate(contents);
  if (!s.ok()) return s;
  batch->rep_.assign(contents.data(), contents.size());
  batch->save_points_.clear();
  batch->wal_termination_point_.clear();
  batch->content_flags_ = ScanFlags(contents);
  batch->has_checksum_ = false;
  return s;
}

void WriteBatchInternal::Append(WriteBatch* target, const WriteBatch* source) {
  const uint32_t count = Count(target) + Count(source);
  target->rep_.append(source->rep_, kHeaderBytes, std::string::npos);
  EncodeFixed32(target->rep_.data() + 8, count);
  target->content_flags_ |= source->content_flags_;
  if (target->has_checksum_)
    static_cast<void>(ChainRecords(Contents(source), &target->checksum_).ok());
}

// ---- LoggedPart

void LoggedPart::EndAt(const SavePoint& point) {
  const Slice contents = pieces_[0];
  // Requires: a header. The point is in the batch, even after a rollback.
  ASHLAR_ASSERT(point.size >= kHeaderBytes && point.size <= contents.size());
  if (point.size == contents.size()) return;
  std::copy_n(contents.data(), kHeaderBytes, header_);
  EncodeFixed32(header_ + 8, point.count);
  pieces_[0] = Slice(header_, kHeaderBytes);
  pieces_[1] = Slice(contents.data() + kHeaderBytes, point.size - kHeaderBytes);
  num_pieces_ = 2;
}

// ---- WriteBatch

// The only encoder. All checks precede the first write, so that a failure leaves the batch
// unchanged.
struct RecordWriter {
  ValueType type = ValueType::kNoop;
  uint32_t column_family_id = 0;
  const Field* key = nullptr;
  const Field* value = nullptr;

  // record_bytes: the bytes that AppendTo adds.
  ASHLAR_ALWAYS_INLINE Status Check(const std::string& rep, size_t max_bytes,
                                    uint64_t* record_bytes) const {
    if (rep.size() < kHeaderBytes)
      return Status::Corruption("write batch: it was made from fewer bytes than a header");
    uint64_t bytes = 1 + (column_family_id == 0 ? 0 : VarintLength(column_family_id));
    if (key != nullptr) {
      if (key->bytes > kFieldBytesMax) return Status::InvalidArgument("key is 4 GiB or longer");
      bytes += key->EncodedBytes();
    }
    if (value != nullptr) {
      if (value->bytes > kFieldBytesMax) return Status::InvalidArgument("value is 4 GiB or longer");
      bytes += value->EncodedBytes();
    }
    if (max_bytes != 0 && bytes > max_bytes - std::min<uint64_t>(max_bytes, rep.size())) {
      return Status::MemoryLimit(StrCat("write batch: ", rep.size(), " + ", bytes,
                                        " bytes exceed its limit of ", max_bytes));
    }
    *record_bytes = bytes;
    return Status::OK();
  }

  ASHLAR_ALWAYS_INLINE void AppendTo(std::string* rep, uint64_t record_bytes) const {
    const size_t start = rep->size();
    rep->resize(start + static_cast<size_t>(record_bytes));
    char* p = rep->data() + start;
    *p++ = static_cast<char>(column_family_id == 0 ? type : FindRecordKind(type)->family_type);
    if (column_family_id != 0) p = EncodeVarint32(p, column_family_id);
    if (key != nullptr) p = key->EncodeTo(p);
    if (value != nullptr) p = value->EncodeTo(p);
    ASHLAR_DCHECK(p == rep->data() + rep->size());  // Check computed record_bytes
  }
};

WriteBatch::WriteBatch(size_t reserved_bytes, size_t max_bytes)
    : rep_(EmptyBatch()), max_bytes_(max_bytes) {
  if (reserved_bytes > kHeaderBytes) rep_.reserve(reserved_bytes);
}
WriteBatch::WriteBatch(size_t reserved_bytes, size_t max_bytes, size_t protection_bytes_per_key,
                       size_t /*default_cf_ts_sz*/)
    : WriteBatch(reserved_bytes, max_bytes) {
  has_checksum_ = protection_bytes_per_key != 0;
}
WriteBatch::WriteBatch(const std::string& rep)
    : rep_(rep), content_flags_(WriteBatchInternal::ScanFlags(rep_)) {}
WriteBatch::WriteBatch(std::string&& rep)
    : rep_(std::move(rep)), content_flags_(WriteBatchInternal::ScanFlags(rep_)) {}
WriteBatch::WriteBatch(const WriteBatch& other) = default;
WriteBatch::~WriteBatch() = default;

// If an allocation fails, nothing has changed.
WriteBatch& WriteBatch::operator=(const WriteBatch& other) { return *this = WriteBatch(other); }

WriteBatch::WriteBatch(WriteBatch&& other) noexcept
    : rep_(std::move(other.rep_)),
      save_points_(std::move(other.save_points_)),
      wal_termination_point_(other.wal_termination_point_),
      max_bytes_(other.max_bytes_),
      content_flags_(other.content_flags_),
      has_checksum_(other.has_checksum_),
      checksum_(other.checksum_) {
  other.Clear();
}

WriteBatch& WriteBatch::operator=(WriteBatch&& other) noexcept {
  if (this == &other) return *this;
  rep_ = std::move(other.rep_);
  save_points_ = std::move(other.save_points_);
  wal_termination_point_ = other.wal_termination_point_;
  max_bytes_ = other.max_bytes_;
  content_flags_ = other.content_flags_;
  has_checksum_ = other.has_checksum_;
  checksum_ = other.checksum_;
  other.Clear();
  return *this;
}

void WriteBatch::Clear() {
  rep_.assign(kHeaderBytes, '\0');
  save_points_.clear();
  wal_termination_point_.clear();
  content_flags_ = 0;
  checksum_ = 0;
}

std::string WriteBatch::Release() {
  std::string bytes = std::move(rep_);
  Clear();
  return bytes;
}

uint32_t WriteBatch::Count() const {
  return rep_.size() < kHeaderBytes ? 0 : WriteBatchInternal::Count(this);
}

ASHLAR_ALWAYS_INLINE Status WriteBatchInternal::Add(WriteBatch* batch, const RecordWriter& record) {
  uint64_t record_bytes = 0;
  ASHLAR_RETURN_IF_ERROR(record.Check(batch->rep_, batch->max_bytes_, &record_bytes));
  const uint32_t count = Count(batch);
  if (count == std::numeric_limits<uint32_t>::max())
    return Status::InvalidArgument("write batch: no room for another record");
  record.AppendTo(&batch->rep_, record_bytes);
  EncodeFixed32(batch->rep_.data() + 8, count + (record.type == ValueType::kLogData ? 0 : 1));
  batch->content_flags_ |= RecordTypeBit(record.type);
  if (batch->has_checksum_) [[unlikely]]
    batch->checksum_ = ChainChecksum(batch->checksum_,
                                     Slice(batch->rep_.data() + batch->rep_.size() - record_bytes,
                                           static_cast<size_t>(record_bytes)));
  return Status::OK();
}

namespace {

template <typename Text>
Status AddKey(WriteBatch* batch, ValueType type, const ColumnFamilyHandle* column_family,
              const Text& key) {
  const Field key_field(key);
  return WriteBatchInternal::Add(
      batch, {.type = type, .column_family_id = IdOf(column_family), .key = &key_field});
}

template <typename Text>
Status AddKeyAndValue(WriteBatch* batch, ValueType type, const ColumnFamilyHandle* column_family,
                      const Text& key, const Text& value) {
  const Field key_field(key);
  const Field value_field(value);
  return WriteBatchInternal::Add(batch, {.type = type,
                                         .column_family_id = IdOf(column_family),
                                         .key = &key_field,
                                         .value = &value_field});
}

}  // namespace

Status WriteBatch::Put(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value) {
  return AddKeyAndValue(this, ValueType::kValue, column_family, key, value);
}
Status WriteBatch::Put(ColumnFamilyHandle* column_family, const SliceParts& key,
                       const SliceParts& value) {
  return AddKeyAndValue(this, ValueType::kValue, column_family, key, value);
}
Status WriteBatch::Delete(ColumnFamilyHandle* column_family, const Slice& key) {
  return AddKey(this, ValueType::kDeletion, column_family, key);
}
Status WriteBatch::Delete(ColumnFamilyHandle* column_family, const SliceParts& key) {
  return AddKey(this, ValueType::kDeletion, column_family, key);
}
Status WriteBatch::SingleDelete(ColumnFamilyHandle* column_family, const Slice& key) {
  return AddKey(this, ValueType::kSingleDeletion, column_family, key);
}
Status WriteBatch::SingleDelete(ColumnFamilyHandle* column_family, const SliceParts& key) {
  return AddKey(this, ValueType::kSingleDeletion, column_family, key);
}
Status WriteBatch::DeleteRange(ColumnFamilyHandle* column_family, const Slice& begin_key,
                               const Slice& end_key) {
  return AddKeyAndValue(this, ValueType::kRangeDeletion, column_family, begin_key, end_key);
}
Status WriteBatch::DeleteRange(ColumnFamilyHandle* column_family, const SliceParts& begin_key,
                               const SliceParts& end_key) {
  return AddKeyAndValue(this, ValueType::kRangeDeletion, column_family, begin_key, end_key);
}
Status WriteBatch::Merge(ColumnFamilyHandle* column_family, const Slice& key, const Slice& value) {
  return AddKeyAndValue(this, ValueType::kMerge, column_family, key, value);
}
Status WriteBatch::Merge(ColumnFamilyHandle* column_family, const SliceParts& key,
                         const SliceParts& value) {
  return AddKeyAndValue(this, ValueType::kMerge, column_family, key, value);
}

Status WriteBatch::PutLogData(const Slice& blob) {
  const Field field(blob);
  return WriteBatchInternal::Add(this, {.type = ValueType::kLogData, .value = &field});
}

SavePoint WriteBatch::Here() const {
  return {.size = rep_.size(),
          .count = Count(),
          .content_flags = content_flags_,
          .checksum = checksum_};
}

void WriteBatch::SetSavePoint() { save_points_.push_back(Here()); }

Status WriteBatch::RollbackToSavePoint() {
  if (save_points_.empty()) return Status::NotFound("write batch: no save point");
  const SavePoint save_point = save_points_.back();
  save_points_.pop_back();
  rep_.resize(save_point.size);
  if (rep_.size() >= kHeaderBytes) EncodeFixed32(rep_.data() + 8, save_point.count);
  content_flags_ = save_point.content_flags;
  checksum_ = save_point.checksum;
  if (wal_termination_point_.size > rep_.size()) wal_termination_point_ = save_point;
  return Status::OK();
}

Status WriteBatch::PopSavePoint() {
  if (save_points_.empty()) return Status::NotFound("write batch: no save point");
  save_points_.pop_back();
  return Status::OK();
}

void WriteBatch::MarkWalTerminationPoint() { wal_termination_point_ = Here(); }

bool WriteBatch::HasPut() const { return (content_flags_ & RecordTypeBit(ValueType::kValue)) != 0; }
bool WriteBatch::HasDelete() const {
  return (content_flags_ & RecordTypeBit(ValueType::kDeletion)) != 0;
}
bool WriteBatch::HasSingleDelete() const {
  return (content_flags_ & RecordTypeBit(ValueType::kSingleDeletion)) != 0;
}
bool WriteBatch::HasDeleteRange() const {
  return (content_flags_ & RecordTypeBit(ValueType::kRangeDeletion)) != 0;
}
bool WriteBatch::HasMerge() const {
  return (content_flags_ & RecordTypeBit(ValueType::kMerge)) != 0;
}
bool WriteBatch::HasBeginPrepare() const {
  return (content_flags_ & RecordTypeBit(ValueType::kBeginPrepare)) != 0;
}
bool WriteBatch::HasEndPrepare() const {
  return (content_flags_ & RecordTypeBit(ValueType::kEndPrepare)) != 0;
}
bool WriteBatch::HasCommit() const {
  return (content_flags_ & RecordTypeBit(ValueType::kCommit)) != 0;
}
bool WriteBatch::HasRollback() const {
  return (content_flags_ & RecordTypeBit(ValueType::kRollback)) != 0;
}

Status WriteBatch::VerifyChecksum() const {
  if (!has_checksum_) return Status::OK();
  uint64_t found = 0;
  ASHLAR_RETURN_IF_ERROR(WriteBatchInternal::ChainRecords(Slice(rep_), &found));
  if (found == checksum_) return Status::OK();
  return Status::Corruption("write batch: its records do not match their checksum");
}

// ---- Iterate and Handler

namespace {

Status Deliver(const BatchRecord& record, bool nothing_counted, WriteBatch::Handler* handler) {
  const uint32_t family = record.column_family_id;
  switch (record.type) {
    case ValueType::kValue: return handler->PutCF(family, record.key, record.value);
    case ValueType::kDeletion: return handler->DeleteCF(family, record.key);
    case ValueType::kSingleDeletion: return handler->SingleDeleteCF(family, record.key);
    case ValueType::kMerge: return handler->MergeCF(family, record.key, record.value);
    case ValueType::kRangeDeletion: return handler->DeleteRangeCF(family, record.key, record.value);
    case ValueType::kBlobIndex: return handler->PutBlobIndexCF(family, record.key, record.value);
    case ValueType::kWideColumnEntity:
      return handler->PutEntityCF(family, record.key, record.value);
    case ValueType::kLogData: handler->LogData(record.value); return Status::OK();
    case ValueType::kNoop: return handler->MarkNoop(nothing_counted);
    case ValueType::kBeginPrepare: return handler->MarkBeginPrepare(false);
    case ValueType::kEndPrepare: return handler->MarkEndPrepare(record.value);
    case ValueType::kCommit: return handler->MarkCommit(record.value);
    case ValueType::kRollback: return handler->MarkRollback(record.value);
    case ValueType::kBeginPersistedPrepare: return handler->MarkBeginPrepare(false);
    case ValueType::kBeginUnprepare: return handler->MarkBeginPrepare(true);
    default:
      ASHLAR_ASSERT(record.type == ValueType::kCommitWithTimestamp);  // the reader returns no other
      return handler->MarkCommitWithTimestamp(record.value, record.key);
  }
}

Status NoFamilies(const char* method) {
  return Status::InvalidArgument(
      StrCat("write batch handler: ", method,
             " is not implemented, and the record is of another family than the default"));
}
Status NotImplemented(const char* method) {
  return Status::InvalidArgument(StrCat("write batch handler: ", method, " is not implemented"));
}

}  // namespace

Status WriteBatch::Iterate(Handler* handler) const {
  BatchReader reader{Slice(rep_)};
  while (handler->Continue()) {
    if (!reader.Next()) return reader.status();
    const bool nothing_counted = reader.counted() == 0;
    ASHLAR_RETURN_IF_ERROR(Deliver(reader.record(), nothing_counted, handler));
  }
  return Status::OK();
}

WriteBatch::Handler::~Handler() = default;

Status WriteBatch::Handler::PutCF(uint32_t column_family_id, const Slice& key, const Slice& value) {
  if (column_family_id != 0) return NoFamilies("PutCF");
  Put(key, value);
  return Status::OK();
}
Status WriteBatch::Handler::DeleteCF(uint32_t column_family_id, const Slice& key) {
  if (column_family_id != 0) return NoFamilies("DeleteCF");
  Delete(key);
  return Status::OK();
}
Status WriteBatch::Handler::SingleDeleteCF(uint32_t column_family_id, const Slice& key) {
  if (column_family_id != 0) return NoFamilies("SingleDeleteCF");
  SingleDelete(key);
  return Status::OK();
}
Status WriteBatch::Handler::MergeCF(uint32_t column_family_id, const Slice& key,
                                    const Slice& value) {
  if (column_family_id != 0) return NoFamilies("MergeCF");
  Merge(key, value);
  return Status::OK();
}
void WriteBatch::Handler::Put(const Slice& /*key*/, const Slice& /*value*/) {}
void WriteBatch::Handler::Delete(const Slice& /*key*/) {}
void WriteBatch::Handler::SingleDelete(const Slice& /*key*/) {}
void WriteBatch::Handler::Merge(const Slice& /*key*/, const Slice& /*value*/) {}
Status WriteBatch::Handler::DeleteRangeCF(uint32_t /*column_family_id*/, const Slice& /*begin_key*/,
                                          const Slice& /*end_key*/) {
  return NotImplemented("DeleteRangeCF");
}
Status WriteBatch::Handler::PutBlobIndexCF(uint32_t /*column_family_id*/, const Slice& /*key*/,
                                           const Slice& /*value*/) {
  return NotImplemented("PutBlobIndexCF");
}
Status WriteBatch::Handler::PutEntityCF(uint32_t /*column_family_id*/, const Slice& /*key*/,
                                        const Slice& /*entity*/) {
  return NotImplemented("PutEntityCF");
}
Status WriteBatch::Handler::MarkBeginPrepare(bool /*unprepare*/) {
  return NotImplemented("MarkBeginPrepare");
}
Status WriteBatch::Handler::MarkEndPrepare(const Slice& /*xid*/) {
  return NotImplemented("MarkEndPrepare");
}
Status WriteBatch::Handler::MarkCommit(const Slice& /*xid*/) {
  return NotImplemented("MarkCommit");
}
Status WriteBatch::Handler::MarkCommitWithTimestamp(const Slice& /*xid*/,
                                                    const Slice& /*commit_ts*/) {
  return NotImplemented("MarkCommitWithTimestamp");
}
Status WriteBatch::Handler::MarkRollback(const Slice& /*xid*/) {
  return NotImplemented("MarkRollback");
}
Status WriteBatch::Handler::MarkNoop(bool /*empty_batch*/) { return Status::OK(); }
void WriteBatch::Handler::LogData(const Slice& /*blob*/) {}
bool WriteBatch::Handler::Continue() { return true; }

}  // namespace ashlar
