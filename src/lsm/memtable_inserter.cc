#include "lsm/memtable_inserter.h"

#include <string>

#include "base/assert.h"
#include "base/coding.h"
#include "base/format.h"
#include "base/result.h"
#include "key/unknown_merge_operator.h"
#include "key/write_batch_internal.h"

namespace ashlar {

namespace {

Status MissingMergeOperator(const ColumnFamily& family) {
  if (const UnknownMergeOperator* const unknown = AsUnknown(family.merge_operator())) {
    return unknown->Error().WithContext(StrCat("column family ", EscapeForDisplay(family.name())));
  }
  return Status::InvalidArgument(
      "Provide a merge_operator when opening DB",
      StrCat("ColumnFamilyOptions::merge_operator is not set for column family ", family.name()));
}

}  // namespace

void MemTableInserter::CountSelected() {
  if (selected_ == nullptr) return;
  const uint64_t bytes = selected_->LeaderActive()->ApproximateMemoryUsed();
  grown_bytes_ += bytes - selected_bytes_;
  selected_bytes_ = bytes;
}

ColumnFamily* MemTableInserter::Select(uint32_t family) {
  if (family != selected_id_) {
    if (args_.counts_bytes) CountSelected();
    selected_id_ = family;
    selected_ = args_.families->Find(family);
    if (selected_ != nullptr && args_.replaying && selected_->LeaderLogNumber() > args_.log_number)
      selected_ = nullptr;
    if (args_.counts_bytes && selected_ != nullptr)
      selected_bytes_ = selected_->LeaderActive()->ApproximateMemoryUsed();
  }
  return selected_;
}

Status MemTableInserter::Apply(const Slice& contents, SequenceNumber first, bool* has_applied) {
  BatchReader reader(contents);
  SequenceNumber next = first;
  while (reader.Next()) {
    const BatchRecord& record = reader.record();
    if (!record.counted) continue;
    const SequenceNumber sequence = next++;
    ColumnFamily* const family = Select(record.column_family_id);
    if (family == nullptr) continue;
    // A replay keeps the operands of an unknown operator. In a program's batch CheckBatch has
    // refused them.
    if (record.type == ValueType::kMerge && family->merge_operator() == nullptr) [[unlikely]] {
      return MissingMergeOperator(*family);
    }
    if (record.type == ValueType::kRangeDeletion) [[unlikely]] {
      ASHLAR_RETURN_IF_ERROR(ApplyRangeDeletion(family, record, sequence));
    } else {
      family->LeaderActive()->Add(sequence, record.type, record.key, record.value);
    }
    *has_applied = true;
    if (family->IsFull()) found_full_ = true;
  }
  ASHLAR_DCHECK(!reader.status().ok() || next - first == DecodeFixed32(contents.data() + 8));  // I1
  return reader.status();
}

// A replay reads the record from a disk, so its range is checked here too.
Status MemTableInserter::ApplyRangeDeletion(ColumnFamily* family, const BatchRecord& record,
                                            SequenceNumber sequence) {
  ASHLAR_RETURN_IF_ERROR(family->CheckRange(record.key, record.value));
  if (family->comparator().Compare(record.key, record.value) == 0) return Status::OK();
  MemTable* const memtable = family->LeaderActive();
  if (sequence < memtable->last_sequence()) {
    return Status::Corruption(StrCat("a range deletion has the sequence ", sequence,
                                     ", and an earlier record ", memtable->last_sequence()));
  }
  memtable->AddRangeDeletion({.begin = record.key, .end = record.value, .sequence = sequence});
  return Status::OK();
}

Status CheckBatch(const WriteBatch& batch, const FamilyTable& families, bool ignore_missing) {
  ASHLAR_RETURN_IF_ERROR(WriteBatchInternal::CheckApplicable(&batch));
  BatchReader reader(batch.Data());
  while (reader.Next()) {
    const BatchRecord& record = reader.record();
    if (!record.counted) continue;
    const ColumnFamily* const family = families.Find(record.column_family_id);
    if (family == nullptr) {
      if (ignore_missing) continue;
      return Status::InvalidArgument(
          "the batch writes to a column family that does not exist or was dropped, id",
          std::to_string(record.column_family_id));
    }
    if (record.type == ValueType::kMerge && family->RefusesMerges())
      return MissingMergeOperator(*family);
    ASHLAR_RETURN_IF_ERROR(record.type == ValueType::kRangeDeletion
                               ? family->CheckRange(record.key, record.value)
                               : family->CheckEntry(record.key, record.value));
  }
  return reader.status();
}

}  // namespace ashlar
