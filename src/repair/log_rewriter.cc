#include "repair/log_rewriter.h"

#include "ashlar/options.h"
#include "base/assert.h"
#include "base/format.h"
#include "base/result.h"

namespace ashlar {

Status LogRewriter::Add(const std::string& path, FileNumber number) {
  const auto add = [&](const BatchRecord& record, SequenceNumber sequence) {
    return AddWrite(number, record, sequence);
  };
  return ReadLog(args_.file_system, path, number, add).status();
}

Status LogRewriter::Finish() {
  while (!memtables_.empty()) ASHLAR_RETURN_IF_ERROR(Write(memtables_.begin()->first));
  return Status::OK();
}

Status LogRewriter::AddWrite(FileNumber log, const BatchRecord& record, SequenceNumber sequence) {
  const ColumnFamilyId family = record.column_family_id;
  if (!args_.is_needed(log, family, LoggedWrite::Of(record, sequence))) return Status::OK();
  const ColumnFamilyOptions* const options = args_.options_of(family);
  ASHLAR_ASSERT(options != nullptr);  // is_needed
  const auto filled = memtables_.find(family);
  if (filled != memtables_.end()) {
    const MemTable& memtable = *filled->second;
    const bool is_full = memtable.ApproximateMemoryUsed() >= options->write_buffer_size;
    if (is_full || sequence <= memtable.last_sequence()) ASHLAR_RETURN_IF_ERROR(Write(family));
  }
  MemTable::Owner& memtable = memtables_[family];
  if (memtable == nullptr) {
    memtable = MemTable::Create({.comparator = KeyComparator(options->comparator),
                                 .arena_blocks = &arena_blocks_,
                                 .epochs = &epochs_});
  }
  ASHLAR_ASSERT(memtable->IsEmpty() || memtable->last_sequence() < sequence);  // I2
  if (IsRange(record.type)) return AddRange(record, sequence, memtable.get());
  memtable->Add(sequence, record.type, record.key, record.value);
  return Status::OK();
}

Status LogRewriter::AddRange(const BatchRecord& record, SequenceNumber sequence,
                             MemTable* memtable) const {
  const int order = memtable->comparator().Compare(record.key, record.value);
  if (order > 0)
    return Status::Corruption(
        StrCat("the end of the range deletion of sequence ", sequence, " is before its begin"));
  if (order < 0)
    memtable->AddRangeDeletion({.begin = record.key, .end = record.value, .sequence = sequence});
  return Status::OK();
}

Status LogRewriter::Write(ColumnFamilyId family) {
  const auto filled = memtables_.find(family);
  ASHLAR_ASSERT(filled != memtables_.end());  // Requires: the family has a memtable.
  filled->second->MarkImmutable();
  Status written;
  if (!filled->second->IsEmpty()) written = args_.write(family, *filled->second);
  memtables_.erase(filled);
  epochs_.Reclaim();
  return written;
}

}  // namespace ashlar
