#include "lsm/memtable_inserter.h"

#include <string>

#include "base/assert.h"
#include "base/coding.h"
#include "base/format.h"
#include "base/result.h"
#include "execute/read_guard.h"
#include "key/lookup.h"
#include "key/unknown_merge_operator.h"
#include "key/write_batch_internal.h"
#include "lsm/reader.h"

namespace ashlar {

namespace {

Status MissingMergeOperator(const ColumnFamily& family) {
  if (const UnknownMergeOperator* const unknown = AsUnknown(family.merge_operator())) {
    return unknown->Error().WithContext(StrCat("column family ", NameForDisplay(family.name())));
  }
  return Status::InvalidArgument(
      "Provide a merge_operator when opening DB",
      StrCat("ColumnFamilyOptions::merge_operator is not set for column family ",
             NameForDisplay(family.name())));
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
    if (IsOperand(record.type)) [[unlikely]] {
      ASHLAR_RETURN_IF_ERROR(ApplyMerge(family, record, sequence));
    } else if (IsRange(record.type)) [[unlikely]] {
      ASHLAR_RETURN_IF_ERROR(ApplyRangeDeletion(family, record, sequence));
    } else {
      family->LeaderActive()->Add(sequence, record.type, record.key, record.value);
    }
    *has_applied = true;
    if (family->IsFull()) found_full_ = true;
  }
  ASHLAR_DCHECK(!reader.status().ok() || next - first == DecodeFixed32(contents.data() + 8));  // I1
  if (!reader.status().ok()) [[unlikely]]
    return reader.status();
  return Status::OK();
}

namespace {

// Ends a lookup at the operand that reaches the limit.
class OperandLimit final : public MergeOperator {
 public:
  explicit OperandLimit(size_t operands_max) : operands_max_(operands_max) {}
  const char* Name() const override { return "OperandLimit"; }
  bool ShouldMerge(const std::vector<Slice>& operands) const override {
    return operands.size() >= operands_max_;
  }

 private:
  const size_t operands_max_;
};

bool HasOperands(const MemTable& memtable, const Slice& key, SequenceNumber sequence,
                 size_t operands) {
  const OperandLimit limit(operands);
  Lookup lookup({.user_key = key, .snapshot = sequence, .merge_operator = &limit});
  memtable.Get(&lookup);
  return lookup.operand_count() >= operands;
}

}  // namespace

bool MemTableInserter::CombineMerges(ColumnFamily* family, const BatchRecord& record,
                                     SequenceNumber sequence, MergeResult* result,
                                     PinnableSlice* base) const {
  const SuccessiveMerges limit = family->successive_merges();
  if (limit.operands_max == 0 || args_.reader == nullptr ||
      !HasOperands(*family->LeaderActive(), record.key, sequence - 1, limit.operands_max))
    return false;
  // The memtables and families stay during the pause, because only the leader replaces them.
  const ReadGuard::Pause outside(args_.guard);
  ReadOptions options;
  if (!limit.reads_files) options.read_tier = kBlockCacheTier;
  if (!args_.reader->GetUnpublished(options, family, record.key, sequence - 1, base).ok())
    return false;
  const Slice operands[] = {record.value};
  const MergeInput input{.merge_operator = family->merge_operator(),
                         .user_key = record.key,
                         .base = base,
                         .operands_newest_first = operands,
                         .logger = args_.logger};
  return FullMerge(input, result, nullptr).ok() &&
         family->CheckEntry(record.key, result->value()).ok();
}

Status MemTableInserter::ApplyMerge(ColumnFamily* family, const BatchRecord& record,
                                    SequenceNumber sequence) const {
  // A replay keeps the operands of an unknown operator. CheckBatch has refused them in a batch of
  // the program.
  if (family->merge_operator() == nullptr) return MissingMergeOperator(*family);
  MergeResult result;
  PinnableSlice base;
  const bool combined = CombineMerges(family, record, sequence, &result, &base);
  family->LeaderActive()->Add(sequence, combined ? ValueType::kValue : record.type, record.key,
                              combined ? result.value() : record.value);
  return Status::OK();
}

// A replay reads the record from disk, so its range is checked here, too.
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

Status CheckBatch(const WriteBatch& batch, const FamilyTable& families, bool ignore_missing,
                  bool* has_missing) {
  ASHLAR_RETURN_IF_ERROR(WriteBatchInternal::CheckApplicable(&batch));
  BatchReader reader(batch.Data());
  while (reader.Next()) {
    const BatchRecord& record = reader.record();
    if (!record.counted) continue;
    const ColumnFamily* const family = families.Find(record.column_family_id);
    if (family == nullptr) {
      *has_missing = true;
      if (ignore_missing) continue;
      return Status::InvalidArgument(
          "the batch writes to a column family that does not exist or was dropped, id",
          std::to_string(record.column_family_id));
    }
    if (IsOperand(record.type) && family->RefusesMerges()) return MissingMergeOperator(*family);
    ASHLAR_RETURN_IF_ERROR(IsRange(record.type) ? family->CheckRange(record.key, record.value)
                                                : family->CheckEntry(record.key, record.value));
  }
  return reader.status();
}

}  // namespace ashlar
